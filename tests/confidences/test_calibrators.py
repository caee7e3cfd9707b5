"""Calibrators: what they recover, what scikit-learn says, which features they take."""

import json
import math
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from demur import UserError
from demur.confidences.calibrators import (
    IsotonicCalibrator,
    LinearCalibrator,
    LogisticCalibrator,
    TemperatureScalingCalibrator,
)
from parametrized import parametrize_few

RNG = np.random.default_rng(4)
X = {"evidence": RNG.integers(0, 6, 300).astype(float), "spoken": RNG.normal(3, 1, 300)}
LOGIT = 0.8 * X["evidence"] - 1.5 + 0.4 * X["spoken"]
Y = (RNG.random(300) < 1 / (1 + np.exp(-(LOGIT - LOGIT.mean())))).astype(float)
MATRIX = np.column_stack([*X.values()])


def round_trip(calibrator):
    return type(calibrator).from_json(json.loads(json.dumps(calibrator.to_json())))


def sigmoid(values):
    return 1 / (1 + np.exp(-values))


class TestTemperature:
    @parametrize_few("temperature", [0.4, 1.0, 2.5, 6.0], 2)
    def test_a_known_temperature_is_recovered(self, temperature):
        rng = np.random.default_rng(1)
        odds = rng.normal(0, 2, 40_000)
        outcome = rng.random(40_000) < sigmoid(odds / temperature)
        found = TemperatureScalingCalibrator.fit(sigmoid(odds), outcome)
        assert found.temperature == pytest.approx(temperature, rel=0.05)
        assert not found.at_bound

    def test_it_is_the_best_there_is(self):
        p, y = sigmoid(2 * MATRIX[:, 1] - 6), Y
        best = TemperatureScalingCalibrator.fit(p, y).temperature

        def surprise(temperature):
            odds = (np.log(p) - np.log1p(-p)) / temperature
            return np.mean(np.log1p(np.exp(np.where(y == 1, -odds, odds))))

        assert all(surprise(best) <= surprise(other) for other in np.linspace(0.05, 10, 400))
        assert all(surprise(best) <= surprise(best * nudge) for nudge in (0.999, 1.001))

    def test_by_hand(self):
        assert TemperatureScalingCalibrator(2.0)([0.8, 0.5, 0.2]).tolist() == pytest.approx([2 / 3, 1 / 2, 1 / 3])
        assert TemperatureScalingCalibrator(1.0)([0.3]).tolist() == pytest.approx([0.3], rel=1e-15)
        ends = TemperatureScalingCalibrator(1.0)([0.0, 1.0])
        assert ends.tolist() == pytest.approx([1e-6, 1 - 1e-6], rel=1e-9)

    def test_where_all_temperatures_are_alike_it_is_1(self):
        found = TemperatureScalingCalibrator.fit([0.5, 0.5], [0, 1])
        assert (found.temperature, found.at_bound) == (1, False)

    @pytest.mark.parametrize(("outcome", "bound"), [([1, 1, 1], 0.05), ([0, 0, 0], 10.0), ([1, 0, 0], 10.0)])
    def test_a_best_temperature_at_a_bound_is_the_bound_and_says_so(self, outcome, bound):
        found = TemperatureScalingCalibrator.fit([0.9, 0.8, 0.7], outcome)
        assert found.temperature == bound
        assert found.at_bound

    @given(st.lists(st.floats(0, 1), min_size=2, max_size=20), st.floats(0.05, 10))
    def test_it_never_reverses_an_order(self, p, temperature):
        said = TemperatureScalingCalibrator(temperature)(sorted(p))
        assert (np.diff(said) >= 0).all()
        assert ((said >= 0) & (said <= 1)).all()


