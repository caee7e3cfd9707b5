"""Calibrations that other scripts wrote: the same parameters by other names, and what they may lack."""

import json

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from commands import demur
from demur import Calibration, Plan, UserError, confidence, evaluate, load_calibration, reliability
from demur.confidences.calibration import calibration_of
from demur.extensions.lab.runs import ZERO_SHOT, make_people, run_system
from demur.results.load import load_any

V, SIMILAR = "verbalized_confidence", "retrieval_similarity_mean"
ITEMS = run_system(make_people(20, seed=1), ZERO_SHOT, seed=1).items()
SAID = ITEMS.signals[V].values[ITEMS.answered]
NEAR = ITEMS.signals[SIMILAR].values[ITEMS.answered]
SHARE = np.clip((SAID - 1) / 4, 1e-6, 1 - 1e-6)
WEIGHTED = 0.2 + 0.5 * (SAID - 3) / 1.5 - 0.4 * (NEAR - 0.6) / 0.3


def sigmoid(odds):
    return 1 / (1 + np.exp(-odds))


SCALED = sigmoid(np.log(SHARE / (1 - SHARE)) / 2.5)
NAMES = {"features": [V, SIMILAR]}
WEIGHTS = {"coef": [0.5, -0.4], "intercept": 0.2, "mean": [3.0, 0.6], "std": [1.5, 0.3]}
BY_SCIKIT_LEARN = {"coef_": [[0.5, -0.4]], "intercept_": [0.2], "scaler": {"mean_": [3.0, 0.6], "scale_": [1.5, 0.3]}}
LEVELS = {"x_thresholds": [0.0, 0.5, 1.0], "y_thresholds": [0.1, 0.4, 0.7]}


ONE = {"coefficients": [0.5], "intercept": 0.2, "scaler": {"mean": [3.0], "std": [1.5]}}
TWO = {"coefficients": [0.5, -0.4], "intercept": 0.2, "scaler": {"mean": [3.0, 0.6], "std": [1.5, 0.3]}}
ALONE = 0.2 + 0.5 * (SAID - 3) / 1.5
FITTED_ON = {"path": "data/train.json", "run_id": "r7", "git_commit": None, "mode": "few_shot", "n_samples": 464}


def trained(method, features, target, model):
    """A file in the shape of the documents' train_confidence_calibrator.py."""
    positive = None if target == "loss" else 0.65
    about = {**FITTED_ON, "positive_rate": positive, "trained_at": "2026-01-03T10:00:00Z"}
    quality = {"mae": 0.2, "mse": 0.1} if target == "loss" else {"auc_roc": None, "brier_score": 0.2, "ece": 0.1}
    header = {"schema_version": "1", "version": "1.0", "method": method, "features": features, "target": target}
    return {**header, "model": model, "training_metadata": about, "validation_metrics": quality}


