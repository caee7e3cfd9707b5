"""What is shown: selections and policies side by side, and which selections break the bounds, by their names alone."""

from typing import Any

from demur.inference.estimates import Estimate
from demur.report.retrieval.places import cell, pooled_places, systems_of, title
from demur.report.sections import Content, section
from demur.results.table import Results

_MOST_BREACHES = 50


def selections_of(results: Results, system: str) -> dict[str, list[Estimate]]:
    """The numbers of what a system shows, by what chooses it: the system itself, or a policy."""
    places = pooled_places(results, system).items()
    return {place.policy or "as selected": rows for place, rows in places if place.family == "selection"}


@section("shown", "What is shown", task="retrieval", order=60)
def what_is_shown(results: Results) -> Content | None:
    """What is shown of the lists, or nothing where nothing is selected."""
    columns, rows, breaches = list[str](), list[Any](), list[Any]()
    for named, system in zip(systems_of(results), results.retrieval.systems, strict=True):
        for chosen_by, numbers in selections_of(results, system.name).items():
            columns = [title(number.key) for number in numbers]
            rows.append((named, chosen_by, [cell(results, number) for number in numbers]))
        if system.breaches:
            first = system.breaches[:_MOST_BREACHES]
            breaches.append((named, first, len(system.breaches) - len(first)))
    return {"columns": columns, "rows": rows, "breaches": breaches} if rows else None
