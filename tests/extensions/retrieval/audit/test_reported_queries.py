"""The audit of retrieval figures: what is right passes, what is changed is found, and why is named if known."""

import copy
import json
import math
import statistics
from decimal import Decimal

import pytest

import pipeline
from demur.extensions.audit.figures import Printed, flattened
from demur.extensions.audit.rankings import queries_to_audit
from demur.extensions.audit.reported.queries import audited_retrieval
from demur.files.strict_json import loads
from parametrized import parametrize_few
from pipeline import by, mean_of, ranking, section, with_gold
from reported_queries import QUERIES, audited, differing, only, parsed
from runs import written

SUMMARY = pipeline.summary(QUERIES)


MACRO = pipeline.macro(QUERIES, "reranked")


@pytest.mark.parametrize(
    ("reported", "cause"),
    [
        ("0.913402", None),
        ("1.0", "would equal it, grades ignored: every relevant id gains 1"),
        ("0.833991", "would equal it, exponential gain: 2^grade − 1, not the grade"),
    ],
)
def test_what_was_made_of_grades_is_named(tmp_path, reported, cause):
    """Grades 2 and 3 in the order 2, 3: (2 + 3/log2 3) / (3 + 2/log2 3), and (3 + 7/log2 3) / (7 + 3/log2 3)."""
    text = "post_id,criterion_id,gold_ids,gold_grades,own_topk\n1,A,a|b,2|3,a|b\n"
    queries = queries_to_audit(written(tmp_path, text, "per_query.csv"))
    (found,) = audited_retrieval(queries, loads(f'{{"ndcg@2": {reported}}}', number=Printed.of))
    assert (found.status, found.cause) == ("differs" if cause else "match", cause)


def test_an_untampered_pair_matches_with_every_figure_recognised(both_queries):
    found = audited_retrieval(both_queries, parsed(SUMMARY))
    assert [one for one in found if one.status != "match"] == []
    assert len(found) == len([*flattened(SUMMARY)]) > 90


@pytest.mark.parametrize("digits", [2, 4, 9])
def test_it_also_matches_when_fewer_digits_are_printed(both_queries, digits):
    rounded = json.loads(json.dumps(SUMMARY), parse_float=lambda text: round(float(text), digits))
    assert differing(both_queries, rounded) == {}


def changed(content, path, value):
    """The same file with one leaf replaced."""
    copied = copy.deepcopy(content)
    inside = copied
    for name in path[:-1]:
        inside = inside[name]
    inside[path[-1]] = value
    return copied


def off_by_one_digit(value):
    if isinstance(value, bool) or value is None:
        return Printed.of("0.5") if value is None else not value
    exact = Decimal(value.text)
    return Printed.of(str(exact + Decimal((0, (1,), exact.as_tuple().exponent))))


@pytest.mark.parametrize("every", [9, pytest.param(1, marks=pytest.mark.slow)], ids=["a ninth", "all"])
@pytest.mark.slow
def test_every_figure_changed_in_its_last_digit_is_found_and_no_other_is_blamed(both_queries, every):
    """Of a section every ninth figure; all of them are among the slow tests."""
    summary = pipeline.summary(QUERIES, depths=(5,))
    content = parsed(json.loads(json.dumps(summary), parse_float=lambda text: round(float(text), 7)))
    for path, value in [*flattened(content)][::every]:
        found = audited_retrieval(both_queries, changed(content, path, off_by_one_digit(value)))
        differs = [one.key for one in found if one.status == "differs"]
        assert all(one.cause for one in found if one.status != "match")
        if path == ("reranked", "skip_no_positives"):
            assert ".".join(path) in differs, "a flag that is wrong makes the figures it stands for wrong too"
        else:
            assert differs == [".".join(path)]


