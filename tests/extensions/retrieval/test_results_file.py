"""The gate of a retrieval evaluation, and the file of its results, of this version and of version 0.1."""

import json

import pytest

from demur import Group, Key, Measure, Plan, RetrievalSettings, UserError, load, report_html, risk_coverage
from demur.extensions.retrieval.reference_ranges import REFERENCES, reference_of
from demur.results.load import results_of
from pages import Page
from retrievals import compared, evaluated, made

PHQ8 = REFERENCES["phq8-evidence"]


def codes(results):
    return [warning.code for warning in results.warnings]


def decision(content):
    return content["systems"][0]["empty_decision"]


class TestGate:
    def test_the_gate_is_a_selective_predictor_of_the_same_curve_code(self):
        columns = made(ranked=[["x"]] * 35 + [[]])
        results = evaluated(columns, Plan(30, seed=1))
        loss = [float(not gold) for gold in columns["gold"]]
        curve = risk_coverage(columns["prob"], loss=[*loss[:35], None], clusters=columns["posts"])
        for name in ("cmax", "aurc", "augrc", "eaugrc"):
            assert results[Key("one", name, "prob")].value == Measure.of(name)(curve)
        assert results["cmax"].value == 35 / 36
        assert results["augrc"].recommended is not None

    @pytest.mark.slow
    def test_one_class_is_flagged_and_has_no_interval(self):
        results = evaluated(made(gold=[["s1"]] * 36), Plan(30, seed=1))
        auroc = results["auroc"]
        assert (auroc.value, auroc.recommended, auroc.by_convention) == (0.5, None, True)
        warning = next(one for one in results.warnings if one.code == "single_class")
        assert (warning.about.system, warning.subject) == ("one", "detection")
        assert results["tpr@fpr=0.05"].threshold is None

    @pytest.mark.slow
    def test_a_mean_over_criteria_with_one_of_one_class_lies_in_its_interval(self):
        gold = [["s1"] if number % 3 == 0 else gold for number, gold in enumerate(made(posts=40)["gold"])]
        row = evaluated(made(posts=40, gold=gold), Plan(300, seed=1))[
            Key("one", "auroc", "prob", group=Group("criterion"))
        ]
        assert row.percentile.low < row.value < row.percentile.high

    @pytest.mark.slow
    def test_what_is_to_be_said_of_the_gate_is_said(self):
        constant = evaluated(made(prob=[0.5] * 36), Plan(30, seed=1))
        assert "constant_confidence" in codes(constant)
        silent = evaluated(made(ranked=[[]] * 36))
        assert silent.curves["one", "prob"].defined is False
        assert silent["risk"].undefined
        right = evaluated(made(gold=[["s1"]] * 36, ranked=[["s1"]] * 36), Plan(30, seed=1))
        bounds = {row.key.quantity: row.upper_bound for row in right if row.upper_bound is not None}
        assert set(bounds) == {"aurc", "augrc"}
        rare = 1 - 0.05 ** (1 / 12)
        assert bounds["augrc"] == pytest.approx(rare - rare**2 / 2)  # largest loss 1, everything answered, 12 posts

    @pytest.mark.slow
    def test_conventions_and_another_k_are_not_held_against_the_reference_ranges(self):
        one_class = evaluated(made(gold=[["s1"]] * 36), reference=PHQ8).study
        assert {figure.metric for figure in one_class.reference_ranges} == {"ndcg@10", "recall@10", "mrr@10"}
        effective = evaluated(effective_k=True, reference=PHQ8).study
        assert {figure.metric for figure in effective.reference_ranges} == {"auroc", "tpr@fpr=0.05"}

    def test_folds_of_one_class_are_told(self):
        columns = {"gold": [["a"], [], ["a"]], "ranked": [["a"]] * 3, "prob": [0.5] * 3, "fold": ["1", "1", "2"]}
        results = evaluated(columns)
        warning = next(one for one in results.warnings if "folds" in one.parameters)
        assert warning.message().startswith("1 of 2 folds hold one class only")
        for fold in "12":
            assert results[Key("one", "auroc", "prob", group=Group("fold", fold))].value == 0.5
        assert results.get(Key("one", "empty_f1", group=Group("fold"))) is not None

    @pytest.mark.slow
    def test_a_criterion_of_one_class_is_named(self):
        gold = [["s1"] if number % 3 == 0 else gold for number, gold in enumerate(made()["gold"])]
        warned = next(one for one in evaluated(made(gold=gold)).warnings if one.code == "single_class")
        assert "one class only in A:" in warned.message()


