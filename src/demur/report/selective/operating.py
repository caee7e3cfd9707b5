"""Operating points for the page: all of every curve, packed, what is asked for first, and a point in words.

Which point meets what is asked for is looked up in the page; every number of a point is one of the results.
"""

import base64
import gzip
import json
from collections.abc import Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Any, NamedTuple

import numpy as np

from demur.decide.rule import Rule
from demur.drawing.picture import spread
from demur.errors import UserError, shown
from demur.quantities.coverage import Coverage
from demur.report.leaderboard import board_to_show
from demur.report.names import NamedSystem, systems_of
from demur.report.text import UNDEFINED, three, threshold_at
from demur.results.parts import CurveRecord
from demur.results.table import Results
from demur.types import Indices

MOST_POINTS = 60_000
_FIRST = "0.5"
_SPOKEN = 2
_DIGITS = 9
NO_INTERVAL = "no interval at this point"
ABSENT = {
    "coverage": "no threshold reaches this coverage",
    "risk": "no threshold meets this limit",
    "threshold": "accepts nothing",
}
ASKED = {"coverage": "a coverage of at least", "risk": "a risk of at most", "threshold": "a threshold of"}


class Mark(NamedTuple):
    """The threshold of a rule on the curve it belongs to: whose, under which confidence, and which point it takes."""

    rule: Rule
    system: str
    confidence: str
    point: int | None

    @property
    def words(self) -> str:
        """What is marked."""
        return "chosen threshold" if self.rule.guarantee is None else "certified threshold"


class Words(NamedTuple):
    """The words around the numbers of a point: a risk is a share of answers, or a mean loss."""

    percent: bool
    level: str

    @property
    def clause(self) -> str:
        """What a system does at an operating point."""
        wrong = "of which {risk} are wrong" if self.percent else "with a mean loss of {risk}"
        return "{who} answers {accepted} of {items} items ({coverage}), " + wrong + " ({interval})"

    @property
    def unit(self) -> str:
        """What follows a number."""
        return "%" if self.percent else ""

    def number(self, risk: float) -> str:
        """A risk to three digits, without its unit."""
        return three(100 * risk if self.percent else risk)

    def risk(self, risk: float) -> str:
        """A risk to three digits."""
        return f"{self.number(risk)}{self.unit}"

    def interval(self, ends: tuple[str, str] | None) -> str:
        """The interval of the risk in words."""
        return f"{self.level} {ends[0]}{self.unit} to {ends[1]}{self.unit}" if ends else NO_INTERVAL


def words_of(results: Results) -> Words:
    """The words for the loss of the results; the intervals at operating points are at 95 %."""
    return Words(results.selective.loss.name == "zero_one", "95 % interval")


def marked(results: Results, rule: Rule) -> Mark:
    """Where a rule belongs: the system it was made from, or the only one there is."""
    study = results.selective
    if rule.signal not in study.confidences:
        names = ", ".join(map(shown, study.confidences))
        raise UserError(f"the rule is about the signal {shown(rule.signal)}, and these results are about {names}")
    made_from = {(source.sha256, source.mode) for source in rule.inputs}
    pairs = zip(results.systems, study.inputs, strict=True)
    own = [system for system, source in pairs if source.sha256 and (source.sha256, source.mode) in made_from]
    if not own and len(results.systems) > 1:
        raise UserError("the rule was made from none of the files of these results: nobody knows whose threshold it is")
    system = (*own, *results.systems)[0]
    record = results.curves[system, rule.signal]
    return Mark(rule, system, rule.signal, None if rule.threshold is None else at_threshold(record, rule.threshold))


def at_threshold(record: CurveRecord, threshold: float) -> int | None:
    """The operating point of what is at least (or, where lower is surer, at most) a threshold."""
    scale = -1 if record.lower_is_surer else 1
    accepted = np.flatnonzero(scale * np.asarray(record.curve.threshold) >= scale * threshold)
    return int(accepted[-1]) if len(accepted) else None


