"""Sections: the parts of a page. A section is a registered function and its template, and nothing else names it.

The sections of a task are functions in the modules of the package `demur.report.<task>`, all of which are imported
before a page is made; they stand in the order of their numbers. What a function returns is the `content` of its
template, `templates/<task>/<anchor>.html.j2`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal

from demur.report.names import NamedSystem

Filling = Callable[[Any], Any]
Content = dict[str, Any]
Task = Literal["selective", "retrieval", "calibration"]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: its place in the navigation, its template, and what the template shows.

    A section whose content is None is left out.
    """

    anchor: str
    title: str
    order: int
    content: Filling


@dataclass(frozen=True, slots=True)
class PageKind:
    """One kind of page: the systems it sets side by side, the names one can switch between, scripts and their data."""

    task: Task
    systems: Callable[[Any], Sequence[NamedSystem]]
    switched: Callable[[Any], Sequence[str]] = lambda _: ()
    scripts: tuple[str, ...] = ("copy.js",)
    data: Filling = lambda _: None


_SECTIONS: dict[str, dict[str, Section]] = {}


def section(anchor: str, title: str, *, task: Task, order: int) -> Callable[[Filling], Filling]:
    """Register a function of the results as a section; the numbers of a page leave room between them."""

    def register(content: Filling) -> Filling:
        taken = _SECTIONS.setdefault(task, {})
        if anchor in taken or order in {other.order for other in taken.values()}:
            raise ValueError(f"the section {anchor} or its order {order} is registered already")
        taken[anchor] = Section(anchor, title, order, content)
        return content

    return register


def page_of(task: Task) -> tuple[PageKind, list[Section]]:
    """The kind of page of a task, which is the `PAGE` of its package, and its sections in order."""
    package = import_module(f"demur.report.{task}")
    for module in iter_modules(package.__path__):
        import_module(f"{package.__name__}.{module.name}")
    kind: PageKind = package.PAGE
    return kind, sorted(_SECTIONS[task].values(), key=lambda each: each.order)
