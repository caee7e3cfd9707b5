"""The plain loops of the audit: exact values, and agreement with each other and with the calibrators."""

import random
from fractions import Fraction

import numpy as np
import pytest

from cases import random_units
from demur import PHQ8, Items, UserError
from demur.audit.loops import number
from demur.audit.loops.calibration import calibrated, fitted_on
from demur.audit.loops.confidence import confidence as ranked
from demur.audit.plain_curve import PlainCurve, coverage_of
from demur.audit.plain_draws import Draws
from demur.audit.plain_intervals import Evidence, ends
from demur.audit.plain_replicates import NUMBERS, Pool, replicated
from demur.audit.plain_shares import favours, p_value
from demur.audit.plain_units import Side
from demur.audit.selective_points import Asked, figures_of
from demur.calibrators import CALIBRATORS
from demur.read import read_run
from runs import experiment, participant, run, written

FOUR = [(2.0, 0), (2.0, 2), (1.0, 0)]
HALF = Fraction(1, 2)


class TestCurve:
    def test_four_units(self):
        curve = PlainCurve.of(FOUR, 4, 1)
        assert (curve.threshold, curve.coverage) == ([2.0, 1.0], [1 / 2, 3 / 4])
        assert (curve.selective_risk, curve.generalized_risk) == ([1.0, 2 / 3], [1 / 2, 1 / 2])
        assert curve.aurc() == pytest.approx(17 / 24, abs=1e-15)
        assert curve.augrc() == 1 / 4
        assert curve.aurc(Fraction(3, 5)) == pytest.approx(89 / 150, abs=1e-15)
        assert curve.augrc(Fraction(3, 5)) == pytest.approx(7 / 40, abs=1e-15)
        assert curve.first_reaching(Fraction(3, 5)) == 1
        assert curve.first_reaching(Fraction(4, 5)) is None

    def test_normalised_it_is_a_third(self):
        curve = PlainCurve.of(FOUR, 4, 3)
        assert curve.aurc() == pytest.approx(17 / 72, abs=1e-16)
        assert curve.augrc() == pytest.approx(1 / 12, abs=1e-16)

    def test_plateaus_may_lie_below_the_best_order(self):
        curve = PlainCurve.of([(1.0, 0), (0.0, 1), (0.0, 1)], 3, 1)
        assert (curve.aurc(), curve.aurc_optimal) == pytest.approx((2 / 9, 5 / 18), abs=1e-15)

    def test_nothing_answered(self):
        curve = PlainCurve.of([], 5, 1)
        assert (curve.cmax, curve.aurc(), curve.augrc(), curve.aurc_achievable, curve.risk) == (0, 0, 0, 0, None)

    @pytest.mark.parametrize("seed", range(20))
    def test_agrees_with_fractions_on_random_units(self, seed):
        units = random_units(random.Random(seed))
        answers = [(unit.confidence, int(unit.loss * 3)) for unit in units if unit.loss is not None]
        curve = PlainCurve.of(answers, len(units), 3)
        found = curve.aurc(), curve.augrc(), curve.aurc_optimal, curve.augrc_optimal, curve.aurc_achievable
        names = ("aurc", "augrc", "aurc_optimal", "augrc_optimal", "aurc_achievable")

        assert found == pytest.approx([float(number(name, units)) for name in names], abs=1e-13)

    def test_a_coverage_is_the_decimal_as_typed_and_a_float_reaches_what_it_stands_for(self):
        assert coverage_of("0.30") == Fraction(3, 10)
        assert coverage_of(repr(0.1 + 0.2)) < Fraction(3, 10) < Fraction(0.1 + 0.2)
        assert [coverage_of(text) for text in ("0", "1.5", "value", "1/0")] == [None] * 4


@pytest.fixture
def side(tmp_path):
    rng = random.Random(3)
    people = []
    for who in range(7):
        answers = {item: rng.choice([None, 0, 1, 2, 3]) for item in PHQ8.items}
        one = participant(who, answers)
        for signals in one["item_signals"].values():
            signals["llm_evidence_count"] = rng.randint(0, 3)
        people.append(one)
    items: Items = read_run(written(tmp_path, run(experiment(*people))))
    return Side(items, items, "abs_norm")


