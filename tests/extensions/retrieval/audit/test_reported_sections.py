"""What a figure of retrieval is of: its section, its depth, its system; what cannot be computed again says why."""

from dataclasses import replace

import pytest

import pipeline
from demur import UserError
from demur.extensions.audit.reported.queries import audited_retrieval
from pipeline import mean_of, ranking, with_gold
from reported_queries import QUERIES, audited, differing, only, parsed, read_back


def test_null_is_what_an_undefined_figure_is_and_nothing_else(tmp_path):
    alarmed = [query | {"prob": 0.1 if query["gold_ids"] else 0.9} for query in QUERIES]
    both_queries = read_back(tmp_path, alarmed)
    found = audited(both_queries, {"threshold@fpr=0.05": None, "tpr@fpr=0.05": 0.0, "auroc": None})
    assert {key: (one.status, one.recomputed) for key, one in found.items()} == {
        "threshold@fpr=0.05": ("match", None),
        "tpr@fpr=0.05": ("match", 0.0),
        "auroc": ("differs", 0.0),
    }
    assert found["auroc"].reported == "null"
    one = audited(both_queries, {"threshold@fpr=0.05": 1.0})["threshold@fpr=0.05"]
    assert (one.status, one.cause) == ("differs", "would equal it, 1 given where no threshold meets the target")


def test_what_cannot_be_recomputed_says_why_and_is_no_difference(tmp_path):
    bare = read_back(tmp_path, QUERIES, pipeline.COLUMNS[:5])
    content = {
        "recall@1": 0.5,
        "auroc": 0.5,
        "reranked": {"avg_k": 1, "ndcg@10_std": 0.1, "mrr": 0.5, "model": "own", "recall@5": "n/a", "hit@1": True},
        "bm25": {"recall@1": 0.5},
        "retriever": {
            "test": {"recall@1": 0.5},
            "per_criterion": {"A.9": {"recall@1": 0.5}, "recall@5": 0.5},
            "skip_no_positives": 1,
            "queries_total": len(QUERIES),
        },
    }
    found = audited(bare, content)
    assert found.pop("retriever.queries_total").status == "match"
    assert {one.status for one in found.values()} == {"not recognised"}
    assert {key: one.cause for key, one in found.items()} == {
        "recall@1": "it does not say which system it is of: retriever, reranked",
        "auroc": "it needs a column prob, and the data have none",
        "reranked.avg_k": "it needs a column selected, and the data have none",
        "reranked.ndcg@10_std": "it needs a column fold, and the data have none",
        "reranked.mrr": "it does not say at which K",
        "reranked.recall@5": "not a number",
        "reranked.hit@1": "not a number",
        "bm25.recall@1": "no system of the data is called bm25 (there are: retriever, reranked); "
        "say which column it is with --system bm25=COLUMN",
        "retriever.test.recall@1": "nothing known is called test",
        "retriever.per_criterion.A.9.recall@1": "no criterion of the data is called A.9",
        "retriever.per_criterion.recall@5": "it does not say which criterion it is of",
        "retriever.skip_no_positives": "expected true or false",
    }


def test_a_probability_that_some_queries_lack_is_not_made_up(tmp_path):
    queries = [query | ({"prob": ""} if place < 2 else {}) for place, query in enumerate(QUERIES)]
    with pytest.raises(UserError, match=r"per_query.csv: post p0, criterion A.1: has no prob, which others have"):
        read_back(tmp_path, queries)
    rows = read_back(tmp_path, QUERIES)["reranked"]
    found = audited({"reranked": [replace(rows[0], prob=None), *rows[1:]]}, {"auroc": 0.5})["auroc"]
    assert (found.status, found.cause) == ("not recognised", f"1 of {len(QUERIES)} queries have no prob")