@pytest.mark.slow
def test_two_systems_swapped_are_named(both_queries):
    ranks = [ranking(QUERIES, system) for system in pipeline.SYSTEMS]
    different = {name for name in ranks[0] if not math.isclose(ranks[0][name], ranks[1][name], abs_tol=1e-6)}
    found = differing(both_queries, {"retriever": ranks[1], "reranked": ranks[0]})
    assert len(different) > 10
    assert found == {
        f"{system}.{name}": f"would equal the figure of {other}"
        for system, other in (pipeline.SYSTEMS, pipeline.SYSTEMS[::-1])
        for name in different
    }


@parametrize_few(
    ("called", "skip", "cause"),
    [
        ("positives_only", False, "would equal it, other population: all queries"),
        ("all_queries", True, "would equal it, other population: queries with gold only"),
    ],
    1,
)
def test_the_other_population_is_named(both_queries, called, skip, cause):
    found = audited(both_queries, {"retriever": {called: section(QUERIES, "retriever", skip=skip)}})
    wrong = {key.split(".")[-1]: one.cause for key, one in found.items() if one.status == "differs"}
    assert wrong.pop("skip_no_positives") == "the section's name says otherwise"
    assert set(wrong.values()) == {cause}
    assert set(wrong) == {*ranking(QUERIES, "retriever"), "queries_evaluated"}


@pytest.mark.slow
def test_a_flag_that_its_own_figures_contradict_differs(both_queries):
    for skip in (True, False):
        lie = section(QUERIES, "retriever", skip=skip) | {"skip_no_positives": not skip}
        flag = audited(both_queries, {"retriever": lie})["retriever.skip_no_positives"]
        over = "queries with gold only" if skip else "all queries"
        assert (flag.status, flag.recomputed, flag.cause) == ("differs", skip, f"the figures beside it are over {over}")


def test_a_flag_says_which_queries_count_for_everything_below_it_and_the_nearest_wins(both_queries):
    positives, everything = ranking(with_gold(QUERIES), "reranked"), ranking(QUERIES, "reranked")
    inner = {"skip_no_positives": False, **everything}
    folds = [{"ndcg@10": mean_of(pipeline.ndcg, group, "reranked", 10)} for group in in_order(with_gold(QUERIES))]
    content = {"skip_no_positives": True, "reranked": {**positives, "metrics": inner, "folds": folds}}
    assert {one.status for one in audited(both_queries, content).values()} == {"match"}


def in_order(queries):
    return [group for _, group in sorted(by(queries, "fold").items())]


def test_a_flag_alone_says_nothing_that_could_be_checked(both_queries):
    flag = only(both_queries, skip_no_positives=True)["reranked.skip_no_positives"]
    assert (flag.status, flag.cause) == ("not recognised", "no figure beside it tells which queries were left out")


def test_without_a_flag_the_number_evaluated_says_which_queries_count_and_without_both_all_do(both_queries):
    positives = ranking(with_gold(QUERIES), "reranked")
    evaluated = len(with_gold(QUERIES))
    assert differing(both_queries, {"reranked": {**positives, "queries_evaluated": evaluated}}) == {}
    assert differing(both_queries, {"reranked": ranking(QUERIES, "reranked")}) == {}
    assert set(differing(both_queries, {"reranked": positives}).values()) == {
        "would equal it, other population: queries with gold only"
    }


def other(way, k, population=QUERIES):
    """The mean of another way to compute, from gold and the reranker's list."""
    return statistics.fmean(way(query["gold_ids"], query["reranked_topk"], k) for query in population)


def map_over_gold(gold, ranked, k):
    return sum(pipeline.precisions_at_hits(gold, ranked, k)) / len(gold) if gold else 0.0


def recall_over_smaller(gold, ranked, k):
    return len({*ranked[:k]} & {*gold}) / min(len(gold), k) if gold else 0.0


def precision_over_returned(gold, ranked, k):
    return len({*ranked[:k]} & {*gold}) / len(ranked[:k])


