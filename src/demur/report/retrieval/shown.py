"""What is shown: selections and policies side by side, and which selections break the bounds, by their names alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.report.retrieval_names import number_title
from demur.report.systems import cell, systems_of

if TYPE_CHECKING:
    from demur.report.sides import Side
    from demur.retrieval_artifact import BreachAt, RetrievalMetrics

_MOST_BREACHES = 50


@dataclass(frozen=True, slots=True)
class Shown:
    """One way one system chooses how many to show."""

    side: Side
    way: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Broken:
    """Selections of one system that break the bounds: the first of them, and how many more."""

    side: Side
    first: tuple[BreachAt, ...]
    more: int


@dataclass(frozen=True, slots=True)
class WhatIsShown:
    """Every way of every system, and the selections that break the bounds."""

    columns: tuple[str, ...]
    rows: tuple[Shown, ...]
    broken: tuple[Broken, ...]


def what_is_shown(metrics: RetrievalMetrics) -> WhatIsShown | None:
    """What is shown of the lists, or nothing where nothing is selected."""
    found, broken = [], []
    for side, one in zip(systems_of(metrics), metrics.systems.values(), strict=True):
        ways = {"as selected": one.dynamic_k.metrics} if one.dynamic_k else {}
        found += [(side, way, numbers) for way, numbers in {**ways, **one.policies}.items()]
        breaches = one.dynamic_k.breaches if one.dynamic_k else ()
        if breaches:
            broken.append(Broken(side, breaches[:_MOST_BREACHES], max(len(breaches) - _MOST_BREACHES, 0)))
    if not found:
        return None
    columns = [*found[0][2]]
    rows = tuple(Shown(side, way, tuple(cell(numbers.get(name)) for name in columns)) for side, way, numbers in found)
    return WhatIsShown(tuple(map(number_title, columns)), rows, tuple(broken))
