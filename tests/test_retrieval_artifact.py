"""The gate of a retrieval evaluation, and its artifact."""

import json
from importlib.resources import files

import jsonschema
import pytest

from demur import risk_coverage
from demur.errors import UserError
from demur.metrics import Measure
from demur.ranking_columns import rankings_of
from demur.reference_ranges import RANGES
from demur.resample import Plan
from demur.retrieval_artifact import load_retrieval, retrieval_metrics_of
from demur.retrieval_evaluation import evaluate_retrieval
from demur.retrieval_numbers import RetrievalSettings
from demur.retrieval_results import retrieval_metrics_artifact
from retrievals import WHEN, evaluated, made


class TestGate:
    def test_the_gate_is_a_selective_predictor_of_the_same_curve_code(self):
        columns = made(ranked=[["x"]] * 35 + [[]])
        found = evaluated(columns, Plan(30, seed=1)).systems["one"]
        loss = [float(not gold) for gold in columns["gold"]]
        curve = risk_coverage(columns["prob"], loss=[*loss[:35], None], clusters=columns["posts"])
        for name in ("cmax", "aurc", "augrc", "eaugrc"):
            assert found.gate[name].point == Measure.of(name)(curve)
        assert found.gate["cmax"].point == 35 / 36
        assert found.gate["augrc"].recommended is not None

    def test_one_class_is_flagged_and_has_no_interval(self):
        columns = made(gold=[["s1"]] * 36)
        found = evaluated(columns, Plan(30, seed=1))
        one = found.systems["one"].estimates["detection/micro/auroc"]
        assert (one.point, one.recommended) == (0.5, None)
        assert ("single_class", "one detection") in [(warning.code, warning.where) for warning in found.warnings]
        detection = retrieval_metrics_artifact(found, created_at=WHEN).systems["one"].detection
        assert detection.single_class
        assert detection.threshold_at_fpr["0.05"].threshold is None

    def test_a_mean_over_criteria_with_one_of_one_class_lies_in_its_interval(self):
        gold = [["s1"] if number % 3 == 0 else gold for number, gold in enumerate(made(posts=40)["gold"])]
        one = evaluated(made(posts=40, gold=gold), Plan(300, seed=1)).systems["one"].estimates["detection/macro/auroc"]
        assert one.percentile.low < one.point < one.percentile.high

    def test_what_is_to_be_said_of_the_gate_is_said(self):
        found = evaluated(made(prob=[0.5] * 36), Plan(30, seed=1))
        assert ("constant_confidence", "one gate confidence") in [(w.code, w.where) for w in found.warnings]
        nothing = retrieval_metrics_artifact(evaluated(made(ranked=[[]] * 36)), created_at=WHEN).systems["one"].gate
        assert nothing.defined is False
        assert nothing.metrics["mae"].reason == "nothing is answered"
        right = evaluated(made(gold=[["s1"]] * 36, ranked=[["s1"]] * 36), Plan(30, seed=1))
        bound = retrieval_metrics_artifact(right, created_at=WHEN).systems["one"].gate.upper_bound95
        assert set(bound) == {"aurc", "augrc"}
        assert bound["augrc"] == pytest.approx(1 - 0.05 ** (1 / 12))  # largest loss 1, everything answered, 12 posts

    def test_conventions_and_another_k_are_not_held_against_the_reference_ranges(self):
        one_class = retrieval_metrics_artifact(evaluated(made(gold=[["s1"]] * 36)), created_at=WHEN)
        assert {one.metric for one in one_class.reference_ranges} == {"ndcg@10", "recall@10", "mrr@10"}
        effective = retrieval_metrics_artifact(evaluated(effective_k=True), created_at=WHEN)
        assert {one.metric for one in effective.reference_ranges} == {"auroc", "tpr@fpr=0.05"}

    def test_folds_of_one_class_are_told(self):
        columns = {"gold": [["a"], [], ["a"]], "ranked": [["a"]] * 3, "prob": [0.5] * 3, "fold": ["1", "1", "2"]}
        found = evaluated(columns)
        told = {warning.where: warning.message for warning in found.warnings if warning.code == "single_class"}
        assert told["one folds"].startswith("1 of 2 folds hold one class only")
        assert found.systems["one"].folds["detection/auroc"].values == {"1": 0.5, "2": 0.5}
        assert "empty_decision/f1" in found.systems["one"].folds

    def test_a_criterion_of_one_class_is_named(self):
        gold = [["s1"] if number % 3 == 0 else gold for number, gold in enumerate(made()["gold"])]
        found = evaluated(made(gold=gold))
        assert "one class only in A" in next(w.message for w in found.warnings if w.code == "single_class")


