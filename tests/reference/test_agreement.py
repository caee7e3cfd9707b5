"""demur against the plain loops: every registered quantity, on random cases."""

import ast
import math
import random
import re
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import reference
from cases import TARGETS, curve_of, random_units
from demur import QUANTITIES, VARIANTS, Curve, Graded, Measure, UserError, calibrate, read_run
from demur import confidence as core_confidence
from demur.extensions.lab.runs import simulated_run
from demur.quantities.forecasts import Forecasts
from demur.quantities.registry import quantities
from demur.sampling.draws import drawn_clusters
from parametrized import parametrize_few
from reference import LOOPS, number
from reference.confidence import confidence as plain_confidence
from reference.draws import drawn
from reference.selective import FORMULAS, PlainCurve
from runs import written

SELECTIVE = [name for name in LOOPS if name in {entry.name for entry in quantities("curve")}]
RISKS = ("0", "0.25", "1/3", "1", "1.5")
THRESHOLDS = ("0", "1.5", "2", "-1")
PARAMETERS = {"@C": TARGETS, "=R": RISKS, "=T": THRESHOLDS}
NAMES = [
    re.sub("(@|=)[CRT]$", rf"\g<1>{target}", name)
    for name in SELECTIVE
    for target in PARAMETERS.get(name[-2:], TARGETS[:1])
]


# How many random cases: more of them are among the slow tests.
some_cases = pytest.mark.parametrize("cases", [15, pytest.param(300, marks=pytest.mark.slow)])


def measured(name, curve):
    return Measure.of(name)(curve)


def assert_close(value, expected, name):
    if expected is None:
        assert math.isnan(value), name
    else:
        assert abs(value - expected) <= 1e-12 * max(1, abs(expected)), name


def assert_agrees(units):
    curve, plain = curve_of(units), PlainCurve(units)
    for name in NAMES:
        assert_close(measured(name, curve), number(name, plain), name)


def test_every_registered_quantity_has_its_loop():
    assert {name.removesuffix("@policy") for name in QUANTITIES} <= set(LOOPS)
    assert set(FORMULAS) <= set(SELECTIVE)


@pytest.mark.slow
def test_two_hundred_random_cases_agree():
    """Ten thousand are among the slow tests."""
    rng = random.Random(20261115)
    for _ in range(200):
        assert_agrees(random_units(rng, most=20))


@pytest.mark.slow
def test_ten_thousand_random_cases_agree():
    rng = random.Random(7)
    for _ in range(10_000):
        assert_agrees(random_units(rng, most=60))


@some_cases
@pytest.mark.slow
def test_losses_that_are_not_whole_agree_too(cases):
    rng = np.random.default_rng(5)
    for _ in range(cases):
        size = int(rng.integers(1, 30))
        losses, confidence = rng.normal(size=size), rng.integers(0, 6, size).astype(float)
        units = [*zip(losses.tolist(), confidence.tolist())]
        curve = Curve.of(Graded(size, losses, confidence))
        for name in NAMES:
            expected = number(name, units)
            if expected is not None and "_pct" not in name:  # a percentage of next to nothing has no fixed scale
                assert_close(measured(name, curve), expected, name)


