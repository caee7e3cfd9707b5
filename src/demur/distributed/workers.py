"""Workers: anything with the interface of `concurrent.futures.Executor`. Work that a worker took down is done again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, as_completed
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from demur.errors import UserError, literal

Progress = Callable[[int, int], None]
Task = TypeVar("Task")
Made = TypeVar("Made")
_ATTEMPTS = 3  # with no part done in any of them
DASK = "dask://"


@dataclass(frozen=True, slots=True)
class Workers:
    """Who works: as many processes, the scheduler of a Dask cluster, or an executor; by default this process."""

    given: int | str | Executor = 1
    _open: ExitStack = field(default_factory=ExitStack, compare=False)
    _executors: list[Executor] = field(default_factory=list, compare=False)

    def __post_init__(self) -> None:
        given: Any = self.given
        if isinstance(given, str) and given.isdecimal():
            object.__setattr__(self, "given", given := int(given))
        good = isinstance(given, str) and given.startswith(DASK) and len(given) > len(DASK)
        if not (good or isinstance(given, Executor) or (type(given) is int and given >= 1)):
            raise UserError(f"workers {literal(given)}, expected a number of processes, or dask://SCHEDULER:PORT")

    def each(self, work: Callable[[Task], Made], tasks: Sequence[Task], progress: Progress | None = None) -> list[Made]:
        """What each task gives, in their order. A worker that is killed takes no task with it."""
        done: dict[int, Made] = {}

        def keep(index: int, made: Made) -> None:
            done[index] = made
            if progress:
                progress(len(done), len(tasks))

        if self.given == 1:
            for index, task in enumerate(tasks):
                keep(index, work(task))
            return [done[index] for index in range(len(tasks))]
        failures = 0
        while len(done) < len(tasks):
            before = len(done)
            try:
                executor = self._executor()
                _gather({executor.submit(work, task): n for n, task in enumerate(tasks) if n not in done}, keep)
            except deaths():
                self.close()
                failures = failures + 1 if len(done) == before else 0
                if failures >= _ATTEMPTS:
                    raise UserError(
                        "the workers die before they finish a part: give them more memory, or fewer of them"
                    ) from None
        return [done[index] for index in range(len(tasks))]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Send the workers home, but for an executor that was given."""
        self._executors.clear()
        self._open.close()

    def _executor(self) -> Executor:
        """Whoever works, hired once."""
        if not self._executors:
            self._executors.append(self._hired())
        return self._executors[0]

    def _hired(self) -> Executor:
        if isinstance(self.given, Executor):
            return self.given
        if isinstance(self.given, str):
            client = self._open.enter_context(dask_client(self.given.removeprefix(DASK)))
            executor: Executor = client.get_executor()
            return executor
        from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415  (slow to import)
        from multiprocessing import get_context  # noqa: PLC0415
        from signal import SIG_IGN, SIGINT, signal  # noqa: PLC0415

        # An interrupt reaches every process of a terminal: this one sends the others home.
        pool = ProcessPoolExecutor(self.given, get_context("spawn"), signal, (SIGINT, SIG_IGN))
        return self._open.enter_context(pool)


def _gather(left: dict[Future[Made], int], keep: Callable[[int, Made], None]) -> None:
    """Keep what is done; the first mistake ends the rest."""
    try:
        for future in as_completed(left):
            keep(left[future], future.result())
    except BaseException:
        for future in left:
            future.cancel()
        raise


def deaths() -> tuple[type[BaseException], ...]:
    """What a worker that died with its work is told by: by any executor, and by Dask if it is in use."""
    killed = getattr(sys.modules.get("distributed"), "KilledWorker", None)
    return (BrokenExecutor, CancelledError, *([] if killed is None else [killed]))


@contextmanager
def dask_client(scheduler: str) -> Iterator[Any]:
    """A client of the scheduler of a Dask cluster."""
    try:
        from distributed import Client  # noqa: PLC0415  (an extra)
    except ImportError:
        raise UserError("a Dask cluster needs dask.distributed: pip install 'demur[distributed]'") from None
    try:
        client = Client(f"tcp://{scheduler}", timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise UserError(f"dask://{scheduler}: no scheduler answers there ({error})") from None
    with client:
        yield client
