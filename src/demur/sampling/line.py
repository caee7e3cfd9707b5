"""Lines: running sums along the steps of a table in each replicate, and the areas under them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from demur.sampling.harmonic import harmonic_tables
from demur.sampling.hull import lower_hull
from demur.sampling.numbers import Number, Term
from demur.sampling.steps import Steps, running_sum
from demur.types import Floats, Indices

if TYPE_CHECKING:
    from demur.sampling.weights import Weights

Value = TypeVar("Value")
_FEW_POINTS = 16  # it is faster to look at all of them than to pick the next one for each replicate
_HALF = 0.5  # a divisor where there is nothing to divide: counts are 0, or about 1 and more


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """Where an area ends in each replicate, and what the two points around the end count.

    It ends at so many units (`end`), before point `index`, at a `height`. The height of the point on the left counts
    `left` beyond half the width before it, and that of point `index` counts `right`, each over the units it is a mean
    of. `by_count` is the derivative by an answer added at point `index`; that by a loss is `right`.
    """

    index: Indices
    end: Floats
    height: Floats
    left: Floats
    right: Floats
    by_count: Floats


@dataclass(frozen=True, eq=False)
class Line:
    """Running sums of answers k and losses L along the steps of a table; row 0 is 0, and rows 1 … J are the steps."""

    steps: Steps
    weights: Weights
    whole: bool
    _known: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def sums(self) -> tuple[Floats, Floats]:
        """Number of answers and sum of losses up to each step (rows) in each replicate (columns)."""
        return self.steps.running_sums(self.weights.columns, whole=self.whole)

    def once(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Return a value that several quantities need, computed at the first call and stored under `key`."""
        if key not in self._known:
            self._known[key] = compute()
        value: Value = self._known[key]
        return value

    def forget(self) -> None:
        """Free all stored values; they are computed again when needed."""
        self._known.clear()
        for name in vars(self).keys() - {each.name for each in fields(self)}:
            del vars(self)[name]

    def reach(self, need: Floats) -> Indices:
        """Index of the first point with at least `need` answers, counted from 1; J + 1 where there is none."""
        k, points = self.sums[0], len(self.steps)
        if points <= _FEW_POINTS:
            fewer = k.reshape(points + 1, *[1] * (need.ndim - 1), -1) < need
            return np.asarray(np.maximum(fewer.sum(axis=0, dtype=np.intp), 1))
        column, below = np.arange(k.shape[1]), np.zeros(need.shape, np.intp)
        for bit in reversed(range(points.bit_length())):
            further = below + (1 << bit)
            inside = further <= points
            below += (inside & (k[np.where(inside, further, 0), column] < need)) * (1 << bit)
        return below + 1

    def points(self, *indices: Indices) -> list[Floats]:
        """Numbers of answers, then sums of losses, at the given points of each replicate, at most the last point."""
        places = [*map(self._places, indices)]
        return [values.take(place) for values in self.sums for place in places]

    def _at(self, index: Indices, values: Floats) -> Floats:
        return values.take(self._places(index))

    def _places(self, index: Indices) -> Indices:
        """Where the numbers of some points are, counted row after row: numpy takes these faster than by two indices."""
        replicates = index.shape[-1]
        return np.asarray(np.minimum(index, len(self.steps)) * replicates + np.arange(replicates))

    @cached_property
    def ends(self) -> list[Floats]:
        """The number of answers and the sum of losses of each replicate as a whole."""
        return [sums[-1] for sums in self.sums]

    @cached_property
    def first(self) -> tuple[Indices, Indices]:
        """Index of the first point that has answers, in each replicate; of the last point where there is none."""
        column = np.arange(len(self.ends[0]))
        return np.minimum(self.reach(np.full(len(column), 0.5)), len(self.steps)), column

    def area(self, end: Number, *, selective: bool) -> Number:
        """Area under L/k (`selective`) or under L, from 0 to `end` answers, by trapezoids; in units × losses.

        A line of mean losses is flat up to the first point that has answers.
        """
        return self.once((end, selective), lambda: self._area_upto(end, selective=selective))

    def _area_upto(self, end: Number, *, selective: bool) -> Number:
        stop = np.minimum(end.value, self.ends[0])
        index = self.reach(np.nextafter(stop, np.inf))
        k0, k1, loss0, loss1 = self.points(index - 1, index)
        passed, width = stop - k0, np.maximum(k1 - k0, _HALF)
        share, begun = passed / width, k0 > 0
        half = passed * share / 2
        if selective:
            over0, over1 = np.maximum(k0, _HALF), np.maximum(k1, _HALF)
            y1 = loss1 / over1
            y0 = np.where(begun, loss0 / over0, y1)
            right = np.where(begun, half, passed) / over1
            left = np.where(begun, passed - half - (k1 - k0) / 2, 0.0) / over0
            by_count = -half * (y1 - y0) / width - right * y1
        else:
            y0, y1, right, left = loss0, loss1, half, passed - half - (k1 - k0) / 2
            by_count = -half * (y1 - y0) / width
        cut = Cut(index, stop, y0 + share * (y1 - y0), left, right, by_count)
        value, term = self._area(cut, selective=selective)
        return Number(value, {term: 1.0}) + end.moving * cut.height

    def _area(self, cut: Cut, *, selective: bool) -> tuple[Floats, Term]:
        """The area up to a cut, and its derivatives through the points before it.

        The area is Σ y·width, with half the width around each point. An answer or a loss that is added at a point
        counts there and at all later points.
        """
        return self._selective(cut) if selective else self._generalized(cut)

    def _generalized(self, cut: Cut) -> tuple[Floats, Term]:
        (k, losses), areas = self.sums, self._trapezoids

        def influence() -> Floats:
            by_count, by_loss = _pairs(losses), _pairs(k)
            by_count *= 0.5
            by_count -= cut.height
            by_loss *= -0.5
            by_loss += cut.end
            return self._by_cluster(cut, by_count, by_loss)

        return self._upto(cut, areas, losses), Term(influence)

    @cached_property
    def _trapezoids(self) -> Floats:
        """Running sums of L × half the width around each point."""
        k, losses = self.sums
        areas = _around(k)
        areas *= losses
        areas *= 0.5
        return running_sum(areas)

    def _selective(self, cut: Cut) -> tuple[Floats, Term]:
        (_, losses), (risk, areas) = self.sums, self._risks

        def influence() -> Floats:
            q, qr = self._risk_weights
            by_loss, by_count = np.empty_like(q), _pairs(risk)
            by_count *= 0.5
            by_count[self.first] = risk[self.first]
            by_count -= cut.height + self._upto(cut, qr, risk)
            by_count[1:] += qr[:-1]
            np.subtract(self._upto(cut, q, None), q[:-1], out=by_loss[1:])
            return self._by_cluster(cut, by_count, by_loss)

        return self._upto(cut, areas, losses), Term(influence)

    @cached_property
    def _widths(self) -> Floats:
        """Half the width around each point; that before the first point with answers counts in full."""
        k = self.sums[0]
        widths = _around(k)
        widths[self.first] += k[self.first]
        widths *= 0.5
        return widths

    @cached_property
    def _risks(self) -> tuple[Floats, Floats]:
        """The risk at each point, 0 before the first answer, and running sums of risk × width."""
        k, losses = self.sums
        risk = losses / np.maximum(k, _HALF)
        return risk, running_sum(self._widths * risk)

    @cached_property
    def _risk_weights(self) -> tuple[Floats, Floats]:
        """Running sums of width / k, which is what a loss counts at a point, and of that times the risk."""
        k, risk = self.sums[0], self._risks[0]
        weight = self._widths / np.maximum(k, _HALF)
        return running_sum(weight.copy()), running_sum(weight * risk)

    def _upto(self, cut: Cut, running: Floats, values: Floats | None) -> Floats:
        left, right = (1.0, 1.0) if values is None else (self._at(cut.index - 1, values), self._at(cut.index, values))
        return self._at(cut.index - 1, running) + cut.left * left + cut.right * right

    def _by_cluster(self, cut: Cut, by_count: Floats, by_loss: Floats) -> Floats:
        """Influences from the derivatives by an answer and by a loss added at each step, which end at a cut."""
        inside = np.flatnonzero(cut.index <= len(self.steps))
        if len(inside):
            beyond = np.arange(len(by_count))[:, None] > cut.index
            for values, at_end in ((by_count, cut.by_count), (by_loss, cut.right)):
                np.copyto(values, 0.0, where=beyond)
                values[cut.index[inside], inside] = at_end[inside]
        return self.steps.by_cluster(by_count, by_loss)

    def area_by_unit(self, loss: Floats) -> Number:
        """Area under the mean loss along steps of equal loss, the lowest first, with every unit a point.

        It is Σ of the mean loss of the first n units, n = 1 … K, and half of what the first risk is above the last.
        """
        return self.once("by unit", lambda: self._area_by_unit(loss))

    def _area_by_unit(self, loss: Floats) -> Number:
        (k, losses), level = self.sums, np.append(0.0, loss)[:, None]
        answered, lost = self.ends
        harmonic, trigamma = (table[k.astype(np.intp)] for table in harmonic_tables(float(answered.max(initial=0))))
        rise, below = _rises(k, harmonic), losses[:-1] - level[1:] * k[:-1]
        # The derivative of H(k) is trigamma(k + 1). What is added at a step counts at all later ones.
        later = np.zeros_like(k)
        later[1:] = level[1:] + below * trigamma[1:]
        later[:-1] -= level[1:] * (1 + rise) + below * trigamma[:-1]
        by_count = running_sum(np.ascontiguousarray(later[::-1]))[::-1] + level * (harmonic[-1] - harmonic)
        over = np.maximum(answered, 1)
        by_count += (lost / over - level) / (2 * over)
        term = Term(lambda: self.steps.by_cluster(by_count), (by_count[1:] * np.diff(k, axis=0)).sum(axis=0))
        ends = np.where(answered > 0, level[self.first[0], 0] - lost / over, 0.0) / 2
        return Number(_rank_sum(level[1:] * np.diff(k, axis=0), below, rise) + ends, {term: 1.0})

    def rank_sum(self) -> Floats:
        """Sum over n = 1 … K of the mean loss of the first n units, the loss of a step spread evenly over its units."""
        k, losses = self.sums
        harmonic = harmonic_tables(float(self.ends[0].max(initial=0)))[0][k.astype(np.intp)]
        added, width = np.diff(losses, axis=0), np.diff(k, axis=0)
        mean = np.divide(added, width, out=np.zeros_like(added), where=width > 0)
        return _rank_sum(added, losses[:-1] - mean * k[:-1], _rises(k, harmonic))

    def hull_area(self) -> Floats:
        """Area under the mean loss over the vertices of its lower convex hull. Slow: one replicate at a time."""
        areas = []
        for k, losses in zip(*(sums.T for sums in self.sums), strict=True):
            held = np.flatnonzero(np.diff(k, prepend=0) > 0)
            kept = held[lower_hull(k[held].astype(np.int64), losses[held])]
            risk = losses[kept] / k[kept]
            areas.append(np.sum((risk + np.append(risk[:1], risk[:-1])) * np.diff(k[kept], prepend=0)) / 2)
        return np.array(areas)

    def interpolated(self, end: Floats) -> tuple[Floats, Callable[[], Floats]]:
        """Loss of the first `end` units, with a plateau accepted in part, and the share of each step accepted."""
        index = self.reach(np.nextafter(end, np.inf))
        k0, k1, loss0, loss1 = self.points(index - 1, index)
        share = (end - k0) / np.maximum(k1 - k0, _HALF)

        def shares() -> Floats:
            step = np.arange(len(self.steps) + 1)[:, None]
            return np.where(step < index, 1.0, np.where(step == index, share, 0.0))

        return loss0 + share * (loss1 - loss0), shares


def _pairs(values: Floats) -> Floats:
    total = np.empty_like(values)
    np.add(values[1:], values[:-1], out=total[1:])
    return total


def _around(values: Floats) -> Floats:
    steps = np.empty_like(values)
    steps[:-1], steps[-1] = values[1:], values[-1]
    steps[1:] -= values[:-1]
    return steps


def _rises(k: Floats, harmonic: Floats) -> Floats:
    """Differences of harmonic numbers between steps; of single units without what a difference would cancel."""
    rise = np.diff(harmonic, axis=0)
    return np.where(np.diff(k, axis=0) == 1, 1 / np.maximum(k[1:], 1), rise)


def _rank_sum(added: Floats, below: Floats, rise: Floats) -> Floats:
    """After k units with the loss S, each rank of a step of loss l has the mean loss l + (S − l·k)/rank."""
    sums = running_sum(added + below * rise)
    return sums[-1] if len(sums) else np.zeros(rise.shape[1])