def saved(folder, content):
    file = folder / "theirs.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"method": "temperature_scaling", "temperature": 2.5}, SCALED),
        ({"method": "temperature_scaling", "T": 2.5, "features": [V], "nll": 0.6}, SCALED),
        ({"method": "temperature", "params": {"T": 2.5}}, SCALED),
        ({"method": "logistic", **NAMES, **WEIGHTS}, sigmoid(WEIGHTED)),
        ({"method": "logistic", **NAMES, "model": WEIGHTS, "metrics": {"mean": 1}}, sigmoid(WEIGHTED)),
        ({"method": "logistic", **NAMES, "model": BY_SCIKIT_LEARN}, sigmoid(WEIGHTED)),
        ({"method": "logistic", **NAMES, **WEIGHTS, "training": {"n": 9}, "validation": {"nll": 1}}, sigmoid(WEIGHTED)),
        ({"method": "linear", "feature_names": [V, SIMILAR], "parameters": WEIGHTS}, np.clip(WEIGHTED, 0, 1)),
        (
            {"method": "platt", "features": [V], "weights": [0.5], "bias": 0.2, "means": [3.0], "stds": [1.5]},
            sigmoid(0.2 + 0.5 * (SAID - 3) / 1.5),
        ),
        ({"method": "isotonic", "features": [SIMILAR], **LEVELS}, np.interp(NEAR, [0, 0.5, 1], [0.1, 0.4, 0.7])),
    ],
)
def test_the_same_parameters_by_other_names_give_the_same_confidences(tmp_path, content, expected):
    theirs = load_calibration(saved(tmp_path, content))
    assert confidence(ITEMS, "calibrated", theirs).values[ITEMS.answered] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("content", "read_as", "expected"),
    [
        (trained("temperature_scaling", [V], "near_correct", {"temperature": 2.5}), "temperature_scaling", SCALED),
        (trained("platt", [V], "correctness", {**ONE, "link": "sigmoid"}), "platt", sigmoid(ALONE)),
        (trained("platt", [V], "loss", {**ONE, "link": "identity"}), "linear", np.clip(ALONE, 0, 1)),
        (trained("logistic", [V, SIMILAR], "near_correct", {**TWO, "link": "sigmoid"}), "logistic", sigmoid(WEIGHTED)),
        (trained("logistic", [V, SIMILAR], "loss", {**TWO, "link": "identity"}), "linear", np.clip(WEIGHTED, 0, 1)),
        (trained("linear", [V, SIMILAR], "loss", {**TWO, "link": "identity"}), "linear", np.clip(WEIGHTED, 0, 1)),
        (
            trained("isotonic", [SIMILAR], "correctness", LEVELS),
            "isotonic",
            np.interp(NEAR, [0, 0.5, 1], [0.1, 0.4, 0.7]),
        ),
        (trained("isotonic", [SIMILAR], "loss", LEVELS), "isotonic", np.interp(NEAR, [0, 0.5, 1], [0.1, 0.4, 0.7])),
    ],
)
def test_every_shape_of_the_documents_training_script_is_read(tmp_path, content, read_as, expected):
    theirs = load_calibration(saved(tmp_path, content))
    assert (theirs.method, theirs.target) == (read_as, content["target"])
    assert confidence(ITEMS, "calibrated", theirs).values[ITEMS.answered] == pytest.approx(expected, abs=1e-12)
    fitted_on = theirs.training
    assert (fitted_on.path, fitted_on.run_id, fitted_on.mode) == ("data/train.json", "r7", "few_shot")


def test_the_script_for_verbalized_confidences_names_its_run_too(tmp_path):
    content = {"schema_version": "1", "method": "temperature_scaling", "temperature": 2.5, "fitted_on": FITTED_ON}
    theirs = load_calibration(saved(tmp_path, content | {"metrics": {"nll_before": 0.9, "nll_after": 0.6}}))
    assert (theirs.training.run_id, theirs.training.mode) == ("r7", "few_shot")


def test_what_scikit_learn_itself_fitted(tmp_path):
    matrix, right = np.column_stack([SAID, NEAR]), (ITEMS.answer == ITEMS.truth)[ITEMS.answered]
    scaler = StandardScaler().fit(matrix)
    model = LogisticRegression().fit(scaler.transform(matrix), right)
    content = {"method": "logistic", **NAMES, "coef": model.coef_.tolist(), "intercept": model.intercept_.tolist()}
    content["scaler"] = {"mean": scaler.mean_.tolist(), "scale": scaler.scale_.tolist()}
    theirs = confidence(ITEMS, "calibrated", load_calibration(saved(tmp_path, content))).values[ITEMS.answered]
    assert theirs == pytest.approx(model.predict_proba(scaler.transform(matrix))[:, 1], abs=1e-12)
    levels = IsotonicRegression(out_of_bounds="clip").fit(NEAR, right)
    content = {"method": "isotonic", "features": [SIMILAR], "model": {"x": levels.X_thresholds_.tolist()}}
    content["model"]["y"] = levels.y_thresholds_.tolist()
    theirs = confidence(ITEMS, "calibrated", load_calibration(saved(tmp_path, content))).values[ITEMS.answered]
    assert theirs == pytest.approx(levels.predict(NEAR), abs=1e-12)


