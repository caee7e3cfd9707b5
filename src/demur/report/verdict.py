"""Verdicts: what each difference from the baseline decides, and whether its sides are comparable."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from demur.inference.estimates import Estimate
from demur.inference.intervals import Interval
from demur.inference.key import Key
from demur.inference.warnings import FEW_DISCORDANT, FEW_WITH_GOLD, ResultWarning
from demur.quantities import Measure
from demur.quantities.registry import COVERAGE, CUT
from demur.report.names import Pair
from demur.report.text import UNDEFINED, interval_row, interval_text, shown_interval, title_of
from demur.results.gaps import deciding
from demur.results.table import Results

if TYPE_CHECKING:
    from demur.drawing.forest import IntervalRow

UNDECIDED = "undecided: the 95 % interval includes 0"
SIMULTANEOUS = "simultaneous 95 % interval"
REACHED_AT = "reached at"
_PAIR = 2


@dataclass(frozen=True, slots=True)
class Verdict:
    """The main conclusion, its basis, failures that limit it, and the warnings about it."""

    headline: str
    sentences: tuple[str, ...]
    failures: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """The system that a difference favours, or the reason why it favours none; neither without an interval.

    `by` names the deciding interval, with its ends where another one is shown, and `doubt` is a reason not to rely on
    the winner.
    """

    winner: str | None = None
    reason: str = ""
    by: str = "95 % interval"
    doubt: str = ""

    @property
    def comparable(self) -> bool:
        """Whether the two sides may be compared, whatever the comparison shows."""
        return self.reason in ("", UNDECIDED)


def decide(results: Results, key: Key) -> Decision:
    """The decision about two systems by the difference with this key.

    The level is 95 %, whatever other interval is shown. The difference that was named beforehand is decided by its
    recommended interval, all others by their simultaneous one.
    """
    quantity, contrast = Measure.of(key.quantity).quantity, results.get(key)
    if contrast is None or math.isnan(contrast.value) or key.minus is None:
        return Decision()
    if not quantity.judged:
        return Decision(None, why_not_comparable(results, key))
    unfair = why_not_comparable(results, key) or results.why_nothing_decides
    recommended = contrast.recommended
    if unfair or recommended is None:
        return Decision(None, unfair)
    interval, by = deciding(contrast) or recommended, "95 % interval"
    if contrast.requested is not None:
        by = f"recommended 95 % interval {interval_text(recommended)}"
    if contrast.simultaneous is not None and not recommended.low <= 0 <= recommended.high:
        by = SIMULTANEOUS
    if interval.low <= 0 <= interval.high:
        return Decision(None, UNDECIDED, by)
    subtracted = str(key.minus.value)
    larger, smaller = (key.system, subtracted) if interval.low > 0 else (subtracted, key.system)
    return Decision(larger if quantity.better == "higher" else smaller, by=by, doubt=_doubt(results, key))


def _doubt(results: Results, key: Key) -> str:
    """Why a difference that excludes 0 is not reliable: too few clusters differ, or bear on its sides."""
    limits = {
        "discordant_clusters": (FEW_DISCORDANT, "differ"),
        "informative_clusters": (Measure.of(key.quantity).quantity.enough, "hold an error"),
        "clusters_with_gold": (FEW_WITH_GOLD, "hold gold"),
    }
    sides = [replace(key, system=name, minus=None) for name in (key.system, str(key.minus and key.minus.value))]
    for estimate in map(results.get, (key, *sides)):
        interval = None if estimate is None else estimate.recommended
        if estimate is not None and interval is None and _without_a_loss(results, estimate.key):
            return f"too few {results.study.noun}s {limits['informative_clusters'][1]}"
        if interval is not None and interval.count is not None and interval.decided_by in limits:
            limit, condition = limits[interval.decided_by]
            if interval.count < limit:
                return f"too few {results.study.noun}s {condition}"
    return ""


def _without_a_loss(results: Results, key: Key) -> bool:
    """Whether a number has no interval because no answer in its range has a loss."""
    codes = ("no_errors", "few_informative_clusters")
    return any(warning.code in codes and warning.about.matches(key) for warning in results.warnings)


def why_not_comparable(results: Results, key: Key) -> str:
    """Why the two sides of a difference are not comparable; empty if they are."""
    comparable = Measure.of(key.quantity).quantity.comparable
    if not comparable or key.minus is None:
        return ""
    pair = [system for system in results.systems if system in (key.system, key.minus.value)]
    curves = [results.curves[system, key.confidence] for system in pair]
    if not all(curve.defined for curve in curves):
        return "one side answers nothing" if any(curve.defined for curve in curves) else "nothing is answered"
    if comparable == "cmax":
        return "" if curves[0].cmax == curves[1].cmax else "not comparable: Cmax differs"
    first, second = (results[Key(system, key.quantity, key.confidence)].at for system in pair)
    if comparable == "range":
        return "" if first == second else "not comparable: one side ends before"
    return "" if first is None or second in (first, None) else f"{REACHED_AT} {first:.3g} and {second:.3g}"


def bearing_warnings(
    results: Results, warnings: Iterable[ResultWarning], codes: Iterable[str], system_of: Callable[[ResultWarning], str]
) -> Iterator[str]:
    """Each relevant kind of warning once, with the name of the system it is about, if any."""
    first = {warning.code: warning for warning in reversed([*warnings])}
    for warning in (first[code] for code in codes if code in first):
        message, name = warning.message(results.study.noun), system_of(warning)
        yield f"{name}: {message}." if name else f"{message[:1].upper()}{message[1:]}."


def says(results: Results, pair: Pair, key: Key) -> str:
    """What a difference decides, in a few words."""
    difference, decision = results[key], decide(results, key)
    if Measure.of(key.quantity).quantity.parameter is COVERAGE and math.isnan(difference.value):
        return "beyond Cmax"
    if decision.winner is None:
        return f"undecided: the {decision.by} includes 0" if decision.reason == UNDECIDED else decision.reason
    winner = f"{pair.named(decision.winner).label} is better{decision.doubt and f', but {decision.doubt}'}"
    return winner if difference.requested is None else f"{winner}: {decision.by}"


def says_in_full(results: Results, pair: Pair, key: Key) -> str:
    """What a difference decides, in words that stand alone."""
    text = says(results, pair, key)
    return f"not comparable: {text}" if text.startswith(REACHED_AT) else text


def is_measured(results: Results, estimate: Estimate) -> bool:
    """Whether a number is based on answers: the area of no answers is 0 by convention."""
    quantity, key = Measure.of(estimate.key.quantity).quantity, estimate.key
    if math.isnan(estimate.value) or quantity.loss_free:
        return not math.isnan(estimate.value)
    silent = quantity.parameter is CUT and nothing_common(results, key.confidence)
    return results.curves[key.system, key.confidence].defined and not silent


def nothing_common(results: Results, confidence: str) -> bool:
    """Whether areas are cut at the common coverage, but fewer than two systems answer anything."""
    if results.selective.area_coverage is not None:
        return False
    return sum(results.curves[system, confidence].defined for system in results.systems) < _PAIR


class Difference(NamedTuple):
    """A difference from the baseline, the decision, and the shares of replicates that favour each system."""

    panel: str
    name: str
    estimate: Estimate
    interval: Interval | None
    decision: Decision
    says: str
    pair: Pair
    shares: tuple[str, str]

    @property
    def drawn(self) -> "IntervalRow":
        """The difference as a row of a picture."""
        winner, fair = self.decision.winner, self.decision.comparable
        style = "neither" if winner is None else self.pair.named(winner).style
        return interval_row(self.name, style, self.estimate.value, self.interval, comparable=fair)

    @property
    def has_margin(self) -> bool:
        """Whether a margin can be tested: on risks of both systems at the same coverage."""
        return self.panel == "risk" and (self.decision.winner is not None or self.decision.reason == UNDECIDED)


def differences(results: Results, confidence: str, pair: Pair) -> list[Difference]:
    """The differences to draw, in panels: areas up to a coverage, risks at coverages and of all answers, coverages."""
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
        interval, says = shown_interval(results, estimate), says_in_full(results, pair, key)
        shares = (UNDEFINED, UNDEFINED)
        if not math.isnan(estimate.p_value):
            above_is_first = (Measure.of(key.quantity).quantity.better == "higher") == (pair.first is pair.other)
            above, below = f"{estimate.above:.1%}", f"{estimate.below:.1%}"
            shares = (above, below) if above_is_first else (below, above)
        rows.append(Difference(panel, title, estimate, interval, decide(results, key), says, pair, shares))
    return rows
