"""Influence functions: how much each cluster moves a number of a risk–coverage curve.

An area is a smooth function of three sums over clusters: units N, and answers k_j and losses L_j at or above point j.
Differentiating the trapezoids by the position and the height of every point gives a coefficient for each sum; the
influence of a cluster is its share of the sums times the coefficients. Influences of a sample add up to 0, and those of
a ratio or a difference follow from its parts.
"""

from __future__ import annotations

import numpy as np

from demur.quantities.coverage import Coverage
from demur.quantities.replicates import Replicates
from demur.quantities.slopes import Influence, Line, OnArea, OnSum, OracleRisks, Term, scale_of
from demur.types import Floats


def on_coverage(sample: Replicates) -> Influence:
    """Influences of the clusters (rows) on Cmax in each replicate (columns)."""
    return sample.cached("coverage", None, lambda: _on_coverage(sample))


def on_risk(sample: Replicates) -> Influence:
    """Influences on the mean loss of all answers; nan where nothing is answered."""
    return sample.cached("risk", None, lambda: _on_risk(sample))


def on_selective_area(
    sample: Replicates, end: Coverage | Floats | None = None, moves: Influence | None = None
) -> Influence:
    """Influences on the AURC, up to a coverage or counts of units if given; `moves` are influences on that end."""
    return _on_area(sample, end, moves, selective=True)


def on_generalized_area(
    sample: Replicates, end: Coverage | Floats | None = None, moves: Influence | None = None
) -> Influence:
    """Influences on the AUGRC, up to a coverage or counts of units if given; `moves` are influences on that end."""
    return _on_area(sample, end, moves, selective=False)


def on_optimal_selective_area(sample: Replicates) -> Influence:
    """Influences on the AURC of the oracle order, whose risks are summed unit by unit with harmonic numbers.

    That sum also depends slightly on the total number of units. The total is the same in every replicate, so this part
    is removed.
    """
    table = sample.table
    if not len(table.level_loss):
        return _none(sample)
    by_units, scale = -sample.optimal_selective_area * table.divisor, sample.units * table.divisor
    held = table.cluster_units > 0
    drawn = sample.sweep.sums_of(held.astype(np.float64))
    return OracleRisks(scale, sample.sweep, by_units, held, np.maximum(drawn, 1))


def on_optimal_generalized_area(sample: Replicates) -> Influence:
    """Influences on the AUGRC of the oracle order, whose points are the levels of loss."""
    table = sample.table
    if not len(table.level_loss):
        return _none(sample)
    area = 2 * sample.units * sample.optimal_generalized_area * table.divisor
    scale = sample.units * sample.units * table.divisor
    line = _whole(sample, sample.sweep.oracle.loss_sum, selective=False, of_oracle=True)
    return OnArea(scale, sample.sweep, -area, line)


def on_coverage_at_threshold(sample: Replicates, threshold: float) -> Floats:
    """Influences on the share of the units accepted at a threshold."""
    _, accepted = sample.table.accepted(threshold)
    coverage = sample.coverage_at_threshold(threshold)
    return (accepted[:, None] - coverage * sample.table.cluster_units[:, None]) / sample.units


def on_risk_at_threshold(sample: Replicates, threshold: float) -> Floats:
    """Influences on the mean loss of the answers accepted at a threshold; nan where none is."""
    loss, accepted = (sums[:, None] for sums in sample.table.accepted(threshold))
    count = sample.coverage_at_threshold(threshold) * sample.units
    excess = loss / sample.table.divisor - sample.risk_at_threshold(threshold) * accepted
    return np.divide(excess, count, out=np.full_like(excess, np.nan), where=count > 0)


def _on_coverage(sample: Replicates) -> Influence:
    table = sample.table
    answers = Term(table.cluster_answers, np.ones(len(sample.units)))
    return OnSum(sample.units, [answers, Term(table.cluster_units, -sample.coverage_reached)])


def _on_risk(sample: Replicates) -> Influence:
    table, answered = sample.table, np.where(sample.answered > 0, sample.answered, np.nan)
    losses = Term(table.cluster_loss, np.ones(len(answered)))
    return OnSum(answered * table.divisor, [losses, Term(table.cluster_answers, -sample.sweep.loss / answered)])


def _on_area(
    sample: Replicates, end: Coverage | Floats | None, moves: Influence | None, *, selective: bool
) -> Influence:
    if not sample.plateaus:
        return _none(sample)
    name = "selective" if selective else "generalized"
    return sample.cached(name, end, lambda: _on_area_upto(sample, end, moves, selective=selective))


