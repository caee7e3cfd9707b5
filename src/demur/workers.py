"""Tasks shared out among workers: this process alone, or what an extension hires, such as processes or a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from demur.errors import UserError
from demur.extension import installed

if TYPE_CHECKING:
    from concurrent.futures import Executor

Progress = Callable[[int, int], None]
Shared = TypeVar("Shared")
Shared_co = TypeVar("Shared_co", covariant=True)
Task = TypeVar("Task")
R = TypeVar("R")


class Workers(Protocol[Shared_co]):
    """Whoever does tasks. What all tasks share is sent to each worker once."""

    def each(
        self, work: Callable[[Shared_co, Task], R], tasks: Sequence[Task], progress: Progress | None = None
    ) -> list[R]:
        """The results of the tasks, in their order; `work` gets what is shared, and a task."""


@dataclass(frozen=True, slots=True, eq=False)
class ThisProcess(Generic[Shared]):
    """The process itself, which does one task after another."""

    shared: Shared

    def each(
        self, work: Callable[[Shared, Task], R], tasks: Sequence[Task], progress: Progress | None = None
    ) -> list[R]:
        """The results of the tasks, in their order."""
        results = []
        for task in tasks:
            results.append(work(self.shared, task))
            if progress:
                progress(len(results), len(tasks))
        return results


def alone(given: int | str | Executor) -> bool:
    """Whether these workers are this process alone."""
    return given in (1, "1")


@contextmanager
def hired(given: int | str | Executor, shared: Shared) -> Iterator[Workers[Shared]]:
    """Workers for the length of a `with` block: 1 is this process, and an extension knows any other.

    >>> with hired(1, 10) as workers:
    ...     workers.each(lambda shared, task: shared * task, [1, 2])
    [10, 20]
    """
    if alone(given):
        yield ThisProcess(shared)
        return
    modules = (extension.workers for extension in installed().values() if extension.workers)
    module = next(modules, None)
    if module is None:
        raise UserError("workers other than this process need the extension scale, which is not installed")
    with import_module(module).Workers(given, shared) as workers:
        yield workers
