"""Workers: anything with the interface of `concurrent.futures.Executor`. Tasks of a worker that dies are repeated."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, as_completed
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from demur.errors import UserError, literal, without_extra

Progress = Callable[[int, int], None]
Task = TypeVar("Task")
R = TypeVar("R")
_ATTEMPTS = 3  # in a row in which no task finished
_DASK = "dask://"


@dataclass(frozen=True, slots=True)
class Workers:
    """A number of processes, the scheduler of a Dask cluster, or an executor; 1 is this process alone."""

    given: int | str | Executor = 1
    _open: ExitStack = field(default_factory=ExitStack, compare=False)
    _executors: list[Executor] = field(default_factory=list, compare=False)

    def __post_init__(self) -> None:
        given: Any = self.given
        if isinstance(given, str) and given.isdecimal():
            object.__setattr__(self, "given", given := int(given))
        scheduler = isinstance(given, str) and given.startswith(_DASK) and len(given) > len(_DASK)
        if not (scheduler or isinstance(given, Executor) or (type(given) is int and given >= 1)):
            raise UserError(f"workers {literal(given)}, expected a number of processes, or dask://SCHEDULER:PORT")

    def each(self, work: Callable[[Task], R], tasks: Sequence[Task], progress: Progress | None = None) -> list[R]:
        """The results of the tasks, in their order. The tasks of a killed worker are repeated."""
        results: dict[int, R] = {}

        def collect(index: int, result: R) -> None:
            results[index] = result
            if progress:
                progress(len(results), len(tasks))

        if self.given == 1:
            for index, task in enumerate(tasks):
                collect(index, work(task))
            return [results[index] for index in range(len(tasks))]
        failures = 0
        while len(results) < len(tasks):
            before = len(results)
            try:
                executor = self._executor()
                with _started_undisturbed():
                    futures = {executor.submit(work, task): n for n, task in enumerate(tasks) if n not in results}
                _gather(futures, collect)
            except _deaths():
                self.close()
                failures = failures + 1 if len(results) == before else 0
                if failures >= _ATTEMPTS:
                    raise UserError(
                        "the workers die before they finish a part: give them more memory, or fewer of them"
                    ) from None
        return [results[index] for index in range(len(tasks))]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the workers, except an executor that the caller passed in."""
        self._executors.clear()
        self._open.close()

    def _executor(self) -> Executor:
        """The executor, started at first use."""
        if not self._executors:
            self._executors.append(self._started())
        return self._executors[0]

    def _started(self) -> Executor:
        if isinstance(self.given, Executor):
            return self.given
        if isinstance(self.given, str):
            client = self._open.enter_context(_dask_client(self.given.removeprefix(_DASK)))
            executor: Executor = client.get_executor()
            return executor
        from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415  (slow to import)
        from multiprocessing import get_context  # noqa: PLC0415

        pool = ProcessPoolExecutor(self.given, get_context("spawn"), _begin, (gc.get_threshold(),))
        return self._open.enter_context(pool)


@contextmanager
def _started_undisturbed() -> Iterator[None]:
    """Hold back Ctrl-C while processes are started: they inherit that, and are not interrupted while they import."""
    import signal  # noqa: PLC0415

    if not hasattr(signal, "pthread_sigmask"):  # as on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(collections: tuple[int, int, int]) -> None:
    """Prepare a process for its tasks: it collects garbage as rarely as the one that started it.

    Ctrl-C reaches every process of a terminal: a worker ignores it, and the process that started it stops the pool.
    """
    from signal import SIG_IGN, SIGINT, signal  # noqa: PLC0415

    signal(SIGINT, SIG_IGN)
    gc.set_threshold(*collections)


def _gather(futures: dict[Future[R], int], collect: Callable[[int, R], None]) -> None:
    """Collect results as they arrive; the first error cancels the rest."""
    try:
        for future in as_completed(futures):
            collect(futures[future], future.result())
    except BaseException:
        for future in futures:
            future.cancel()
        raise


def _deaths() -> tuple[type[BaseException], ...]:
    """The exceptions that report a dead worker: those of any executor, and Dask's if Dask is in use."""
    killed = getattr(sys.modules.get("distributed"), "KilledWorker", None)
    return (BrokenExecutor, CancelledError, *([] if killed is None else [killed]))


@contextmanager
def _dask_client(scheduler: str) -> Iterator[Any]:
    """A client of the scheduler of a Dask cluster."""
    try:
        from distributed import Client  # noqa: PLC0415  (an extra)
    except ImportError:
        raise without_extra("a Dask cluster needs dask.distributed", "distributed") from None
    try:
        client = Client(f"tcp://{scheduler}", timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise UserError(f"dask://{scheduler}: no scheduler answers there ({error})") from None
    with client:
        yield client
