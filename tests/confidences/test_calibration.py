"""The file of a calibration: what it may hold, and how a damaged one is refused."""

import json
from functools import cache
from importlib.resources import files

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur import Calibration, UserError, calibrate, load_calibration
from demur.confidences.calibration import calibration_of
from demur.confidences.calibrators import CALIBRATORS, IsotonicCalibrator
from demur.extensions.lab.runs import ZERO_SHOT, make_people, run_system
from demur.files.strict_reading import schema_of
from demur.files.write import json_text

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
        jsonschema.Draft202012Validator(schema).validate(json.loads(path.read_text(encoding="utf-8")))
        assert load_calibration(path) == made

    @pytest.mark.parametrize("method", CHOICES)
    def test_the_same_choices_give_the_same_bytes(self, method):
        assert json_text(fitted(method)) == fitted_text(method)

    def test_the_schema_names_every_method(self):
        assert schema_of(Calibration)["properties"]["method"]["enum"] == [*CALIBRATORS]

    @pytest.mark.parametrize(
        ("method", "path", "value"),
        [
            ("logistic", "model.scale", [1.0, 0.0]),
            ("logistic", "model.scale", [1.0, -1.0]),
            ("logistic", "model.mean", [1.0]),
            ("logistic", "model.mean", [1.0, "2"]),
            ("logistic", "model.mean", [1.0, True]),
            ("logistic", "model.coefficients", []),
            ("logistic", "model.features", ["token_pe"]),
            ("logistic", "model.features", ["a", "a"]),
            ("logistic", "features", ["token_pe"]),
            ("logistic", "features", ["llm_evidence_count", "token_pe"]),
            ("logistic", "features", None),
            ("logistic", "variant", "llm"),
            ("logistic", "target", "loss"),
            ("logistic", "target", "luck"),
            ("logistic", "method", "logisitc"),
            ("logistic", "method", "linear"),
            ("logistic", "method", "isotonic"),
            ("logistic", "created_at", "2026-99-31T12:00:00Z"),
            ("logistic", "method", ["a"]),
            ("isotonic", "model.x", [2.0, 1.0]),
            ("isotonic", "model.x", [1.0, 1.0]),
            ("isotonic", "model.x", [1.0, 2.0, 3.0]),
            ("isotonic", "model.y", [0.5, 1.5]),
            ("temperature_scaling", "model.temperature", 0),
            ("temperature_scaling", "model.temperature", -1.5),
            ("temperature_scaling", "model.temperature", "1"),
            ("temperature_scaling", "model", {}),
            ("temperature_scaling", "features", ["a", "b"]),
            ("temperature_scaling", "model.features", []),
            ("logistic", "method", "platt"),
            ("temperature_scaling", "schema_version", "2"),
            ("temperature_scaling", "surprise", 1),
            ("temperature_scaling", "training.n", 0),
            ("temperature_scaling", "model", None),
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
        message(raised.value)
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
