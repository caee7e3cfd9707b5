"""Calibrating a run: what is fitted, how it is validated, what is warned about, and what it does to a curve."""

import hashlib
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from demur import (
    PHQ8,
    Curve,
    Measure,
    Plan,
    UserError,
    calibrate,
    compute_binary_nll,
    compute_ece,
    estimate,
    grade,
    read_run,
    read_table,
    reliability,
)
from demur.confidences.calibrators import LogisticCalibrator
from demur.confidences.fitting import fold_of
from demur.extensions.lab.runs import ZERO_SHOT, make_people, run_system
from runs import experiment, items_of, participant, run, written

V = "verbalized_confidence"


@pytest.fixture(scope="module")
def items():
    return run_system(make_people(80, seed=1), ZERO_SHOT, seed=1).items()


def codes(calibration):
    return [warning.code for warning in calibration.warnings]


class TestOnARunWhoseConfidenceIsInformativeButTooHigh:
    def test_the_run_is_such(self, items):
        found = reliability("verbalized", data=items)
        assert found.scores["auroc"] > 0.55
        confident = [each for each in found.bins if each.mean_predicted > 0.5]
        assert all(each.gap < -0.05 for each in confident)

    @pytest.mark.parametrize("method", ["temperature", "platt", "isotonic"])
    def test_calibration_lowers_both_errors_on_people_it_has_not_seen(self, items, method):
        checked = calibrate(items, method=method, variant="verbalized").validation
        assert checked.cross_validated.nll < checked.as_given.nll - 0.5
        assert checked.cross_validated.ece < checked.as_given.ece - 0.1
        assert checked.cross_validated.brier < checked.as_given.brier

    @pytest.mark.parametrize("method", ["temperature", "platt"])
    @pytest.mark.parametrize("variant", ["verbalized", "token_msp"])
    def test_a_strictly_monotone_calibrator_leaves_every_area_alone(self, items, method, variant):
        calibration = calibrate(items, method=method, variant=variant)
        before = Curve.of(grade(items, loss="abs_norm", confidence=variant))
        after = Curve.of(grade(items, loss="abs_norm", confidence=f"calibrated:{variant}", calibration=calibration))
        for name in ("aurc", "augrc", "eaurc", "risk@0.3", "aurc@0.5"):
            assert Measure.of(name)(after) == Measure.of(name)(before)
        assert after.threshold.tolist() != before.threshold.tolist()

    def test_one_that_merges_plateaus_does_not_and_says_so(self, items):
        calibration = calibrate(items, method="isotonic", variant="token_msp")
        assert codes(calibration) == ["merged_plateaus"]
        assert calibration.training.outputs_distinct < calibration.training.inputs_distinct
        found = estimate(
            grade(items, loss="abs_norm", confidence="calibrated:token_msp", calibration=calibration),
            ["aurc"],
            plan=Plan(10, seed=1),
        )
        merged = next(warning for warning in found.warnings if warning.code == "merged_plateaus")
        counts = calibration.training.inputs_distinct, calibration.training.outputs_distinct
        assert merged.message().startswith(f"{counts[0]} different inputs become {counts[1]} different confidences")


def folds_by_hand(clusters, ids, folds):
    """The clusters of each fold: dealt out in turn, in the order of the SHA-256 of their ids."""
    dealt = sorted(clusters, key=lambda cluster: hashlib.sha256(str(ids[cluster]).encode("utf-8")).hexdigest())
    return [dealt[number::folds] for number in range(folds)]


