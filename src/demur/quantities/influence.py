"""Influence functions: how much each cluster moves a number of a risk–coverage curve.

An area is a smooth function of three sums a cluster takes part in: units N, answers k_j and losses L_j at or above
point j. Differentiating the trapezoids by the position and the height of every point gives a coefficient for each sum;
a cluster's influence is its own share of the sums times the coefficients. Influences of a sample add up to 0, and those
of a ratio or a difference follow from its parts.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from demur.quantities.coverage import Coverage
from demur.quantities.replicates import Replicates
from demur.quantities.table import Entries, cluster_sums, running_sum
from demur.types import Floats, Indices

_TRIGAMMA_OF_1 = math.pi**2 / 6


def on_coverage(sample: Replicates) -> Floats:
    """Influences of the clusters (a row each) on Cmax, in each replicate (a column)."""
    return sample.once("coverage", None, lambda: _on_coverage(sample))


def on_selective_area(sample: Replicates, end: Coverage | Floats | None = None, moves: Floats | None = None) -> Floats:
    """On the AURC, or on that up to a coverage or counts of units; `moves` are influences on where it ends."""
    return _on_area(sample, end, moves, selective=True)


def on_generalized_area(
    sample: Replicates, end: Coverage | Floats | None = None, moves: Floats | None = None
) -> Floats:
    """On the AUGRC, or on that up to a coverage or counts of units; `moves` are influences on where it ends."""
    return _on_area(sample, end, moves, selective=False)


def on_optimal_selective_area(sample: Replicates) -> Floats:
    """On the AURC of the oracle order, whose risks are summed unit by unit, in harmonic numbers of the counts.

    A harmonic number H(k) grows by trigamma(k + 1) with k. Such a sum also depends a little on how many units there are
    in all, which is the same in every replicate: that part is taken out.
    """
    loss, (count, loss_sum) = sample.table.level_loss[:, None], sample.level_sums
    if not len(count):
        return np.zeros_like(sample.weights)
    whole, index = np.arange(1.0, count[-1].max() + 1), count.astype(np.intp)
    harmonic = np.append(0, np.cumsum(1 / whole))[index]
    trigamma = _TRIGAMMA_OF_1 - np.append(0, np.cumsum(1 / whole**2))[index]
    rise = np.diff(harmonic, axis=0, prepend=0)
    below = _previous(loss_sum) - loss * _previous(count)  # what came before, less what it would be at this loss
    by_count, by_loss = loss + below * trigamma, np.zeros_like(count)
    by_count[:-1] -= loss[1:] * (1 + rise[1:]) + below[1:] * trigamma[:-1]
    by_loss[:-1] = rise[1:]
    answered = np.maximum(sample.answered, 1)
    by_count[-1] += loss_sum[-1] / (2 * answered**2)
    by_loss[-1] -= 1 / (2 * answered)
    by_units = -sample.optimal_selective_area * sample.table.divisor
    influence = _of_clusters(sample, sample.table.levels, by_count, by_loss, by_units)
    held = sample.table.cluster_units > 0
    influence -= held[:, None] * (cluster_sums(sample.weights * influence) / np.maximum(held @ sample.weights, 1))
    return influence


def on_optimal_generalized_area(sample: Replicates) -> Floats:
    """On the AUGRC of the oracle order, in which a level of loss is what a plateau is in the curve itself."""
    count, loss_sum = sample.level_sums
    if not len(count):
        return np.zeros_like(sample.weights)
    heights = loss_sum / sample.units
    slopes = _slopes(count, heights, heights[0] * 0, None)
    by_units = slopes.height * sample.coverage_reached - 2 * sample.optimal_generalized_area * sample.table.divisor
    by_loss = slopes.by_height / sample.units
    influence = _of_clusters(sample, sample.table.levels, slopes.by_position, by_loss, by_units)
    influence += slopes.height / sample.table.divisor * on_coverage(sample)
    return influence


def on_coverage_at_threshold(sample: Replicates, threshold: float) -> Floats:
    """On the share of the units that is accepted at a threshold."""
    _, accepted = sample.table.accepted(threshold)
    coverage = sample.coverage_at_threshold(threshold)
    return (accepted[:, None] - coverage * sample.table.cluster_units[:, None]) / sample.units


def on_risk_at_threshold(sample: Replicates, threshold: float) -> Floats:
    """On the mean loss of what is accepted at a threshold; nan where that is nothing."""
    loss, accepted = (sums[:, None] for sums in sample.table.accepted(threshold))
    count = sample.coverage_at_threshold(threshold) * sample.units
    apart = loss / sample.table.divisor - sample.risk_at_threshold(threshold) * accepted
    return np.divide(apart, count, out=np.full_like(apart, np.nan), where=count > 0)


def _on_coverage(sample: Replicates) -> Floats:
    table = sample.table
    answers = np.bincount(table.plateaus.cluster, table.plateaus.count, minlength=table.clusters)
    return (answers[:, None] - sample.coverage_reached * table.cluster_units[:, None]) / sample.units


def _on_area(sample: Replicates, end: Coverage | Floats | None, moves: Floats | None, *, selective: bool) -> Floats:
    """A fixed end does not move, unless Cmax is less; where the two are equal it moves down with Cmax, not up."""
    if moves is None:
        moves = on_coverage(sample)
        if isinstance(end, Coverage):
            wanted, answered = sample.position(end), sample.answered
            moves = moves * np.where(wanted < answered, 0.0, np.where(wanted == answered, 0.5, 1.0))
    moving, name = moves, "selective" if selective else "generalized"
    return sample.once(name, end, lambda: _on_area_upto(sample, end, moving, selective=selective))


def _on_area_upto(sample: Replicates, end: Coverage | Floats | None, moves: Floats, *, selective: bool) -> Floats:
    """The points move, N moves, and the end moves.

    With A the area, h the height at the end and C the coverage there, and everything per unit,
    dA = Σ_j (∂A/∂x_j dx_j + ∂A/∂h_j dh_j) + (h·C − A)·dN/N + h·dC; the height of a generalized risk is also a sum over
    N, which takes another A·dN/N away.
    """
    if not len(sample.count):
        return np.zeros_like(sample.weights)
    cut, divisor = None if end is None else sample.cut(end), sample.table.divisor
    if selective:
        slopes, area = _under_mean_loss(sample, cut), sample.selective_area_upto(end)
        by_loss = np.divide(slopes.by_height, sample.count, out=slopes.by_height, where=sample.count > 0)
        by_count = slopes.by_position - by_loss * sample.risk
    else:
        heights = sample.loss_sum / sample.units
        slopes, area = _slopes(sample.count, heights, heights[0] * 0, cut), 2 * sample.generalized_area_upto(end)
        by_count, by_loss = slopes.by_position, slopes.by_height / sample.units
    reached = (sample.answered if cut is None else cut[1]) / sample.units
    by_units = slopes.height * reached - area * divisor
    influence = _of_clusters(sample, sample.table.plateaus, by_count, by_loss, by_units)
    influence += slopes.height / divisor * moves
    return influence


def _of_clusters(sample: Replicates, entries: Entries, by_count: Floats, by_loss: Floats, by_units: Floats) -> Floats:
    """From derivatives by cumulated sums: an answer at one step is at or above every later step too."""
    table = sample.table
    by_count, by_loss = (running_sum(slope[::-1])[::-1] for slope in (by_count, by_loss))
    influence = entries.by_cluster(by_count, by_loss, table.clusters)
    influence += by_units * table.cluster_units[:, None]
    influence /= sample.units * table.divisor
    return influence


class _Slopes(NamedTuple):
    """Derivatives of an area by the position and the height of each point, its end held; and the height there."""

    by_position: Floats
    by_height: Floats
    height: Floats


def _under_mean_loss(sample: Replicates, cut: tuple[Indices, Floats] | None) -> _Slopes:
    """The line is flat from coverage 0 to the first point held, whose height counts for all of that width."""
    first = np.zeros(len(sample.units))
    begin = sample.begin()
    first[begin[1]] = sample.risk[begin]
    heights = np.where(sample.count > 0, sample.risk, first)
    slopes = _slopes(sample.count, heights, first, cut, sample.first)
    width = sample.count[begin]
    slopes.by_height[begin] += (width if cut is None else np.minimum(width, cut[1][begin[1]])) / 2
    return slopes


def _slopes(
    count: Floats, height: Floats, start: Floats, cut: tuple[Indices, Floats] | None, flat: Indices | None = None
) -> _Slopes:
    """Of the area under the line from (0, start) through the points; cut before a point, its height is on the line.

    Up to the point `flat` the line has no slope.
    """
    if cut is None:
        return _Slopes(_between(height, start, height[-1]) / -2, _between(count, start * 0, count[-1]) / 2, height[-1])
    place, end = cut
    last, each = len(count) - 1, np.arange(len(end))
    here, left = (np.minimum(place, last), each), (np.minimum(place, last + 1) - 1, each)
    before, low = (np.where(place > 0, values[left], first) for values, first in ((count, start * 0), (height, start)))
    width, rise = count[here] - before, height[here] - low
    share = np.divide(end - before, width, out=np.ones_like(end), where=width > 0)
    share = np.where(place > last, 0.0, share if flat is None else np.where(place > flat, share, 1.0))
    at_end = low + share * rise
    beyond = np.arange(last + 1)[:, None] >= place
    heights = np.where(beyond, at_end, height)
    by_position = _between(heights, start, at_end) / -2
    by_height = _between(np.minimum(count, end), start * 0, end) / 2
    passed = np.where(place > last, 0.0, by_height[here])  # the height at the end is a mix of those beside it
    by_position[beyond], by_height[beyond] = 0, 0
    steepness = np.divide(passed * rise, width, out=np.zeros_like(end), where=width > 0)
    inside = np.flatnonzero(place > 0)
    by_height[left[0][inside], inside] += (passed * (1 - share))[inside]
    by_position[left[0][inside], inside] -= (steepness * (1 - share))[inside]
    inside = np.flatnonzero(place <= last)
    by_height[place[inside], inside] = (passed * share)[inside]
    by_position[place[inside], inside] = -(steepness * share)[inside]
    return _Slopes(by_position, by_height, at_end)


def _between(values: Floats, before: Floats, after: Floats) -> Floats:
    """The value one step on less the one a step back."""
    steps = np.empty_like(values)
    steps[:-1], steps[-1] = values[1:], after
    steps[1:] -= values[:-1]
    steps[0] -= before
    return steps


def _previous(cumulative: Floats) -> Floats:
    return np.concatenate([np.zeros_like(cumulative[:1]), cumulative[:-1]])
