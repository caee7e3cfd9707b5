"""The audit of hand-typed selective figures: what is right passes, what is not is found, and why is named if known."""

import json

import pytest

from demur import Instrument, UserError, confidence, read_table
from demur.extensions.audit.figures import NO_CAUSE, Printed
from demur.extensions.audit.reported.reading import runs_to_audit
from demur.extensions.audit.reported.runs import audited_runs
from demur.files.strict_json import loads
from parametrized import parametrize_few
from reported_runs import MODES, audited, scores, verdicts
from runs import experiment, failure, participant, run, written

FOUR = "cluster,item,truth,prediction,llm_evidence_count\na,q1,2,2,2\na,q2,1,3,2\nb,q1,1,1,1\nb,q2,0,,0\n"
SORTED = "consistent with the {}: {}, as its sort leaves equal confidences"


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    """Four units: AURC 17/24, AUGRC 1/4, Cmax 3/4 with the loss abs."""
    path = written(tmp_path_factory.mktemp("four"), FOUR, "four.csv")
    return {"four": read_table(path, instrument=Instrument("two", ("q1", "q2"), 0, 3))}


class TestMatches:
    def test_a_flat_file_of_one_run(self, four):
        content = {"loss": "abs", "aurc": 0.7083, "augrc": 0.25, "cmax": 0.75, "risk@0.6": 0.667, "mae@0.9": None}
        assert set(verdicts(four, content).values()) == {("match", None)}

    @pytest.mark.parametrize(
        "content",
        [
            {"aurc_full": 0.7083, "augrc_full": 0.25},
            {"aurc_at_c": {"requested": 0.6, "used": 0.6, "value": 0.5933}, "augrc_at_c": {"0.60": 0.175}},
            {"aurc_at_coverage": 0.5, "augrc_at_c": {"requested": None, "used": 0.5, "value": 0.125}},
            {"mae_at_coverage": {"0.60": {"requested": 0.6, "achieved": 0.75, "value": 0.6667}, "0.80": None}},
            {"mae_grid": [[0.6, 0.6667], [0.8, None]]},
            {"mae_grid": [{"coverage": 0.6, "mae": 0.6667}]},
            {"risk": {"60%": 0.667}, "aurc": {"0.6": 0.593, "value": 0.708}},
            {"confidence_variants": {"llm": {"aurc": 0.708}}, "population": {"items_total": 4, "items_predicted": 3}},
            {"metrics": {"aurc": {"llm": 0.708, "total_evidence": "0.708"}}},
        ],
    )
    def test_artifact_keys_and_other_shapes(self, four, content):
        found = verdicts(four, content | {"loss": {"name": "abs"}})
        assert found
        assert set(found.values()) == {("match", None)}

    @pytest.mark.parametrize("system", MODES)
    def test_every_number_of_every_confidence_of_a_run(self, both, system):
        content = {name: scores(both, system, name) for name in ("llm", "token_msp", "hybrid_verbalized")}
        found = verdicts(both, {system: content})
        assert len(found) > 60
        assert set(found.values()) == {("match", None)}

    def test_a_mode_a_confidence_and_a_loss_may_stand_beside_the_figures(self, both):
        zero = scores(both, "zero_shot", "token_msp", "abs")
        inner = {"mode": "zero_shot", "confidence": "token_msp", "loss": "abs", "aurc": zero["aurc"]}
        content = {
            "loss": "zero_one",
            "table": [inner],
            "few_shot": {"risk": scores(both, "few_shot", "llm", "zero_one")["risk"]},
        }
        found = verdicts(both, content)
        assert found.pop("table.0.aurc")[0] == "not recognised", "nobody knows what table is"
        assert found == {"few_shot.risk": ("match", None)}
        assert verdicts(both, {"metrics": inner}) == {"metrics.aurc": ("match", None)}

    def test_what_all_runs_agree_on_needs_no_name(self, both):
        assert verdicts(both, {"n_participants": 20, "participants_failed": 2}) == {
            "n_participants": ("match", None),
            "participants_failed": ("match", None),
        }

    def test_two_sides_are_counted_on_the_participants_they_share_and_cut_where_both_reach(self, tmp_path):
        half = dict.fromkeys(("Sleep", "Tired", "Moving", "Failure"))
        left = [participant(1, {"Sleep": None}), participant(2, half), participant(3, half)]
        written(tmp_path, run(experiment(*left, mode="a")), "left.json")
        written(tmp_path, run(experiment(*left[:2], failure(3), mode="b")), "right.json")
        runs = runs_to_audit([tmp_path / "left.json", tmp_path / "right.json"])
        content = {"left": {"cmax": 0.6875}, "right": {"cmax": 0.6875}, "deltas": {"cmax": 0.0}}
        assert set(verdicts(runs, content).values()) == {("match", None)}
        wrong = verdicts(runs, {"left": {"cmax": 0.625}})
        assert wrong == {
            "left.cmax": ("differs", "would equal it, all participants of its own run, not only those in every run")
        }

    @pytest.mark.slow
    def test_a_difference_is_the_second_run_minus_the_first(self, both):
        delta = scores(both, "few_shot", "llm")["aurc"] - scores(both, "zero_shot", "llm")["aurc"]
        key = "deltas.llm.aurc.delta"
        assert verdicts(both, {"deltas": {"llm": {"aurc": {"delta": delta}}}}) == {key: ("match", None)}
        turned = verdicts(both, {"deltas": {"llm": {"aurc": {"delta": -delta}}}})
        assert turned == {key: ("differs", "would equal it, sides swapped")}

    def test_calibration_of_a_confidence_that_is_a_probability(self, both):
        items = both["few_shot"]
        given = confidence(items, "verbalized").values[items.answered]
        right = (items.answer == items.truth)[items.answered]
        brier = float(((given - right) ** 2).mean())
        assert verdicts(both, {"few_shot": {"verbalized": {"brier": brier}, "llm": {"brier": brier}}}) == {
            "few_shot.verbalized.brier": ("match", None),
            "few_shot.llm.brier": ("not recognised", "llm is not a probability"),
        }


