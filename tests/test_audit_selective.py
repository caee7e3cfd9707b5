"""The audit of a selective-prediction artifact: what is untouched passes, and what is not is found."""

import pytest

from audits import BOTH, ONE, audited, by_key, changed, differing, evaluated, golden, nudged
from demur.simulate import simulated_run
from runs import experiment, failure, participant, run, written


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("audit")
    written(made, simulated_run(12, seed=1, failures=2), "run.json")
    return made


def calibrated_by(temperature):
    """A calibration file of the spoken confidence, as if it had been fitted."""
    spoken = ["verbalized_confidence"]
    tool = {"name": "demur"} | dict.fromkeys(("version", "python", "numpy", "command", "scikit_learn"), "made up")
    training = dict.fromkeys(("path", "sha256", "run_id", "git_commit", "mode"))
    counted = {"n": 9, "clusters": 3, "positive_rate": 0.5, "inputs_distinct": 5, "outputs_distinct": 5}
    quality = {"nll": 0.7, "brier": 0.2, "ece": 0.1, "auroc": 0.6, "undefined": {}}
    validated = {"as_given": None, "in_sample": quality, "cross_validated": None}
    return {
        "schema_version": "1",
        "created_at": "2026-01-31T12:00:00Z",
        "tool": tool,
        "method": "temperature_scaling",
        "features": spoken,
        "variant": None,
        "target": "correctness",
        "model": {"temperature": temperature, "features": spoken},
        "training": training | counted | {"nulls_filled": {}},
        "validation": validated | {"folds": 0, "grouped_by": "participant", "reason": None},
        "warnings": [],
    }


class TestUntouched:
    @pytest.mark.parametrize(("name", "figures"), [("one", 550), ("paired", 1700)])
    def test_the_golden_artifacts_pass_with_every_figure_recognised(self, name, figures):
        found = audited(golden(name))
        assert [one for one in found if one.status != "match"] == []
        assert len(found) > figures

    @pytest.mark.parametrize(
        "arguments",
        [
            (*ONE, "--confidence", "all"),
            (*ONE, "--confidence", "secondary:token_msp+hybrid_verbalized:product,retrieval_reference_count"),
            (*ONE, "--loss", "zero_one", "--area-coverage", "0.37", "--coverage-grid", "0.101,0.333333333333"),
            (*BOTH, "--loss", "abs"),
            (*BOTH, "--interval", "recommended", "--level", "0.9"),
            *((*BOTH, "--interval", method) for method in ("studentised", "analytic_log", "jackknife", "bca")),
            (*BOTH, "--area-coverage", "0.25", "--coverage-grid", "0.25"),
        ],
        ids=lambda words: " ".join(words[-4:]),
    )
    def test_whatever_evaluate_is_asked_for_passes(self, folder, arguments):
        content = evaluated(folder, *arguments)
        found = audited(content, [folder / "run.json"], calibration=None)
        assert [one for one in found if one.status != "match"] == []

    def test_calibrated_variants_pass_with_their_calibration_and_are_not_recognised_without(self, folder):
        asked = "calibrated,verbalized_calibrated,secondary:calibrated+verbalized:average"
        calibration = calibrated_by(temperature=1.7)
        written(folder, calibration, "c.json")
        content = evaluated(folder, *ONE, "--confidence", asked, "--calibration", "c.json")
        found = audited(content, [folder / "run.json"], calibration=calibration)
        assert {one.status for one in found} == {"match"}
        without = [one for one in audited(content, [folder / "run.json"]) if "calibrated" in one.key]
        assert {(one.status, one.cause) for one in without} == {("not recognised", "needs --calibration")}

    def test_one_participant_no_error_and_no_answer_at_all_pass(self, tmp_path):
        silent = dict.fromkeys(participant(1)["predicted_items"])
        for people in (
            [participant(1, {"Sleep": None, "Tired": 0})],
            [participant(who, {"Sleep": None}) for who in range(5)],
            [participant(who, silent) for who in range(5)],
        ):
            written(tmp_path, run(experiment(*people)))
            found = audited(evaluated(tmp_path, "--input", "run.json"), [tmp_path / "run.json"])
            assert [one for one in found if one.status != "match"] == []

    def test_two_runs_of_different_participants_pass_on_those_they_share(self, tmp_path):
        people = [participant(who, {"Sleep": who % 4, "Tired": None}) for who in range(6)]
        written(tmp_path, run(experiment(*people[:5])), "left.json")
        written(tmp_path, run(experiment(*people[1:5], failure(5))), "right.json")
        content = evaluated(tmp_path, "--input", "left.json", "--input", "right.json", "--intersection-only")
        found = audited(content, [tmp_path / "left.json", tmp_path / "right.json"])
        assert {one.status for one in found} == {"match"}
        assert by_key(found)["comparison.participants_left_only"].recomputed == 1

    def test_without_resamples_what_is_there_is_audited(self, folder):
        found = audited(evaluated(folder, *BOTH, resamples=0), [folder / "run.json"])
        assert {one.status for one in found} == {"match"}
        assert "comparison.deltas.llm.aurc_full.delta" in by_key(found)


