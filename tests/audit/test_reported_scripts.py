"""Figures as the scripts of the user's documents write them: their shapes, their names and their habits."""

import json
import statistics
from itertools import pairwise

import numpy as np
import pytest

import pipeline
from demur.extensions.audit.figures import Printed
from demur.extensions.audit.reported.queries import audited_retrieval
from demur.extensions.audit.reported.reading import runs_to_audit
from demur.extensions.audit.reported.runs import audited_runs
from demur.facts.rankings import Query
from demur.files.strict_json import loads
from pipeline import by, labels, ranking
from reported_queries import QUERIES
from runs import experiment, participant, run, written

LINSPACE = "would equal it, bins by the rounded edges of numpy.linspace: 0.3 is below its own"
LAST_OPEN = "would equal it, p = 1.0 dropped: the last bin is open"


def verdicts(audited, data, content, **options):
    found = audited(data, loads(json.dumps(content), number=Printed.of), **options)
    return {one.key: (one.status, one.cause) for one in found}


def linspace_ece(probs, labels, *, closed, bins=10):
    """The calibration error over the edges of numpy.linspace; the last bin holds 1.0 if it is closed."""
    probs, labels, edges = np.array(probs), np.array(labels), np.linspace(0, 1, bins + 1)
    total = 0.0
    for low, high in pairwise(edges):
        inside = (probs >= low) & ((probs < high) | (closed and high == 1 == probs))
        if inside.any():
            total += inside.sum() / len(probs) * abs(labels[inside].mean() - probs[inside].mean())
    return float(total)


class TestCalibrationError:
    def audited(self, probs, labels, value):
        rows = [
            Query(index, "A", ["s"] if label else [], ["s"], prob=prob)
            for index, (prob, label) in enumerate(zip(probs, labels, strict=True))
        ]
        return verdicts(audited_retrieval, {"own": rows}, {"own": {"ece": value}})["own.ece"]

    @pytest.mark.parametrize(
        ("probs", "labels", "closed", "cause"),
        [
            ([0.3, 0.25, 0.6], [1, 0, 1], True, LINSPACE),
            ([0.3, 0.25, 0.6], [1, 0, 1], False, LINSPACE),
            ([0.3, 0.25, 1.0, 1.0], [1, 0, 0, 1], True, LINSPACE),
            ([1.0, 0.5, 1.0], [0, 1, 0], False, LAST_OPEN),
            ([0.3, 0.25, 1.0, 1.0], [1, 0, 0, 0], False, f"{LINSPACE}, and p = 1.0 dropped: the last bin is open"),
        ],
    )
    def test_edges_and_an_open_end_are_told_apart(self, probs, labels, closed, cause):
        assert self.audited(probs, labels, linspace_ece(probs, labels, closed=closed)) == ("differs", cause)

    def test_an_ece_of_a_pipeline_that_dropped_the_sure_ones_is_named(self, both_queries):
        truth, probs = labels(QUERIES)
        assert 1.0 in probs
        right, wrong = pipeline.ece(QUERIES), linspace_ece(probs, truth, closed=False)
        assert verdicts(audited_retrieval, both_queries, {"ece": right}) == {"ece": ("match", None)}
        assert verdicts(audited_retrieval, both_queries, {"ece": wrong}) == {"ece": ("differs", LAST_OPEN)}


def test_a_figure_of_a_run_says_which_data_it_needs(both_queries):
    found = verdicts(audited_retrieval, both_queries, {"reranked": {"aurc": 0.1, "recall@1": 0.5}})
    assert found["reranked.aurc"] == ("not recognised", "aurc is a figure of a run: give the run as --data")


def test_the_value_of_another_row_is_named_only_where_digits_tell(both_queries):
    right = ranking(QUERIES, "reranked")["ndcg@5"]
    for value, cause in ((right, "would equal the value of ndcg@5"), (round(right, 1), "no known cause")):
        found = verdicts(audited_retrieval, both_queries, {"reranked": {"evidence_f1": value, "ndcg@5": right}})
        assert found["reranked.evidence_f1"] == ("differs", cause)
        assert found["reranked.ndcg@5"] == ("match", None)


