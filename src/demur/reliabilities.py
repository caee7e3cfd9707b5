"""Reliability: how well confidences work as probabilities, bin by bin and in numbers, with their uncertainty."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.arrays import grade_units
from demur.confidences import confidence as confidence_named
from demur.drawing.confidence import ReliabilityBins, reliability_diagram
from demur.drawing.html import html_table
from demur.drawing.looks import look_at
from demur.errors import UserError
from demur.graded import Graded, grade
from demur.inference.estimates import WarnedEstimates, estimated
from demur.inference.key import Key, Pattern
from demur.inference.rows import Row, Rule
from demur.inference.warnings import about_calibration, about_sample
from demur.items import Items
from demur.quantities import Measure, default_measures
from demur.quantities.forecasts import BINS, Forecasts, checked_shares
from demur.replicates import Replicates
from demur.table import Table
from demur.targets import target as target_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from demur.drawing.picture import Picture
    from demur.inference.warnings import ResultWarning
    from demur.resample import Plan
    from demur.variants import Calibration

    Floats = NDArray[np.float64]


def _measures() -> Iterator[Measure]:
    """Every quantity of forecasts that says whether a confidence is a probability."""
    return (one for one in default_measures("forecasts") if "calibration" in one.quantity.shown)


@dataclass(frozen=True, slots=True, eq=False)
class _OutcomeView:
    """Units whose confidence is a probability and whose loss is the outcome."""

    reliability: Reliability

    @property
    def ids(self) -> Sequence[int | str]:
        return self.reliability.table.ids

    @property
    def cells(self) -> int:
        return self.reliability.table.cells

    def exact(self) -> Forecasts:
        return self.reliability.forecasts

    def drawn(self, weights: Floats) -> Forecasts:
        return Forecasts.drawn(Replicates.of(self.reliability.table, weights), self.reliability.forecasts.n_bins)


@dataclass(frozen=True, slots=True)
class Bin:
    """Forecasts from `low` up to, but not including, `high` (the last bin includes 1), and what came of them."""

    low: float
    high: float
    count: int
    mean_predicted: float
    fraction_correct: float

    @property
    def gap(self) -> float:
        """Fraction correct less mean predicted: negative where the system is overconfident."""
        return self.fraction_correct - self.mean_predicted


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
    warnings: tuple[ResultWarning, ...] = ()

    @classmethod
    def of(cls, graded: Graded, n_bins: int = BINS) -> Reliability:
        """Of units whose confidence is a probability and whose loss is the outcome."""
        probability, outcome = checked_shares("confidence", graded.confidence), graded.loss / graded.divisor
        source = graded.items.source if graded.items else None
        warned = about_calibration(graded.made_of, source, Pattern())
        return cls(Forecasts.of(probability, outcome, n_bins), Table.of(graded), tuple(warned))

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
        """Every calibration quantity; nan where it is undefined."""
        return {str(measure): float(measure(self.forecasts)[0]) for measure in _measures()}

    @property
    def reasons(self) -> dict[str, str]:
        """Why a number is undefined, for each that is."""
        undefined = {str(measure): measure.quantity.undefined for measure in _measures()}
        return {name: undefined[name] for name, value in self.scores.items() if math.isnan(value)}

    def estimate(self, names: Iterable[str] | None = None, *, plan: Plan) -> WarnedEstimates:
        """Calibration quantities with cluster-bootstrap intervals."""
        chosen = [*_measures()] if names is None else [Measure.of(name, "forecasts") for name in names]
        view = _OutcomeView(self)
        rule = Rule("expanded_percentile")
        rows = [
            Row(Key("", str(measure)), view, measure, measure, float(measure(self.forecasts)[0]), rule, rule)
            for measure in chosen
        ]
        warned = (*about_sample(self.table.cluster_units), *self.warnings)
        return WarnedEstimates(estimated(rows, plan=plan)[0], warned)

    def __repr__(self) -> str:
        head = f"{'said':14}{'count':>7}{'mean said':>11}{'came true':>11}{'gap':>9}"
        lines = [f"{name:14}{count:>7}{said:>11}{came:>11}{gap:>9}" for name, count, said, came, gap in self._rows()]
        warned = [f"warning ({one.code}): {one.message()}" for one in self.warnings]
        return "\n".join([self._summary(), head, *lines, *warned])

    def _summary(self) -> str:
        total = self.forecasts.total[0]
        came, said = self.forecasts.came_true[0] / total, self.forecasts.given.sum() / total
        return f"{int(total)} forecasts, {came:.1%} came true, said on average {said:.3g}"

    def _rows(self) -> list[tuple[str, str, str, str, str]]:
        return [
            (
                _span(b),
                str(b.count),
                f"{b.mean_predicted:.3f}",
                f"{b.fraction_correct:.3f}",
                f"{b.gap:+z.3f}".replace("+0.000", "0.000"),
            )
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
