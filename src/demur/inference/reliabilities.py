"""Reliability: how well confidences work as probabilities, bin by bin and in numbers, with their uncertainty."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.confidences.grading import grade, grade_units
from demur.confidences.serving import confidence as confidence_named
from demur.confidences.variants import check_probabilities
from demur.errors import UserError, registered
from demur.facts.frames import Tabular
from demur.facts.items import Items
from demur.inference.estimates import Estimates
from demur.inference.intervals import quantiles
from demur.inference.key import Key, Pattern
from demur.inference.rows import Row
from demur.inference.rules import Counted
from demur.inference.sums import exactly_addable
from demur.inference.uncertainty import estimated
from demur.inference.warnings import ResultWarning, about_calibration, about_sample
from demur.quantities import Measure, quantities
from demur.quantities.forecasts import BINS, Forecasts, checked_shares
from demur.sampling.draws import signs
from demur.sampling.graded import Graded
from demur.sampling.resample import Plan
from demur.sampling.sample import Sample
from demur.sampling.table import Table
from demur.sampling.weights import Weights
from demur.types import Floats

if TYPE_CHECKING:
    from demur.confidences.calibration import AnyCalibration
    from demur.drawing.picture import Picture

_CELLS, _LEVEL = 1 << 20, 0.95
_HEADER = ("predicted", "count", "mean predicted", "fraction correct", "gap")


@dataclass(frozen=True, slots=True, eq=False)
class _OutcomeView:
    """Units whose confidence is a probability and whose loss is the outcome."""

    ids: Sequence[int | str]
    cells: int
    forecasts: Forecasts
    table: Table

    def exact(self) -> Forecasts:
        return self.forecasts

    def drawn(self, weights: Weights) -> Forecasts:
        return Forecasts.drawn(Sample(self.table, weights), self.forecasts.n_bins)


@dataclass(frozen=True, slots=True)
class Bin:
    """The forecasts from `low` up to, but not including, `high` (the last bin includes 1), and their outcomes."""

    low: float
    high: float
    count: int
    mean_predicted: float
    fraction_correct: float

    @property
    def gap(self) -> float:
        """Fraction correct minus mean predicted: negative where the system is overconfident."""
        return self.fraction_correct - self.mean_predicted


@dataclass(frozen=True, slots=True)
class CalibratedEce:
    """The ECE that a calibrated system of the same size would show: its mean and 95 % quantile."""

    mean: float
    high: float


@dataclass(frozen=True, eq=False)
class Reliability(Tabular):
    """Confidences read as probabilities: a table of bins, the calibration metrics, and estimates of them.

    >>> diagram = reliability([0.9, 0.9, 0.9, 0.3], [1, 1, 0, 0])
    >>> diagram
    4 forecasts, 50.0% correct, mean predicted 0.75
    predicted       count  mean predicted  fraction correct      gap
    [0.3, 0.4)          1           0.300             0.000   -0.300
    [0.9, 1]            3           0.900             0.667   -0.233
    >>> round(diagram.scores["ece"], 9)
    0.25
    """

    forecasts: Forecasts
    table: Table
    warnings: tuple[ResultWarning, ...] = ()
    library: str = ""

    @classmethod
    def of(cls, graded: Graded, n_bins: int = BINS) -> Reliability:
        """From units whose confidence is a probability and whose loss is the outcome."""
        probability, outcome = checked_shares("confidence", graded.confidence), graded.loss / graded.divisor
        source = graded.items.source if graded.items else None
        warned = about_calibration(graded.made_of, source, Pattern())
        return cls(Forecasts.of(probability, outcome, n_bins), Table.of(graded), tuple(warned), graded.library)

    @cached_property
    def bins(self) -> tuple[Bin, ...]:
        """The bins that hold any forecast."""
        n_bins = self.forecasts.n_bins
        numbers = np.flatnonzero(np.bincount(self.forecasts.bin_of)).tolist()
        columns = (column[:, 0].tolist() for column in self.forecasts.bins)
        return tuple(
            Bin(number / n_bins, (number + 1) / n_bins, int(count), predicted / count, correct / count)
            for number, count, predicted, correct in zip(numbers, *columns, strict=True)
        )

    @cached_property
    def scores(self) -> dict[str, float]:
        """Every calibration quantity; nan where it is undefined."""
        entries = quantities("forecasts", "calibration")
        return {entry.name: float(entry.function(self.forecasts)[0]) for entry in entries}

    @property
    def reasons(self) -> dict[str, str]:
        """Why a number is undefined, for each that is."""
        return {name: Measure.of(name).quantity.undefined for name, value in self.scores.items() if math.isnan(value)}

    def to_columns(self) -> dict[str, list[Any]]:
        """Every bin that holds a forecast."""
        names = ("low", "high", "count", "mean_predicted", "fraction_correct", "gap")
        return {name: [getattr(row, name) for row in self.bins] for name in names}

    def estimate(self, names: Iterable[str] | None = None, *, plan: Plan) -> Estimates:
        """Calibration quantities with cluster-bootstrap intervals."""
        view = _OutcomeView(self.table.ids, self.table.cells, self.forecasts, self.table)
        chosen = [Measure.of(name, "forecasts") for name in (self.scores if names is None else names)]
        rows = [self._row(view, measure) for measure in chosen]
        warned = (*about_sample(self.table.cluster_units), *self.warnings)
        return Estimates(estimated(rows, plan=plan)[0], warned)

    def if_calibrated(self, plan: Plan) -> CalibratedEce | None:
        """The ECE that a calibrated system with clusters like these would show; None without resamples.

        Outcomes within a cluster are dependent, so the errors of a cluster in all bins get one common random sign per
        replicate. Independent signs would cancel too well.
        """
        if not plan.resamples or plan.seed is None:
            return None
        entries, forecasts = self.table.plateaus, self.forecasts
        plateau = entries.step - 1
        bin_of = forecasts.bin_of[::-1][plateau]  # plateaus go down from the highest probability
        error = entries.loss / self.table.divisor - entries.count * self.table.threshold[plateau]
        cell = entries.cluster.astype(np.intp) * forecasts.n_bins + bin_of
        cells = np.bincount(cell, error, minlength=self.table.clusters * forecasts.n_bins).astype(np.float64)
        sums = exactly_addable(cells.reshape(self.table.clusters, forecasts.n_bins))
        number, parts = plan.resamples, 1 + plan.resamples * len(sums) // _CELLS
        ranges = pairwise(number * part // parts for part in range(parts + 1))
        errors = [np.abs(_signs(plan.seed, *ends, len(sums)) @ sums).sum(axis=1) for ends in ranges]
        values = np.concatenate(errors) / forecasts.total[0]
        return CalibratedEce(math.fsum(values) / len(values), quantiles(values, _LEVEL)[0])

    def _row(self, view: _OutcomeView, measure: Measure) -> Row:
        quantity, entries = measure.quantity, self.table.plateaus
        point = float(measure(self.forecasts)[0])
        row = Row(Key("", str(measure)), view, measure, measure, point, *quantity.intervals)
        low, high = quantity.limits(math.inf, 1.0) if quantity.limits else (-math.inf, math.inf)
        row = replace(
            row, counted=Counted("clusters", row.clusters, low=low, high=high), resampled=not quantity.point_only
        )
        if quantity.influence is None or math.isnan(point):
            return row
        positive = entries.loss / self.table.divisor
        step = entries.step.max(initial=0) - entries.step  # a step up is a higher probability
        influence = partial(quantity.influence, step, entries.cluster, positive, entries.count - positive, row.clusters)
        return replace(row, influence=influence)

    def __repr__(self) -> str:
        lines = ["{:14}{:>7}{:>16}{:>18}{:>9}".format(*cells) for cells in (_HEADER, *map(_cells, self.bins))]
        warned = [f"warning ({warning.code}): {warning.message()}" for warning in self.warnings]
        return "\n".join([self._summary(), *lines, *warned])

    def _summary(self) -> str:
        total = self.forecasts.total[0]
        correct, predicted = self.forecasts.came_true[0] / total, self.forecasts.given.sum() / total
        return f"{int(total)} forecasts, {correct:.1%} correct, mean predicted {predicted:.3g}"

    def svg(self, label: str = "confidence") -> str:
        """The reliability diagram."""
        return reliability_picture({label: self}).standalone()

    def _repr_html_(self) -> str:
        numbers = ", ".join(f"{name} {v:.4g}" for name, v in self.scores.items() if not math.isnan(v))
        from demur.drawing.html import html_table  # noqa: PLC0415  (only notebooks need it)

        table = html_table(_HEADER, [*map(_cells, self.bins)], f"{self._summary()}; {numbers}")
        return f"<div>{self.svg()}{table}</div>"


@lru_cache(maxsize=1)
def _signs(seed: int, start: int, stop: int, clusters: int) -> Floats:
    """The signs of some replicates, which all confidences of a run have in common."""
    return signs(seed, np.arange(start, stop), clusters)


def reliability_picture(forecasts: Mapping[str, Reliability]) -> Picture:
    """One picture with the reliability diagrams of several forecasts, by label."""
    from demur.drawing.confidence import ReliabilityBins, reliability_diagram  # noqa: PLC0415  (pictures are few)
    from demur.drawing.system_styles import system_style  # noqa: PLC0415

    series = []
    for index, (label, table) in enumerate(forecasts.items()):
        points = ((row.mean_predicted, row.fraction_correct, row.count) for row in table.bins)
        series.append(ReliabilityBins.of(label, system_style(index).style, points))
    axes = ("mean predicted", "fraction correct")
    return reliability_diagram(series, "Fraction correct against mean predicted.", axes)


def reliability(  # noqa: PLR0913  (each is a column, or says how to read one)
    confidence: Any,
    outcome: Any = None,
    *,
    clusters: Any = None,
    data: Any = None,
    calibration: AnyCalibration | None = None,
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
            raise UserError("give the outcomes: 1 where it is correct, 0 where not")
        return Reliability.of(grade_units(confidence, loss=outcome, clusters=clusters, data=data), n_bins)
    from demur.confidences.calibration_methods import TARGETS  # noqa: PLC0415  (evaluations have no target)

    if outcome is not None or clusters is not None:
        raise UserError("items bring their own outcomes and clusters: leave those out, and name a target")
    default = "correctness" if calibration is None else calibration.target
    scores, chosen = confidence_named(data, confidence, calibration), default if target is None else target
    advice = f": calibrate it to be one (demur calibrate --method platt --variant {scores.name})"
    check_probabilities(data, scores.name, scores.values[data.answered], advice)
    outcome = {"loss": registered("target", chosen, TARGETS).values(data), "loss_name": chosen, "largest_loss": 1}
    return Reliability.of(replace(grade(data, loss="zero_one", confidence=scores), **outcome), n_bins)


def _cells(row: Bin) -> tuple[str, ...]:
    """A bin as a row of a table."""
    span = f"[{row.low:.4g}, {row.high:.4g}{']' if row.high == 1 else ')'}"
    gap = f"{row.gap:+z.3f}".replace("+0.000", "0.000")
    return span, str(row.count), f"{row.mean_predicted:.3f}", f"{row.fraction_correct:.3f}", gap