def _on_area_upto(
    sample: Replicates, end: Coverage | Floats | None, moves: Influence | None, *, selective: bool
) -> Influence:
    """Influences on an area through its points, the number of units N, and its end.

    With A the area, h the height at the end and C the coverage there, and everything per unit,
    dA = Σ_j (∂A/∂x_j dx_j + ∂A/∂h_j dh_j) + (h·C − A)·dN/N + h·dC; the height of a generalized risk is also a sum over
    N, which takes another A·dN/N away. An end at Cmax moves with the answers: h·dC = h·(dk − C·dN)/N.
    """
    units, divisor = sample.units, sample.table.divisor
    area = sample.selective_area_upto(end) if selective else 2 * units * sample.generalized_area_upto(end)
    scale = units * divisor if selective else units * units * divisor
    if end is None:
        return OnArea(scale, sample.sweep, -(area * divisor), _whole(sample, sample.sweep.loss, selective=selective))
    position, height, line = _cut(sample, end, selective=selective)
    moving = _moving(sample, end) if moves is None else np.zeros(len(units))
    by_units = height * (position / units - moving * sample.coverage_reached) - area * divisor
    line = line._replace(end_count=height * moving if selective else height * (moving - 1))
    if moves is None:
        return OnArea(scale, sample.sweep, by_units, line)
    return OnArea(scale, sample.sweep, by_units, line, moves, height * (units / scale_of(moves)))


def _moving(sample: Replicates, end: Coverage | Floats) -> Floats:
    """How much an end moves with Cmax: not where Cmax is beyond it, and half as much where Cmax equals it."""
    position = sample.position(end) if isinstance(end, Coverage) else end
    return np.where(position < sample.answered, 0.0, np.where(position == sample.answered, 0.5, 1.0))


def _none(sample: Replicates) -> Floats:
    """Influences of 0, for replicates in which nothing is answered."""
    return np.zeros((sample.table.clusters, len(sample.units)))


def _whole(sample: Replicates, loss: Floats, *, selective: bool, of_oracle: bool = False) -> Line:
    """The line through all points, which ends at Cmax and at this summed loss."""
    nothing, answered = np.zeros(len(sample.units)), sample.answered
    steps = sample.table.levels if of_oracle else sample.table.plateaus
    return Line(
        selective=selective,
        of_oracle=of_oracle,
        end_point=nothing + len(steps.step_end),
        at_count=nothing,
        at_loss=nothing,
        left_count=nothing,
        left_loss=nothing,
        # Of summed losses, what an answer adds by moving the end is what it takes from the area before it.
        end_count=np.divide(loss, answered, out=np.zeros_like(loss), where=answered > 0) if selective else nothing,
        end_loss=nothing if selective else answered,
    )


def _cut(sample: Replicates, end: Coverage | Floats, *, selective: bool) -> tuple[Floats, Floats, Line]:
    """Where the line up to a coverage ends, its height there, interpolated between the points around it, and the line.

    A line of mean losses is flat from coverage 0 to the first point with answers.
    """
    point, position = sample.cut(end)
    before, width = point.count_before, np.maximum(point.count - point.count_before, 1)  # no width beyond the last one
    low, high = point.loss_before, point.loss_sum
    share, passed = (position - before) / width, (position - before) / 2
    if selective:
        low, high = np.where(before > 0, point.risk_before, point.risk), point.risk
        share = np.where(before > 0, share, 1.0)
    rise, rest = high - low, 1 - share
    steepness = passed * rise / width
    height, by_height, by_position = low + share * rise, passed * share, -(steepness * share)
    line = _whole(sample, sample.sweep.loss, selective=selective)._replace(end_point=point.index)
    if not selective:
        return position, height, line._replace(at_count=by_position, at_loss=by_height, end_loss=position)
    at_loss = np.where(before > 0, by_height, position) / np.maximum(point.count, 1)
    left_loss = ((position - point.count) / 2 + passed * rest) / np.maximum(before, 1)
    left_slope = (high - height) / 2 - steepness * rest
    return (
        position,
        height,
        line._replace(
            at_count=by_position - at_loss * high,
            at_loss=at_loss,
            left_count=left_slope - left_loss * point.risk_before,
            left_loss=left_loss,
        ),
    )