class TestReplicates:
    def test_every_cluster_once_is_the_sample_itself(self, side):
        confidence = ranked(side.items, "llm").values
        asked = Asked.of({"mae_at_coverage": {"0.30": None}}, HALF)
        figures = figures_of(side.curve(confidence), asked)
        ones = np.ones((1, 7))
        found = replicated(Pool.of(side, confidence), ones, ones @ np.full(7, 8.0) / 2, asked.by_key, errors=True)
        assert [found[name][0] for name in NUMBERS] == pytest.approx([figures[name,] for name in NUMBERS], abs=1e-15)
        assert found["mae 0.30"][0] == pytest.approx(figures["mae_at_coverage", "0.30"], abs=1e-15)

    def test_influences_add_up_to_0_and_are_derivatives(self, side):
        pool, small = Pool.of(side, ranked(side.items, "llm").values), 1e-6
        moved = pool.drawn(np.ones(7)).influences()
        for name, influence in moved.items():
            assert influence.sum() == pytest.approx(0, abs=1e-15)
            for cluster in range(7):
                more, less = np.ones(7), np.ones(7)
                more[cluster] += small
                less[cluster] -= small
                numbers = [pool.drawn(weights).numbers(1.0)[name] for weights in (more, less)]
                assert influence[cluster] == pytest.approx((numbers[0] - numbers[1]) / (2 * small), abs=1e-8)


class TestIntervals:
    VALUES = np.arange(1, 1001) / 1000

    def evidence(self, draws):
        return Evidence(0.5, self.VALUES, 10, draws)

    def test_draws_that_are_repeated_leave_no_room(self):
        low, high = ends(self.evidence(Draws(1000, 1000, repeated=True)), "percentile")
        assert (low.band, high.band) == (None, None)
        assert (low.value, high.value) == pytest.approx((0.025975, 0.975025), abs=1e-12)

    def test_other_draws_may_lie_between_quantiles_as_stated(self):
        draws = Draws(4000, 1000, repeated=False)
        low, _ = ends(self.evidence(draws), "percentile")
        shares = draws.between(0.025)
        assert draws.worth == pytest.approx(800)
        assert (shares[0] - 0.025) ** 2 == pytest.approx(16 * 0.025 * 0.975 / 800)
        assert (shares[1] - 0.025) ** 2 == pytest.approx(16 * shares[1] * (1 - shares[1]) / 800)
        assert low.band == pytest.approx([0.001 + 0.999 * share for share in shares], abs=1e-12)

    def test_a_share_of_none_may_be_a_few(self):
        assert Draws(1000, 1000, repeated=False).between(0.0) == pytest.approx((0, 16 / 516))

    def test_fewer_draws_leave_more_room(self):
        few, many = (ends(self.evidence(Draws(n, 1000, repeated=False)), "percentile")[1].band for n in (200, 20_000))
        assert few[0] < many[0] < many[1] < few[1]

    def test_a_method_nobody_knows_gives_nothing(self):
        assert ends(self.evidence(Draws(1000, 1000, repeated=True)), "guess") is None

    def test_a_difference_of_0_but_for_its_last_bits_may_have_fallen_on_either_side(self):
        """Of 9999 replicates 400 are 0: none, or all of them, may be counted below it."""
        values = np.array([1.0] * 9599 + [0.0] * 400)
        for repeated in (True, False):
            evidence = Evidence(1.0, values, 10, Draws(9999, 9999, repeated=repeated))
            chance, left = (
                p_value(evidence, sums_of_floats=True),
                favours(evidence, below_zero=True, sums_of_floats=True),
            )
            assert chance.band[0] <= 2 / 10_000 < 802 / 10_000 <= chance.band[1]
            assert left.band[0] == 0 < 400 / 9999 <= left.band[1]
        whole = p_value(evidence, sums_of_floats=False)
        assert 2 / 10_000 < whole.band[0] < 802 / 10_000 < whole.band[1]


MODELS = {
    "temperature_scaling": {"temperature": 2.5},
    "platt": {"mean": [0.4], "scale": [0.2], "coefficients": [-1.5], "intercept": 0.3},
    "logistic": {"mean": [0.4], "scale": [0.2], "coefficients": [1.5], "intercept": -0.3},
    "linear": {"mean": [0.4], "scale": [0.2], "coefficients": [0.5], "intercept": 0.5},
    "isotonic": {"x": [0.1, 0.5, 0.6], "y": [0.2, 0.2, 0.9]},
}


class TestCalibrations:
    @pytest.mark.parametrize("method", MODELS)
    def test_the_formulas_are_those_of_the_calibrators(self, method):
        given = [0.0, 0.1, 0.3, 0.5, 0.57, 0.6, 1.0]
        applied = CALIBRATORS[method](**MODELS[method])(given)
        content = {"method": method, "variant": "token_msp", "features": None, "model": MODELS[method]}
        assert fitted_on(content) == ([], "token_msp")
        assert [calibrated(content, [value]) for value in given] == pytest.approx(applied.tolist(), abs=1e-15)

    @pytest.mark.parametrize("content", [None, [], {"method": "platt"}, {"method": "mystery", "model": {}}])
    def test_what_is_no_calibration_is_refused(self, content):
        with pytest.raises(UserError, match="^not a calibration: "):
            fitted_on(content)

    def test_a_model_of_another_method_is_refused(self):
        with pytest.raises(UserError, match="^the model of the calibration is not that of 'isotonic'$"):
            calibrated({"method": "isotonic", "model": MODELS["platt"]}, [0.5])