def at_coverage(record: CurveRecord, needed: int, units: int) -> int | None:
    """The first operating point that accepts so many units."""
    reaching = np.flatnonzero(counts_of(record, units) >= needed)
    return int(reaching[0]) if len(reaching) else None


def counts_of(record: CurveRecord, units: int) -> Indices:
    """How many units each operating point accepts."""
    counts: Indices = np.rint(np.asarray(record.curve.coverage, dtype=float) * units).astype(np.intp)
    return counts


class Start(NamedTuple):
    """What the page asks for first, and the point each system takes there under a confidence."""

    way: str
    text: str
    shown: str
    points: list[list[int | None]]


def start_of(results: Results, mark: Mark | None) -> Start:
    """The threshold of a rule; or half of the items, or as many as every system that answers anything reaches."""
    study, names = results.selective, results.selective.confidences
    records = [[results.curves[system, name] for system in results.systems] for name in names]
    if mark is not None and mark.rule.threshold is not None:
        threshold = mark.rule.threshold
        text = repr(threshold).removesuffix(".0")
        points = [[at_threshold(each, threshold) for each in row] for row in records]
        return Start("threshold", text, text, points)
    needed = Coverage.of(_FIRST).units_needed(study.units)
    reached = [int(counts_of(each, study.units)[-1]) for each in records[0] if each.defined]
    needed = min([needed, *reached])
    points = [[at_coverage(each, needed, study.units) for each in row] for row in records]
    share = f"{100 * needed / max(study.units, 1):.4g}%"
    return Start("coverage", share, f"{needed / max(study.units, 1):.1%}", points)


def point_cells(results: Results, record: CurveRecord, point: int | None, way: str) -> tuple[str, ...]:
    """An operating point as a row: threshold, coverage, accepted, risk, interval, loss per 100 items."""
    if point is None:
        return (ABSENT[way], *[UNDEFINED] * 5)
    units, words, curve = results.selective.units, words_of(results), record.curve
    ends = ends_at(words, record, point)
    per_100 = 100 * results.selective.loss.raw_multiplier * curve.generalized_risk[point]
    return (
        threshold_at(record, point),
        f"{curve.coverage[point]:.1%}",
        f"{round(curve.coverage[point] * units)} of {units}",
        words.risk(curve.selective_risk[point]),
        f"[{ends[0]}, {ends[1]}]" if ends else NO_INTERVAL,
        three(per_100),
    )


def ends_at(words: Words, record: CurveRecord, point: int) -> tuple[str, str] | None:
    """The ends of the interval of the risk at a point, if there is one."""
    found = record.risk_intervals
    low, high = (None, None) if found is None else (found.low[point], found.high[point])
    return None if low is None or high is None else (words.number(low), words.number(high))


def spoken(results: Results) -> list[NamedSystem]:
    """Whom the sentence names: both of two systems, and of many the first of the leaderboard."""
    systems = systems_of(results)
    if len(systems) <= _SPOKEN:
        return [*systems]
    board = board_to_show(results)
    first = board.standings[0].system if board else systems[0].system
    return [system for system in systems if system.system == first]


def spoken_sentence(results: Results, start: Start, confidence: int) -> str:
    """What the systems do at the first operating point, to be read aloud."""
    words, study, clauses = words_of(results), results.selective, []
    for system in spoken(results):
        record = results.curves[system.system, study.confidences[confidence]]
        point = start.points[confidence][results.systems.index(system.system)]
        if point is None:
            clauses.append(f"{system.name}: {ABSENT[start.way]}")
            continue
        clause = words.clause.format(
            who=system.name,
            accepted=round(record.curve.coverage[point] * study.units),
            items=study.units,
            coverage=f"{record.curve.coverage[point]:.1%}",
            risk=words.risk(record.curve.selective_risk[point]),
            interval=words.interval(ends_at(words, record, point)),
        )
        clauses.append(clause)
    return f"For {ASKED[start.way]} {start.shown}: {'; '.join(clauses)}."


