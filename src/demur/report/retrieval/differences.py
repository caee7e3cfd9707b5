"""Paired differences of systems: each against the baseline, on the same queries and in the same draws."""

import math
from dataclasses import dataclass, replace

from demur.drawing.forest import ForestPanel, forest
from demur.inference.estimates import Estimate
from demur.quantities import Measure
from demur.report.differences import Difference
from demur.report.names import Pair
from demur.report.retrieval.places import (
    Place,
    against_baseline,
    at_depth,
    by_place,
    others_of,
    primary_depth,
    short,
    systems_of,
    title,
)
from demur.report.retrieval.sentences import open_question
from demur.report.sections import Content, section
from demur.report.text import UNDEFINED, shown_interval
from demur.report.verdict import decide
from demur.results.table import Results

_MOST_IN_FULL = 2
_IN_WORDS = (
    "Paired differences, the system minus the baseline, with intervals; the table beneath holds the same numbers."
)


@dataclass(frozen=True, slots=True)
class RetrievalDifference(Difference):
    """A difference of two systems; a draw in which both are equal counts half for each."""

    @property
    def better(self) -> str:
        """Which way the number is better; of a gate's curve, where it favours a system at all."""
        quantity = Measure.of(self.estimate.key.quantity).quantity
        return "neither" if quantity.of == "curve" and not quantity.comparable else quantity.better

    @property
    def shares(self) -> tuple[str, str]:
        """How many of the replicates favour the baseline, and how many the other system."""
        above = (1 + self.estimate.above - self.estimate.below) / 2
        if self.better == "neither" or math.isnan(above):
            return UNDEFINED, UNDEFINED
        baseline, other = (1 - above, above) if self.better == "higher" else (above, 1 - above)
        return f"{baseline:.1%}", f"{other:.1%}"


@section("differences", "Paired differences", task="retrieval", order=70)
def system_differences(results: Results) -> list[Content] | None:
    """Every system against the baseline, or nothing where there is one system."""
    systems = {system.system: system for system in systems_of(results)}
    base = systems.get(results.study.baseline or "")
    if base is None:
        return None
    return [_against(results, Pair(systems[name], base, base, systems[name])) for name in others_of(results)]


def differences_by_place(results: Results, system: str) -> dict[Place, list[Estimate]]:
    """The differences of a system from the baseline; means over criteria are in the file alone."""
    return by_place(results.where(system=system, group=None, minus=against_baseline(results)))


def _against(results: Results, pair: Pair) -> Content:
    """One system against the baseline: drawn at the depth of the verdict, and listed at all of them.

    Of many systems the other depths are only counted: the file holds them, and the page stays small.
    """
    places = differences_by_place(results, pair.other.system)
    names, panels = [short(system.name) for system in (pair.baseline, pair.other)], dict[str, ForestPanel]()
    drawn, others = list[tuple[str, Difference]](), list[tuple[str, Difference]]()
    for place, estimate in ((place, estimate) for place, members in places.items() for estimate in members):
        row = _difference(results, pair, place, estimate)
        if not row.panel or not at_depth(estimate.key, primary_depth(results)):
            others.append((place.title, row))
            continue
        drawn.append((place.title, row))
        first, second = names if row.better == "higher" else names[::-1]
        empty = ForestPanel(short(place.title), (f"← {first} is better", f"{second} is better →"))
        panel = panels.get(row.panel, empty)
        panels[row.panel] = replace(panel, rows=[*panel.rows, row.drawn])
    kept = others if len(others_of(results)) <= _MOST_IN_FULL else []
    svg, more = forest([*panels.values()], _IN_WORDS).svg, len(others) - len(kept)
    shown = {"svg": svg, "drawn": drawn, "others": kept, "more": more}
    return {"name": pair.other.name, "baseline": pair.baseline.name, **shown}


def _difference(results: Results, pair: Pair, place: Place, estimate: Estimate) -> RetrievalDifference:
    decision = decide(results, estimate.key)
    winner = decision.winner
    row = RetrievalDifference(
        panel="",
        name=title(estimate.key),
        estimate=estimate,
        interval=shown_interval(results, estimate),
        decision=decision,
        says=open_question(results, estimate.key) if winner is None else f"{pair.named(winner).name} is better",
        pair=pair,
    )
    return row if row.better == "neither" else replace(row, panel=f"{place} {row.better}")
