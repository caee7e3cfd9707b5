"""demur against the slow exact reference: every metric, random cases."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from cases import TARGETS, curve_of, random_units
from demur import METRICS, Curve, Graded, Measure
from reference import exact


def assert_agrees(units):
    curve = curve_of(units)
    for name, expected in exact.metrics(units, TARGETS).items():
        value = Measure.of(name)(curve)
        if expected is None:
            assert math.isnan(value), name
        else:
            assert abs(value - expected) <= 1e-12 * max(1, abs(expected)), name


def test_the_reference_knows_every_registered_metric():
    known = exact.metrics([exact.Unit(Fraction(1), 1.0)], ["0.5"])
    assert {str(Measure.of(name).metric.name) for name in known} == set(METRICS)


def test_a_thousand_random_cases_agree():
    rng = random.Random(20261115)
    for _ in range(1_000):
        assert_agrees(random_units(rng, most=20))


@pytest.mark.slow
def test_ten_thousand_random_cases_agree():
    rng = random.Random(7)
    for _ in range(10_000):
        assert_agrees(random_units(rng, most=60))


def test_losses_that_are_not_whole_agree_too():
    rng = np.random.default_rng(5)
    for _ in range(100):
        size = int(rng.integers(1, 30))
        losses, confidence = rng.normal(size=size), rng.integers(0, 6, size).astype(float)
        units = [exact.Unit(Fraction(loss), c) for loss, c in zip(losses.tolist(), confidence.tolist())]
        curve = Curve.of(Graded(size, losses, confidence))
        for name, expected in exact.metrics(units, TARGETS).items():
            if expected is not None and "_pct" not in name:  # a percentage of next to nothing has no fixed scale
                assert abs(Measure.of(name)(curve) - expected) <= 1e-12 * max(1, abs(expected)), name


@pytest.mark.parametrize("size", [1, 2, 3, 10, 97, 1_000, 10_000])
@pytest.mark.parametrize("divisor", [1, 3])
def test_integer_losses_give_the_correctly_rounded_fraction(size, divisor):
    """Not close: the same bits, for curves of distinct confidences and for their optimum and excess."""
    for seed in range(20 if size < 10_000 else 3):
        rng = np.random.default_rng([size, divisor, seed])
        losses = rng.integers(0, 4, size) * (rng.random(size) < rng.choice([0.001, 0.1, 1.0]))
        confidence, units = rng.permutation(size).astype(float), size + int(rng.integers(0, size + 1))
        curve = Curve.of(Graded(units, losses, confidence, divisor))

        in_order = losses[np.argsort(-confidence)].tolist()
        counts, sums = list(range(1, size + 1)), np.cumsum(in_order).tolist()
        best = np.cumsum(sorted(in_order)).tolist()
        aurc = exact.large_aurc(sums, counts, units) / divisor
        optimal = exact.large_aurc(best, counts, units) / divisor
        doubled = sum(a + b for a, b in zip([0, *sums], sums))
        assert Measure.of("aurc")(curve) == float(aurc)
        assert Measure.of("aurc_optimal")(curve) == float(optimal)
        assert Measure.of("eaurc")(curve) == float(aurc - optimal)
        assert Measure.of("augrc")(curve) == float(Fraction(doubled, 2 * units * units * divisor))
        assert curve.selective_risk.tolist() == [float(Fraction(s, k * divisor)) for s, k in zip(sums, counts)]
        assert curve.generalized_risk.tolist() == [float(Fraction(s, units * divisor)) for s in sums]
