"""What the audit says of a figure that differs, of artifacts in another shape, and of draws that are not ours."""

import json
import math
import random

import pytest

from audits import BOTH, ONE, audited, by_key, changed, differing, evaluated, golden, printed
from demur import Instrument, UserError, confidence, read_run, strict_json
from demur.audit.figures import Printed
from demur.audit.selective import audited_selective, runs_of
from demur.metrics.calibration import compute_ece
from demur.read import read_table
from demur.simulate import simulated_run
from runs import experiment, failure, participant, run, written

FOUR = "cluster,item,truth,prediction,llm_evidence_count\na,q1,2,2,2\na,q2,1,3,2\nb,q1,1,1,1\nb,q2,0,,0\n"
TWO_ITEMS = Instrument("two", ("q1", "q2"), 0, 3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("audit")
    written(made, simulated_run(20, seed=1, failures=2), "run.json")
    written(made, FOUR, "four.csv")
    return made


@pytest.fixture
def four(folder):
    """An audit of what is reported of four units: AURC 17/24, AUGRC 1/4, Cmax 3/4 with the loss abs."""

    def audit(reported, loss="abs"):
        content = {"loss": {"name": loss}, "confidence_variants": {"llm": reported}}
        items = read_table(folder / "four.csv", instrument=TWO_ITEMS)
        return by_key(audited_selective([items], strict_json.loads(json.dumps(content), number=Printed.of)))

    return audit


class TestCauses:
    @pytest.mark.parametrize(
        ("loss", "key", "reported", "cause"),
        [
            ("abs", "cmax", 1.0, "abstentions left out of the denominator"),
            ("abs", "aurc_full", 0.2083, "no flat start: integrated from the first working point"),
            ("abs", "aurc_full", 0.333333, "ties broken: each unit a working point"),
            ("abs", "aurc_full", 0.2361, "loss abs_norm, not abs"),
            ("abs", "augrc_full", 25.0, "given in percent (× 100)"),
            ("abs", "augrc_full", 250.0, "given × 1000"),
            ("abs_norm", "aurc_full", 0.7083, "× 3: loss not normalised (abs, not abs_norm)"),
            ("abs_norm", "augrc_full", 25.0, "× 3: loss not normalised (abs, not abs_norm), given in percent (× 100)"),
            ("abs", "aurc_full", 0.7, None),
        ],
    )
    def test_a_known_other_way_of_counting_is_named(self, four, loss, key, reported, cause):
        found = four({key: reported}, loss)[f"confidence_variants.llm.{key}"]
        status = "match" if cause is None else "differs"
        assert (found.status, found.cause) == (status, cause)

    def test_without_a_loss_the_normalised_one_is_tried_and_the_other_named(self, folder):
        items = read_table(folder / "four.csv", instrument=TWO_ITEMS)
        content = printed({"confidence_variants": {"llm": {"aurc_full": 0.2361, "augrc_full": 0.250}}})
        one, other = audited_selective([items], content)
        assert one.status == "match"
        assert other.cause == "× 3: loss not normalised (abs, not abs_norm)"

    def test_failed_participants_counted_in(self, tmp_path):
        people = [participant(who, {"Sleep": None, "Tired": 0}) for who in range(3)]
        written(tmp_path, run(experiment(*people, failure(9))))
        content = evaluated(tmp_path, "--input", "run.json")
        content["confidence_variants"]["llm"]["cmax"] = 21 / 32
        content["population"]["participants_included"] = 4
        found = by_key(audited(content, [tmp_path / "run.json"]))
        keys = "confidence_variants.llm.cmax", "population.participants_included"
        assert {found[key].cause for key in keys} == {"failed participants counted in"}

    def test_swapped_sides_are_named(self):
        content = golden("paired", "llm")
        sides = content["confidence_variants"]["llm"]
        sides["left"], sides["right"] = sides["right"], sides["left"]
        found = by_key(audited(content))
        for name in ("cmax", "aurc_full", "augrc_full", "bootstrap.std_error.aurc_full", "bootstrap.ci95.aurc_full.1"):
            one = found[f"confidence_variants.llm.left.{name}"]
            assert (one.status, one.cause) == ("differs", "the other side's figure")

    def test_left_minus_right_is_named(self):
        place = "comparison/deltas/llm/aurc_full"
        turned = changed(golden("paired", "llm"), f"{place}/delta", lambda value: -value)
        turned = changed(turned, f"{place}/ci95", lambda ends: [-ends[1], -ends[0]])
        found = by_key(audited(turned))
        keys = [f"comparison.deltas.llm.aurc_full.{end}" for end in ("delta", "ci95.0", "ci95.1")]
        assert {(found[key].status, found[key].cause) for key in keys} == {("differs", "left − right")}

    def test_one_side_on_all_its_own_participants_is_named(self, tmp_path):
        half = dict.fromkeys(("Sleep", "Tired", "Moving", "Failure"))
        left = [participant(1, {"Sleep": None}), participant(2, half), participant(3, half)]
        written(tmp_path, run(experiment(*left)), "left.json")
        written(tmp_path, run(experiment(*left[:2], failure(3))), "right.json")
        content = evaluated(tmp_path, "--input", "left.json", "--input", "right.json", resamples=0)
        wrong = changed(content, "confidence_variants/llm/left/cmax", 15 / 24)
        found = by_key(audited(wrong, [tmp_path / "left.json", tmp_path / "right.json"]))
        assert found["confidence_variants.llm.left.cmax"].cause.startswith("all participants of its own run")

    def test_a_standard_error_with_ddof_0_is_named(self):
        key = "confidence_variants/llm/bootstrap/std_error/aurc_full"
        found = audited(changed(golden("one", "llm"), key, lambda value: value * math.sqrt(199 / 200)))
        assert by_key(found)[key.replace("/", ".")].cause == "standard deviation with ddof 0"

    def test_the_plain_percentile_under_another_name_is_named(self):
        place = "confidence_variants/llm/bootstrap"
        plain = golden("one", "llm")["confidence_variants"]["llm"]["bootstrap"]["ci95"]["aurc_full"][1]
        found = audited(changed(golden("one", "llm"), f"{place}/ci95_recommended/aurc_full/high", plain))
        one = by_key(found)["confidence_variants.llm.bootstrap.ci95_recommended.aurc_full.high"]
        assert one.cause == "the plain percentile"

    def test_an_ece_that_lost_the_forecasts_of_1_is_named(self, folder):
        content = evaluated(folder, *ONE, "--confidence", "verbalized", resamples=0)
        items = read_run(folder / "run.json", mode="few_shot")
        said, right = confidence(items, "verbalized").values[items.answered], items.answer == items.truth
        lost = compute_ece(said, right[items.answered], last_bin="open")
        found = audited(changed(content, "confidence_variants/verbalized/reliability/ece", lost), [folder / "run.json"])
        assert [(one.key.split(".")[-1], one.cause) for one in found if one.status == "differs"] == [
            ("ece", "forecasts of exactly 1 dropped")
        ]


WRONG = {"0.5933": 0.6933, "0.125": 0.225, "0.7083": 0.8083, "0.6667": 0.7667}


class TestOtherShapes:
    def test_sides_called_input_0_and_input_1(self):
        content = golden("paired", "llm")
        for entry in content["confidence_variants"].values():
            entry["input_0"], entry["input_1"] = entry.pop("left"), entry.pop("right")
        found = audited(content)
        assert {one.status for one in found} == {"match"}
        assert "confidence_variants.llm.input_1.aurc_full" in by_key(found)
        wrong = changed(content, "confidence_variants/llm/input_1/aurc_full", 0.5)
        assert differing(audited(wrong)) == ["confidence_variants.llm.input_1.aurc_full"]

    @pytest.mark.parametrize(
        "reported",
        [
            {"aurc_at_coverage": {"0.6": 0.5933}, "augrc_at_coverage": {"0.60": {"used": 0.6, "value": 0.175}}},
            {"aurc_at_coverage": {"requested": 0.6, "used": 0.6, "value": 0.5933}},
            {"aurc_at_coverage": 0.5, "augrc_at_coverage": 0.125},
            {"aurc": 0.7083, "augrc": 0.25},
            {"mae_grid": {"0.60": {"requested": 0.6, "achieved": 0.75, "value": 0.6667}, "0.80": None}},
            {"mae_grid": {"0.6": 0.6667, "0.5": 1.0}},
            {"mae_grid": [[0.6, 0.6667], [0.8, None]]},
            {"mae_grid": [{"coverage": 0.6, "mae": 0.6667}]},
        ],
    )
    def test_areas_and_risks_under_their_older_names(self, four, reported):
        assert {one.status for one in four(reported).values()} == {"match"}
        wrong = strict_json.loads(json.dumps(reported), number=lambda text: WRONG.get(text, float(text)))
        assert "differs" in {one.status for one in four(wrong).values()}

    def test_what_nobody_knows_is_not_recognised(self, four):
        found = four({"cmax": 0.75, "sharpness": 0.1, "note": "text"})
        assert [(one.key, one.status) for one in found.values() if one.status != "match"] == [
            ("confidence_variants.llm.sharpness", "not recognised")
        ]

    def test_a_variant_of_somebody_elses_is_not_recognised_and_says_so(self):
        content = golden("one", "llm")
        content["confidence_variants"]["entropy"] = {"cmax": 0.5}
        found = by_key(audited(content))["confidence_variants.entropy.cmax"]
        assert (found.status, found.cause) == ("not recognised", "nobody knows how to recompute the confidence entropy")


@pytest.fixture(scope="module")
def elsewhere(folder):
    """A comparison with 10 000 draws of another generator: another seed than the one recorded, and no engine named."""
    content = evaluated(folder, *BOTH, "--confidence", "llm", "--coverage-grid", "0.3,0.6,1", seed=99, resamples=10_000)
    for side in content["confidence_variants"]["llm"].values():
        del side["bootstrap"]["kind"], side["bootstrap"]["engine"]
        side["bootstrap"]["seed"] = 1
    return content


class TestOtherDraws:
    def test_are_accepted_within_a_stated_band(self, folder, elsewhere):
        found = audited(elsewhere, [folder / "run.json"], resamples=2000)
        assert [one for one in found if one.status != "match"] == []
        low, high = by_key(found)["confidence_variants.llm.left.bootstrap.ci95.aurc_full.0"].band
        assert low < elsewhere["confidence_variants"]["llm"]["left"]["bootstrap"]["ci95"]["aurc_full"][0] < high

    def test_an_end_moved_inwards_by_three_tenths_of_a_standard_error_is_found(self, folder, elsewhere):
        bootstrap = elsewhere["confidence_variants"]["llm"]["left"]["bootstrap"]
        place, by = "confidence_variants/llm/left/bootstrap", 0.3 * bootstrap["std_error"]["augrc_full"]
        by_more = 0.3 * bootstrap["std_error"]["aurc_full"]
        moved = changed(elsewhere, f"{place}/ci95/augrc_full/0", lambda end: end + by)
        moved = changed(moved, f"{place}/ci95/augrc_full/1", lambda end: end - by)
        moved = changed(moved, f"{place}/ci95_recommended/aurc_full/low", lambda end: end + by_more)
        moved = changed(moved, f"{place}/std_error/cmax", lambda error: 1.25 * error)
        moved = changed(moved, "comparison/deltas/llm/augrc_full/favours_right", lambda share: abs(share - 0.3))
        assert differing(audited(moved, [folder / "run.json"], resamples=4000)) == [
            "confidence_variants.llm.left.bootstrap.ci95.augrc_full.0",
            "confidence_variants.llm.left.bootstrap.ci95.augrc_full.1",
            "confidence_variants.llm.left.bootstrap.ci95_recommended.aurc_full.low",
            "confidence_variants.llm.left.bootstrap.std_error.cmax",
            "comparison.deltas.llm.augrc_full.favours_right",
        ]

    def test_a_percentile_interval_of_plain_python_passes_and_one_of_single_items_is_named(self, folder):
        items = read_run(folder / "run.json", mode="few_shot")
        people = [items.answered[items.cluster == who].tolist() for who in range(len(items.cluster_ids))]
        single = [[answered] for person in people for answered in person]
        found = {}
        for kind, units in (("people", people), ("items", single)):
            low, high = coverage_interval(units, random.Random(5))
            content = {
                "confidence_variants": {"llm": {"bootstrap": {"n_resamples": 2000, "ci95": {"cmax": [low, high]}}}}
            }
            content["inputs"] = [{"mode": "few_shot"}]
            audit = audited(content, [folder / "run.json"], resamples=2000)
            found[kind] = {(one.status, one.cause) for one in audit}
        assert found == {"people": {("match", None)}, "items": {("differs", "items resampled, not participants")}}


def coverage_interval(clusters, rng):
    """The percentile interval of the share answered, by plain loops."""
    shares = []
    for _ in range(2000):
        drawn = [answered for cluster in rng.choices(clusters, k=len(clusters)) for answered in cluster]
        shares.append(sum(drawn) / len(drawn))
    shares.sort()
    return shares[50], shares[1949]


class TestRuns:
    def test_are_read_in_the_modes_the_artifact_records(self, folder):
        content = printed(evaluated(folder, *BOTH, resamples=0))
        assert [items.source.mode for items in runs_of([folder / "run.json"], content)] == ["zero_shot", "few_shot"]
        with pytest.raises(UserError, match="^3 data files for an artifact of 2 runs: give one, or one for each$"):
            runs_of([folder / "run.json"] * 3, content)

    @pytest.mark.parametrize("inputs", [None, 7, [], [{"mode": 7}], ["few_shot"]])
    def test_an_artifact_that_records_no_mode_leaves_the_choice_to_the_reader(self, folder, inputs):
        with pytest.raises(UserError, match="2 experiments and no mode was asked for"):
            runs_of([folder / "run.json"], printed({"confidence_variants": {}, "inputs": inputs}))

    def test_what_is_no_artifact_is_refused(self, folder):
        items = read_run(folder / "run.json", mode="few_shot")
        with pytest.raises(UserError, match="^not a metrics artifact: expected an object with confidence_variants$"):
            audited_selective([items], [])
        with pytest.raises(UserError, match="^2 runs for an artifact of 1$"):
            audited_selective([items, items], {"confidence_variants": {}})
        with pytest.raises(UserError, match="^resamples 0, expected 1 or more"):
            audited_selective([items], {"confidence_variants": {}}, resamples=0)
        with pytest.raises(UserError, match="no loss is called mse"):
            audited_selective([items], {"confidence_variants": {}, "loss": {"name": "mse"}})
