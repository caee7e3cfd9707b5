"""Rows and contrasts: numbers of views with their keys, and what is computed of them in every replicate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations
from typing import Any, Literal, cast

import numpy as np

from demur.errors import unknown
from demur.inference.columns import DifferenceColumns, NumberColumns
from demur.inference.evidence import Evidence
from demur.inference.intervals import METHODS
from demur.inference.key import Key, Minus
from demur.inference.ratios import Ratio
from demur.inference.rules import RULES, Counted
from demur.inference.views import CurveView, SharedView, View, discordant
from demur.quantities import Measure
from demur.types import Flags, Floats


@dataclass(frozen=True, eq=False)
class Row:
    """A number with its key: a view, a function of the view's samples, and how its intervals are computed.

    `rule` chooses the interval of the number and `contrast_rule` that of its differences, both from `counted`.
    `entries` are the contents of the clusters. `influence` is the influence of each cluster on the number in the data;
    one that is `sloped` has it in replicates too, and a mean has the `sums` and counts of the clusters instead. A
    `ratio` of sums has its own evidence. `held` are the clusters that hold any of its units, None if all do. A row that
    is not `resampled` has no interval, and a `side` is drawn only for a difference. A row that `must_vary` has no
    bootstrap interval where all draws are the same.
    """

    key: Key
    view: View
    measure: Measure
    number: Callable[[Any], Any]
    point: float
    rule: str
    contrast_rule: str
    counted: Counted = field(default_factory=Counted)
    entries: Callable[[], Floats] = lambda: np.zeros((0, 1))
    influence: Callable[[], Floats] | None = None
    sloped: bool = False
    sums: Callable[[], tuple[Floats, Floats]] | None = None
    ratio: Ratio | None = None
    held: Flags | None = None
    resampled: bool = True
    side: bool = False
    must_vary: Literal["never", "difference", "always"] = "never"
    by_convention: bool = False

    @classmethod
    def of_curve(cls, key: Key, view: CurveView | SharedView, measure: Measure, **changes: Any) -> Row:
        """A number of a risk–coverage curve, or of one that is cut where others end."""
        quantity = measure.quantity
        rule, contrast_rule = quantity.intervals
        counted, table = view.counted(measure), view.own.table
        ratio = None
        if quantity.sums is not None:
            maximum = None if math.isinf(counted.high) else counted.high
            losses, accepted, divisor = quantity.sums(table, measure.value)
            ratio = Ratio(losses, accepted, divisor, maximum, below_0=math.isinf(counted.low))
            if measure.value is None:  # of all answers: a cluster whose losses add up to 0 counts too
                counted = replace(counted, varies=ratio.clusters > 1)
            elif not quantity.loss_free:
                counted = ratio.counted
        number = measure(view.exact())
        sloped = number.slope is not None
        return cls(
            key,
            view,
            measure,
            measure,
            float(number.value[0]),
            rule,
            contrast_rule,
            counted=counted,
            ratio=ratio,
            held=view.own.held_by_some,
            entries=view.own.entries,
            influence=(lambda: measure(view.sample).influence[:, 0]) if sloped else None,
            sloped=sloped,
            **changes,
        )

    @property
    def by_resampling(self) -> Row:
        """The same number with intervals from its replicates alone, whatever its quantity declares."""
        counted = cast("CurveView", self.view).counted(self.measure)
        row = replace(self, rule="resampled", contrast_rule="resampled_difference", counted=counted)
        return replace(row, ratio=None, influence=None, sloped=False)

    @property
    def clusters(self) -> int:
        """The number of clusters that are drawn."""
        return len(self.view.ids)

    @property
    def holding(self) -> int:
        """The number of clusters that hold any of its units."""
        return self.clusters if self.held is None else int(self.held.sum())

    @property
    def rests_on_one(self) -> bool:
        """Whether all of its units are in one of several clusters, so that its variation is unknown."""
        return self.held is not None and self.holding == 1 and self.clusters > 1

    @cached_property
    def influence_in_data(self) -> Floats | None:
        """The influence of each cluster on the number in the data, computed once for the number and its differences."""
        return None if self.influence is None else self.influence()

    @property
    def curve_view(self) -> CurveView | None:
        """The view of a number of one curve; None where it is cut at a common coverage."""
        return self.view if isinstance(self.view, CurveView) else None

    @property
    def _rule_needs_errors(self) -> bool:
        method = "" if self.side else RULES[self.rule](self.counted, self.point).method
        return bool(method) and "errors" in METHODS[method].needs

    def columns(self, needs: frozenset[str]) -> NumberColumns:
        """The columns to compute in a block of replicates; standard errors only where an interval needs them."""
        with_error = self.sloped and ("errors" in needs or self._rule_needs_errors)
        return NumberColumns(self.number, self.measure, self.held, self.holding if with_error else None)


@dataclass(frozen=True, eq=False)
class Contrast:
    """A row minus another one, on the same draws.

    `discordant` clusters differ between two systems; of two groups it is how many hold a loss, of the fewer.
    """

    key: Key
    row: Row
    subtracted: Row
    discordant: int

    @property
    def point(self) -> float:
        """The difference in the data as they are."""
        return self.row.point - self.subtracted.point

    def influence(self) -> Floats | None:
        """The influence of each cluster on the difference: that on the row minus that on the subtracted row."""
        row, subtracted = self.row.influence_in_data, self.subtracted.influence_in_data
        return None if row is None or subtracted is None else row - subtracted

    def evidence(self, values: Floats, **known: Any) -> Evidence:
        """What is known about it, from the clusters that hold units of a side."""
        influence, held, other = self.influence(), self.row.held, self.subtracted.held
        of_a_side = None if held is None or other is None else np.logical_or(held, other)
        return Evidence(
            point=self.point,
            values=values,
            clusters=self.row.clusters if of_a_side is None else int(of_a_side.sum()),
            influence=influence if influence is None or of_a_side is None else influence[of_a_side],
            two_sided=not self.rests_on_one,
            scale=abs(self.row.point),
            **known,
        )

    @property
    def rests_on_one(self) -> bool:
        """Whether all units of a side are in one of several clusters, so that its variation is unknown."""
        return self.row.rests_on_one or self.subtracted.rests_on_one

    @property
    def of_systems(self) -> bool:
        """Whether it is between two systems."""
        return self.key.minus is not None and self.key.minus.column == "system"

    @property
    def has_errors(self) -> bool:
        """Whether there is a standard error of the difference in each replicate."""
        return self._sum_differences is not None or (self.row.sloped and self.subtracted.sloped)

    @cached_property
    def _sum_differences(self) -> tuple[Floats, Floats] | None:
        """For two means over the same units: the differences of the clusters' sums, and their counts."""
        if self.row.sums is None or self.subtracted.sums is None:
            return None
        (total, count), (other, other_count) = self.row.sums(), self.subtracted.sums()
        return (total - other, count) if np.array_equal(count, other_count) else None

    @property
    def comparable(self) -> bool:
        """Whether the difference can favour a side: both are measured over the same range, and one way is better."""
        quantity, target = self.row.measure.quantity, self.row.measure.coverage
        if not quantity.judged:
            return False
        if not isinstance(self.row.view, CurveView) or not isinstance(self.subtracted.view, CurveView):
            return True
        curves = self.row.view.curve, self.subtracted.view.curve
        if quantity.comparable == "cmax" or target is None:
            ends = [curve.coverage_reached for curve in curves]
        elif quantity.comparable == "range":
            ends = [min(target.value, curve.coverage_reached) for curve in curves]
        else:
            ends = [Fraction(curve.at(target).achieved) for curve in curves if not math.isnan(curve.at(target).value)]
        return len(ends) == len(curves) and len(set(ends)) == 1 and all(curve.defined for curve in curves)

    @property
    def columns(self) -> DifferenceColumns:
        """The columns to compute in a block of replicates of both sides."""
        return DifferenceColumns(self.row.number, self.subtracted.number, self.row.clusters, self._sum_differences)

    @cached_property
    def counted(self) -> Counted:
        """The number of clusters that differ, and the range: a difference of numbers in [a, b] is in [a − b, b − a]."""
        low = max(self.row.counted.low, self.subtracted.counted.low)
        width = min(self.row.counted.high, self.subtracted.counted.high) - low
        sides = self.row.counted, self.subtracted.counted
        varies = any(side.varies for side in sides)
        if self.row.ratio is not None:  # a ratio may vary by its denominator only
            varies = varies and any(side.number for side in sides)
        kind = "discordant_clusters" if self.of_systems else "informative_clusters"
        return Counted(kind, self.discordant, varies, -width, width)