class TestTampering:
    @pytest.mark.parametrize("name", ["one", "paired"])
    def test_every_figure_that_moves_a_little_is_found(self, name):
        found = audited(nudged(golden(name)))
        assert [one.key for one in found if one.status != "differs" and one.reported != "null"] == []

    @pytest.mark.parametrize(
        "key",
        [
            "population/items_predicted",
            "confidence_variants/llm/aurc_full",
            "confidence_variants/llm/aurc_at_c/used",
            "confidence_variants/llm/mae_at_coverage/0.30/achieved",
            "confidence_variants/llm/interpretation/achievable_gain_pct",
            "confidence_variants/llm/bootstrap/ci95/aurc_full/1",
            "confidence_variants/llm/bootstrap/ci95_recommended/aurc_full/low",
            "confidence_variants/llm/bootstrap/std_error/mae_at_coverage/0.30",
            "confidence_variants/llm/bootstrap/drop_rate/mae_at_coverage/0.30",
            "confidence_variants/llm/by_item/Sleep/bias",
            "confidence_variants/verbalized/reliability/brier",
            "confidence_variants/verbalized/reliability/bins/1/count",
        ],
    )
    def test_one_changed_figure_is_found_and_no_other(self, key):
        one = golden("one", "verbalized" if "verbalized" in key else "llm")
        found = audited(changed(one, key, lambda value: value + (1 if type(value) is int else 1e-6)))
        assert differing(found) == [key.replace("/", ".")]

    def test_a_number_made_null_and_a_null_made_a_number_are_found(self):
        for key, value in (
            ("confidence_variants/llm/naurc", None),
            ("confidence_variants/llm/mae_at_coverage/0.30", None),
            ("confidence_variants/llm/bootstrap/ci95/cmax", None),
            ("confidence_variants/llm/mae_at_coverage/0.90", 0.25),
        ):
            assert differing(audited(changed(golden("one", "llm"), key, value))) == [key.replace("/", ".")]

    def test_a_column_is_one_finding_that_names_the_first_place(self):
        key = "confidence_variants/llm/curve/selective_risk"
        found = by_key(audited(changed(golden("one", "llm"), key, lambda column: [column[0], 0.101, 0.2])))
        one = found[key.replace("/", ".")]
        assert (one.status, one.reported, one.recomputed) == ("differs", "0.101", 1 / 7)
        assert one.cause == "the first of them at place 1"
        short = by_key(audited(changed(golden("one", "llm"), key, lambda column: column[:2])))[key.replace("/", ".")]
        assert (short.status, short.reported, short.cause) == ("differs", "2 numbers", "3 are expected")

    def test_another_seed_than_the_recorded_one_is_found(self):
        found = audited(changed(golden("one", "llm"), "confidence_variants/llm/bootstrap/seed", 8))
        assert {key.split(".")[2] for key in differing(found)} == {"bootstrap", "bands"}

    def test_digits_left_out_are_rounding_and_a_changed_digit_is_not(self):
        key = "confidence_variants/llm/cmax"
        assert golden("one", "llm")["confidence_variants"]["llm"]["cmax"] == 11 / 24
        assert differing(audited(changed(golden("one", "llm"), key, 0.46))) == []
        assert differing(audited(changed(golden("one", "llm"), key, 0.47))) == [key.replace("/", ".")]
