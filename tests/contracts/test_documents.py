"""The names, calls and keys of the user's documents: each is there, or the error says what to use."""

import csv
import json
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import demur
from commands import demur as command
from demur import ItemPrediction, UserError, bootstrap_by_participant, compute_aurc, compute_aurc_optimal
from demur.extensions.lab.runs import simulated_run
from installation import needs
from runs import written

NAMES = {
    "demur": """ItemPrediction RiskCoverageCurve compute_risk_coverage_curve compute_aurc compute_augrc compute_cmax
        compute_aurc_at_coverage compute_augrc_at_coverage compute_risk_at_coverage bootstrap_by_participant
        paired_bootstrap_delta_by_participant BootstrapResult BootstrapDeltaResult compute_aurc_optimal compute_eaurc
        compute_augrc_optimal compute_eaugrc compute_aurc_optimal_regression compute_aurc_achievable compute_ece
        compute_binary_nll""",
    "demur.retrieval": "recall_at_k mrr_at_k map_at_k ndcg_at_k compute_threshold_at_fpr get_tpr_at_fpr",
}
INSTEAD = {
    "recall_at_k": "it is demur.extensions.retrieval.recall_at_k",
    "get_tpr_at_fpr": "it is demur.extensions.retrieval.get_tpr_at_fpr",
    "LogisticCalibrator": "it is demur.confidences.calibrators.LogisticCalibrator",
    "CalibratorFeatureExtractor": "it is demur.confidences.features.CalibratorFeatureExtractor",
    "risk_at_coverage": "did you mean compute_risk_at_coverage?",
    "aurc_optimal_binary": "aurc_optimal_zero_one has that formula, of the error rate: 1 − accuracy",
    "compute_dominant_points": "compute_aurc_achievable is the area over them",
    "parse_items": "read_run reads the items of a run file",
}
scores = st.integers(0, 3)
rows_of_scores = st.lists(st.tuples(st.none() | scores, scores, st.integers(0, 4).map(lambda n: n / 4)), max_size=12)