@pytest.mark.slow
def test_it_is_evaluated_like_one_of_our_own(tmp_path):
    theirs = load_calibration(saved(tmp_path, {"method": "temperature_scaling", "T": 2.5, "target": "near_correct"}))
    assert not isinstance(theirs, Calibration)
    found = evaluate(ITEMS, confidence="all", calibration=theirs, plan=Plan(20, seed=1))
    assert {"calibrated", "verbalized_calibrated"} <= {row.key.confidence for row in found}
    near = (np.abs(ITEMS.answer - ITEMS.truth) <= 1)[ITEMS.answered]
    brier = reliability("verbalized_calibrated", data=ITEMS, calibration=theirs).scores["brier"]
    assert brier == pytest.approx(np.mean((SCALED - near) ** 2), rel=1e-12)


def test_it_may_name_the_run_it_was_fitted_on(tmp_path):
    content = {"method": "temperature_scaling", "T": 2.5, "provenance": {"run_id": "r7", "mode": "few_shot"}}
    training = load_calibration(saved(tmp_path, content)).training
    assert (training.run_id, training.mode, training.sha256) == ("r7", "few_shot", None)


@pytest.mark.parametrize(
    "content",
    [
        {"method": "temperature_scaling"},
        {"method": "temperature_scaling", "T": 0},
        {"method": "temperature_scaling", "T": 1.0, "temperature": 2.0},
        {"method": "temperature_scaling", "T": 1.0, "features": ["a", "b"]},
        {"method": "logistic", **WEIGHTS},
        {"method": "logistic", **NAMES},
        {"method": "logistic", **NAMES, **WEIGHTS, "std": [1.5, 0]},
        {"method": "logistic", **NAMES, **WEIGHTS, "coef": [0.5]},
        {"method": "logistic", **NAMES, **WEIGHTS, "target": "loss"},
        {"method": "logistic", **NAMES, **WEIGHTS, "target": 1},
        {"method": "logistic", **NAMES, **WEIGHTS, "run_id": 7},
        trained("logistic", [V, SIMILAR], "loss", {**TWO, "link": "sigmoid"}),
        trained("logistic", [V, SIMILAR], "loss", {**TWO, "link": "probit"}),
        trained("logistic", [V, SIMILAR], "loss", {**TWO, "link": ["identity"]}),
        {"method": "isotonic", "features": [V], **LEVELS, "x": [0, 0, 1]},
        {"method": "isotonic", "features": [V], "x": [1, 0], "y": [0, 1]},
        {"method": "isotonic", "features": [V], "x": [0, 1]},
        {"method": "magic", "T": 1.0},
        {"method": None, "T": 1.0},
        {"temperature": 1.0},
        [],
    ],
)
def test_one_that_lacks_something_is_refused_in_one_line_that_says_what(tmp_path, content, message):
    file = saved(tmp_path, content)
    with pytest.raises(UserError) as raised:
        load_calibration(file)
    assert str(raised.value).startswith(f"{file}: ")
    message(raised.value)
    assert "\n" not in str(raised.value)


def test_it_has_no_page(tmp_path):
    content = {"method": "temperature_scaling", "model": {"T": 2.5}}
    for read in (calibration_of, lambda content: load_any(saved(tmp_path, content))):
        with pytest.raises(UserError, match="not a calibration of demur"):
            read(content)


@pytest.mark.slow
def test_the_command_line_takes_it_and_the_plain_loops_agree(tmp_path):
    assert (
        demur(tmp_path, "simulate", "runs", "--output", "run.json", "--seed", "1", "--participants", "6").returncode
        == 0
    )
    theirs = saved(tmp_path, {"method": "logistic", **NAMES, "model": BY_SCIKIT_LEARN})
    given = ("--mode", "few_shot", "--calibration", theirs.name)
    chosen = ("--confidence", "calibrated", "--bootstrap-resamples", "20", "--seed", "7", "--output", "m.json")
    found = demur(tmp_path, "evaluate", "run.json", *given, *chosen)
    assert (found.returncode, found.stderr) == (0, "")
    audited = demur(tmp_path, "audit", "--data", "run.json", "--reported", "m.json", *given)
    assert (audited.returncode, audited.stderr) == (0, "")
    theirs.write_text('{"method": "logistic", "features": ["token_msp"]}', encoding="utf-8")
    refused = demur(tmp_path, "fields", "run.json", *given)
    assert (refused.returncode, refused.stderr) == (2, "demur: theirs.json: mean is missing (and 3 more)\n")