@pytest.mark.parametrize(
    ("name", "value", "cause"),
    [
        ("map@5", other(map_over_gold, 5), "would equal it, other denominator: ÷ gold, not ÷ min(gold, K)"),
        ("recall@1", other(recall_over_smaller, 1), "would equal it, other denominator: ÷ min(gold, K), not ÷ gold"),
        (
            "precision@10",
            other(precision_over_returned, 10),
            "would equal it, other denominator: ÷ the number returned, not ÷ K",
        ),
        ("recall@5", other(pipeline.recall, 3), "would equal recall@3"),
        ("recall@5", other(pipeline.hit, 5), "would equal hit@5"),
        ("recall@10", MACRO["recall@10"], "would equal it, macro: the mean over criteria, not pairs pooled"),
        (
            "macro_recall@10",
            other(pipeline.recall, 10),
            "would equal it, micro: pairs pooled, not the mean over criteria",
        ),
        ("ndcg@10", 100 * other(pipeline.ndcg, 10), "would equal it, given in percent (× 100)"),
        ("ndcg@10", 1000 * other(pipeline.ndcg, 10), "would equal it, given × 1000"),
        (
            "mrr@10",
            100 * other(pipeline.mrr, 10, with_gold(QUERIES)),
            "would equal it, other population: queries with gold only, given in percent (× 100)",
        ),
        ("queries_total", len(with_gold(QUERIES)), "would equal the count queries_with_positives"),
        (
            "has_evidence_rate",
            1 - len(with_gold(QUERIES)) / len(QUERIES),
            "would equal the rate of queries without evidence",
        ),
    ],
)
def test_known_other_ways_to_compute_are_named(both_queries, name, value, cause):
    assert differing(both_queries, {"reranked": {name: value}}) == {f"reranked.{name}": cause}


def test_a_spread_with_ddof_1_is_named_and_so_is_pooling_over_folds(both_queries):
    each = [mean_of(pipeline.ndcg, group, "reranked", 10) for group in by(QUERIES, "fold").values()]
    pooled = mean_of(pipeline.ndcg, QUERIES, "reranked", 10)
    right = {"mean": statistics.fmean(each), "std": statistics.pstdev(each)}
    assert differing(both_queries, {"reranked": {"ndcg@10": right}}) == {}
    wrong = {"mean": pooled, "std": statistics.stdev(each)}
    assert differing(both_queries, {"reranked": {"ndcg@10": wrong}}) == {
        "reranked.ndcg@10.mean": "would equal it, all queries pooled, not the mean over folds",
        "reranked.ndcg@10.std": "would equal it, ddof 1: divided by one fold less",
    }
    assert differing(both_queries, {"reranked": {"ndcg@10": right["mean"]}}) == {
        "reranked.ndcg@10": "would equal the mean over folds, not all queries pooled"
    }


def test_within_one_fold_there_is_no_spread_over_folds_and_a_count_is_never_averaged(both_queries):
    first = by(QUERIES, "fold")["0"]
    inside = {
        "ndcg@10": {"mean": mean_of(pipeline.ndcg, first, "reranked", 10), "std": 0.1},
        "queries_total": len(first),
    }
    found = audited(both_queries, {"reranked": {"fold_0": inside, "macro": {"queries_total": len(QUERIES)}}})
    assert {key: (one.status, one.cause) for key, one in found.items()} == {
        "reranked.fold_0.ndcg@10.mean": ("match", None),
        "reranked.fold_0.ndcg@10.std": ("not recognised", "a fold alone has no spread over folds"),
        "reranked.fold_0.queries_total": ("match", None),
        "reranked.macro.queries_total": ("match", None),
    }


def test_a_mean_and_its_spread_may_be_one_text(both_queries):
    both = pipeline.folds(QUERIES, "reranked")
    found = only(both_queries, **{"ndcg@10": f"{both['mean']:.4f} ± {both['std']:.4f}"})
    assert {key: one.status for key, one in found.items()} == {
        "reranked.ndcg@10.mean": "match",
        "reranked.ndcg@10.std": "match",
    }


def test_a_count_is_equal_or_differs(both_queries):
    total = len(QUERIES)
    assert only(both_queries, queries_total=float(total))["reranked.queries_total"].status == "match"
    for wrong in (total + 1, total + 0.25):
        assert only(both_queries, queries_total=wrong)["reranked.queries_total"].status == "differs"
