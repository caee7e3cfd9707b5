"""Risk–coverage curves in results: their estimates, their warnings, and what a report draws of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from demur.facts.compact_array import summed_by
from demur.inference.bands import BandEnds
from demur.inference.estimates import Estimate, Estimates
from demur.inference.key import Key, Pattern
from demur.inference.point_intervals import intervals_at_points
from demur.inference.reliabilities import Reliability
from demur.inference.rows import Row
from demur.inference.views import CurveView, SharedView
from demur.inference.warnings import ResultWarning, about_estimate, about_view
from demur.quantities import Measure
from demur.quantities.bin_bounds import area_bounds
from demur.quantities.curve import Curve
from demur.quantities.registry import COMMON
from demur.results.feature_files import curve_model
from demur.results.file_models import CurveRecord
from demur.sampling.coverage import Coverage
from demur.sampling.graded import Graded
from demur.sampling.resample import Plan
from demur.types import Json

_BARS = 20  # of a histogram


def curve_record(
    view: CurveView,
    plan: Plan,
    bands: BandEnds | None = None,
    beside: Mapping[str, Any] = MappingProxyType({}),
    features: tuple[str, ...] = (),
) -> CurveRecord:
    """Everything a report draws of one system under one confidence; `beside` adds members, those of features too."""
    made_of, curve = view.graded.made_of, view.curve
    return curve_model(features).made(
        {
            "defined": curve.defined,
            "lower_is_surer": True if view.graded.scale < 0 else None,
            "nulls_filled": dict(made_of.nulls_filled) if made_of else {},
            "curve": points(curve),
            "reference": {"oracle": _oracle(curve)} if curve.defined else None,
            "bands": bands.to_json() if bands else None,
            "risk_intervals": _intervals(view) if plan.resamples else None,
            "histogram": _histogram(view) if curve.defined else None,
            "bins": _bins(view),
            "reliability": _reliability(view.graded, plan) if curve.defined else None,
            **beside,
        }
    )


def _bins(view: CurveView) -> Json | None:
    """What was rounded as units were counted, if anything, and bounds on the error of areas."""
    items, made_of = view.graded.items, view.graded.made_of
    if items is None or items.counting is None or made_of is None:
        return None
    width, digits = items.counting.bins.get(made_of.name), items.counting.loss_digits
    if width is None and digits is None:
        return None
    bounds = area_bounds(view.graded, view.curve, 0.0 if digits is None else 0.5 / 10**digits, whole=width is None)
    return {"number": len(view.curve), "width": width, "loss_digits": digits, "bounds": bounds._asdict()}


def points(curve: Curve) -> Json:
    """The operating points of a curve as columns."""
    names = ("coverage", "selective_risk", "generalized_risk", "threshold")
    return {name: getattr(curve, name).tolist() for name in names}


def _oracle(curve: Curve) -> Json:
    """The vertices of the curve of the oracle order. Between two of them the generalized risk is a straight line."""
    vertices = curve.oracle_order
    return {
        "coverage": (vertices.count / curve.units).tolist(),
        "selective_risk": (vertices.loss_sum / (vertices.count * curve.divisor)).tolist(),
        "generalized_risk": (vertices.loss_sum / (curve.units * curve.divisor)).tolist(),
    }


def _intervals(view: CurveView) -> Json | None:
    """The interval of the risk at every operating point."""
    intervals = intervals_at_points(view)
    if intervals is None:
        return None
    low, high = ([None if np.isnan(end) else end for end in ends.tolist()] for ends in intervals)
    return {"low": low, "high": high}


def _histogram(view: CurveView) -> Json:
    graded, curve = view.graded, view.curve
    counts = [graded.loss != 0] if graded.count is None else [graded.loss != 0, graded.count]
    wrong = summed_by(curve.plateau, counts, len(curve))
    right = np.diff(curve.points.count, prepend=0) - wrong
    low, high = curve.threshold.min(), curve.threshold.max()
    edges = np.linspace(low, high, min(_BARS, max(1, len(curve))) + 1)
    if not (np.diff(edges) > 0).all():  # too close for distinct edges
        edges = np.array([low - 0.5, high + 0.5])
    return {
        "edges": edges.tolist(),
        "right": np.histogram(curve.threshold, edges, weights=right)[0].tolist(),
        "wrong": np.histogram(curve.threshold, edges, weights=wrong)[0].tolist(),
        "abstained": graded.units - graded.answered,
    }


def _reliability(graded: Graded, plan: Plan) -> Json | None:
    """The reliability of a confidence that is a probability of being right; None of any other."""
    if graded.made_of is None or not graded.made_of.is_probability:
        return None
    table = Reliability.of(replace(graded.each, loss=(graded.each.loss == 0).astype(np.int64), divisor=1))
    bins = [asdict(row) | {"mean_predicted": min(row.mean_predicted, 1.0)} for row in table.bins]
    reference = table.if_calibrated(plan)
    beside = {"ece_if_calibrated": asdict(reference) if reference else None, "bins": bins}
    return {name: table.scores[name] for name in ("ece", "brier", "nll")} | beside


def curve_rows(
    confidence: str,
    views: Mapping[str, CurveView],
    measures: Sequence[Measure],
    *,
    resample_all: bool = False,
    counts: Callable[[Key], bool] | None = None,
) -> Iterator[Row]:
    """The rows to estimate for several systems under one confidence; areas may end at their common coverage.

    A quantity that is usually reported as a point alone is resampled where it is asked for by name. Of the rows that do
    not count for themselves only differences are wanted.
    """
    for index, (system, view) in enumerate(views.items()):
        shared = SharedView(tuple(views.values()), index)
        for measure in measures:
            source = shared if measure.value == COMMON else view
            key = Key(system, str(measure), confidence)
            resampled = resample_all or not measure.quantity.point_only
            yield Row.of_curve(key, source, measure, resampled=resampled, side=counts is not None and not counts(key))


def warnings_of(rows: Iterable[Estimate], view: CurveView | None = None) -> Iterator[ResultWarning]:
    """The warnings about estimates of one view or, without a view, about differences."""
    for row in rows:
        added = 0.0
        if view is not None and row.other_threshold_rate is not None:
            added = _share_added(view, Measure.of(row.key.quantity).coverage)
        yield from about_estimate(row, added)


def _share_added(view: CurveView, coverage: Coverage | None) -> float:
    """The share of the units that the operating point at a coverage adds."""
    if coverage is None:
        return 0.0
    count, units = view.curve.points.count, view.curve.units
    index = int(count.searchsorted(coverage.units_needed(units)))
    return float(np.diff(count, prepend=0)[index : index + 1].sum() / units)


def about_numbers(views: Mapping[Any, Mapping[str, CurveView]], estimates: Estimates) -> Iterator[ResultWarning]:
    """The warnings about each view, about its estimates, and about differences, by confidence."""
    for confidence, by_system in views.items():
        rows = estimates.where(confidence=confidence or "")
        for system, view in by_system.items():
            yield from about_view(view, Pattern(system=system, confidence=confidence))
            yield from warnings_of(rows.where(system=system, minus=None), view)
        yield from warnings_of(row for row in rows if row.key.minus)
