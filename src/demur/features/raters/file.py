"""Raters and published points in the nested file: their models, and their members from the rows."""

import math
from collections.abc import Iterator

from demur.features.raters.gaps import ANSWERED_BY, both_key, gap_key, gap_verdict, system_key
from demur.files.strict_model import Count, Part, Share
from demur.inference.estimates import Estimate
from demur.inference.key import Group, Key
from demur.inference.warnings import OFTEN
from demur.results.json_v1_cells import written
from demur.results.parts import Many, Number, Pair
from demur.results.table import Results
from demur.types import Json


class GapNumbers(Part):
    """The risk of a point minus that of the system: positive where the system errs less."""

    value: Number
    ci95: Pair | None
    ci95_recommended: Pair | None
    ci95_simultaneous: Pair | None
    std_error: Number
    p_value: Share | None
    drop_rate: Share | None


class AnsweredByBoth(Part):
    """The units that the rater and the system answer: their risks, and the rater's minus the system's."""

    n: Count
    system: float
    rater: float
    delta: GapNumbers


class BesidePoint(Part):
    """A system beside one point: its risk at the coverage of the point, the gap, and the verdict."""

    system_risk_at_coverage: Number
    achieved: Share
    risk_gap: GapNumbers
    rater_risk_on_answered: Number
    answered_by_both: AnsweredByBoth | None
    verdict: str
    notes: Many[str]


def external_of(results: Results, system: str, confidence: str) -> Json | None:
    """The member `external` of a run; None without raters and points."""
    points = results.selective.external_points
    return {point.name: _beside(results, point.name, system, confidence) for point in points} if points else None


def _beside(results: Results, name: str, system: str, confidence: str) -> Json:
    gap, own = results[gap_key(name, system, confidence)], results[system_key(name, system, confidence)]
    both = results.get(both_key(name, system, minus=system))
    rater = results.get(both_key(name, system))
    answered: Json | None = None
    if both is not None and rater is not None:
        answered = {
            "n": int(results[Key(name, "answered", group=Group(ANSWERED_BY, system))].value),
            "system": results[both_key(system, name)].value,
            "rater": rater.value,
            "delta": _gap(both),
        }
    return {
        "system_risk_at_coverage": written(own, "value"),
        "achieved": own.at,
        "risk_gap": _gap(gap),
        "rater_risk_on_answered": None if rater is None else rater.value,
        "answered_by_both": answered,
        "verdict": gap_verdict(gap, results.selective.margin),
        "notes": [*_notes(gap)],
    }


def _notes(gap: Estimate) -> Iterator[str]:
    if math.isnan(gap.value):
        yield "beyond_cmax"
    elif gap.no_interval == "no_uncertainty":
        yield gap.no_interval
    if gap.drop_rate > OFTEN:
        yield "target_near_cmax"


def _gap(row: Estimate) -> Json:
    intervals = {"ci95": row.percentile, "ci95_recommended": row.recommended, "ci95_simultaneous": row.simultaneous}
    numbers = {name: written(row, name) for name in ("value", "std_error", "p_value", "drop_rate")}
    return {name: made and made.ends for name, made in intervals.items()} | numbers
