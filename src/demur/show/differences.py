"""Differences from the baseline as rows of a forest plot: panel, interval, decision and conclusion."""

import math
from typing import TYPE_CHECKING, NamedTuple

from demur.inference.estimates import Estimate
from demur.inference.intervals import Interval
from demur.inference.key import Key
from demur.quantities import Measure
from demur.quantities.registry import CUT
from demur.results.table import Results
from demur.show.names import Pair
from demur.show.statements.decisions import Conclusion, Decision, conclusion, nothing_common
from demur.show.text import UNDEFINED, interval_row, shown_interval, title_of

if TYPE_CHECKING:
    from demur.drawing.forest import IntervalRow


class Difference(NamedTuple):
    """A difference from the baseline, with its conclusion and the shares of replicates that favour each system."""

    panel: str
    name: str
    estimate: Estimate
    interval: Interval | None
    conclusion: Conclusion
    pair: Pair
    shares: tuple[str, str]

    @property
    def decision(self) -> Decision:
        """The decision that the difference supports."""
        return self.conclusion.decision

    @property
    def drawn(self) -> "IntervalRow":
        """The difference as a row of a forest plot."""
        winner, fair = self.decision.winner, self.decision.comparable
        style = "neither" if winner is None else self.pair.named(winner).style
        return interval_row(self.name, style, self.estimate.value, self.interval, comparable=fair)

    @property
    def has_margin(self) -> bool:
        """Whether a non-inferiority margin applies: it does to risks of both systems at the same coverage."""
        return self.panel == "risk" and (self.decision.winner is not None or self.decision.undecided)


def differences(results: Results, confidence: str, pair: Pair) -> list[Difference]:
    """The differences to draw, by panel: areas up to a coverage, risks at coverages and of all answers, coverages."""
    study = results.selective
    measures = {name: Measure.of(name).quantity for name in study.names("table")}
    cut = [name for name, quantity in measures.items() if quantity.parameter is CUT]
    panels = {
        "area": [] if nothing_common(results, confidence) else cut,
        "risk": study.names_at_coverages,
        "all": [name for name, quantity in measures.items() if quantity.better == "neither"],
        "coverage": [name for name, quantity in measures.items() if quantity.loss_free],
    }
    rows = []
    for panel, key in ((panel, pair.key(name, confidence)) for panel, names in panels.items() for name in names):
        estimate, title = results[key], title_of(results[Key(pair.first.system, key.quantity, confidence)])
        shares = (UNDEFINED, UNDEFINED)
        if not math.isnan(estimate.p_value):
            above_is_first = (Measure.of(key.quantity).quantity.better == "higher") == (pair.first is pair.other)
            above, below = f"{estimate.above:.1%}", f"{estimate.below:.1%}"
            shares = (above, below) if above_is_first else (below, above)
        concluded, interval = conclusion(results, key, pair.labels), shown_interval(results, estimate)
        rows.append(Difference(panel, title, estimate, interval, concluded, pair, shares))
    return rows
