"""Rows of risk–coverage curves, and the warnings about their estimates."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from demur.inference.estimates import Estimate, Estimates
from demur.inference.key import Key, Pattern
from demur.inference.rows import Row
from demur.inference.views import CurveView, SharedView
from demur.inference.warnings import ResultWarning, about_estimate, about_view
from demur.quantities import Measure
from demur.quantities.coverage import Coverage
from demur.quantities.registry import COMMON


def curve_rows(
    confidence: str,
    views: Mapping[str, CurveView],
    measures: Sequence[Measure],
    *,
    resample_all: bool = False,
    counts: Callable[[Key], bool] | None = None,
) -> Iterator[Row]:
    """The rows of several systems under one confidence; an area cut at the common coverage needs all their views.

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
    """The warnings about each view, its estimates, and the differences under each confidence."""
    for confidence, by_system in views.items():
        rows = estimates.where(confidence=confidence or "")
        for system, view in by_system.items():
            yield from about_view(view, Pattern(system=system, confidence=confidence))
            yield from warnings_of(rows.where(system=system, minus=None), view)
        yield from warnings_of(row for row in rows if row.key.minus)