def difference(values: Mapping[str, Floats], subtracted: Mapping[str, Floats]) -> Floats:
    """Replicates of a row minus those of another; none where either has none."""
    if "value" not in values or "value" not in subtracted:
        return np.zeros(0)
    return np.asarray(values["value"] - subtracted["value"])


def baseline_of(systems: Mapping[str, Any], requested: str | None) -> str:
    """The system the others are compared with: the first if none is named."""
    if requested is not None and requested not in systems:
        raise unknown("system", requested, systems)
    return next(iter(systems), "") if requested is None else requested


def contrasts_with(
    rows: list[Row], baseline: str, allowed: Callable[[Row, Row], bool] = lambda _row, _other: True
) -> Iterator[Contrast]:
    """The difference from the baseline of every number that both have, where `allowed`."""
    of_baseline = {_number_of(row.key): row for row in rows if row.key.system == baseline}
    differing = cache(lambda entries, others: discordant(entries(), others()))
    minus = Minus("system", baseline)
    for row in rows:
        other = None if row.key.system == baseline else of_baseline.get(_number_of(row.key))
        if other is not None and row.resampled and other.resampled and allowed(row, other):
            yield Contrast(row.key.less(minus), row, other, differing(row.entries, other.entries))


def _number_of(key: Key) -> tuple[Any, ...]:
    """What a key says beside the system."""
    return key.quantity, key.confidence, key.among, key.group, key.minus, key.convention


def all_pairs(rows: Sequence[Row], contrasts: Sequence[Contrast]) -> list[Contrast]:
    """One number of several systems, every pair once: the existing contrast, or a new one.

    A new one subtracts the name that sorts first, so that the order of systems changes no key.
    """
    existing = {frozenset((contrast.row.key, contrast.subtracted.key)): contrast for contrast in contrasts}
    pairs = []
    for other, row in combinations(sorted(rows, key=lambda row: row.key.system), 2):
        contrast = existing.get(frozenset((row.key, other.key)))
        key = row.key.less(Minus("system", other.key.system))
        pairs.append(contrast or Contrast(key, row, other, discordant(row.entries(), other.entries())))
    return pairs
