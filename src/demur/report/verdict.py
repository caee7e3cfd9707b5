"""Verdict: what each difference from the baseline says. Nothing is called better that was not compared fairly."""

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
from demur.results.leaderboard import deciding
from demur.results.table import Results

if TYPE_CHECKING:
    from demur.drawing.forest import IntervalRow

UNDECIDED = "undecided: the 95 % interval includes 0"
SIMULTANEOUS = "simultaneous 95 % interval"
REACHED_AT = "reached at"
_PAIR = 2


@dataclass(frozen=True, slots=True)
class Verdict:
    """The one thing to take away, what it rests on, who is missing, and which warnings bear on it."""

    headline: str
    sentences: tuple[str, ...]
    failures: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """The system a difference speaks for, or the reason why it speaks for none; neither where there is no interval.

    `by` is the name of the interval that decides, with its ends where another one is shown, and `doubt` says why a
    winner is not to be relied on.
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
    """What the difference with this key says of the two systems it is between.

    Decided at 95 %, whatever other interval is shown: no level of one's choice decides. The difference that was named
    beforehand is decided by its recommended interval, all others by the one that holds for all of them at once.
    """
    quantity, contrast = Measure.of(key.quantity).quantity, results.get(key)
    if not quantity.judged or contrast is None or math.isnan(contrast.value) or key.minus is None:
        return Decision()
    unfair = why_not_comparable(results, key) or results.why_nothing_decides
    usual = contrast.recommended
    if unfair or usual is None:
        return Decision(None, unfair)
    interval, by = deciding(contrast) or usual, "95 % interval"
    if contrast.requested is not None:
        by = f"recommended 95 % interval {interval_text(usual)}"
    if contrast.simultaneous is not None and not usual.low <= 0 <= usual.high:
        by = SIMULTANEOUS
    if interval.low <= 0 <= interval.high:
        return Decision(None, UNDECIDED, by)
    subtracted = str(key.minus.value)
    larger, smaller = (key.system, subtracted) if interval.low > 0 else (subtracted, key.system)
    return Decision(larger if quantity.better == "higher" else smaller, by=by, doubt=_doubt(results, key))


def _doubt(results: Results, key: Key) -> str:
    """Why a difference that excludes 0 is not to be relied on: too few clusters differ, or bear on its sides."""
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
            limit, what = limits[interval.decided_by]
            if interval.count < limit:
                return f"too few {results.study.noun}s {what}"
    return ""


def _without_a_loss(results: Results, key: Key) -> bool:
    """Whether a number has no interval because nothing in its range has a loss: fewer cannot bear on it."""
    codes = ("no_errors", "few_informative_clusters")
    return any(warning.code in codes and warning.about.matches(key) for warning in results.warnings)


def why_not_comparable(results: Results, key: Key) -> str:
    """Why the two sides of a difference are not measured alike."""
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
    results: Results, warnings: Iterable[ResultWarning], codes: Iterable[str], whose: Callable[[ResultWarning], str]
) -> Iterator[str]:
    """Each kind of warning that bears on the verdict, once, with the name of the system it is about, if any."""
    first = {warning.code: warning for warning in reversed([*warnings])}
    for warning in (first[code] for code in codes if code in first):
        message, name = warning.message(results.study.noun), whose(warning)
        yield f"{name}: {message}." if name else f"{message[:1].upper()}{message[1:]}."


def says(results: Results, pair: Pair, key: Key) -> str:
    """What a difference says, as a column of a console has room for it."""
    difference, decision = results[key], decide(results, key)
    if Measure.of(key.quantity).quantity.parameter is COVERAGE and math.isnan(difference.value):
        return "beyond Cmax"
    if decision.winner is None:
        return f"undecided: the {decision.by} includes 0" if decision.reason == UNDECIDED else decision.reason
    winner = f"{pair.named(decision.winner).label} is better{decision.doubt and f', but {decision.doubt}'}"
    return winner if difference.requested is None else f"{winner}: {decision.by}"


def says_in_full(results: Results, pair: Pair, key: Key) -> str:
    """The same in a sentence of its own."""
    text = says(results, pair, key)
    return f"not comparable: {text}" if text.startswith(REACHED_AT) else text


def is_measured(results: Results, estimate: Estimate) -> bool:
    """Whether answers stand behind a number: the areas of no answers are 0 by convention, and measure nothing."""
    quantity, key = Measure.of(estimate.key.quantity).quantity, estimate.key
    if math.isnan(estimate.value) or quantity.loss_free:
        return not math.isnan(estimate.value)
    silent = quantity.parameter is CUT and nothing_common(results, key.confidence)
    return results.curves[key.system, key.confidence].defined and not silent


def nothing_common(results: Results, confidence: str) -> bool:
    """Whether no two systems answer anything, though areas are to be cut at a coverage they have in common."""
    if results.selective.area_coverage is not None:
        return False
    return sum(results.curves[system, confidence].defined for system in results.systems) < _PAIR


class Difference(NamedTuple):
    """A number minus that of the baseline, what follows, and the shares of the replicates that favour each of them."""

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
        """What a picture shows of it."""
        winner, fair = self.decision.winner, self.decision.comparable
        style = "neither" if winner is None else self.pair.named(winner).style
        return interval_row(self.name, style, self.estimate.value, self.interval, comparable=fair)

    @property
    def has_margin(self) -> bool:
        """Whether a margin can be tried: on a risk of both systems at the same coverage."""
        return self.panel == "risk" and (self.decision.winner is not None or self.decision.reason == UNDECIDED)


def differences(results: Results, confidence: str, pair: Pair) -> list[Difference]:
    """The differences that can be drawn on a few scales: areas up to a coverage, risks there, shares answered."""
    study = results.selective
    measures = {name: Measure.of(name).quantity for name in study.names("table")}
    cut = [name for name, quantity in measures.items() if quantity.parameter is CUT]
    panels = {
        "area": [] if nothing_common(results, confidence) else cut,
        "risk": study.names_at_coverages,
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
