"""Where else in an artifact of `demur retrieval` a figure may come from, and why one cannot be recomputed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demur.audit.own_selection import needs_scores
from demur.audit.plain_intervals import FEW_DRAWS
from demur.errors import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from demur.audit.own_queries import Path
    from demur.audit.own_system import OneSystem

_SWAPS: dict[str, tuple[str, str]] = {
    "positives_only": ("all_queries", "other population: all queries"),
    "all_queries": ("positives_only", "other population: queries with gold only"),
    "micro": ("macro", "macro: the mean over criteria, not pairs pooled"),
    "macro": ("micro", "micro: pairs pooled, not the mean over criteria"),
}
_COLUMNS = {"detection": "prob", "gate": "prob", "dynamic_k": "selected", "folds": "fold"}
_FROM_DRAWS = ("ci95", "ci95_recommended", "std_error")


def other_places(place: Path, systems: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """The places of the same figure of another system, population or kind of mean, by what they are."""
    kind, system, *inner = place if len(place) > 1 else (*place, "")
    if kind == "systems":
        for other in systems:
            if other != system:
                yield f"it is the figure of {shown(other)}", (kind, other, *inner)
    for number, part in enumerate(inner, 2):
        names = part.split("/")  # differences name their group in one word
        for at, name in enumerate(names):
            if name in _SWAPS:
                other, way = _SWAPS[name]
                swapped = "/".join([*names[:at], other, *names[at + 1 :]])
                yield way, (*place[:number], swapped, *place[number + 1 :])


def lacking(place: Path, systems: Mapping[str, OneSystem], baseline: str | None) -> str:
    """Why a figure cannot be recomputed."""
    named = [place[1]] if len(place) > 1 and place[0] in ("systems", "deltas") else []
    named += [baseline] if place[0] == "deltas" and baseline is not None else []
    for name in named:
        if name not in systems:
            return f"no system of the data is called {shown(name)}; say which column it is with --system NAME=COLUMN"
    if place[2:3] == ("gate",) and not all(systems[name].gate_can_be_drawn for name in named):
        return "posts times thresholds are too many to be drawn by plain counting"
    column = _column(place)
    if column and not all(systems[name].facts.having(column) for name in named):
        return f"it needs a column {column}, and the data have none"
    if any(part in _FROM_DRAWS for part in place[2:]):
        return f"it takes at least {FEW_DRAWS} draws in which there is a number: give more with --resamples"
    return "no known figure is called so"


def _column(place: Path) -> str | None:
    section, *inner = "/".join(place[2:]).split("/")
    if section == "policies" and inner and needs_scores(inner[0]):
        return "scores"
    return _COLUMNS.get(section)
