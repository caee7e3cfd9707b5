"""What is shown: selections and policies side by side, and which selections break the bounds, by their names alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from demur.report.retrieval.places import cell, pooled_places, systems_of, title
from demur.report.sections import section

if TYPE_CHECKING:
    from demur.inference.estimates import Estimate
    from demur.report.names import NamedSystem
    from demur.results.parts import Breach
    from demur.results.table import Results

_MOST_BREACHES = 50


@dataclass(slots=True)
class WhatIsShown:
    """Of every system: what chooses, and the numbers that follow; and its first breaches, with how many more."""

    columns: list[str] = field(default_factory=list)
    rows: list[tuple[NamedSystem, str, list[str]]] = field(default_factory=list)
    breaches: list[tuple[NamedSystem, tuple[Breach, ...], int]] = field(default_factory=list)


def selections_of(results: Results, system: str) -> dict[str, list[Estimate]]:
    """The numbers of what a system shows, by what chooses it: the system itself, or a policy."""
    places = pooled_places(results, system).items()
    return {place.policy or "as selected": rows for place, rows in places if place.family == "selection"}


@section("shown", "What is shown", task="retrieval", order=60)
def what_is_shown(results: Results) -> WhatIsShown | None:
    """What is shown of the lists, or nothing where nothing is selected."""
    content = WhatIsShown()
    for named, system in zip(systems_of(results), results.retrieval.systems, strict=True):
        for chosen_by, numbers in selections_of(results, system.name).items():
            content.columns = [title(number.key) for number in numbers]
            content.rows.append((named, chosen_by, [cell(results, number) for number in numbers]))
        if system.breaches:
            first = system.breaches[:_MOST_BREACHES]
            content.breaches.append((named, first, len(system.breaches) - len(first)))
    return content if content.rows else None
