"""Operating points for the page: the points of every curve, packed; the initial point; and points in words.

The script of the page looks up the point that meets a target; all its numbers are those of the results.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from demur.drawing.picture import spread
from demur.errors import UserError, shown
from demur.quantities.losses import is_share, takes_percent
from demur.results.file_models import CurveRecord
from demur.results.table import Results
from demur.sampling.coverage import Coverage
from demur.show.names import systems_of
from demur.show.statements.operating_points import (
    ABSENT,
    ASKED,
    LEVEL,
    NO_INTERVAL,
    OperatingPoints,
    risk_words,
    spoken,
)
from demur.show.text import UNDEFINED, three, threshold_at
from demur.types import Indices

if TYPE_CHECKING:
    from demur.show.shown_rule import ShownRule

MOST_POINTS = 60_000
_FIRST = "0.5"
_DIGITS = 9
_ROUNDING = 1e-12  # of shares that were subtracted


class Mark(NamedTuple):
    """The threshold of a rule as a mark on its curve: the system, the confidence and the operating point."""

    rule: ShownRule
    system: str
    confidence: str
    point: int | None

    @property
    def words(self) -> str:
        """The label of the mark."""
        return "certified threshold" if self.rule.is_certified else "chosen threshold"


def marked(results: Results, rule: ShownRule) -> Mark:
    """Locate a rule on its curve: of the system it was made from, or of the only one."""
    study = results.selective
    if rule.signal not in study.confidences:
        names = ", ".join(map(shown, study.confidences))
        raise UserError(f"the rule is about the signal {shown(rule.signal)}, and these results are about {names}")
    made_from = {(source.sha256, source.mode) for source in rule.inputs}
    pairs = zip(results.systems, study.inputs, strict=True)
    own = [system for system, source in pairs if source.sha256 and (source.sha256, source.mode) in made_from]
    if not own and len(results.systems) > 1:
        raise UserError("the rule was made from none of the files of these results: its system is not known")
    system = (*own, *results.systems)[0]
    record = results.curves[system, rule.signal]
    return Mark(rule, system, rule.signal, None if rule.threshold is None else at_threshold(record, rule.threshold))


def at_threshold(record: CurveRecord, threshold: float) -> int | None:
    """Index of the operating point that a threshold accepts; None if it accepts nothing."""
    scale = -1 if record.lower_is_surer else 1
    accepted = np.flatnonzero(scale * np.asarray(record.curve.threshold) >= scale * threshold)
    return int(accepted[-1]) if len(accepted) else None


def at_coverage(record: CurveRecord, needed: int, units: int) -> int | None:
    """Index of the first operating point that accepts at least `needed` units; None if there is none."""
    reaching = np.flatnonzero(counts_of(record, units) >= needed)
    return int(reaching[0]) if len(reaching) else None


def counts_of(record: CurveRecord, units: int) -> Indices:
    """The number of units that each operating point accepts."""
    counts: Indices = np.rint(np.asarray(record.curve.coverage, dtype=float) * units).astype(np.intp)
    return counts


class Start(NamedTuple):
    """The initial target of the page, and the operating point of each system under each confidence."""

    way: str
    text: str
    shown: str
    points: list[list[int | None]]


def start_of(results: Results, mark: Mark | None) -> Start:
    """The initial target: the threshold of a rule, half of the items, or the coverage all systems reach if less."""
    study, names = results.selective, results.selective.confidences
    records = [[results.curves[system, name] for system in results.systems] for name in names]
    if mark is not None and mark.rule.threshold is not None:
        threshold = mark.rule.threshold
        text = repr(threshold).removesuffix(".0")
        points = [[at_threshold(record, threshold) for record in row] for row in records]
        return Start("threshold", text, text, points)
    needed = Coverage.of(_FIRST).units_needed(study.units)
    reached = [int(counts_of(record, study.units)[-1]) for record in records[0] if record.defined]
    needed = min([needed, *reached])
    points = [[at_coverage(record, needed, study.units) for record in row] for row in records]
    share = f"{100 * needed / max(study.units, 1):.4g}%"
    return Start("coverage", share, f"{needed / max(study.units, 1):.1%}", points)


def point_cells(results: Results, record: CurveRecord, point: int | None, way: str) -> tuple[str, ...]:
    """An operating point as table cells: threshold, coverage, accepted, risk, interval, loss per 100 items."""
    if point is None:
        return (ABSENT[way], *[UNDEFINED] * 5)
    units, words, curve = results.selective.units, risk_words(results), record.curve
    ends = words.ends(record, point)
    per_100 = 100 * results.selective.loss.raw_multiplier * curve.generalized_risk[point]
    return (
        threshold_at(record, point),
        f"{curve.coverage[point]:.1%}",
        f"{round(curve.coverage[point] * units)} of {units}",
        words.risk(curve.selective_risk[point]),
        f"[{ends[0]}, {ends[1]}]" if ends else NO_INTERVAL,
        three(per_100),
    )


def points_at(results: Results, start: Start, confidence: int) -> OperatingPoints:
    """The statement on the systems at the initial operating point."""
    study, points = results.selective, []
    for system in spoken(results):
        record = results.curves[system.system, study.confidences[confidence]]
        points.append((system.name, record, start.points[confidence][results.systems.index(system.system)]))
    return OperatingPoints(start.way, start.shown, risk_words(results), study.units, tuple(points))


def operating_data(results: Results, mark: Mark | None) -> dict[str, Any]:
    """The data for the script of the page, as JSON values."""
    study, systems, start, words = results.selective, systems_of(results), start_of(results, mark), risk_words(results)
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
        "words": {"asked": ASKED, "absent": ABSENT, "clause": words.clause, "level": LEVEL, "none": NO_INTERVAL},
        "percent": words.percent,
        "shares": is_share(study.loss.name, study.loss.maximum),
        "takes_percent": takes_percent(study.loss.name, study.loss.maximum) and not _has_losses_above_1(results),
        "start": {"way": start.way, "text": start.text},
        "points": base64.b64encode(gzip.compress(content, mtime=0)).decode(),
    }


def _has_losses_above_1(results: Results) -> bool:
    curves = [record.curve for record in results.curves.values()]
    losses = [np.diff(np.asarray(curve.generalized_risk, dtype=float), prepend=0) for curve in curves]
    units = [np.diff(np.asarray(curve.coverage, dtype=float), prepend=0) for curve in curves]
    return any((loss > unit + _ROUNDING).any() for loss, unit in zip(losses, units, strict=True))


def packed_points(results: Results, record: CurveRecord, most: int) -> dict[str, Any]:
    """The points of a curve as columns: increments of counts and summed losses, and thresholds as text.

    The summed loss, an integer for integer losses, gives the risk to the last bit. Of a curve with more points than a
    page can hold some are left out, but none that a limit on the risk would choose.
    """
    words, curve = risk_words(results), record.curve
    points = kept_points(curve.selective_risk, most)
    counts, multiplier = counts_of(record, results.selective.units)[points], results.selective.loss.raw_multiplier
    risks = np.asarray(curve.selective_risk, dtype=float)[points]
    sums = np.rint(risks * counts * multiplier)
    exact = bool((sums / np.maximum(counts * multiplier, 1) == risks).all())
    scale = -1 if record.lower_is_surer else 1
    typed = [(threshold_at(record, i), _reaching(scale * curve.threshold[i], scale)) for i in points.tolist()]
    ends = [words.ends(record, i) or ("", "") for i in points.tolist()]
    return {
        "all": len(curve.coverage),
        "count": np.diff(counts, prepend=0).tolist(),
        "sum": np.diff(sums, prepend=0).astype(np.int64).tolist() if exact else None,
        "risk": None if exact else risks.tolist(),
        "typed": " ".join(text if scale * full <= scale * float(text) else f"{text}={full}" for text, full in typed),
        "low": " ".join(low or "-" for low, _ in ends),
        "high": " ".join(high or "-" for _, high in ends),
    }


def _reaching(threshold: float, scale: int) -> float:
    """The strictest threshold of nine digits that accepts the same answers as an operating point.

    >>> _reaching(2 / 3, 1), _reaching(-2 / 3, -1)
    (0.666666666, 0.666666667)
    """
    return scale * float(Context(prec=_DIGITS, rounding=ROUND_FLOOR).create_decimal(Decimal(repr(threshold))))


def kept_points(risk: Sequence[float], most: int) -> Indices:
    """Indices of the points of a curve to keep: those a limit on the risk would choose, and others spread evenly.

    >>> kept_points([0.1, 0.3, 0.2], 3).tolist(), len(kept_points([0.5] * 1000, 10))
    ([0, 1, 2], 10)
    """
    count = len(risk)
    if count <= most:
        return np.arange(count)
    falling = np.minimum.accumulate(np.asarray(risk, dtype=float)[::-1])[::-1]
    chosen = np.flatnonzero(np.append(falling[:-1] < falling[1:], True))
    return np.unique(np.concatenate([chosen, spread(count, most)]))
