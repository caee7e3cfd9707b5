"""Running: all participants, so many at a time, until they are done or somebody asks to stop."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from types import FrameType

from demur.errors import UserError
from demur.produce.failures import MOST_IN_A_ROW, EndpointError, ParticipantFailure, Stopped
from demur.produce.pace import Pace

_GLANCE = 0.2
_INTERRUPTED = 130
Assess = Callable[[str], list[ParticipantFailure]]


def run_all(people: Sequence[str], assess: Assess, pace: Pace, finished: Callable[[float | None], None]) -> None:
    """Assess everybody; what concerns the whole run stops it, after what is under way."""
    row = 0
    with ThreadPoolExecutor(pace.concurrency) as pool:
        pending: set[Future[tuple[list[ParticipantFailure], float]]] = set()
        waiting = iter(people)
        try:
            while True:
                # So many participants under way as there may be requests: the others wait here, not in memory.
                while len(pending) < pace.concurrency and (person := next(waiting, None)) is not None:
                    pending.add(pool.submit(_timed, assess, person, pace))
                if not pending:
                    return
                done, pending = wait(pending, timeout=_GLANCE, return_when=FIRST_COMPLETED)
                finished(None)
                for future in done:
                    failures, seconds = future.result()
                    finished(seconds / pace.concurrency)
                    row = row + 1 if any(failure.of_endpoint for failure in failures) else 0
                    _check_row(row, failures)
        except Stopped:
            raise
        except OSError as error:
            raise UserError(f"the run folder cannot be written ({error.strerror})") from None
        finally:
            pace.stop.set()


def _timed(assess: Assess, person: str, pace: Pace) -> tuple[list[ParticipantFailure], float]:
    pace.check()
    started = time.monotonic()
    return assess(person), time.monotonic() - started


def _check_row(row: int, failures: Sequence[ParticipantFailure]) -> None:
    if row >= MOST_IN_A_ROW:
        category = next(failure.category for failure in failures if failure.of_endpoint)
        way_out = "when it answers again, go on with --retry-failed"
        raise EndpointError(f"the endpoint failed {row} participants in a row ({category}); {way_out}")


@contextmanager
def interruptible(pace: Pace, tell: Callable[[str], None]) -> Iterator[None]:
    """The first interrupt lets what is under way finish, the second ends everything at once: the journal is safe."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupted(_: int, __: FrameType | None) -> None:
        if pace.stop.is_set():
            os._exit(_INTERRUPTED)
        pace.stop.set()
        tell("stopping: requests under way are finished first; interrupt again to end at once")

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
