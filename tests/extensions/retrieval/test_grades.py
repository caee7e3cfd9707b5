"""Graded judgments: grades are kept, gains are the grades, and a level says which of them are relevant."""

import math
from fractions import Fraction

import pytest

from demur import Measure, UserError, rankings_of, read_queries, read_trec
from demur.extensions.retrieval import ndcg_at_k, recall_at_k
from demur.extensions.retrieval.quantities.ranking import per_query
from retrievals import compared, evaluated

GRADED = {
    "gold": [{"a": 3, "b": 1, "c": 0}, {"z": -1}, {"q": 2}],
    "ranked": [["b", "x", "a"], ["z"], ["q", "z"]],
    "posts": [3, 2, 1],
    "selected": [["b", "x"], [], ["q", "z"]],
}


def values(facts, *names):
    return [column.tolist() for column in per_query(facts, [*map(Measure.of, names)]).values()]


def test_a_level_decides_what_is_relevant_and_leaves_the_gains_alone():
    facts = rankings_of(**GRADED)
    first, second, third = (1 + 3 / math.log2(4)) / (3 + 1 / math.log2(3)), 0.0, 1.0
    for level, recall, rank in ((1, 1, 1), (2, 1, Fraction(1, 3)), (3, 1, Fraction(1, 3))):
        at_level = facts.at_level(level)
        recalls, ranks, gains = values(at_level, "recall@10", "mrr", "ndcg@10")
        assert recalls == [float(level < 3), 0, recall]  # in the order of the posts 1, 2, 3
        assert ranks == [float(level < 3), 0, float(rank)]
        assert gains == pytest.approx([third, second, first], abs=1e-15)
        assert at_level.selected_hits.tolist() == [int(level < 3), 0, int(level == 1)]
        assert at_level.at_level(1).hit_rank.tolist() == facts.hit_rank.tolist()


def test_the_ideal_is_cut_at_k_and_at_the_list_where_k_is_effective():
    gold, ranked = [{"a": 1, "b": 2, "c": 5}], [["b", "a"]]
    assert values(rankings_of(gold, ranked), "ndcg@1") == [[2 / 5]]
    found = per_query(rankings_of(gold, ranked), [Measure.of("ndcg@3")], effective=True)
    assert next(iter(found.values())).tolist() == [(2 + 1 / math.log2(3)) / (5 + 2 / math.log2(3))]


def test_grades_that_only_say_that_gold_is_gold_change_nothing():
    binary = rankings_of([["a", "b"], []], [["b"], ["x"]])
    for facts in (
        rankings_of([{"a": 1, "b": 1, "c": 0}, {"z": -3}], [["b"], ["x"]]),
        rankings_of([["a", "b", "c"], ["z"]], [["b"], ["x"]], grades=[[1, 1, 0], [0]]),
    ):
        assert facts.grades is None
        assert (facts.gold_count.tolist(), facts.hit_rank.tolist()) == (binary.gold_count.tolist(), [1])


@pytest.mark.parametrize("factor", [1, 2, 8])
def test_only_the_ratios_of_grades_count_for_the_gain(factor):
    gold = {"a": 1 * factor, "b": 2 * factor, "c": 4 * factor}
    assert ndcg_at_k(gold, ["a", "c"], 3) == ndcg_at_k({"a": 1, "b": 2, "c": 4}, ["a", "c"], 3)


def test_one_query_takes_grades_too():
    assert ndcg_at_k({"a": 3, "b": 1}, ["b", "a"], 1) == 1 / 3
    assert recall_at_k({"a": 3, "b": 1, "c": 0}, ["b"], 1) == 1 / 2


def test_a_query_has_gold_if_an_id_reaches_the_level():
    results = evaluated(GRADED, relevance_level=3)
    assert (results.study.with_gold, results.study.queries) == (1, 3)
    assert [(each.grade, each.ids) for each in results.study.judgments] == [(1, 1), (2, 1), (3, 1)]
    assert results.study.settings.relevance_level == 3
    assert "relevant from a grade of 3 on" in results.study.convention["relevance"]
    binary = evaluated().study
    assert (binary.settings.relevance_level, binary.judgments) == (1, None)
    assert binary.convention["relevance"].startswith("binary")


@pytest.mark.parametrize(
    "level",
    [
        0,
        True,
        1.0,
        4,
    ],
)
def test_a_level_that_nothing_can_reach_is_refused(level, message):
    with pytest.raises(UserError) as refused:
        evaluated(GRADED, relevance_level=level)
    message(refused.value)


@pytest.mark.parametrize(
    "change",
    [
        {"gold": [["a"], ["b"]], "grades": [[1], [1, 2]]},
        {"gold": [["a"], ["b"]], "grades": [[1], [1.5]]},
        {"gold": [["a"], ["b"]], "grades": [[1], [True]]},
        {"gold": [["a"], ["b"]], "grades": [[1], 1]},
        {"gold": [["a"], {"b"}], "grades": [[1], [1]]},
        {"gold": [{"a": 1}, ["b"]]},
        {"gold": [{"a": 1}, {}], "grades": [[1], []]},
    ],
)
def test_grades_that_cannot_be_are_one_line(change, message):
    with pytest.raises(UserError) as refused:
        rankings_of(**{"ranked": [["a"], ["b"]]} | change)
    message(refused.value)


def test_systems_that_were_judged_by_other_grades_are_not_paired():
    other = GRADED | {"gold": [{"a": 2, "b": 1, "c": 0}, {"z": -1}, {"q": 2}]}
    with pytest.raises(UserError, match="post 3, criterion all: the gold of a is not that of b"):
        compared({"a": GRADED, "b": other})


def test_a_per_query_file_has_a_column_of_grades(tmp_path):
    (tmp_path / "q.csv").write_text(
        "post_id,criterion_id,gold_ids,gold_grades,a_topk,b_topk\n1,A,s1|s2,3|1,s2|s1,s1\n2,A,,,s1,\n", encoding="utf-8"
    )
    for facts in read_queries(tmp_path / "q.csv").values():
        assert facts.grades.gold.tolist() == [3, 1]
    lists = {
        "post_id": [1],
        "criterion_id": ["A"],
        "gold_ids": [["x", "y"]],
        "gold_grades": [[2, 0]],
        "a_topk": [["x"]],
    }
    assert read_queries(lists)["a"].gold_count.tolist() == [1]
    for grades, message in (("3", "1 grades for 2 gold ids"), ("3|x", "gold_grades 'x', expected an integer")):
        (tmp_path / "q.csv").write_text(
            f"post_id,criterion_id,gold_ids,gold_grades,ranked_ids\n1,A,s1|s2,{grades},s2\n", encoding="utf-8"
        )
        with pytest.raises(UserError, match=f"post 1, criterion A: {message}"):
            read_queries(tmp_path / "q.csv")


def test_trec_judgments_are_grades_and_negative_ones_are_not_relevant(tmp_path):
    (tmp_path / "qrels").write_text("q 0 a 3\nq 0 b -1\nq 0 c 1\nr 0 a -2\n", encoding="utf-8")
    (tmp_path / "run").write_text("q Q0 b 1 2 t\nq Q0 c 2 1 t\nr Q0 a 1 1 t\nr Q0 unjudged 2 2 t\n", encoding="utf-8")
    facts = read_trec(tmp_path / "qrels", {"t": tmp_path / "run"})["t"]
    assert (facts.gold_count.tolist(), facts.grades.hit.tolist(), facts.hit_rank.tolist()) == ([2, 0], [1], [2])
    assert facts.at_level(2).gold_count.tolist() == [1, 0]
