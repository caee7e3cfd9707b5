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
from demur.quantities.slopes import Finish, Influence, Line, OnArea, OnDifference, OracleRisks
from demur.types import Floats

Moves = tuple[Influence, Floats | None]  # influences on the end of an area, and their factor in each replicate


def on_coverage(sample: Replicates) -> Influence:
    """Influences of the clusters (rows) on Cmax in each replicate (columns)."""
    return sample.cached("coverage", None, lambda: _on_coverage(sample))


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
    finish = Finish(-sample.optimal_selective_area * table.divisor, sample.units * table.divisor)
    held = table.cluster_units > 0
    drawn = sample.sweep.sums_of(held.astype(np.float64))
    return OracleRisks(sample.sweep, finish, held, np.maximum(drawn, 1))


def on_optimal_generalized_area(sample: Replicates) -> Influence:
    """Influences on the AUGRC of the oracle order, whose points are the levels of loss."""
    table = sample.table
    if not len(table.level_loss):
        return _none(sample)
    height = sample.sweep.oracle.loss_sum / sample.units
    area = 2 * sample.optimal_generalized_area * table.divisor
    finish = Finish(
        by_units=height * sample.coverage_reached - area,
        scale=sample.units * table.divisor,
        lift=height / table.divisor,
        moves=on_coverage(sample),
    )
    return OnArea(sample.sweep, finish, _whole(sample, height, selective=False, of_oracle=True))


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
    return OnDifference(table.cluster_answers, table.cluster_units, sample.coverage_reached, sample.units)


def _on_area(
    sample: Replicates, end: Coverage | Floats | None, moves: Influence | None, *, selective: bool
) -> Influence:
    """Influences on an area: a fixed end moves only where Cmax is below it, and half as much where Cmax equals it."""
    factor = None
    if moves is None and isinstance(end, Coverage):
        position, answered = sample.position(end), sample.answered
        factor = np.where(position < answered, 0.0, np.where(position == answered, 0.5, 1.0))
    moving = on_coverage(sample) if moves is None else moves, factor
    name = "selective" if selective else "generalized"
    return sample.cached(name, end, lambda: _on_area_upto(sample, end, moving, selective=selective))


def _on_area_upto(sample: Replicates, end: Coverage | Floats | None, moves: Moves, *, selective: bool) -> Influence:
    """Influences on an area through its points, the number of units N, and its end.

    With A the area, h the height at the end and C the coverage there, and everything per unit,
    dA = Σ_j (∂A/∂x_j dx_j + ∂A/∂h_j dh_j) + (h·C − A)·dN/N + h·dC; the height of a generalized risk is also a sum over
    N, which takes another A·dN/N away.
    """
    if not sample.plateaus:
        return _none(sample)
    area = sample.selective_area_upto(end) if selective else 2 * sample.generalized_area_upto(end)
    line, divisor = _line(sample, end, selective=selective), sample.table.divisor
    finish = Finish(
        by_units=line.height * (line.end / sample.units) - area * divisor,
        scale=sample.units * divisor,
        lift=line.height / divisor,
        moves=moves[0],
        factor=moves[1],
    )
    return OnArea(sample.sweep, finish, line)


def _none(sample: Replicates) -> Floats:
    """Influences of 0, for replicates in which nothing is answered."""
    return np.zeros((sample.table.clusters, len(sample.units)))


def _whole(sample: Replicates, height: Floats, *, selective: bool, of_oracle: bool = False) -> Line:
    """The line through all points, the last of which has this height."""
    nothing = np.zeros(len(sample.units))
    steps = sample.table.levels if of_oracle else sample.table.plateaus
    return Line(
        selective=selective,
        of_oracle=of_oracle,
        cut=False,
        end_point=nothing + len(steps.step_end),
        end=sample.answered,
        height=height,
        left_height=nothing,
        left_slope=nothing,
        at_height=nothing,
        at_slope=nothing,
        begin=sample.begin.index if selective else nothing,
        start=sample.begin.risk if selective else nothing,
        extra=sample.begin.count / 2 if selective else nothing,
        units=sample.units,
    )


def _line(sample: Replicates, end: Coverage | Floats | None, *, selective: bool) -> Line:
    """The line through the points, to the last one or up to a coverage.

    A line of mean losses is flat from coverage 0 to the first point with answers, whose height counts for that width.
    """
    if end is not None:
        return _cut_line(sample, end, selective=selective)
    loss, answered = sample.sweep.loss, sample.answered
    risk = np.divide(loss, answered, out=np.zeros_like(loss), where=answered > 0)
    return _whole(sample, risk if selective else loss / sample.units, selective=selective)


def _cut_line(sample: Replicates, end: Coverage | Floats, *, selective: bool) -> Line:
    """The line up to a coverage, with the height at its end interpolated between the points around it."""
    (point, position), last = sample.cut(end), sample.plateaus - 1
    if selective:
        low, high = np.where(point.count_before > 0, point.risk_before, sample.begin.risk), point.risk
    else:
        low, high = point.loss_before / sample.units, point.loss_sum / sample.units
    before, rise, beyond = point.count_before, high - low, point.index > last
    width = np.maximum(point.count - before, 1)  # beyond the last point there is no width
    share = (position - before) / width
    if selective:
        share = np.where(before > 0, share, 1.0)
    share = np.where(beyond, 0.0, share)
    passed = np.where(beyond, 0.0, (position - before) / 2)
    steepness = passed * rise / width
    return _whole(sample, low + share * rise, selective=selective)._replace(
        cut=True,
        end_point=point.index,
        end=position,
        left_height=passed * (1 - share),
        left_slope=steepness * (1 - share),
        at_height=passed * share,
        at_slope=-(steepness * share),
        extra=np.minimum(sample.begin.count, position) / 2 if selective else low * 0,
    )
