"""Sites: workers that keep their own data. Each task runs at the site of its data."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from demur.distributed.workers import DASK, Progress, dask_client, deaths
from demur.errors import UserError, located

R = TypeVar("R")
_CHECK = 2.0  # seconds between checks that the worker of a running task is alive
_RESTART = 60.0  # seconds that a site has to restart its worker
_ATTEMPTS = 3
_GONE = "its worker is gone: start it there again, then run this again"
_NO_SITE = "no site is connected: start a worker at each, dask worker tcp://SCHEDULER:PORT --name SITE"
_EXPECTED = "--workers dask://SCHEDULER:PORT, or in Python a mapping from their names to executors"


@dataclass(slots=True)
class Sites:
    """An executor for each site, by its name, or a Dask scheduler, each of whose workers is a site."""

    given: Mapping[str, Executor] | str
    names: list[str] = field(init=False)
    _executors: Any = field(init=False)
    _open: ExitStack = field(default_factory=ExitStack)

    def __post_init__(self) -> None:
        given: Any = self.given
        if isinstance(given, str) and given.startswith(DASK):
            self._executors = _DaskWorkers(self._open.enter_context(dask_client(given.removeprefix(DASK))))
        elif isinstance(given, Mapping) and all(isinstance(executor, Executor) for executor in given.values()):
            self._executors = _Executors(given)
        else:
            raise UserError(f"sites are workers that have data of their own: {_EXPECTED}")
        self.names = self._executors.names
        if not self.names:
            raise UserError(_NO_SITE)

    def each(self, work: Callable[[Any], R], tasks: Sequence[Any], progress: Progress | None = None) -> list[R]:
        """The results of the tasks in their order, each computed at the site of the task's first element."""
        futures, results = list[Future[R]](), list[R]()
        try:
            for task in tasks:
                with located(task[0].site):
                    futures.append(self._executors.executor(task[0].site).submit(work, task))
            for task, future in zip(tasks, futures, strict=True):
                results.append(self._result(work, task, future))
                if progress:
                    progress(len(results), len(tasks))
        finally:
            for future in futures:
                future.cancel()
        return results

    def _result(self, work: Callable[[Any], R], task: Any, future: Future[R]) -> R:
        """The result of a task; the task is repeated if its site lost its worker and started another."""
        site = task[0].site
        with located(site):
            for attempt in range(_ATTEMPTS):
                try:
                    if attempt:
                        future = self._executors.executor(site).submit(work, task)
                    return self._wait(site, future)
                except deaths():
                    continue
            raise UserError(_GONE)

    def _wait(self, site: str, future: Future[R]) -> R:
        while True:
            try:
                return future.result(_CHECK)
            except TimeoutError:
                if future.done() or self._executors.lost(site):
                    future.cancel()
                    raise CancelledError from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()


@dataclass(frozen=True, slots=True)
class _Executors:
    """Executors that the caller passed in, which cannot be restarted."""

    given: Mapping[str, Executor]

    @property
    def names(self) -> list[str]:
        return [*self.given]

    def executor(self, site: str) -> Executor:
        return self.given[site]

    def lost(self, _: str) -> bool:
        return False


class _DaskWorkers:
    """Workers of a Dask cluster. A restarted worker keeps its name and has a new address."""

    def __init__(self, client: Any) -> None:
        self._client, self._known, self._missing = client, dict[str, tuple[str, Executor]](), set[str]()
        self.names = sorted(self._addresses())

    def _addresses(self) -> dict[str, str]:
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        return {str(worker["name"]): address for address, worker in workers.items()}

    def executor(self, site: str) -> Executor:
        """The worker of a site; waits for a restart if it was lost."""
        if site not in self._known:
            end = time.monotonic() + _RESTART
            while (address := self._addresses().get(site)) is None:
                if site in self._missing or time.monotonic() > end:
                    self._missing.add(site)
                    raise UserError(_GONE)
                time.sleep(0.2)
            self._known[site] = address, self._client.get_executor(workers=[address], pure=False)
        return self._known[site][1]

    def lost(self, site: str) -> bool:
        """Whether the worker last used is gone or has been restarted."""
        if site in self._known and self._addresses().get(site) != self._known[site][0]:
            del self._known[site]
        return site not in self._known