class TestAgainstScikitLearn:
    """To 1e-9, after a trip through JSON."""

    def test_logistic(self):
        to_the_end = LogisticRegression(C=1, solver="newton-cholesky", tol=1e-13)
        theirs = make_pipeline(StandardScaler(), to_the_end).fit(MATRIX, Y)
        ours = round_trip(LogisticCalibrator.fit(X, Y))
        assert ours(X) == pytest.approx(theirs.predict_proba(MATRIX)[:, 1], abs=1e-9)
        unnamed = round_trip(LogisticCalibrator.fit(MATRIX, Y))
        assert unnamed(MATRIX).tolist() == ours(X).tolist()

    def test_ridge(self):
        target = np.clip(LOGIT / 5, 0, 1)
        theirs = make_pipeline(StandardScaler(), Ridge(alpha=1)).fit(MATRIX, target)
        ours = round_trip(LinearCalibrator.fit(X, target))
        assert ours(X) == pytest.approx(np.clip(theirs.predict(MATRIX), 0, 1), abs=1e-9)

    @pytest.mark.parametrize("increasing", [True, False])
    def test_isotonic(self, increasing):
        theirs = IsotonicRegression(increasing=increasing, out_of_bounds="clip").fit(X["spoken"], Y)
        ours = round_trip(IsotonicCalibrator.fit(X["spoken"], Y, increasing=increasing))
        asked = np.linspace(-3, 9, 500)
        assert ours(asked) == pytest.approx(theirs.predict(asked), abs=1e-9)

    @pytest.mark.slow
    def test_applying_needs_no_scikit_learn(self):
        parameters = json.dumps(LogisticCalibrator.fit(X, Y).to_json())
        code = f"""
import sys, json
from demur.confidences.calibrators import *
print(LogisticCalibrator.from_json(json.loads({parameters!r}))({{"spoken": [3.0], "evidence": [2.0]}})[0])
TemperatureScalingCalibrator(2.0)([0.5]); IsotonicCalibrator((0, 1), (0, 1))([0.5])
print(any(name.split(".")[0] in ("sklearn", "scipy") for name in sys.modules))
"""
        out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
        assert float(out[0]) == LogisticCalibrator.fit(X, Y)({"spoken": [3.0], "evidence": [2.0]})[0]
        assert out[1] == "False"


class TestFeaturesByName:
    @pytest.mark.parametrize("calibrator", [LogisticCalibrator, LinearCalibrator])
    def test_another_order_is_the_same_features(self, calibrator):
        fitted = calibrator.fit(X, Y)
        turned = {name: X[name] for name in reversed(X)}
        assert fitted(turned).tolist() == fitted(X).tolist()
        assert fitted(turned | {"more": [0.0] * 300}).tolist() == fitted(X).tolist()
        other_way = calibrator.fit(turned, Y)
        assert other_way(X) == pytest.approx(fitted(X), abs=1e-9)

    @pytest.mark.parametrize("calibrator", [TemperatureScalingCalibrator, IsotonicCalibrator])
    def test_one_feature_has_a_name_too(self, calibrator):
        fitted = round_trip(calibrator.fit({"token_msp": [0.1, 0.2, 0.3, 0.9]}, [0, 1, 0, 1]))
        assert fitted.features == ("token_msp",)
        asked = {"llm_evidence_count": [3.0], "token_msp": [0.2], "id": ["x"]}
        assert fitted(asked).tolist() == calibrator.fit([0.1, 0.2, 0.3, 0.9], [0, 1, 0, 1])([0.2]).tolist()
        with pytest.raises(UserError, match="the feature token_msp is missing"):
            fitted({"llm_evidence_count": [3.0]})

    @pytest.mark.parametrize("calibrator", [LogisticCalibrator, LinearCalibrator])
    def test_the_order_of_the_rows_changes_no_bit(self, calibrator):
        order = np.random.default_rng(1).permutation(300)
        shuffled = {name: column[order] for name, column in X.items()}
        assert calibrator.fit(shuffled, Y[order]) == calibrator.fit(X, Y)

    def test_frames_of_any_library(self):
        fitted = LogisticCalibrator.fit(pd.DataFrame(X), Y)
        assert fitted.features == ("evidence", "spoken")
        assert fitted(pl.DataFrame(X)[["spoken", "evidence"]]).tolist() == fitted(X).tolist()

    def test_what_is_missing_or_has_no_name_is_refused_by_name(self):
        fitted = LogisticCalibrator.fit(X, Y)
        with pytest.raises(UserError, match="the feature spoken is missing"):
            fitted({"evidence": [1.0]})
        with pytest.raises(UserError, match="the features are evidence, spoken: give them by name"):
            fitted(MATRIX)
        unnamed = LogisticCalibrator.fit(MATRIX, Y)
        with pytest.raises(UserError, match="give a matrix, not named columns"):
            unnamed(X)
        with pytest.raises(UserError, match="1 features, expected 2"):
            unnamed(X["spoken"])

    @given(st.integers(0, 2**32), st.integers(2, 60), st.sampled_from([1, 2, 3]), st.booleans())
    def test_a_logistic_fit_is_the_optimum_to_1e_10(self, seed, units, width, separated):
        """The penalised score equations hold, also with wild features and where right and wrong are told apart."""
        rng = np.random.default_rng(seed)
        matrix = rng.standard_t(1.5, (units, width))
        order = matrix[:, 0] if separated else rng.normal(size=units)
        outcome = (order > np.sort(order)[rng.integers(units - 1)]).astype(float)
        fitted = LogisticCalibrator.fit(matrix, outcome)
        standardised = (matrix - fitted.mean) / fitted.scale
        residual = fitted(matrix) - outcome
        assert abs(residual.sum()) < 1e-10
        assert np.abs(standardised.T @ residual + fitted.coefficients).max() < 1e-10

    def test_odds_beyond_what_a_double_can_raise_are_0_and_1(self):
        extreme = LogisticCalibrator(None, (0.0,), (1.0,), (1e4,), 0.0)
        assert extreme([-1.0, 0.0, 1.0]).tolist() == [0, 0.5, 1]

    def test_equal_rows_get_equal_bits_wherever_they_stand(self):
        fitted = LogisticCalibrator.fit(X, Y)
        rows = {"evidence": np.full(1001, 3.0), "spoken": np.full(1001, 2.7182818)}
        for length in (1, 2, 3, 7, 8, 9, 1001):
            part = fitted({name: column[:length] for name, column in rows.items()})
            assert set(part.tolist()) == {fitted({"evidence": [3.0], "spoken": [2.7182818]})[0]}