def test_a_figure_without_a_system_is_of_the_only_one_that_can_have_it(tmp_path):
    """Only the reranker selects; a probability of each system's own leaves open whose is meant."""
    own = [query | {"retriever_prob": query["prob"], "reranked_prob": query["prob"] / 2} for query in QUERIES]
    columns = [name for name in pipeline.COLUMNS if name != "prob"]
    found = audited(
        read_back(tmp_path, own, (*columns, "retriever_prob", "reranked_prob")),
        {"avg_k": pipeline.dynamic_k(QUERIES)["avg_k"], "ece": 0.5, "retriever": {"ece": pipeline.ece(QUERIES)}},
    )
    assert {key: (one.status, one.cause) for key, one in found.items()} == {
        "avg_k": ("match", None),
        "ece": ("not recognised", "it does not say which system it is of: retriever, reranked"),
        "retriever.ece": ("match", None),
    }
    wrong = differing(
        read_back(tmp_path, own, (*columns, "retriever_prob", "reranked_prob")),
        {"reranked": {"ece": pipeline.ece(QUERIES)}},
    )
    assert wrong == {"reranked.ece": "would equal the figure of retriever"}


def test_with_one_system_a_file_needs_no_sections_and_without_folds_a_mean_is_the_figure(tmp_path):
    alone = read_back(tmp_path, QUERIES, (*pipeline.COLUMNS[:3], "reranked_topk"))
    assert differing(alone, ranking(QUERIES, "reranked")) == {}
    assert (
        audited(alone, {"ndcg@10_mean": mean_of(pipeline.ndcg, QUERIES, "reranked", 10)})["ndcg@10_mean"].status
        == "match"
    )


def test_a_section_may_be_called_after_the_column_or_in_capitals(both_queries):
    for name in ("reranked", "reranked_topk", "Reranked"):
        assert differing(both_queries, {name: ranking(QUERIES, "reranked")}) == {}


def test_words_that_only_wrap_say_nothing_and_a_bare_number_of_queries_is_of_its_section(both_queries):
    positives = with_gold(QUERIES)
    inside = {"ndcg@10": {"value": mean_of(pipeline.ndcg, positives, "reranked", 10)}, "queries": len(positives)}
    spread = {"ndcg@10": pipeline.folds(positives, "reranked")}
    content = {
        "queries": {"queries_total": len(QUERIES), "folds": ["0", "1"]},
        "systems": {"reranked": {"positives_only": {"metrics": inside}, "folds": {"positives_only": spread}}},
        "num_queries": len(QUERIES),
    }
    found = audited(both_queries, content)
    assert [found.pop(f"queries.folds.{place}").status for place in range(2)] == ["not recognised"] * 2
    assert {one.status for one in found.values()} == {"match"}


def test_a_section_that_could_be_either_of_two_systems_is_neither(both_queries):
    alike = {"Dense": both_queries["retriever"], "dense": both_queries["reranked"]}
    right = ranking(QUERIES, "reranked")
    assert {one.status for one in audited(alike, {"dense": right}).values()} == {"match"}
    found = audited(alike, {"DENSE": right, "queries_total": len(QUERIES)})
    assert found["DENSE.recall@1"].cause.startswith("no system of the data is called DENSE (there are: Dense, dense)")


def test_a_figure_may_have_its_depths_below_it_but_a_list_says_nothing_of_its_members(both_queries):
    right = ranking(QUERIES, "reranked")
    content = {"reranked": {"recall": {"1": right["recall@1"], "@5": right["recall@5"]}, "ks": [1], "hit@1": [1, 0]}}
    found = audited(both_queries, content)
    assert {key: (one.status, one.cause) for key, one in found.items()} == {
        "reranked.recall.1": ("match", None),
        "reranked.recall.@5": ("match", None),
        "reranked.ks.0": ("not recognised", "no known figure is called ks"),
        "reranked.hit@1.0": ("not recognised", "nothing known is called 0"),
        "reranked.hit@1.1": ("not recognised", "nothing known is called 1"),
    }


def test_lists_shorter_than_the_depth_are_named_when_nothing_else_explains_a_figure(both_queries):
    assert (
        only(both_queries, **{"recall@20": 0.123456})["reranked.recall@20"].cause == "the lists in the data end at 10"
    )


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"reranked": {}},
        [1, 2],
        {"bm25": {"recall@1": 0.5}, "dense": {"recall@1": 0.5}},
    ],
)
def test_a_file_that_is_about_nothing_in_the_data_is_a_mistake(both_queries, content, message):
    with pytest.raises(UserError) as refused:
        audited_retrieval(both_queries, parsed(content))
    message(refused.value)