def operating_data(results: Results, mark: Mark | None) -> dict[str, Any]:
    """Everything the page's script knows."""
    study, systems, start, words = results.selective, systems_of(results), start_of(results, mark), words_of(results)
    total = sum(len(record.curve.coverage) for record in results.curves.values())
    most = MOST_POINTS // max(len(results.curves), 1) if total > MOST_POINTS else total
    packed = [
        [packed_points(results, results.curves[system, name], most) for system in results.systems]
        for name in study.confidences
    ]
    content = json.dumps(packed, allow_nan=False, separators=(",", ":")).encode()
    return {
        "items": study.units,
        "multiplier": study.loss.raw_multiplier,
        "systems": results.systems,
        "names": [system.name for system in systems],
        "spoken": [systems.index(system) for system in spoken(results)],
        "variants": [
            {"name": name, "lower": bool(results.curves[results.systems[0], name].lower_is_surer)}
            for name in study.confidences
        ],
        "words": {"asked": ASKED, "absent": ABSENT, "clause": words.clause, "level": words.level, "none": NO_INTERVAL},
        "percent": words.percent,
        "start": {"way": start.way, "text": start.text},
        "points": base64.b64encode(gzip.compress(content, mtime=0)).decode(),
    }


def packed_points(results: Results, record: CurveRecord, most: int) -> dict[str, Any]:
    """The points of a curve as columns: counts and sums of losses by their steps, thresholds as one types them.

    The sum of the losses, an integer where the losses are, gives the risk to the last bit. Of a curve with more points
    than a page can carry some are left out, but none that a limit of the risk would choose.
    """
    words, curve = words_of(results), record.curve
    kept = kept_points(curve.selective_risk, most)
    counts, multiplier = counts_of(record, results.selective.units)[kept], results.selective.loss.raw_multiplier
    risks = np.asarray(curve.selective_risk, dtype=float)[kept]
    sums = np.rint(risks * counts * multiplier)
    exact = bool((sums / np.maximum(counts * multiplier, 1) == risks).all())
    scale = -1 if record.lower_is_surer else 1
    typed = [(threshold_at(record, i), _reaching(scale * curve.threshold[i], scale)) for i in kept.tolist()]
    ends = [ends_at(words, record, i) or ("", "") for i in kept.tolist()]
    return {
        "all": len(curve.coverage),
        "count": np.diff(counts, prepend=0).tolist(),
        "sum": np.diff(sums, prepend=0).astype(np.int64).tolist() if exact else None,
        "risk": None if exact else risks.tolist(),
        "typed": " ".join(text if scale * whole <= scale * float(text) else f"{text}={whole}" for text, whole in typed),
        "low": " ".join(low or "-" for low, _ in ends),
        "high": " ".join(high or "-" for _, high in ends),
    }


def _reaching(threshold: float, scale: int) -> float:
    """The strictest threshold of nine digits that still accepts what an operating point accepts.

    >>> _reaching(2 / 3, 1), _reaching(-2 / 3, -1)
    (0.666666666, 0.666666667)
    """
    return scale * float(Context(prec=_DIGITS, rounding=ROUND_FLOOR).create_decimal(Decimal(repr(threshold))))


def kept_points(risk: Sequence[float], most: int) -> Indices:
    """All points of a curve, or some of very many: those a limit of the risk would choose, and others spread evenly.

    >>> kept_points([0.1, 0.3, 0.2], 3).tolist(), len(kept_points([0.5] * 1000, 10))
    ([0, 1, 2], 10)
    """
    count = len(risk)
    if count <= most:
        return np.arange(count)
    falling = np.minimum.accumulate(np.asarray(risk, dtype=float)[::-1])[::-1]
    chosen = np.flatnonzero(np.append(falling[:-1] < falling[1:], True))
    return np.unique(np.concatenate([chosen, spread(count, most)]))
