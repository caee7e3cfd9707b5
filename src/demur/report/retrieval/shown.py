"""What is shown: selections and policies side by side, and which selections break the bounds, by their names alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.report.retrieval.detection import pooled_places
from demur.report.retrieval.places import cell, systems_of, title
from demur.report.sections import section

if TYPE_CHECKING:
    from demur.inference.estimates import Estimate
    from demur.report.names import NamedSystem
    from demur.results.parts import Breach
    from demur.results.table import Results

_MOST_BREACHES = 50


@dataclass(frozen=True, slots=True)
class Selections:
    """One way one system chooses how many to show."""

    system: NamedSystem
    chosen_by: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Breaches:
    """Selections of one system that break the bounds: the first of them, and how many more."""

    system: NamedSystem
    first: tuple[Breach, ...]
    more: int


@dataclass(frozen=True, slots=True)
class WhatIsShown:
    """Every way of every system, and the selections that break the bounds."""

    columns: tuple[str, ...]
    rows: tuple[Selections, ...]
    breaches: tuple[Breaches, ...]


def selections_of(results: Results, system: str) -> dict[str, list[Estimate]]:
    """The numbers of what a system shows, by what chooses it: the system itself, or a policy."""
    places = pooled_places(results, system).items()
    return {place.policy or "as selected": rows for place, rows in places if place.family == "selection"}


@section("shown", "What is shown", task="retrieval", order=60)
def what_is_shown(results: Results) -> WhatIsShown | None:
    """What is shown of the lists, or nothing where nothing is selected."""
    rows: list[Selections] = []
    breaches: list[Breaches] = []
    columns: tuple[str, ...] = ()
    for named, system in zip(systems_of(results), results.retrieval.systems, strict=True):
        for chosen_by, numbers in selections_of(results, system.name).items():
            rows.append(Selections(named, chosen_by, tuple(cell(results, number) for number in numbers)))
            columns = tuple(title(number.key) for number in numbers)
        if system.breaches:
            more = max(len(system.breaches) - _MOST_BREACHES, 0)
            breaches.append(Breaches(named, system.breaches[:_MOST_BREACHES], more))
    return WhatIsShown(columns, tuple(rows), tuple(breaches)) if rows else None
