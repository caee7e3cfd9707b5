"""Calibrators: what they recover, what scikit-learn says, what a file of one may hold."""

import json
import math
import subprocess
import sys
from functools import cache
from importlib.resources import files

import jsonschema
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

from demur import UserError, calibrate, load_calibration
from demur.confidences.calibration import Calibration, calibration_of, calibration_schema
from demur.confidences.calibrators import (
    CALIBRATORS,
    IsotonicCalibrator,
    LinearCalibrator,
    LogisticCalibrator,
    TemperatureScalingCalibrator,
)
from demur.files.write import json_text
from demur.simulate.runs import ZERO_SHOT, make_people, run_system

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
    @pytest.mark.parametrize("temperature", [0.4, 1.0, 2.5, 6.0])
    def test_a_known_temperature_is_recovered(self, temperature):
        rng = np.random.default_rng(1)
        odds = rng.normal(0, 2, 200_000)
        outcome = rng.random(200_000) < sigmoid(odds / temperature)
        found = TemperatureScalingCalibrator.fit(sigmoid(odds), outcome)
        assert found.temperature == pytest.approx(temperature, rel=0.03)
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
        theirs = make_pipeline(StandardScaler(), LogisticRegression(C=1)).fit(MATRIX, Y)
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
        with pytest.raises(UserError, match="which feature is which is not known"):
            unnamed(X)
        with pytest.raises(UserError, match="1 features, expected 2"):
            unnamed(X["spoken"])

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
    ("call", "message"),
    [
        (lambda: LogisticCalibrator.fit({"a": [1, 1], "b": [0, 1]}, [0, 1]), "the feature a is the same everywhere"),
        (lambda: LinearCalibrator.fit([0.1 + 0.2, 0.3, 0.3], [0, 1, 1]), "feature number 1 is the same everywhere"),
        (lambda: LogisticCalibrator.fit([1, 2], [1, 0, 1]), "different lengths: features 2, targets 3"),
        (lambda: LinearCalibrator.fit([1, 2], [1, 0, 1]), "different lengths: features 2, targets 3"),
        (lambda: IsotonicCalibrator.fit([1, 2], [1, 0, 1]), "different lengths: features 2, targets 3"),
        (lambda: LogisticCalibrator.fit([1, 2], [1, 1]), "every target is 1: there is nothing to tell apart"),
        (lambda: LogisticCalibrator.fit([1, 2], [0, 0.5]), "the targets are not all 0 or 1"),
        (lambda: TemperatureScalingCalibrator.fit([0.1, 0.2], [0, 0.5]), "the targets are not all 0 or 1"),
        (lambda: TemperatureScalingCalibrator.fit([0.1, 3], [0, 1]), "probability 3 at position 1, expected"),
        (lambda: TemperatureScalingCalibrator.fit([0.1], [0, 1]), "different lengths: features 1, targets 2"),
        (lambda: TemperatureScalingCalibrator.fit(np.ones((2, 2)), [0, 1]), "2 features, expected one"),
        (lambda: IsotonicCalibrator.fit([1, None], [0, 1]), "row 2: feature null, expected a finite number"),
        (lambda: IsotonicCalibrator.fit([1, math.inf], [0, 1]), "row 2: feature inf, expected a finite number"),
        (lambda: IsotonicCalibrator.fit([1, 2], [0, 2]), "outcome 2 at position 1"),
        (
            lambda: LinearCalibrator.fit({"a": [1, 2], "b": [1]}, [0, 1]),
            "different lengths: a 2, b 1",
        ),
        (lambda: LinearCalibrator.fit({}, [0, 1]), "there are no features"),
        (lambda: LinearCalibrator.fit([], []), "there are no units"),
        (lambda: LinearCalibrator.fit(np.ones((2, 2, 2)), [0, 1]), "features of shape"),
        (lambda: LinearCalibrator.fit([[1], [1, 2]], [0, 1]), "features of shape"),
        (lambda: LogisticCalibrator.fit([1e200, 2e200, 3e200], [0, 1, 1]), "feature number 1 has values too large"),
        (lambda: LogisticCalibrator()([1]), "this LogisticCalibrator is not fitted: use the one that fit gives"),
        (lambda: IsotonicCalibrator()([1]), "this IsotonicCalibrator is not fitted"),
        (lambda: LinearCalibrator().to_json(), "this LinearCalibrator is not fitted"),
    ],
)
def test_what_cannot_be_fitted_or_applied(call, message):
    with pytest.raises(UserError, match=message):
        call()


