"""Sites: workers each of which has data of its own, that stay there. A task goes to where what it is about is."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from demur.distributed.workers import DASK, Progress, dask_client, deaths
from demur.errors import UserError, located

Made = TypeVar("Made")
_LOOK = 2.0  # seconds after which a site that says nothing is looked after
_BACK = 60.0  # seconds in which a site may start its worker again
_ATTEMPTS = 3
_GONE = "its worker is gone: start it there again, then run this again"
_NOBODY = "no site is there: start a worker at each, dask worker tcp://SCHEDULER:PORT --name SITE"
_WAYS = "--workers dask://SCHEDULER:PORT, or in Python a mapping from their names to executors"


@dataclass(slots=True)
class Sites:
    """An executor for each site, by its name, or a Dask scheduler, each of whose workers is a site."""

    given: Mapping[str, Executor] | str
    names: list[str] = field(init=False)
    _at: Any = field(init=False)
    _open: ExitStack = field(default_factory=ExitStack)

    def __post_init__(self) -> None:
        given: Any = self.given
        if isinstance(given, str) and given.startswith(DASK):
            self._at = _DaskWorkers(self._open.enter_context(dask_client(given.removeprefix(DASK))))
        elif isinstance(given, Mapping) and all(isinstance(each, Executor) for each in given.values()):
            self._at = _Executors(given)
        else:
            raise UserError(f"sites are workers that have data of their own: {_WAYS}")
        self.names = self._at.names
        if not self.names:
            raise UserError(_NOBODY)

    def each(self, work: Callable[[Any], Made], tasks: Sequence[Any], progress: Progress | None = None) -> list[Made]:
        """What each task gives, in their order, made at the site of the first thing in it."""
        futures, made = list[Future[Made]](), list[Made]()
        try:
            for task in tasks:
                with located(task[0].site):
                    futures.append(self._at.executor(task[0].site).submit(work, task))
            for task, future in zip(tasks, futures, strict=True):
                made.append(self._made(work, task, future))
                if progress:
                    progress(len(made), len(tasks))
        finally:
            for future in futures:
                future.cancel()
        return made

    def _made(self, work: Callable[[Any], Made], task: Any, future: Future[Made]) -> Made:
        """What a task gives; if its site has lost its worker and started another, it is done again."""
        site = task[0].site
        with located(site):
            for attempt in range(_ATTEMPTS):
                try:
                    if attempt:
                        future = self._at.executor(site).submit(work, task)
                    return self._waited(site, future)
                except deaths():
                    continue
            raise UserError(_GONE)

    def _waited(self, site: str, future: Future[Made]) -> Made:
        while True:
            try:
                return future.result(_LOOK)
            except TimeoutError:
                if future.done() or self._at.lost(site):
                    future.cancel()
                    raise CancelledError from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()


@dataclass(frozen=True, slots=True)
class _Executors:
    """Executors that were given, which nobody here can start again."""

    given: Mapping[str, Executor]

    @property
    def names(self) -> list[str]:
        return [*self.given]

    def executor(self, site: str) -> Executor:
        return self.given[site]

    def lost(self, _: str) -> bool:
        return False


class _DaskWorkers:
    """Workers of a Dask cluster; one that its site starts again has the same name and another address."""

    def __init__(self, client: Any) -> None:
        self._client, self._known, self._left = client, dict[str, tuple[str, Executor]](), set[str]()
        self.names = sorted(self._there())

    def _there(self) -> dict[str, str]:
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        return {str(each["name"]): address for address, each in workers.items()}

    def executor(self, site: str) -> Executor:
        """The worker of a site; where it was lost, the next one, if it is there in time."""
        if site not in self._known:
            end = time.monotonic() + _BACK
            while (address := self._there().get(site)) is None:
                if site in self._left or time.monotonic() > end:
                    self._left.add(site)
                    raise UserError(_GONE)
                time.sleep(0.2)
            self._known[site] = address, self._client.get_executor(workers=[address], pure=False)
        return self._known[site][1]

    def lost(self, site: str) -> bool:
        """Whether the worker that was known is there no more."""
        if site in self._known and self._there().get(site) != self._known[site][0]:
            del self._known[site]
        return site not in self._known