class TestCauses:
    @parametrize_few(
        ("loss", "key", "reported", "cause"),
        [
            ("abs", "cmax", "1.0", "would equal it, abstentions left out of the denominator"),
            ("abs", "aurc", "0.2083", "would equal it, no flat start: integrated from the first operating point"),
            ("abs", "aurc", "0.333333", "would equal the AURC of item-by-item; in our convention it is 0.708333"),
            ("abs", "aurc", "0.2361", "would equal it, loss abs_norm, not abs"),
            ("abs", "augrc", "25.0", "would equal it, given in percent (× 100)"),
            ("abs", "augrc", "250.0", "would equal it, given × 1000"),
            ("abs", "aurc", "0.70", "would equal it, cut off, not rounded"),
            ("abs", "aurc", "0.625", "would equal eaurc"),
            ("abs", "risk@0.7", "1.00", "would equal risk@0.5"),
            ("abs", "aurc", "0.8888", SORTED.format("AURC of prefix-mean", "0.555556 to 1.22222") + " (or of ln)"),
            ("abs", "aurc", "7.8888", NO_CAUSE),
            ("abs_norm", "aurc", "0.7083", "would equal it, × 3: loss not normalised (abs, not abs_norm)"),
            (
                "abs_norm",
                "augrc",
                "25.0",
                "would equal it, × 3: loss not normalised (abs, not abs_norm), given in percent (× 100)",
            ),
        ],
        5,
    )
    def test_a_known_other_way_of_counting_is_named(self, four, loss, key, reported, cause):
        content = loads(f'{{"loss": "{loss}", "{key}": {reported}}}', number=Printed.of)
        (found,) = audited_runs(four, content)
        assert (found.status, found.cause) == ("differs", cause)

    def test_without_a_loss_the_normalised_one_is_meant(self, four):
        assert verdicts(four, {"aurc": 0.2361, "augrc": 0.2501}) == {
            "aurc": ("match", None),
            "augrc": (
                "differs",
                SORTED.format("AUGRC of torch-uncertainty under the loss zero_one", "0.25 to 0.333333"),
            ),
        }

    @pytest.mark.slow
    def test_another_run_and_another_confidence_are_named(self, both):
        zero, few = (scores(both, mode, "llm")["aurc"] for mode in MODES)
        other = scores(both, "few_shot", "token_msp")["aurc"]
        found = verdicts(
            both, {"few_shot": {"aurc": other, "llm": {"aurc": zero}}, "zero_shot": {"llm": {"aurc": few}}}
        )
        assert found == {
            "few_shot.aurc": ("differs", "would equal it, ranked by token_msp, not llm"),
            "few_shot.llm.aurc": ("differs", "would equal the figure of zero_shot"),
            "zero_shot.llm.aurc": ("differs", "would equal the figure of few_shot"),
        }

    def test_the_value_of_another_row_of_the_table_is_named(self, both):
        right = scores(both, "few_shot", "llm")
        content = {"few_shot": {"aurc_sele": right["aurc_harmonic"], "aurc_harmonic": right["aurc_harmonic"]}}
        assert verdicts(both, content) == {
            "few_shot.aurc_sele": ("differs", "would equal the value of aurc_harmonic"),
            "few_shot.aurc_harmonic": ("match", None),
        }

    def test_failed_participants_counted_in(self, tmp_path):
        people = [participant(who, {"Sleep": None, "Tired": 0}) for who in range(3)]
        path = written(tmp_path, run(experiment(*people, failure(9))))
        assert verdicts(runs_to_audit([path]), {"cmax": 21 / 32, "participants_included": 4}) == {
            "cmax": ("differs", "would equal it, failed participants counted in"),
            "participants_included": ("differs", "would equal the count participants_total"),
        }