class TestFolds:
    """In the order of their digests the people are d, f, c, b, e, Zoë, a and 303, 300, 301, 302."""

    def test_the_rank_of_the_digest_modulo_the_folds(self):
        assert fold_of(["a", "b", "c", "d", "e", "f", "Zoë"], 3).tolist() == [0, 0, 2, 0, 1, 1, 2]
        assert fold_of([300, 301, 302, 303], 2).tolist() == [1, 0, 1, 0]
        assert fold_of(["303", "302", "301", "300"], 4).tolist() == [0, 3, 2, 1]

    @given(st.lists(st.text(min_size=1), unique=True, min_size=5, max_size=30), st.randoms())
    def test_neither_the_order_of_the_people_nor_anything_else_moves_one(self, ids, random):
        folds = dict(zip(ids, fold_of(ids, 5).tolist(), strict=True))
        shuffled = random.sample(ids, len(ids))
        assert dict(zip(shuffled, fold_of(shuffled, 5).tolist(), strict=True)) == folds
        sizes = np.bincount([*folds.values()])
        assert len(sizes) == 5
        assert sizes.max() - sizes.min() <= 1

    def test_people_without_answers_are_in_no_fold(self):
        units = [{"cluster": name, "own": float(n), "prediction": n % 2} for n, name in enumerate("abcd")]
        silent = [{"cluster": name, "own": 0.0, "prediction": None} for name in "ef"]
        found = [calibrate(items_of(*rows), method="isotonic", features=["own"]) for rows in (units, units + silent)]
        assert found[0].validation == found[1].validation
        assert found[0].validation.folds == 4


class TestValidation:
    def test_out_of_fold_values_come_from_people_the_calibrator_has_not_seen(self, items):
        """Recomputed with folds written out and our calibrator, one fold of participants at a time."""
        names = [V, "token_msp"]
        columns = {name: items.signals[name].values[items.answered] for name in names}
        right = (items.answer == items.truth)[items.answered].astype(float)
        owner = items.cluster[items.answered]
        said = np.full(len(right), np.nan)
        folds = [np.isin(owner, people) for people in folds_by_hand(np.unique(owner), items.cluster_ids, 5)]
        for unseen in folds:
            seen = ~unseen
            model = LogisticCalibrator.fit({name: column[seen] for name, column in columns.items()}, right[seen])
            said[unseen] = model({name: column[unseen] for name, column in columns.items()})
        found = calibrate(items, method="logistic", features=names).validation
        assert (found.cross_validated.nll, found.cross_validated.ece) == (
            compute_binary_nll(said, right),
            compute_ece(said, right),
        )
        pairs = [right[fold].sum() * (1 - right[fold]).sum() for fold in folds]
        ranked = [roc_auc_score(right[fold], said[fold]) for fold in folds]
        assert found.cross_validated.auroc == pytest.approx(np.average(ranked, weights=pairs), rel=1e-12)
        assert (found.folds, found.grouped_by) == (5, "participant")
        assert found.in_sample.nll < found.cross_validated.nll

    @pytest.mark.parametrize(("samples", "near"), [(15, 0.04), pytest.param(60, 0.02, marks=pytest.mark.slow)])
    @pytest.mark.slow
    def test_a_feature_that_knows_nothing_ranks_like_chance_on_unseen_people(self, samples, near):
        """Pooled over folds the same numbers would say 0.37: each fold's calibrator leans away from its own people.

        Sixty samples, and a mean as much closer to chance, are among the slow tests.
        """
        found = []
        for seed in range(samples):
            rng = np.random.default_rng(seed)
            mood = np.repeat(rng.normal(size=20), 8)
            rows = {
                "cluster": np.repeat(np.arange(20), 8),
                "item": [f"q{n}" for n in range(8)] * 20,
                "truth": np.zeros(160, dtype=int),
                "prediction": (rng.normal(size=160) + 1.5 * mood > 0).astype(int),
                "own": rng.normal(size=160),
            }
            made = calibrate(read_table(rows, instrument=None), method="platt", features=["own"])
            found.append(made.validation.cross_validated.auroc)
        assert np.mean(found) == pytest.approx(0.5, abs=near)

    @pytest.mark.slow
    def test_a_perfect_fit_is_not_better_than_perfect(self):
        """Every error is 1: the squared difference is nothing, and rounding must not make it less."""
        people = [participant(who, dict.fromkeys(PHQ8.items), token_msp=0.1 + who / 30) for who in range(12)]
        for one in people:
            one["predicted_items"] = {
                item: score - 1 if score else 1 for item, score in one["ground_truth_items"].items()
            }
        for step in range(20):
            for who, one in enumerate(people):
                for signals in one["item_signals"].values():
                    signals["token_msp"] = (0.1 + who / 30) * (1 - step / 40)
            raw = run(experiment(*people))
            found = calibrate(read_run(written(self.folder, raw)), method="linear", features=["token_msp"])
            assert 0 <= found.validation.in_sample.brier < 1e-15

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path):
        self.folder = tmp_path

    def test_one_cluster_cannot_be_validated_and_the_file_says_why(self):
        units = items_of({"own": 1.0}, {"own": 2.0, "prediction": 1})
        rows = {"cluster": [1, 1], "item": ["a", "b"], "truth": [0, 0], "prediction": [0, 1], "own": [1.0, 2.0]}
        found = calibrate(read_table(rows, instrument=None), method="platt", features=["own"]).validation
        assert (found.cross_validated, found.folds) == (None, 0)
        assert found.reason == "only one cluster has answers: there are no others to try it on"
        two = calibrate(units, method="platt", features=["own"]).validation
        assert two.reason.startswith("a fold cannot be fitted: the feature own is the same everywhere")

    def test_fewer_clusters_than_folds(self):
        units = [{"own": float(place), "prediction": place % 2} for place in range(3)]
        assert calibrate(items_of(*units), method="isotonic", features=["own"]).validation.folds == 3

    def test_the_training_is_described(self, tmp_path):
        spoken = {1: None, 2: 4}
        people = [participant(who, {"Sleep": 0, "Tired": None}, **{V: said}) for who, said in spoken.items()]
        path = written(tmp_path, run(experiment(*people)))
        found = calibrate(read_run(path), method="temperature", features=[V]).training
        assert (found.path, found.run_id, found.git_commit, found.mode) == (str(path), "r1", "abc", "few_shot")
        assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
        assert (found.n, found.clusters, found.positive_rate) == (14, 2, 6 / 7)
        assert found.nulls_filled == {V: 7}, "seven answers of participant 1; an abstention is not looked at"
        assert (found.inputs_distinct, found.outputs_distinct) == (2, 2)


