"""Reliability: how well confidences work as probabilities, bin by bin and in numbers, with their uncertainty."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from demur import cautions
from demur.arrays import grade_units
from demur.confidences import confidence as confidence_named
from demur.drawing.confidence import ReliabilityBins, reliability_diagram
from demur.drawing.html import html_table
from demur.drawing.looks import look_at
from demur.errors import UserError
from demur.estimates import Estimate, Estimates, uncertainty
from demur.graded import Graded, grade
from demur.intervals import Evidence
from demur.items import Items
from demur.metrics.forecasts import BINS, CALIBRATION_METRICS, Forecasts, calibration_metric_named, checked_shares
from demur.resample import bootstrap
from demur.table import Table
from demur.targets import target as target_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from demur.cautions import Caution
    from demur.drawing.picture import Picture
    from demur.replicates import Replicates
    from demur.resample import Plan
    from demur.variants import Calibration


@dataclass(frozen=True, slots=True)
class Bin:
    """Forecasts from `low` up to, but not including, `high` (the last bin includes 1), and what came of them."""

    low: float
    high: float
    count: int
    said: float
    came_true: float

    @property
    def gap(self) -> float:
        """What came true, less what was said: negative where the system is overconfident."""
        return self.came_true - self.said


@dataclass(frozen=True, eq=False)
class Reliability:
    """Confidences read as probabilities: a table of bins, the calibration metrics, and estimates of them.

    >>> found = reliability([0.9, 0.9, 0.9, 0.3], [1, 1, 0, 0])
    >>> found
    4 forecasts, 50.0% came true, said on average 0.75
    said            count  mean said  came true      gap
    [0.3, 0.4)          1      0.300      0.000   -0.300
    [0.9, 1]            3      0.900      0.667   -0.233
    >>> round(found.scores["ece"], 9)
    0.25
    """

    forecasts: Forecasts
    table: Table
    warnings: tuple[Caution, ...] = ()

    @classmethod
    def of(cls, graded: Graded, n_bins: int = BINS) -> Reliability:
        """Of units whose confidence is a probability and whose loss is the outcome."""
        said, outcome = checked_shares("confidence", graded.confidence), graded.loss / graded.divisor
        source = graded.items.source if graded.items else None
        warned = cautions.about_calibration(graded.made_of, source, "confidence")
        return cls(Forecasts.of(said, outcome, n_bins), Table.of(graded), tuple(warned))

    @cached_property
    def bins(self) -> tuple[Bin, ...]:
        """The bins that hold any forecast."""
        n_bins = self.forecasts.n_bins
        places = np.unique(self.forecasts.bin_of).tolist()
        columns = (column[:, 0].tolist() for column in self.forecasts.bins)
        return tuple(
            Bin(place / n_bins, (place + 1) / n_bins, int(count), said / count, came / count)
            for place, count, said, came in zip(places, *columns, strict=True)
        )

    @cached_property
    def scores(self) -> dict[str, float]:
        """Every calibration metric; nan where it is undefined."""
        return {name: float(metric.function(self.forecasts)[0]) for name, metric in CALIBRATION_METRICS.items()}

    @property
    def reasons(self) -> dict[str, str]:
        """Why a metric is undefined, for each that is."""
        return {name: CALIBRATION_METRICS[name].undefined for name, v in self.scores.items() if math.isnan(v)}

    def estimate(self, names: Iterable[str] | None = None, *, plan: Plan) -> Estimates:
        """Calibration metrics with cluster-bootstrap intervals."""
        chosen = {name: calibration_metric_named(name) for name in (CALIBRATION_METRICS if names is None else names)}

        def numbers(sample: Replicates) -> dict[str, Any]:
            drawn = Forecasts.drawn(sample, self.forecasts.n_bins)
            return {name: metric.function(drawn) for name, metric in chosen.items()}

        values = bootstrap(numbers, self.table, plan=plan)
        found = {
            name: Estimate(
                **uncertainty(
                    Evidence(self.scores[name], values.get(name, np.zeros(0)), self.table.clusters),
                    "expanded_percentile",
                )
            )
            for name in chosen
        }
        warned = (*cautions.about_sample(self.table.cluster_units, "clusters"), *self.warnings)
        return Estimates(found, warned, self.table.clusters, plan)

    def __repr__(self) -> str:
        head = f"{'said':14}{'count':>7}{'mean said':>11}{'came true':>11}{'gap':>9}"
        lines = [f"{name:14}{count:>7}{said:>11}{came:>11}{gap:>9}" for name, count, said, came, gap in self._rows()]
        warned = [f"warning ({w.code}, {w.where}): {w.message}" for w in self.warnings]
        return "\n".join([self._summary(), head, *lines, *warned])

    def _summary(self) -> str:
        total = self.forecasts.total[0]
        came, said = self.forecasts.came_true[0] / total, self.forecasts.given.sum() / total
        return f"{int(total)} forecasts, {came:.1%} came true, said on average {said:.3g}"

    def _rows(self) -> list[tuple[str, str, str, str, str]]:
        return [
            (_span(b), str(b.count), f"{b.said:.3f}", f"{b.came_true:.3f}", f"{b.gap:+z.3f}".replace("+0.000", "0.000"))
            for b in self.bins
        ]

    def svg(self, label: str = "confidence") -> str:
        """The reliability diagram."""
        return reliability_picture({label: self}).standalone()

    def _repr_html_(self) -> str:
        numbers = ", ".join(f"{name} {v:.4g}" for name, v in self.scores.items() if not math.isnan(v))
        header = ("said", "count", "mean said", "came true", "gap")
        return f"<div>{self.svg()}{html_table(header, self._rows(), f'{self._summary()}; {numbers}')}</div>"


def reliability_picture(forecasts: Mapping[str, Reliability]) -> Picture:
    """The reliability diagrams of some forecasts in one, by label."""
    series = [
        ReliabilityBins.of(label, look_at(index).style, ((b.said, b.came_true, b.count) for b in each.bins))
        for index, (label, each) in enumerate(forecasts.items())
    ]
    words = "Share that came true against what was said."
    return reliability_diagram(series, words, ("what was said", "share that came true"))


def reliability(  # noqa: PLR0913  (each is a column, or says how to read one)
    confidence: Any,
    outcome: Any = None,
    *,
    clusters: Any = None,
    data: Any = None,
    calibration: Calibration | None = None,
    target: str | None = None,
    n_bins: int = BINS,
) -> Reliability:
    """Reliability of confidences that are read as probabilities of an outcome.

    Give two columns, and `clusters` if units were sampled together; with `data`, a frame or a dict, columns may be
    names. With `data` the `Items` of a reader, the confidence is the name of a variant and the outcome is a `target`:
    `correctness`, `near_correct` or `loss`; if it is not given, what the calibration was fitted for, or correctness.
    """
    if not isinstance(data, Items):
        if calibration is not None or target is not None:
            raise UserError("a calibration and a target are for the items of a reader: give them as data")
        if outcome is None:
            raise UserError("give the outcomes: 1 where it came true, 0 where not")
        return Reliability.of(grade_units(confidence, loss=outcome, clusters=clusters, data=data), n_bins)
    if outcome is not None or clusters is not None:
        raise UserError("items bring their own outcomes and clusters: leave those out, and name a target")
    usual = "correctness" if calibration is None else calibration.target
    return Reliability.of(_graded(data, confidence, calibration, usual if target is None else target), n_bins)


def _graded(items: Items, confidence: str, calibration: Calibration | None, target: str) -> Graded:
    found = confidence_named(items, confidence, calibration)
    outside = (found.values < 0) | (found.values > 1)
    if outside.any():
        unit = int(np.argmax(outside))
        raise UserError(
            f"{items.place(unit)}: {found.name} {found.values[unit]:g}, expected a number from 0 to 1: what is no "
            f"probability can be calibrated to be one (demur calibrate --method platt --variant {found.name})"
        )
    graded = grade(items, loss="zero_one", confidence=found)
    return replace(graded, loss=target_named(target).values(items), loss_name=target, largest_loss=1)


def _span(one: Bin) -> str:
    return f"[{one.low:.4g}, {one.high:.4g}{']' if one.high == 1 else ')'}"