class TestNotRecognised:
    def test_every_figure_says_why(self, both):
        content = {
            "aurc": 0.2,
            "few_shot": {
                "sharpness": 0.1,
                "recall@10": 0.5,
                "entropy": {"aurc": 0.2},
                "calibrated": {"aurc": 0.2},
                "macro": {"aurc": 0.2},
                "mae_grid": 0.5,
                "cmax": "n/a",
            },
            "mistyped": {"loss": "mse", "few_shot": {"aurc": 0.1}},
            "zero_shot": {"loss": "mse", "aurc": 0.1, "n_answered": 97},
        }
        found = verdicts(both, content)
        assert found.pop("zero_shot.n_answered") == ("match", None)
        runs = "zero_shot, few_shot"
        assert found == {
            key: ("not recognised", cause)
            for key, cause in {
                "aurc": f"it does not say which run it is of: {runs}; name one or give --mode",
                "few_shot.sharpness": "no known figure is called sharpness",
                "few_shot.recall@10": "recall@10 is a figure of rankings: give a per-query table as --data",
                "few_shot.entropy.aurc": f"no run and no confidence of the data is called entropy (runs: {runs})",
                "few_shot.calibrated.aurc": "calibrated: needs a calibration "
                "(demur calibrate fits one, --calibration gives it)",
                "few_shot.macro.aurc": "a run is not averaged over folds, criteria or queries",
                "few_shot.mae_grid": "it does not say at which coverage",
                "few_shot.cmax": "not a number",
                "mistyped.few_shot.aurc": f"no run and no confidence of the data is called mistyped (runs: {runs})",
                "zero_shot.aurc": "no loss is called mse: there are abs, abs_norm, zero_one",
            }.items()
        }

    @pytest.mark.parametrize("content", [{"few": {"aurc": 0.2}}, {"few": {"aurc": 0.2}, "zero": {"cmax": 1}}])
    def test_a_file_about_no_run_of_the_data_is_a_mistake(self, both, content):
        with pytest.raises(
            UserError, match=r"^no section is called after a run of the data \(zero_shot, few_shot\), but few"
        ):
            audited(both, content)


NAMES = ["a/b", "a", "a:b", "b@0.5", "aurc", "x=1", "a b", 'it\'s "so"', "risk@0.5", "left", "0.5", "a.b"]


class TestNames:
    @pytest.mark.slow
    def test_runs_may_be_called_anything(self, tmp_path):
        people = [participant(who, {"Sleep": None, "Tired": who % 4}) for who in range(4)]
        experiments = [experiment(*people[: 2 + number % 3], mode=name) for number, name in enumerate(NAMES)]
        runs = runs_to_audit([written(tmp_path, run(*experiments))])
        assert list(runs) == NAMES
        content = {
            name: {"llm": {"aurc": scores(runs, name, "llm")["aurc"], "n_units": len(runs[name])}} for name in NAMES
        }
        found = audited_runs(runs, loads(json.dumps(content), number=Printed.of))
        assert [one.path for one in found] == [(name, "llm", what) for name in NAMES for what in ("aurc", "n_units")]
        assert {one.status for one in found} == {"match"}
        for name in NAMES:
            moved = json.loads(json.dumps(content))
            moved[name]["llm"]["n_units"] += 1
            wrong = audited_runs(runs, loads(json.dumps(moved), number=Printed.of))
            assert [one.path for one in wrong if one.status != "match"] == [(name, "llm", "n_units")]

    def test_a_run_may_be_called_after_the_quantity_that_is_reported_of_it(self, tmp_path):
        path = written(tmp_path, run(experiment(participant(1), mode="cmax")), "aurc.json")
        assert verdicts(runs_to_audit([path]), {"cmax": 1.0, "aurc": {"aurc": 0.0}}) == {
            "cmax": ("match", None),
            "aurc.aurc": ("match", None),
        }

    def test_runs_of_one_mode_are_called_by_their_ids_or_paths(self, tmp_path):
        one = run(experiment(participant(1)))
        other = one | {"run_metadata": {"run_id": "r2"}}
        paths = [written(tmp_path, one, "one.json"), written(tmp_path, other, "other.json")]
        assert list(runs_to_audit(paths)) == ["r1", "r2"]
        assert list(runs_to_audit([paths[0], written(tmp_path, one, "copy.json")])) == [
            str(paths[0]),
            str(tmp_path / "copy.json"),
        ]
        assert verdicts(
            runs_to_audit(paths), {"r2": {"cmax": 1.0}, "one.json": {"cmax": 1.0}, "other": {"cmax": 1.0}}
        ) == {
            "r2.cmax": ("match", None),
            "one.json.cmax": ("match", None),
            "other.cmax": ("match", None),
        }
