"""Rows: a number wanted of a view, with its identity; and what is taken of it in every replicate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from demur.errors import unknown
from demur.inference.influence import influences, standard_errors
from demur.inference.intervals import MANY_CLUSTERS, METHODS
from demur.inference.key import Key, Minus
from demur.inference.views import CurveView, SharedView, View
from demur.quantities import Measure
from demur.types import Floats


@dataclass(frozen=True, slots=True)
class Rule:
    """Which interval is recommended, and whether a number that is the same in every draw has one."""

    method: str
    must_vary: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """A number with its identity: a view, a function of what the view draws, and how intervals of it are made.

    `rule` is for the number, `contrast_rule` for a difference of it from another row. A row that is not `resampled` is
    a point alone. Where every draw must be 0 because nothing is ever wrong, no interval is `two_sided`.
    """

    key: Key
    view: View
    measure: Measure
    number: Callable[[Any], Any]
    point: float
    rule: Rule
    contrast_rule: Rule
    resampled: bool = True
    two_sided: bool = True
    by_convention: bool = False

    @classmethod
    def of_curve(cls, key: Key, view: CurveView | SharedView, measure: Measure, **changes: Any) -> Row:
        """A number of a risk–coverage curve, or of one that is cut where others end."""
        own = view.own if isinstance(view, SharedView) else view
        rule, contrast_rule = map(Rule, measure.quantity.intervals)
        two_sided = own.varies or measure.quantity.loss_free
        row = cls(key, view, measure, measure, float(measure(view.exact())), rule, contrast_rule, two_sided=two_sided)
        return replace(row, **changes)

    @property
    def clusters(self) -> int:
        """How many clusters are drawn."""
        return len(self.view.ids)

    @property
    def curve_view(self) -> CurveView | None:
        """The curve the number is of, where it is of one."""
        return self.view if isinstance(self.view, CurveView) else None

    @property
    def has_slopes(self) -> bool:
        """Whether there is an influence function to take errors from."""
        view = self.curve_view
        return view is not None and view.curve.defined and self.measure.quantity.slopes is not None

    def std_error(self) -> float | None:
        """The standard error of the number from its influence function."""
        view = self.curve_view
        if view is None or not self.has_slopes:
            return None
        return float(standard_errors(self.influences(view.sample), view.sample.weights)[0])

    def influences(self, sample: Any) -> Floats:
        """How much each cluster (a row) moves the number in each replicate (a column)."""
        assert self.measure.quantity.slopes is not None  # noqa: S101  (asked of rows that have slopes)
        return influences(sample, self.measure.quantity.slopes)

    def columns(self, sample: Any, needs: frozenset[str]) -> dict[str, Any]:
        """Everything a block of replicates is asked for; an error in each only where an interval needs it."""
        taken = {"value": self.number(sample)}
        by_rule = "errors" in METHODS[self.rule.method].needs and self.clusters < MANY_CLUSTERS
        if self.has_slopes and ("errors" in needs or by_rule):
            taken["error"] = standard_errors(self.influences(sample), sample.weights)
        if self.measure.coverage is not None:
            watched = self.measure.quantity.watched.items()
            taken |= {name: watch(sample, self.measure.coverage) for name, watch in watched}
        return taken


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """A row minus another one, on the same draws."""

    key: Key
    row: Row
    subtracted: Row

    @property
    def point(self) -> float:
        """The difference in the data as they are."""
        return self.row.point - self.subtracted.point

    @property
    def has_slopes(self) -> bool:
        """Whether both sides have an influence function."""
        return self.row.has_slopes and self.subtracted.has_slopes

    def errors(self, sample: Any, subtracted: Any) -> Floats:
        """A cluster moves a difference by as much as it moves the two sides apart."""
        apart = self.row.influences(sample) - self.subtracted.influences(subtracted)
        return standard_errors(apart, sample.weights)

    def columns(self, samples: Sequence[Any]) -> dict[str, Any]:
        """What a block of replicates of both sides is asked for."""
        return {"error": self.errors(*samples)}

    def std_error(self) -> float | None:
        """The standard error of the difference in the data as they are."""
        view, other = self.row.curve_view, self.subtracted.curve_view
        if view is None or other is None or not self.has_slopes:
            return None
        return float(self.errors(view.sample, other.sample)[0])


def difference(values: Mapping[str, Floats], subtracted: Mapping[str, Floats]) -> Floats:
    """Replicates of a row minus those of another; none where either has none."""
    if "value" not in values or "value" not in subtracted:
        return np.zeros(0)
    return np.asarray(values["value"] - subtracted["value"])


def baseline_of(systems: Mapping[str, Any], wanted: str | None) -> str:
    """The system the others are compared with: the first if none is named."""
    if wanted is not None and wanted not in systems:
        raise unknown("system", wanted, systems)
    return next(iter(systems), "") if wanted is None else wanted


def contrasts_with(
    rows: list[Row], baseline: str, allowed: Callable[[Row, Row], bool] = lambda _row, _other: True
) -> Iterator[Contrast]:
    """Every number of a system that the baseline has too, where a difference of the two means something."""
    by_key = {row.key: row for row in rows}
    for row in rows:
        other = by_key.get(replace(row.key, system=baseline))
        if row.key.system == baseline or other is None or not (row.resampled and other.resampled):
            continue
        if allowed(row, other):
            yield Contrast(replace(row.key, minus=Minus("system", baseline)), row, other)