class TestShapesOfRetrieval:
    @staticmethod
    def of_fold(fold, name="recall@5"):
        return ranking([query for query in QUERIES if query["fold"] == fold], "reranked")[name]

    @pytest.mark.parametrize("said", [True, False], ids=["by name", "in order"])
    def test_fold_results_are_those_of_each_fold(self, both_queries, said):
        folds = ["3", "0", "4", "2", "1"] if said else ["0", "1", "2", "3", "4"]
        entries = [
            ({"fold": int(fold)} if said else {}) | {"metrics": {"recall@5": self.of_fold(fold)}} for fold in folds
        ]
        found = verdicts(audited_retrieval, both_queries, {"reranked": {"fold_results": entries}})
        assert found == {f"reranked.fold_results.{index}.metrics.recall@5": ("match", None) for index in range(5)}

    def test_a_list_of_some_folds_must_say_which(self, both_queries):
        entries = [{"metrics": {"recall@5": self.of_fold("0")}}]
        (found,) = verdicts(audited_retrieval, both_queries, {"reranked": {"fold_results": entries}}).values()
        assert found == ("not recognised", "no fold of the data is called entry 0")

    def test_aggregated_is_over_the_folds(self, both_queries):
        values = [self.of_fold(fold) for fold in "01234"]
        mean, std = statistics.fmean(values), statistics.pstdev(values)
        aggregated = {
            "recall@5": {"mean": mean, "std": std},
            "recall@5_std": std,
            "mrr@5": 2,
            "n_queries": len(QUERIES),
        }
        found = verdicts(audited_retrieval, both_queries, {"reranked": {"aggregated": aggregated | {"Recall@5": mean}}})
        assert found.pop("reranked.aggregated.mrr@5")[0] == "differs"
        assert set(found.values()) == {("match", None)}
        pooled = ranking(QUERIES, "reranked")["recall@5"]
        (cause,) = verdicts(
            audited_retrieval, both_queries, {"reranked": {"aggregated": {"recall@5": pooled}}}
        ).values()
        assert cause == ("differs", "would equal it, all queries pooled, not the mean over folds")

    def test_by_criterion_within_per_criterion_is_one_section(self, both_queries):
        each = {
            name: {"recall@5": ranking(rows, "reranked")["recall@5"]}
            for name, rows in by(QUERIES, "criterion_id").items()
        }
        macro = {"recall@5": statistics.fmean(member["recall@5"] for member in each.values())}
        content = {"reranked": {"per_criterion": {"by_criterion": each, "macro": macro}}}
        found = verdicts(audited_retrieval, both_queries, content)
        assert len(found) == 4
        assert set(found.values()) == {("match", None)}

    def test_names_of_counts_and_of_candidates(self, both_queries):
        with_gold = sum(bool(query["gold_ids"]) for query in QUERIES)
        empty, lengths = len(QUERIES) - with_gold, [len(query["reranked_topk"]) for query in QUERIES]
        content = {
            "oracle@5": ranking(QUERIES, "reranked")["hit@5"],
            "oracle_recall@5": ranking(QUERIES, "reranked")["recall@5"],
            "n_positive": with_gold,
            "n_empty": empty,
            "empty_prevalence": empty / len(QUERIES),
            "n_candidates_p50": float(np.percentile(lengths, 50)),
            "n_candidates_p95": float(np.percentile(lengths, 95)),
        }
        assert set(verdicts(audited_retrieval, both_queries, {"reranked": content}).values()) == {("match", None)}
        other = {"empty_prevalence": with_gold / len(QUERIES), "n_candidates_p50": statistics.fmean(lengths)}
        assert [*verdicts(audited_retrieval, both_queries, {"reranked": other}).values()] == [
            ("differs", "would equal the rate of queries with evidence"),
            ("differs", "would equal the mean, not a percentile"),
        ]


@pytest.fixture(scope="module")
def older(tmp_path_factory):
    """An older run, which still counts keywords; 0.4 · 0.75 and 0.3 · 1 are equal on paper, and all there is."""
    people = [participant(person, {"Tired": None if person % 2 else 3, "Sleep": 0}) for person in range(6)]
    for person in people:
        for index, given in enumerate(person["item_signals"].values()):
            quoted, spoken = ((0, 4), (3, 1))[index % 2]
            given |= {"llm_evidence_count": quoted, "keyword_evidence_count": index}
            given |= {"verbalized_confidence": spoken, "retrieval_similarity_mean": 0.0}
    return runs_to_audit([written(tmp_path_factory.mktemp("older"), run(experiment(*people)))])


def values(runs, content):
    return {one.key: one.recomputed for one in audited_runs(runs, loads(json.dumps(content), number=Printed.of))}


class TestHabitsOfTheOlderScript:
    @pytest.mark.slow
    def test_the_metrics_and_the_interpretation_of_document_003_are_read(self, older):
        metrics = ("aurc", "aurc_optimal", "eaurc", "aurc_achievable", "augrc", "augrc_optimal", "eaugrc", "cmax")
        percent = ("aurc_gap_pct", "augrc_gap_pct", "achievable_gain_pct")
        typed = {"metrics": dict.fromkeys(metrics, 7.77), "interpretation": dict.fromkeys(percent, 7.77)}
        right = values(older, typed)
        assert [*right] == [f"{section}.{name}" for section, members in typed.items() for name in members]
        for name, value in right.items():
            section, _, figure = name.partition(".")
            typed[section][figure] = value
        assert set(verdicts(audited_runs, older, typed).values()) == {("match", None)}

    def test_a_drop_rate_is_a_share_of_the_draws_and_1_for_an_undefined_number_is_named(self, older):
        rates = {"0.10": 0.0, "0.94": 1.0, "0.90": 0.9}
        content = {"llm": {"bootstrap": {"drop_rate": {"mae_at_coverage": rates}}}}
        found = verdicts(audited_runs, older, content, resamples=400)
        assert [*found.values()] == [
            ("match", None),
            ("differs", "would equal it, 1 given where the number itself is undefined"),
            ("differs", "no known cause"),
        ]

    def test_total_evidence_as_an_alias_of_llm_is_named(self, older):
        alias = values(older, {"llm": {"aurc": 7}})["llm.aurc"]
        found = verdicts(audited_runs, older, {"total_evidence": {"aurc": alias}})
        assert [*found.values()] == [
            ("differs", "would equal it, total_evidence without the keyword counts, as an alias of llm")
        ]

    @pytest.mark.slow
    def test_composites_that_were_not_rounded_are_named(self, older):
        spoken = 0.4 * 0.75 > 0.3
        assert spoken, "as floats they are two confidences"
        split = values(older, {"verbalized": {"aurc": 7, "risk@0.1": 7}})
        content = {name.removeprefix("verbalized."): value for name, value in split.items()}
        found = verdicts(audited_runs, older, {"hybrid_verbalized": content})
        cause = "would equal it, composite confidences not rounded to 12 decimals: ties broken that are equal on paper"
        assert [*found.values()] == [("differs", cause)] * 2
