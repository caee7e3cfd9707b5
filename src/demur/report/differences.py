"""Differences: every other system minus the baseline, what each difference says, and how it is drawn."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from demur.drawing.forest import ForestPanel, IntervalRow
from demur.inference.estimates import Estimate
from demur.inference.key import Key
from demur.intervals import Interval
from demur.quantities import Measure
from demur.quantities.registry import COVERAGE, CUT
from demur.report.names import Pair
from demur.report.text import UNDEFINED, shown_interval, title_of
from demur.report.verdict import REACHED_AT, UNDECIDED, Decision, decide
from demur.results.table import Results


def says(results: Results, pair: Pair, key: Key) -> str:
    """What a difference says, as a column of a console has room for it."""
    if Measure.of(key.quantity).quantity.parameter is COVERAGE and math.isnan(results[key].value):
        return "beyond Cmax"
    decision = decide(results, key)
    return decision.reason if decision.winner is None else f"{pair.named(decision.winner).word} is better"


def says_in_full(results: Results, pair: Pair, key: Key) -> str:
    """The same in a sentence of its own."""
    text = says(results, pair, key)
    return f"not comparable: {text}" if text.startswith(REACHED_AT) else text


def is_measured(results: Results, estimate: Estimate) -> bool:
    """Whether answers stand behind a number: the areas of no answers are 0 by convention, and measure nothing."""
    quantity, key = Measure.of(estimate.key.quantity).quantity, estimate.key
    if math.isnan(estimate.value):
        return False
    if quantity.loss_free:
        return True
    silent = quantity.parameter is CUT and nothing_common(results, key.confidence)
    return results.curves[key.system, key.confidence].defined and not silent


def nothing_common(results: Results, confidence: str) -> bool:
    """Whether there is no coverage that all systems reach, though areas are to be cut there."""
    if results.selective.area_coverage is not None:
        return False
    return not all(results.curves[system, confidence].defined for system in results.systems)


@dataclass(frozen=True, slots=True)
class Difference:
    """One number of a system minus that of the baseline, and what follows from it."""

    panel: str
    name: str
    estimate: Estimate
    interval: Interval | None
    decision: Decision
    says: str
    pair: Pair

    @property
    def drawn(self) -> IntervalRow:
        """What a picture shows of it."""
        value = None if math.isnan(self.estimate.value) else self.estimate.value
        interval = None if self.interval is None else (self.interval.low, self.interval.high)
        winner = self.decision.winner
        style = "neither" if winner is None else self.pair.named(winner).style
        return IntervalRow(self.name, style, value, interval, comparable=self.decision.comparable)

    @property
    def has_margin(self) -> bool:
        """Whether a margin can be tried: on a risk of both systems at the same coverage."""
        return self.panel == "risk" and (self.decision.winner is not None or self.decision.reason == UNDECIDED)

    @property
    def shares(self) -> tuple[str, str]:
        """How many of the replicates favour each of the two, in the order of the results."""
        if math.isnan(self.estimate.p_value):
            return UNDEFINED, UNDEFINED
        higher = Measure.of(self.estimate.key.quantity).quantity.better == "higher"
        above, below = f"{self.estimate.above:.1%}", f"{self.estimate.below:.1%}"
        other, baseline = (above, below) if higher else (below, above)
        return (other, baseline) if self.pair.first is self.pair.other else (baseline, other)


def panels_of(pair: Pair) -> dict[str, ForestPanel]:
    """What the differences of a pair are of, and what either side of zero means."""
    other, base = pair.other.word, pair.baseline.word
    better = (f"← {other} is better", f"{base} is better →")
    return {
        "area": ForestPanel("Areas up to a common coverage", better),
        "risk": ForestPanel("Risk at a coverage", better, margin=True),
        "coverage": ForestPanel("Share of the items answered", (f"← {base} answers more", f"{other} answers more →")),
    }


def differences(results: Results, confidence: str, pair: Pair) -> tuple[Difference, ...]:
    """The differences that can be drawn on a few scales: areas up to a coverage, risks there, shares answered."""
    return tuple(
        _difference(results, pair, panel, pair.key(name, confidence)) for panel, name in _names(results, confidence)
    )


def _names(results: Results, confidence: str) -> Iterator[tuple[str, str]]:
    study = results.selective
    measures = [(name, Measure.of(name).quantity) for name in study.names("table")]
    if not nothing_common(results, confidence):
        yield from (("area", name) for name, quantity in measures if quantity.parameter is CUT)
    yield from (("risk", name) for name in study.names_at_coverages)
    yield from (("coverage", name) for name, quantity in measures if quantity.loss_free)


def _difference(results: Results, pair: Pair, panel: str, key: Key) -> Difference:
    estimate = results[key]
    return Difference(
        panel=panel,
        name=title_of(results[Key(pair.first.system, key.quantity, key.confidence)]),
        estimate=estimate,
        interval=shown_interval(results, estimate),
        decision=decide(results, key),
        says=says_in_full(results, pair, key),
        pair=pair,
    )