def test_fit_may_be_asked_of_the_class_or_of_an_unfitted_one():
    assert LogisticCalibrator().fit(X, Y) == LogisticCalibrator.fit(X, Y)


ITEMS = run_system(make_people(30, seed=1), ZERO_SHOT, seed=1).items()
CHOICES = {
    "temperature_scaling": {"features": ["verbalized_confidence"]},
    "platt": {"variant": "verbalized"},
    "logistic": {"features": ["token_pe", "llm_evidence_count"]},
    "linear": {"features": ["token_pe", "llm_evidence_count"]},
    "isotonic": {"variant": "token_msp"},
}


def fitted(method):
    return calibrate(ITEMS, method=method, created_at="2026-01-31T12:00:00Z", **CHOICES[method]).to_json()


@cache
def fitted_text(method):
    return json_text(fitted(method))


def artifact(method):
    """What a file of one method holds, fitted once for all tests; each gets its own copy to break."""
    return json.loads(fitted_text(method))


class TestTheFile:
    def test_every_method_is_tried_here(self):
        assert set(CHOICES) == set(CALIBRATORS)

    @pytest.mark.parametrize("method", CHOICES)
    def test_it_validates_against_the_shipped_schema_and_reads_back(self, tmp_path, method):
        made = calibrate(ITEMS, method=method, **CHOICES[method])
        path = made.save(tmp_path / "c.json")
        schema = json.loads(files("demur").joinpath("schemas/calibrator.schema.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), schema)
        assert load_calibration(path) == made

    @pytest.mark.parametrize("method", CHOICES)
    def test_the_same_choices_give_the_same_bytes(self, method):
        assert json_text(fitted(method)) == fitted_text(method)

    def test_the_schema_is_current(self):
        shipped = files("demur").joinpath("schemas/calibrator.schema.json").read_text(encoding="utf-8")
        assert shipped == json_text(calibration_schema()), "run `make docs`"
        assert calibration_schema()["properties"]["method"]["enum"] == [*CALIBRATORS]

    @pytest.mark.parametrize(
        ("method", "path", "value", "message"),
        [
            ("logistic", "model.scale", [1.0, 0.0], "model: scale.1: Input should be greater than 0, not 0.0"),
            ("logistic", "model.scale", [1.0, -1.0], "model: scale.1: Input should be greater than 0"),
            (
                "logistic",
                "model.mean",
                [1.0],
                "model: expected one mean, scale and coefficient for each feature, not 1 mean",
            ),
            ("logistic", "model.mean", [1.0, "2"], "model: mean.1: Input should be a valid number, not '2'"),
            ("logistic", "model.mean", [1.0, True], "model: mean.1: Input should be a valid number, not True"),
            ("logistic", "model.coefficients", [], "model: coefficients: "),
            (
                "logistic",
                "model.features",
                ["token_pe"],
                "for each feature, not 2 mean, 2 scale, 2 coefficients, 1 features",
            ),
            ("logistic", "model.features", ["a", "a"], "has a name twice"),
            ("logistic", "features", ["token_pe"], "the features and those of the model do not match"),
            (
                "logistic",
                "features",
                ["llm_evidence_count", "token_pe"],
                "the features and those of the model do not match",
            ),
            ("logistic", "features", None, "expected either features or a variant, not both or neither"),
            ("logistic", "variant", "llm", "expected either features or a variant, not both or neither"),
            ("logistic", "target", "loss", "the target loss is for the method linear only"),
            ("logistic", "target", "luck", "target: no target is called luck; there are: correctness"),
            ("logistic", "method", "logisitc", "no calibration method is called logisitc; did you mean logistic?"),
            ("logistic", "method", "linear", "model: link: Input should be 'identity', not 'logit'"),
            ("logistic", "method", "isotonic", "model: x is missing (and 1 more)"),
            ("logistic", "created_at", "2026-99-31T12:00:00Z", "created_at: expected a time such as"),
            ("logistic", "method", ["a"], "no calibration method is called"),
            ("isotonic", "model.x", [2.0, 1.0], "model: the knots x are not in ascending order"),
            ("isotonic", "model.x", [1.0, 1.0], "model: the knots x are not in ascending order"),
            ("isotonic", "model.x", [1.0, 2.0, 3.0], "model: 3 knots x and 2 values y, expected as many of each"),
            ("isotonic", "model.y", [0.5, 1.5], "model: y.1: Input should be less than or equal to 1, not 1.5"),
            (
                "temperature_scaling",
                "model.temperature",
                0,
                "model: temperature: Input should be greater than 0, not 0",
            ),
            ("temperature_scaling", "model.temperature", -1.5, "model: temperature: Input should be greater than 0"),
            (
                "temperature_scaling",
                "model.temperature",
                "1",
                "model: temperature: Input should be a valid number, not '1'",
            ),
            ("temperature_scaling", "model", {}, "model: temperature is missing"),
            ("temperature_scaling", "features", ["a", "b"], "the features and those of the model do not match"),
            ("temperature_scaling", "model.features", [], "model: features: "),
            ("logistic", "method", "platt", "2 features, expected one for platt"),
            ("temperature_scaling", "schema_version", "2", "schema_version: Input should be '1', not '2'"),
            ("temperature_scaling", "surprise", 1, "surprise: Extra inputs are not permitted, not 1"),
            ("temperature_scaling", "training.n", 0, "training.n: Input should be greater than or equal to 1"),
            ("temperature_scaling", "model", None, "not a calibration"),
        ],
    )
    def test_a_tampered_one_is_refused_in_one_line(self, tmp_path, method, path, value, message):
        content = artifact(method)
        if path in {"model.x", "model.y"}:
            content["model"] = {"x": [0.0, 1.0], "y": [0.2, 0.8], "features": None}
        *parents, last = path.split(".")
        place = content
        for parent in parents:
            place = place[parent]
        place[last] = value
        file = tmp_path / "c.json"
        file.write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(UserError) as raised:
            load_calibration(file)
        assert str(raised.value).startswith(f"{file}: ")
        assert message in str(raised.value)
        assert "\n" not in str(raised.value)

    def test_nan_garbage_and_no_file(self, tmp_path):
        file = tmp_path / "c.json"
        file.write_text(json_text(artifact("isotonic")).replace('"x": [', '"x": [NaN, '), encoding="utf-8")
        with pytest.raises(UserError, match="c.json: not valid JSON: NaN is not a JSON number"):
            load_calibration(file)
        file.write_text("[]", encoding="utf-8")
        with pytest.raises(UserError, match="c.json: not a calibration: expected an object"):
            load_calibration(file)
        with pytest.raises(UserError, match="nope.json: cannot be read"):
            load_calibration(tmp_path / "nope.json")

    def test_a_model_of_another_method(self):
        content = calibrate(ITEMS, method="platt", variant="llm").model_dump() | {
            "model": IsotonicCalibrator((0,), (1,))
        }
        with pytest.raises(ValueError, match="the model is not one of the method platt"):
            Calibration.model_validate(content)

    def test_a_variant_has_one_coefficient(self):
        content = artifact("logistic") | {"variant": "llm", "features": None}
        content["model"]["features"] = None
        with pytest.raises(UserError, match="2 features, expected one for llm"):
            calibration_of(content)

    def test_two_features_for_a_calibrator_of_one(self):
        content = artifact("temperature_scaling") | {"features": ["a", "b"]}
        content["model"]["features"] = ["a", "b"]
        with pytest.raises(UserError, match="2 features, expected one for temperature_scaling"):
            calibration_of(content)

    def test_y_that_rises_and_falls(self):
        content = artifact("isotonic")
        content["model"] = {"x": [0.0, 1.0, 2.0], "y": [0.2, 0.8, 0.1], "features": None}
        with pytest.raises(UserError, match="model: the values y both rise and fall"):
            calibration_of(content)

    @given(st.data())
    def test_random_damage_is_an_error_or_a_calibration(self, data):
        content = artifact(data.draw(st.sampled_from([*CHOICES])))
        junk = st.recursive(
            st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
            max_leaves=4,
        )
        place = content
        while True:
            key = data.draw(st.sampled_from([*place])) if isinstance(place, dict) and place else None
            if key is None:
                break
            if not isinstance(place[key], dict) or data.draw(st.booleans()):
                if data.draw(st.booleans()):
                    place[key] = data.draw(junk)
                else:
                    del place[key]
                break
            place = place[key]
        try:
            found = calibration_of(content)
        except UserError as error:
            assert "\n" not in str(error)
        else:
            assert calibration_of(found.to_json()) == found