@pytest.fixture(scope="module")
def artifact():
    columns = made()
    systems = {"a": rankings_of(**columns), "b": rankings_of(**columns | {"ranked": [["s1", "s2", "s3"]] * 36})}
    found = evaluate_retrieval(systems, settings=RetrievalSettings(policies=["fixed:2"]), plan=Plan(40, seed=1))
    return retrieval_metrics_artifact(found, created_at=WHEN, command="demur retrieval")


class TestArtifact:
    def test_it_validates_against_the_shipped_schema_and_reads_back(self, artifact, tmp_path):
        path = artifact.save(tmp_path / "r.json")
        schema = json.loads(files("demur").joinpath("schemas/retrieval.schema.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), schema)
        assert load_retrieval(path) == artifact

    def test_every_number_of_the_artifact_is_that_of_the_evaluation(self, artifact):
        found = evaluated(made(), Plan(40, seed=1), policies=["fixed:2"]).systems["one"].estimates
        system = artifact.systems["a"]
        assert system.positives_only.micro["ndcg@10"].value == found["positives_only/micro/ndcg@10"].point
        assert system.all_queries.per_criterion["B"].metrics["map@3"].value == found["all_queries/1/map@3"].point
        assert system.detection.per_criterion["C"]["auroc"].value == found["detection/2/auroc"].point
        assert system.policies["fixed:2"]["average_k"].value == found["policies/fixed:2/average_k"].point
        ends = found["dynamic_k/evidence_f1"].recommended
        assert system.dynamic_k.metrics["evidence_f1"].ci95_recommended.low == ends.low

    def test_where_results_fall_is_marked(self, artifact):
        placed = {(one.system, one.metric): one for one in artifact.reference_ranges}
        assert {metric for _, metric in placed} == set(RANGES)
        one = placed["a", "ndcg@10"]
        assert one.value == artifact.systems["a"].positives_only.micro["ndcg@10"].value
        assert one.place == RANGES["ndcg@10"].place(one.value)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda c: c["queries"].update(queries_total=1), "queries_total is not queries_with_positives"),
            (lambda c: c["systems"]["a"]["all_queries"].update(queries=1), "do not add up to queries"),
            (lambda c: c["systems"]["a"]["folds"].update(x=1), "systems.a.folds.x"),
            (lambda c: c["systems"]["a"]["positives_only"]["micro"]["map@1"].update(value=None), "or a reason why"),
            (lambda c: c["deltas"].update(c=c["deltas"]["b"]), "differences are those of systems from the baseline"),
            (lambda c: c.update(kind="metrics"), "not a retrieval artifact"),
        ],
    )
    def test_a_file_that_does_not_hold_together_is_refused(self, artifact, change, message):
        content = artifact.to_json()
        change(content)
        with pytest.raises(UserError, match=message):
            retrieval_metrics_of(content)

    def test_it_shows_itself(self, artifact):
        assert repr(artifact) == "RetrievalMetrics(36 queries of 12 posts; a, b)"
        assert "<table" in artifact._repr_html_()


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"depths": [0]}, "k 0, expected an integer, 1 or more"),
        ({"depths": []}, "no depth is given"),
        ({"threshold": 2}, "threshold 2, expected a number from 0 to 1"),
        ({"policies": ["best"]}, "no selection policy is called best"),
    ],
)
def test_settings_that_cannot_be_are_refused(bad, message):
    with pytest.raises(UserError, match=message):
        RetrievalSettings(**bad)