def large_aurc(loss_sums, counts, units):
    """AURC from cumulative integers at sizes where adding fractions one by one would take minutes."""
    common = math.lcm(*counts)
    risks = [total * (common // count) for total, count in zip(loss_sums, counts)]
    doubled = 2 * counts[0] * risks[0]
    for j in range(1, len(counts)):
        doubled += (counts[j] - counts[j - 1]) * (risks[j] + risks[j - 1])
    return Fraction(doubled, 2 * common * units)


@parametrize_few("size", [1, 2, 3, 10, 97, 1_000, pytest.param(10_000, marks=pytest.mark.slow)], 4)
@pytest.mark.parametrize("divisor", [1, 3])
def test_integer_losses_give_the_correctly_rounded_fraction(size, divisor):
    """Not close: the same bits, for curves of distinct confidences and for their optimum and excess.

    Ten thousand answers are among the slow tests.
    """
    for seed in range(20 if size < 1_000 else 3):
        rng = np.random.default_rng([size, divisor, seed])
        losses = rng.integers(0, 4, size) * (rng.random(size) < rng.choice([0.001, 0.1, 1.0]))
        confidence, units = rng.permutation(size).astype(float), size + int(rng.integers(0, size + 1))
        curve = Curve.of(Graded(units, losses, confidence, divisor))

        in_order = losses[np.argsort(-confidence)].tolist()
        counts, sums = list(range(1, size + 1)), np.cumsum(in_order).tolist()
        best = np.cumsum(sorted(in_order)).tolist()
        aurc = large_aurc(sums, counts, units) / divisor
        optimal = large_aurc(best, counts, units) / divisor
        doubled = sum(a + b for a, b in zip([0, *sums], sums))
        assert Measure.of("aurc")(curve) == float(aurc)
        assert Measure.of("aurc_optimal")(curve) == float(optimal)
        assert Measure.of("eaurc")(curve) == float(aurc - optimal)
        assert Measure.of("augrc")(curve) == float(Fraction(doubled, 2 * units * units * divisor))
        assert curve.selective_risk.tolist() == [float(Fraction(s, k * divisor)) for s, k in zip(sums, counts)]
        assert curve.generalized_risk.tolist() == [float(Fraction(s, units * divisor)) for s in sums]


def random_forecasts(rng):
    size, decimals = rng.randint(1, 40), rng.choice([1, 2, 15])
    outcome = rng.choice([lambda: rng.randint(0, 1), lambda: 1, lambda: 0, lambda: rng.choice([0, 1 / 3, 1])])
    return [(round(rng.random(), decimals), outcome()) for _ in range(size)]


@parametrize_few("bins", [1, 3, 10, 15], 2)
@some_cases
def test_calibration_agrees(bins, cases):
    rng = random.Random(bins)
    for _ in range(cases):
        rows = random_forecasts(rng)
        forecasts = Forecasts.of(*zip(*rows), bins)
        for entry in quantities("forecasts", "calibration"):
            name = entry.name
            binned = {"bins": bins} if name.startswith(("ece", "brier_re", "brier_w")) else {}
            assert_close(Measure.of(name)(forecasts)[0], number(name, rows, **binned), name)


FITTED = [
    {"method": "temperature_scaling", "features": ["verbalized_confidence"]},
    {"method": "temperature_scaling", "variant": "verbalized"},
    {"method": "platt", "variant": "llm"},
    {"method": "isotonic", "variant": "token_msp"},
    {"method": "logistic", "features": ["llm_evidence_count", "token_msp"]},
    {"method": "linear", "features": ["llm_evidence_count", "token_msp"]},
]


@parametrize_few("choice", FITTED, 3, ids=lambda choice: "-".join(map(str, choice.values())))
def test_every_confidence_is_that_of_the_evaluator_calibrated_ones_too(tmp_path, choice):
    items = read_run(written(tmp_path, simulated_run(15, seed=4)), mode="few_shot")
    calibration = calibrate(items, **choice)
    own = "calibrated" if "features" in choice else f"calibrated:{choice['variant']}"
    checked = 0
    for name in (own, f"secondary:{own}+llm:average", *VARIANTS):
        try:
            expected = core_confidence(items, name, calibration).values[items.answered]
        except UserError:
            continue
        content = calibration.to_json()
        assert plain_confidence(items, name, content) == pytest.approx(expected.tolist(), abs=1e-12), name
        checked += 1
    assert checked > 8


def test_the_clusters_drawn_are_those_of_the_evaluator():
    for seed, clusters in ((0, 1), (7, 5), (2**64 - 1, 41), (123456789, 1000)):
        expected = drawn_clusters(seed, np.arange(20), clusters).tolist()
        assert [drawn(seed, replicate, clusters) for replicate in range(20)] == expected


def test_the_loops_import_facts_and_the_loops_of_audits_alone():
    """What computes for them could be wrong in the same way as what they check."""
    allowed = (
        "demur.errors",
        "demur.facts.",
        "demur.extensions.audit.retrieval_figures",
        "demur.extensions.retrieval.rankings",
        "reference",
    )
    for path in Path(reference.__file__).parent.glob("[!t]*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        modules = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        modules += [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
        others = [name for name in modules if name.partition(".")[0] not in sys.stdlib_module_names]
        assert all(name.startswith(allowed) for name in others), path.name
