"""Assesses all participants in several threads, until they are done or the run is stopped."""

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
    """Assess all participants; an error that concerns the whole run stops it, after the requests under way."""
    in_a_row = 0
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
                    in_a_row = in_a_row + 1 if any(failure.of_endpoint for failure in failures) else 0
                    _check_in_a_row(in_a_row, failures)
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


def _check_in_a_row(count: int, failures: Sequence[ParticipantFailure]) -> None:
    if count >= MOST_IN_A_ROW:
        category = next(failure.category for failure in failures if failure.of_endpoint)
        hint = "when it answers again, go on with --retry-failed"
        raise EndpointError(f"the endpoint failed {count} participants in a row ({category}); {hint}")


@contextmanager
def interruptible(pace: Pace, tell: Callable[[str], None]) -> Iterator[None]:
    """Handle interrupts: the first lets requests finish, the second exits at once; the journal is valid either way."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupted(_: int, __: FrameType | None) -> None:
        if pace.stop.is_set():
            os._exit(_INTERRUPTED)
        pace.stop.set()
        tell("stopping: requests under way are finished first; interrupt again to end at once")

    previous = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