class TestFile:
    @pytest.fixture(scope="class")
    @classmethod
    def results(cls):
        columns = made()
        systems = {"a": columns, "b": columns | {"ranked": [["s1", "s2", "s3"]] * 36}}
        return compared(systems, Plan(40, seed=1), policies=["fixed:2"], reference=PHQ8)

    def test_it_reads_back_as_it_was(self, results, tmp_path):
        path = results.save(tmp_path / "r.json")
        assert load(path).text == results.text == path.read_text(encoding="utf-8")

    @pytest.mark.slow
    def test_ranges_are_shown_only_when_they_are_asked_for_and_with_their_source(self, results):
        assert not evaluated().study.reference_ranges
        assert evaluated().study.reference is None
        assert results.study.reference.source == "document 002, evidence retrieval"
        assert "Source: document 002, evidence retrieval." in Page(report_html(results)).text
        assert "Source:" not in Page(report_html(evaluated())).text

    def test_where_results_fall_is_marked(self, results):
        placed = {(figure.system, figure.metric): figure for figure in results.study.reference_ranges}
        assert {metric for _, metric in placed} == set(PHQ8.ranges)
        figure = placed["a", "ndcg@10"]
        assert figure.value == results[Key("a", "ndcg@10", among="with_gold")].value
        assert figure.place == PHQ8.ranges["ndcg@10"].position(figure.value)

    @pytest.mark.parametrize(
        "change",
        [
            lambda c: c.update(queries=1),
            lambda c: decision(c).update(true_positives=0),
            lambda c: decision(c).update(false_positives=99),
            lambda c: c["estimates"]["value"].pop(),
            lambda c: c["estimates"]["system"].__setitem__(0, "c"),
            lambda c: c["estimates"]["quantity"].__setitem__(0, "ndgc@1"),
            lambda c: c.pop("systems"),
        ],
    )
    def test_a_file_that_does_not_hold_together_is_refused(self, results, change, message):
        content = json.loads(results.text)
        change(content)
        with pytest.raises(UserError) as refused:
            results_of(content)
        message(refused.value)

    def test_it_shows_itself(self, results):
        assert repr(results).startswith("Results(a, b; ")
        assert "<table" in results._repr_html_()


@pytest.mark.parametrize(
    "bad",
    [
        {"depths": [0]},
        {"depths": []},
        {"threshold": 2},
        {"policies": ["best"]},
    ],
)
def test_settings_that_cannot_be_are_refused(bad, message):
    with pytest.raises(UserError) as refused:
        RetrievalSettings(**bad)
    message(refused.value)


@pytest.mark.parametrize(
    "content",
    [
        {"ranges": {"mrr@3": {"baseline": [0, 0.5], "good": [0.6, 0.7]}}},
        {"source": "x", "ranges": {}},
        {"source": "x", "ranges": {"mrr@3": {"baseline": [0.5, 0], "good": [0.6, 0.7]}}},
        {"source": "x", "ranges": {"aurc": {"baseline": [0, 0.5], "good": [0.6, 0.7]}}},
        {"source": "x", "ranges": {"RR@3": {"baseline": [0, 0.5], "good": [0.6, 0.7]}}},
        [],
    ],
)
def test_a_file_of_ranges_that_is_none_is_one_line(tmp_path, content, message):
    (path := tmp_path / "own.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(UserError) as caught:
        reference_of(path)
    message(caught.value)
    with pytest.raises(UserError, match="no reference is called phq-evidence; did you mean phq8-evidence?"):
        reference_of("phq-evidence")


def test_ranges_of_a_file_are_used_and_recorded(tmp_path):
    ranges = {"mrr@3": {"baseline": [0, 0.1], "good": [0.2, 0.3]}}
    (path := tmp_path / "own.json").write_text(json.dumps({"source": "our pilot", "ranges": ranges}), encoding="utf-8")
    results = evaluated(reference=reference_of(path), metrics=["RR@3"])
    (figure,) = results.study.reference_ranges
    assert (figure.metric, figure.baseline, figure.good, figure.place) == ("mrr@3", (0, 0.1), (0.2, 0.3), "above good")
    content = json.loads(results.text)["reference"]
    assert content == {"name": "own", "source": "our pilot", "ranges": ranges}
