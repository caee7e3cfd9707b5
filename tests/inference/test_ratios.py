"""Ratios of sums over clusters: points, influences and intervals by hand."""

import math

import numpy as np
import pytest

from demur.inference.intervals import rare
from demur.inference.ratios import Ratio
from demur.inference.student import t_quantile


def ratio(losses: list[float], accepted: list[int], maximum: float | None = 1.0, divisor: int = 1) -> Ratio:
    return Ratio(np.array(losses), np.array(accepted), divisor, maximum)


def by_hand(losses: list[float], accepted: list[int], level: float) -> tuple[float, float, float]:
    """Standard error, degrees of freedom and critical value by plain loops over the clusters with accepted units."""
    pairs = [(loss, count) for loss, count in zip(losses, accepted, strict=True) if count]
    total, clusters = sum(count for _, count in pairs), len(pairs)
    risk = sum(loss for loss, _ in pairs) / total
    u = [(loss - risk * count) / total for loss, count in pairs]
    squares, fourths = sum(x**2 for x in u), sum(x**4 for x in u)
    error = math.sqrt(clusters / (clusters - 1) * squares)
    degrees = min(clusters - 1, 2 * squares**2 / (fourths - squares**2 / clusters))
    return error, degrees, t_quantile((1 + level) / 2, degrees)


@pytest.mark.parametrize("level", [0.95, 1 - 0.05 / 7])
def test_a_risk_with_a_known_maximum_is_on_the_logit_scale(level: float) -> None:
    losses, accepted = [1, 0, 2, 0, 1, 5], [2, 3, 2, 0, 4, 4]
    error, degrees, t = by_hand([loss / 3 for loss in losses], accepted, level)
    made, _ = ratio(losses, accepted, maximum=1.0, divisor=3).interval(level)
    share = 9 / 45
    assert made is not None
    ends = [math.log(share / (1 - share)) + sign * t * error / (share * (1 - share)) for sign in (-1, 1)]
    assert [made.low, made.high] == pytest.approx([1 / (1 + math.exp(-end)) for end in ends], rel=1e-12)
    assert (made.method, made.degrees) == ("analytic_logit", pytest.approx(degrees, rel=1e-12))
    assert (made.decided_by, made.count) == ("informative_clusters", 4)


def test_the_loss_and_its_maximum_times_a_factor_multiply_the_interval() -> None:
    losses, accepted = [1, 0, 2, 0, 1], [2, 3, 2, 2, 4]
    one, three = ratio(losses, accepted, 2.0).interval()[0], ratio([3 * x for x in losses], accepted, 6.0).interval()[0]
    assert one is not None
    assert three is not None
    assert [three.low, three.high] == pytest.approx([3 * one.low, 3 * one.high], rel=1e-12)


def test_without_a_loss_the_high_end_is_the_one_sided_cluster_bound() -> None:
    made, _ = ratio([0] * 12, [2] * 11 + [8], maximum=3.0).interval(0.9)
    assert made is not None
    assert (made.method, made.low) == ("cluster_bound", 0.0)
    assert made.high == pytest.approx(3 * (1 - 0.1 ** (1 / 12)) * 8 / 2.5, rel=1e-12)


def test_with_every_loss_at_its_maximum_the_low_end_is() -> None:
    made, _ = ratio([0.7 * 2] * 12, [2] * 12, maximum=0.7).interval()
    assert made is not None
    assert (made.low, made.high) == pytest.approx((0.7 * (1 - rare(12, 1.0)), 0.7), rel=1e-12)


def test_without_a_known_maximum_it_is_on_the_log_scale() -> None:
    losses, accepted = [1.5, 0, 2, 0, 1], [2, 3, 2, 2, 4]
    error, _, t = by_hand(losses, accepted, 0.95)
    made, _ = ratio(losses, accepted, None).interval()
    risk = 4.5 / 13
    assert made is not None
    assert [made.low, made.high] == pytest.approx([risk * math.exp(s * t * error / risk) for s in (-1, 1)], rel=1e-12)
    assert ratio([0, 0], [1, 1], None).interval() == (None, "no answer in its range has a loss")


def test_one_cluster_or_none_has_no_interval() -> None:
    assert ratio([1, 0], [2, 0]).interval() == (None, "one cluster holds all of it")
    nothing = ratio([0, 0], [0, 0])
    assert math.isnan(nothing.point)
    assert nothing.interval() == (None, "there is no number")
