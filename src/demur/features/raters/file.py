"""Raters and published points in result files: their members, from the rows."""

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from demur.features.raters.comparators import Comparators, recorded_comparators
from demur.features.raters.gaps import ANSWERED_BY, both_key, gap_key, gap_verdict, system_key
from demur.features.raters.models import BesidePoint, ExternalPoint, HandoverCurve
from demur.features.raters.recorded import handover_of, margin_of, points_of
from demur.files.strict_model import SPARSE, Placed
from demur.inference.estimates import Estimate
from demur.inference.key import Group, Key
from demur.inference.warnings import OFTEN
from demur.results.feature_files import FileMembers
from demur.results.features import FeatureOptions
from demur.results.file_models import Many
from demur.results.json_v1_cells import written
from demur.results.table import Results
from demur.types import Json


class RaterMembers(FileMembers):
    """The points of a study with margin and threshold, the hand-over curves, and the gaps of a run."""

    study: ClassVar = {
        "external_points": Placed(Annotated[Many[ExternalPoint] | None, SPARSE], order=30),
        "margin": Placed(Annotated[float | None, SPARSE], order=31),
        "handover_threshold": Placed(Annotated[float | None, SPARSE], order=32),
    }
    nested: ClassVar = {
        name: member._replace(before="estimates", order=member.order - 20) for name, member in study.items()
    }
    curve: ClassVar = {"handover": Placed(Annotated[Mapping[str, HandoverCurve] | None, SPARSE], order=20)}
    run: ClassVar = {
        "external": Placed(Annotated[Mapping[str, BesidePoint] | None, SPARSE], order=30),
        "handover": curve["handover"]._replace(order=31),
    }

    def again(self, results: Results, given: FeatureOptions | None) -> Comparators:
        """The points as recorded, and the raters and forced runs as given."""
        return recorded_comparators(results, given if isinstance(given, Comparators) else Comparators())

    def encoded(self, results: Results, system: str, confidence: str) -> Json:
        """The gaps of a run to every point, and its hand-over curves."""
        gaps = {point.name: _gap_to(results, point.name, system, confidence) for point in points_of(results)}
        return {
            "external": gaps or None,
            "handover": handover_of(results.curves[system, confidence]) or None,
        }

    def systems(self, study: Any) -> list[str]:
        """The names of raters and points."""
        return [point.name for point in study.external_points or ()]


def _gap_to(results: Results, name: str, system: str, confidence: str) -> Json:
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
        "verdict": gap_verdict(gap, margin_of(results)),
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