@pytest.mark.parametrize(
    "call",
    [
        lambda: LogisticCalibrator.fit({"a": [1, 1], "b": [0, 1]}, [0, 1]),
        lambda: LinearCalibrator.fit([0.1 + 0.2, 0.3, 0.3], [0, 1, 1]),
        lambda: LogisticCalibrator.fit([1, 2], [1, 0, 1]),
        lambda: LinearCalibrator.fit([1, 2], [1, 0, 1]),
        lambda: IsotonicCalibrator.fit([1, 2], [1, 0, 1]),
        lambda: LogisticCalibrator.fit([1, 2], [1, 1]),
        lambda: LogisticCalibrator.fit([1, 2], [0, 0.5]),
        lambda: TemperatureScalingCalibrator.fit([0.1, 0.2], [0, 0.5]),
        lambda: TemperatureScalingCalibrator.fit([0.1, 3], [0, 1]),
        lambda: TemperatureScalingCalibrator.fit([0.1], [0, 1]),
        lambda: TemperatureScalingCalibrator.fit(np.ones((2, 2)), [0, 1]),
        lambda: IsotonicCalibrator.fit([1, None], [0, 1]),
        lambda: IsotonicCalibrator.fit([1, math.inf], [0, 1]),
        lambda: IsotonicCalibrator.fit([1, 2], [0, 2]),
        lambda: LinearCalibrator.fit({"a": [1, 2], "b": [1]}, [0, 1]),
        lambda: LinearCalibrator.fit({}, [0, 1]),
        lambda: LinearCalibrator.fit([], []),
        lambda: LinearCalibrator.fit(np.ones((2, 2, 2)), [0, 1]),
        lambda: LinearCalibrator.fit([[1], [1, 2]], [0, 1]),
        lambda: LogisticCalibrator.fit([1e200, 2e200, 3e200], [0, 1, 1]),
        lambda: LogisticCalibrator()([1]),
        lambda: IsotonicCalibrator()([1]),
        lambda: LinearCalibrator().to_json(),
    ],
)
def test_what_cannot_be_fitted_or_applied(call, message):
    with pytest.raises(UserError) as refused:
        call()
    message(refused.value)


def test_fit_may_be_asked_of_the_class_or_of_an_unfitted_one():
    assert LogisticCalibrator().fit(X, Y) == LogisticCalibrator.fit(X, Y)