class TestTargets:
    def test_by_hand(self):
        units = [{"own": float(place), "prediction": place} for place in range(4)]

        def rate(target, method="linear"):
            return calibrate(items_of(*units), method=method, features=["own"], target=target).training.positive_rate

        assert rate("correctness") == 1 / 4
        assert rate("near_correct") == 1 / 2
        with pytest.raises(UserError, match="the loss abs_norm divides by the score range: it needs an instrument"):
            rate("loss")

    def test_the_target_loss_is_one_less_the_normalised_error(self, items):
        found = calibrate(items, method="linear", features=[V])
        error = np.abs(items.answer - items.truth)[items.answered]
        assert found.target == "loss"
        assert found.training.positive_rate == pytest.approx(1 - error.mean() / 3, rel=1e-12)
        assert found.validation.in_sample.undefined == {
            "nll": "the outcomes are not all 0 or 1",
            "auroc": "the outcomes are not all 0 or 1, or all the same",
        }


class TestWarnings:
    def test_a_temperature_at_its_bound(self, items):
        found = calibrate(items, method="temperature", variant="verbalized")
        assert found.model.temperature == 10
        assert codes(found) == ["at_bound"]

    def test_right_and_wrong_told_apart_completely(self):
        units = [{"own": float(place), "prediction": int(place < 5)} for place in range(10)]
        found = calibrate(items_of(*units), method="logistic", features=["own"])
        assert codes(found) == ["separated"]

    def test_a_fit_against_the_input(self):
        units = [{"own": float(place), "prediction": int(place > 3 or place == 1)} for place in range(10)]
        assert codes(calibrate(items_of(*units), method="platt", features=["own"])) == ["reversed_ranking"]
        lower = [{"token_pe": unit["own"], "prediction": unit["prediction"]} for unit in units]
        assert codes(calibrate(items_of(*lower), method="platt", features=["token_pe"])) == [], "lower is better there"

    def test_isotonic_falls_where_lower_is_more_confident(self, items):
        found = calibrate(items, method="isotonic", features=["token_pe"])
        assert found.model.y[0] > found.model.y[-1]

    def test_a_run_it_was_fitted_on(self, tmp_path):
        def run_of(run_id, sleep):
            people = [participant(who, {"Sleep": sleep}, **{V: 1 + who % 5}) for who in range(6)]
            return run(experiment(*people)) | {"run_metadata": {"run_id": run_id}}

        fitted_on = read_run(written(tmp_path, run_of("a", 1), "a.json"))
        calibration = calibrate(fitted_on, method="temperature", features=[V])

        def warned(content, name):
            other = read_run(written(tmp_path, content, name))
            graded = grade(other, loss="abs", confidence="verbalized_calibrated", calibration=calibration)
            found = estimate(graded, ["aurc"], plan=Plan(5, seed=1))
            said = reliability("verbalized_calibrated", data=other, calibration=calibration)
            again = said.estimate(["ece"], plan=Plan(5, seed=1)).warnings
            told = [
                "fitted_on_this_run" in [w.code for w in found.warnings],
                "fitted_on_this_run" in [w.code for w in said.warnings],
                "fitted_on_this_run" in [w.code for w in again],
                "warning (fitted_on_this_run)" in repr(said),
            ]
            assert len(set(told)) == 1
            return told[0]

        assert warned(run_of("a", 1), "same.json"), "the same bytes"
        assert warned(run_of("a", 0), "id.json"), "the same run id"
        assert not warned(run_of("b", 1), "other.json")
        assert not warned(run_of(None, 0), "nameless.json")
        nameless = read_run(written(tmp_path, run_of(None, 0), "nameless.json"))
        by_bytes = calibrate(nameless, method="temperature", features=[V])
        graded = grade(nameless, loss="abs", confidence="calibrated", calibration=by_bytes)
        warnings = estimate(graded, ["aurc"], plan=Plan(5, seed=1)).warnings
        assert "fitted_on_this_run" in [w.code for w in warnings], "the same bytes, and no run id"
        combined = "secondary:verbalized_calibrated+verbalized:average"
        said = reliability(combined, data=fitted_on, calibration=calibration)
        assert [w.code for w in said.warnings] == ["fitted_on_this_run"], "a part of it was"

    def test_reliability_asks_what_the_calibration_was_fitted_for(self, items):
        near = calibrate(items, method="platt", variant="token_msp", target="near_correct")
        found = reliability("calibrated:token_msp", data=items, calibration=near)
        assert found.scores["brier"] == pytest.approx(near.validation.in_sample.brier, rel=1e-12)