def rows_of(cells):
    return [ItemPrediction(index // 2, index % 2, *cell) for index, cell in enumerate(cells)]


def dicts_of(cells):
    return [dict(zip(("score", "ground_truth", "confidence"), cell)) for cell in cells]


@needs("retrieval")
def test_the_names_are_there():
    for home, names in NAMES.items():
        module = demur if home == "demur" else demur.retrieval
        assert all(callable(getattr(module, name)) for name in names.split())


@pytest.mark.parametrize(
    ("name", "told"),
    [pytest.param(*each, marks=needs("retrieval") if "retrieval" in each[1] else ()) for each in INSTEAD.items()],
)
def test_a_name_that_is_elsewhere_or_nowhere_is_told_what_to_use(name, told):
    with pytest.raises(AttributeError) as error:
        getattr(demur, name)
    assert str(error.value) == f"module 'demur' has no attribute {name!r}; {told}"


def older_aurc(predictions):
    """As document 004 has it."""
    valid = [p for p in predictions if p["score"] is not None]
    valid.sort(key=lambda x: x["confidence"], reverse=True)
    risks, coverages = [], []
    for i in range(1, len(valid) + 1):
        subset = valid[:i]
        coverages.append(i / len(predictions))
        risks.append(sum(abs(p["score"] - p["ground_truth"]) for p in subset) / len(subset))
    widths = zip(coverages, coverages[1:], risks, risks[1:])
    return sum((after - before) * (lower + upper) / 2 for before, after, lower, upper in widths)


@given(rows_of_scores)
def test_the_aurc_of_dicts_is_that_of_their_document(cells):
    cells.append((None, 0, 0))
    assert compute_aurc(dicts_of(cells)) == pytest.approx(older_aurc(dicts_of(cells)), abs=1e-12)


def test_the_aurc_of_dicts_is_a_convention_of_its_name(tmp_path):
    cells = [(2, 2, 0.5), (3, 1, 0.5), (1, 1, 0.25), (None, 0, 0)]
    table = {"cluster": [*"abcd"], "truth": [2, 1, 1, 0], "prediction": [2, 3, 1, None], "sure": [0.5, 0.5, 0.25, 0]}
    options = {"confidence": "sure", "loss": "abs", "resamples": 0}
    results = demur.evaluate(table, demur.Conventions("item-by-item"), **options)
    row = results.one(quantity="aurc", convention="item-by-item")
    assert row.value == compute_aurc(dicts_of(cells)) == 1 / 3
    assert row.over_ties == (pytest.approx(1 / 3), pytest.approx(7 / 12))
    explained = command(tmp_path, "convention", "explain", "item-by-item").stdout
    assert "nothing is integrated below the first point" in explained


@pytest.mark.parametrize(
    "call",
    [
        lambda: compute_aurc(rows_of([(1, 1, 1)])),
        lambda: compute_aurc(dicts_of([(1, 1, 1)]), loss="abs"),
        lambda: demur.compute_cmax(dicts_of([(1, 1, 1)])),
        lambda: compute_aurc([{"score": 1}]),
        lambda: compute_aurc([{"score": 1, "ground_truth": 1}]),
        lambda: compute_aurc(dicts_of([(1, 1, 1), (7, 1, 1)])),
    ],
)
def test_dicts_and_rows_are_told_apart(call, message):
    with pytest.raises(UserError) as refused:
        call()
    message(refused.value)


@given(rows_of_scores)
@pytest.mark.slow
def test_the_optimum_without_a_loss_has_the_default_loss_of_the_documents(cells):
    rows = rows_of(cells)
    for function in (compute_aurc_optimal, demur.compute_augrc_optimal, demur.compute_aurc_optimal_regression):
        assert function(rows) == function(rows, loss="abs_norm") == pytest.approx(function(rows, loss="abs") / 3)


def test_resampling_keeps_to_the_default_loss():
    rows = rows_of([(2, 2, 1), (3, 1, 1), (1, 1, 0), (None, 0, 0), (0, 2, 1), (1, 1, 1)])
    plain = {"n_resamples": 40, "seed": 3}
    found = bootstrap_by_participant(rows, metric_fn=compute_aurc_optimal, **plain)
    by_loop = bootstrap_by_participant(rows, metric_fn=lambda sample: compute_aurc_optimal(sample), **plain)
    assert found.ci95 == pytest.approx(by_loop.ci95)
    named = bootstrap_by_participant(rows, metric_fn=partial(compute_aurc_optimal, loss="abs_norm"), **plain)
    assert found == named


@given(rows_of_scores)
def test_the_optimum_of_regression_is_the_oracle_order_with_abstentions_in_n(cells):
    """Document 003 leaves them out: its number is the same divided by Cmax."""
    rows = rows_of(cells)
    predicted = sorted((row for row in rows if row.pred is not None), key=lambda row: abs(row.pred - row.gt))
    oracle = [ItemPrediction(1, 0, row.pred, row.gt, 1 - rank / len(predicted)) for rank, row in enumerate(predicted)]
    theirs = compute_aurc(oracle, loss="abs") if oracle else 0.0
    ours = demur.compute_aurc_optimal_regression(rows, loss="abs")
    assert ours == pytest.approx(theirs * demur.compute_cmax(rows), abs=1e-12)


def open_ece(probs, labels, n_bins=10):
    """As document 002 has it."""
    bin_edges = np.linspace(0, 1, n_bins + 1)
    ece = 0.0
    for i in range(n_bins):
        mask = (probs >= bin_edges[i]) & (probs < bin_edges[i + 1])
        if mask.sum():
            ece += mask.sum() / len(probs) * abs(labels[mask].mean() - probs[mask].mean())
    return float(ece)


@given(st.lists(st.tuples(st.integers(0, 20).map(lambda n: n / 20), st.integers(0, 1)), min_size=1, max_size=20))
def test_ece_with_an_open_last_bin_is_that_of_its_document(pairs):
    probs, labels = np.array([p for p, _ in pairs]), np.array([y for _, y in pairs])
    assert demur.compute_ece(probs, labels, 10, last_bin="open") == pytest.approx(open_ece(probs, labels), abs=1e-12)
    if probs.max() < 1:
        assert demur.compute_ece(probs=probs, labels=labels, n_bins=1) == pytest.approx(open_ece(probs, labels, 1))


@needs("retrieval")
def test_tpr_at_fpr_has_the_share_first_and_no_threshold_where_none_keeps_to_the_rate():
    prob, true = [0.9, 0.8, 0.7, 0.6, 0.2], [1, 1, 0, 1, 0]
    assert demur.retrieval.get_tpr_at_fpr(prob, true, 0.05) == (2 / 3, 0.8)
    assert demur.retrieval.get_tpr_at_fpr(prob, true, target_fpr=0.5) == (1.0, 0.6)
    assert demur.retrieval.get_tpr_at_fpr([0.9, 0.8, 0.7, 0.6], [0, 1, 1, 1]) == (0.0, None)


@needs("retrieval")
def test_retrieval_reports_the_ece_of_the_probability_that_there_is_evidence(tmp_path):
    command(tmp_path, "simulate", "queries", "--output", "q.csv", "--seed", 1, "--posts", 3)
    options = ("--data", "q.csv", "--bootstrap-resamples", 0, "--output", "r.json")
    assert "\n  ECE " in command(tmp_path, "retrieval", *options).stdout
    with (tmp_path / "q.csv").open(encoding="utf-8") as file:
        queries = [*csv.DictReader(file)]
    prob, gold = [float(row["prob"]) for row in queries], [int(bool(row["gold_ids"])) for row in queries]
    results = demur.load(tmp_path / "r.json")
    row = results.one(quantity="ece", system=results.systems[0], group=None)
    assert row.value == pytest.approx(demur.compute_ece(prob, gold), abs=1e-12)
    assert demur.retrieval.no_evidence_metrics(prob, gold)["ece"] == pytest.approx(row.value)
    alone = demur.retrieval.no_evidence_metrics([0.5, 0.7], [1, 1])
    assert (alone["single_class"], alone["ece"]) == (True, pytest.approx(0.4))


METRICS = ["aurc", "aurc_optimal", "eaurc", "aurc_achievable", "augrc", "augrc_optimal", "eaugrc", "cmax"]
INTERPRETATION = ["aurc_gap_pct", "augrc_gap_pct", "achievable_gain_pct"]


class TestBlock:
    @pytest.fixture(scope="class")
    @classmethod
    def folder(cls, tmp_path_factory):
        folder = tmp_path_factory.mktemp("block")
        written(folder, simulated_run(6, seed=1))
        return folder

    def block(self, folder, inputs, *options):
        made = command(folder, "evaluate", *inputs, "--bootstrap-resamples", 0, "--output", "m.json")
        assert made.returncode == 0, made.stderr
        return command(folder, "table", "m.json", "--format", "json-003", *options)

    def test_of_one_confidence(self, folder):
        found = json.loads(self.block(folder, ("run.json", "--mode", "few_shot"), "--confidence", "llm").stdout)
        variant = json.loads((folder / "m.json").read_text(encoding="utf-8"))["confidence_variants"]["llm"]
        assert [[*found["metrics"]], [*found["interpretation"]]] == [METRICS, INTERPRETATION]
        kept = {"aurc": "aurc_full", "augrc": "augrc_full"}
        assert found["metrics"] == {name: variant[kept.get(name, name)] for name in METRICS}
        assert found["interpretation"] == variant["interpretation"]
        assert "|conf:llm|" in found["signature"]

    @pytest.mark.slow
    def test_of_several_confidences_and_systems(self, folder):
        found = json.loads(self.block(folder, ("run.json", "--mode", "few_shot"), "--digits", "3").stdout)
        assert [*found["confidence_variants"]] == ["llm", "total_evidence"]
        assert all(round(value, 3) == value for value in found["confidence_variants"]["llm"]["metrics"].values())
        modes = ("--mode", "zero_shot", "--mode", "few_shot")
        both = json.loads(self.block(folder, ("run.json", "run.json", *modes)).stdout)["confidence_variants"]
        assert [[name, *systems] for name, systems in both.items()] == [
            ["llm", "zero_shot", "few_shot"],
            ["total_evidence", "zero_shot", "few_shot"],
        ]
        assert [*both["llm"]["few_shot"]["metrics"]] == METRICS

    def test_of_a_system_that_answers_nothing(self, tmp_path):
        (tmp_path / "silent.csv").write_text("cluster,loss,sure,abstained\na,,0.5,1\nb,,0.4,1\n", encoding="utf-8")
        found = json.loads(self.block(tmp_path, ("silent.csv", "--confidence", "sure")).stdout)
        assert found["metrics"] == dict.fromkeys(METRICS) | {"cmax": 0}
        assert found["interpretation"] == dict.fromkeys(INTERPRETATION)

    def test_it_takes_no_rows_and_an_audit_reads_it(self, folder):
        refused = self.block(folder, ("run.json", "--mode", "few_shot"), "--rows", "cmax")
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        self.block(folder, ("run.json", "--mode", "few_shot"), "--confidence", "llm", "--output", "block.json")
        audited = command(folder, "audit", "--data", "run.json", "--mode", "few_shot", "--reported", "block.json")
        assert (audited.returncode, "11 figures: 11 match" in audited.stdout) == (0, True)
