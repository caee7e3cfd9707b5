"""Workers: anything with the interface of `concurrent.futures.Executor`. Tasks of a worker that dies are repeated."""

from __future__ import annotations

import gc
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, as_completed
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, Self, TypeVar

from demur.errors import UserError, literal, without_extra
from demur.workers import Progress

Shared = TypeVar("Shared")
Task = TypeVar("Task")
R = TypeVar("R")
Submit = Callable[[Callable[[Any, Any], Any], Any], "Future[Any]"]
_ATTEMPTS = 3  # in a row in which no task finished
_DASK = "dask://"
_SENT: list[Any] = []  # in a process of a pool: what its tasks share


@dataclass(frozen=True, slots=True)
class Workers(Generic[Shared]):
    """A number of processes, the scheduler of a Dask cluster, or an executor; what all tasks share is sent once.

    An executor of the caller gets it with every task.
    """

    given: int | str | Executor
    shared: Shared
    _open: ExitStack = field(default_factory=ExitStack, compare=False)
    _submits: list[Submit] = field(default_factory=list, compare=False)

    def __post_init__(self) -> None:
        given: Any = self.given
        if isinstance(given, str) and given.isdecimal():
            object.__setattr__(self, "given", given := int(given))
        scheduler = isinstance(given, str) and given.startswith(_DASK) and len(given) > len(_DASK)
        if not (scheduler or isinstance(given, Executor) or (type(given) is int and given >= 1)):
            raise UserError(f"workers {literal(given)}, expected a number of processes, or dask://SCHEDULER:PORT")

    def each(
        self, work: Callable[[Shared, Task], R], tasks: Sequence[Task], progress: Progress | None = None
    ) -> list[R]:
        """The results of the tasks, in their order. The tasks of a killed worker are repeated."""
        results: dict[int, R] = {}

        def collect(index: int, result: R) -> None:
            results[index] = result
            if progress:
                progress(len(results), len(tasks))

        failures = 0
        while len(results) < len(tasks):
            before = len(results)
            try:
                submit = self._submit()
                with _started_undisturbed():
                    futures = {submit(work, task): n for n, task in enumerate(tasks) if n not in results}
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
        self._submits.clear()
        self._open.close()

    def _submit(self) -> Submit:
        """How tasks are submitted to the workers, who are started at first use."""
        if not self._submits:
            self._submits.append(self._started())
        return self._submits[0]

    def _started(self) -> Submit:
        if isinstance(self.given, Executor):
            return _with_each(self.given, self.shared)
        if isinstance(self.given, str):
            client = self._open.enter_context(_dask_client(self.given.removeprefix(_DASK)))
            return _with_each(client.get_executor(), client.scatter(self.shared, broadcast=True, hash=False))
        from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415  (slow to import)
        from multiprocessing import get_context  # noqa: PLC0415

        start = gc.get_threshold(), [_pickled(self.shared)]
        pool = self._open.enter_context(ProcessPoolExecutor(self.given, get_context("spawn"), _begin, start))
        return lambda work, task: pool.submit(_with_sent, work, task)


def _with_each(executor: Executor, shared: Any) -> Submit:
    """Submission to an executor, which gets what tasks share, or a reference to it, with every task."""
    return lambda work, task: executor.submit(work, shared, task)


def _with_sent(work: Callable[[Any, Task], R], task: Task) -> R:
    """Do a task in a process that was sent what tasks share when it started."""
    return work(_SENT[0], task)


def _pickled(shared: object) -> bytes:
    try:
        return pickle.dumps(shared, pickle.HIGHEST_PROTOCOL)
    except (AttributeError, TypeError, pickle.PicklingError) as error:
        raise UserError(f"other processes cannot be sent the work ({error}): use functions of modules") from None


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


def _begin(collections: tuple[int, int, int], shared: list[bytes]) -> None:
    """Prepare a process for its tasks: it has what they share, and collects garbage as rarely as who started it.

    Ctrl-C reaches every process of a terminal: a worker ignores it, and the process that started it stops the pool.
    """
    from signal import SIG_IGN, SIGINT, signal  # noqa: PLC0415

    signal(SIGINT, SIG_IGN)
    gc.set_threshold(*collections)
    # Taken out of its list, as the pool keeps what it starts a process with, and it may be large.
    _SENT[:] = [pickle.loads(shared.pop())]  # noqa: S301  (by the process that started this one)


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