@pytest.mark.parametrize(
    "choice",
    [
        {"method": "temprature", "variant": "llm"},
        {"method": "platt"},
        {"method": "platt", "features": [V], "variant": "llm"},
        {"method": "platt", "features": [V, "token_pe"]},
        {"method": "isotonic", "features": [V, "token_pe"]},
        {"method": "temperature", "variant": "llm"},
        {"method": "platt", "variant": V},
        {"method": "platt", "variant": "calibrated"},
        {"method": "platt", "variant": "llm", "target": "loss"},
        {"method": "platt", "variant": "llm", "target": "right"},
        {"method": "platt", "variant": "llm", "folds": 1},
        {"method": "platt", "variant": "llm", "created_at": "now"},
    ],
)
def test_what_cannot_be_calibrated(items, choice, message):
    with pytest.raises(UserError) as refused:
        calibrate(items, **choice)
    message(refused.value)


def test_nothing_answered():
    with pytest.raises(UserError, match="no unit is answered: there is nothing to calibrate on"):
        calibrate(items_of({"own": 1.0, "prediction": None}), method="platt", features=["own"])


def test_the_fingerprint_knows_the_choices_and_not_the_time(items):
    one = calibrate(items, method="platt", variant="llm", created_at="2026-01-01T00:00:00Z", command="a")
    same = calibrate(items, method="platt", variant="llm", created_at="2027-01-01T00:00:00Z", command="b")
    other = calibrate(items, method="platt", variant="token_msp")
    assert one.fingerprint == same.fingerprint != other.fingerprint
    assert json.dumps(one.to_json()) != json.dumps(same.to_json())
