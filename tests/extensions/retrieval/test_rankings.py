"""Rankings: facts of queries, whatever order they come in, and every way they can be wrong."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur import UserError, rankings_of
from demur.extensions.retrieval.ranking_columns import rankings_from
from demur.extensions.retrieval.rankings import Query, check_same_queries


def test_queries_are_put_in_order_of_post_and_criterion():
    facts = rankings_of(
        [["a"], ["b", "c"], []],
        [["x", "a"], ["c", "b"], ["y"]],
        posts=[10, 9, 9],
        criteria=["A", "B", "A"],
        prob=[0.1, 0.2, 0.3],
        scores=[[2, 1], [4, 3], [5]],
        fold=["f", "g", "g"],
        selected=[["a"], ["c", "z"], []],
    )
    assert (facts.post_ids, facts.criteria, facts.folds) == ((9, 10), ("A", "B"), ("f", "g"))
    assert facts.post.tolist() == [0, 0, 1]
    assert facts.criterion.tolist() == [0, 1, 0]
    assert facts.gold_count.tolist() == [0, 2, 1]
    assert facts.candidates.tolist() == [1, 2, 2]
    assert (facts.hit_query.tolist(), facts.hit_rank.tolist()) == ([1, 1, 2], [1, 2, 2])
    assert facts.hit_number.tolist() == [1, 2, 1]
    assert facts.prob.tolist() == [0.3, 0.2, 0.1]
    assert facts.scores.tolist() == [5, 4, 3, 2, 1]
    assert facts.fold.tolist() == [1, 1, 0]
    assert (facts.selected_count.tolist(), facts.selected_hits.tolist()) == ([0, 2, 1], [0, 1, 1])


@given(st.permutations(range(7)))
def test_the_order_of_the_queries_changes_nothing(order):
    made = [
        Query(number % 3, str(number // 3), [f"g{number}"], [*"abc"[: number % 4], f"g{number}"], prob=number / 10)
        for number in range(7)
    ]
    one, other = rankings_from(made), rankings_from([made[place] for place in order])
    for name in ("post", "criterion", "gold_count", "candidates", "hit_query", "hit_rank", "prob"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()
    assert one.gold_sets() == other.gold_sets()


def test_many_hits_in_a_long_list_are_found_where_they_stand():
    ids = [f"s{number}" for number in range(300)]
    facts = rankings_of([ids[::7]], [ids])
    assert facts.hit_rank.tolist() == list(range(1, 301, 7))


def test_more_queries_than_are_looked_at_together_keep_their_places():
    size = 1000
    facts = rankings_of([[f"g{n}"] for n in range(size)], [["x"] * 0 + [f"g{n - n % 2}", "y"] for n in range(size)])
    assert facts.hit_query.tolist() == list(range(0, size, 2))
    one_by_one = rankings_from(Query(n, "all", [f"g{n}"], [f"g{n - n % 2}", "y"]) for n in range(size))
    assert one_by_one.hit_query.tolist() == facts.hit_query.tolist()


def test_facts_cannot_be_changed():
    facts = rankings_of([["a"]], [["a"]])
    with pytest.raises(ValueError, match="read-only"):
        facts.gold_count[0] = 2


@pytest.mark.parametrize(
    "changed",
    [
        {"gold": [["a", "a"], []]},
        {"ranked": [[], ["b", "c", "b"]]},
        {"selected": [["a", "a"], []]},
        {"gold": ["abc", []]},
        {"ranked": [["a"], "b"]},
        {"prob": [0.5, float("nan")]},
        {"prob": [1.5, 0.5]},
        {"prob": [True, 0.5]},
        {"prob": [0.5, None]},
        {"fold": [None, "a"]},
        {"scores": [[1], [1]]},
        {"scores": [[1, float("inf")], []]},
        {"prob": [0.5]},
        {"fold": [1.5, 2]},
        {"scores": [0.5, []]},
        {"scores": [[1, 10**400], []]},
        {"gold": [[["a"]], "abc"]},
        {"gold": [[1], []], "ranked": [["1"], []]},
        {"ranked": [[], ["b", np.int64(1)]]},
        {"posts": [1, 1]},
        {"posts": [1, "1"]},
        {"posts": [1, 1.5]},
        {"probs": [1, 1]},
    ],
)
def test_what_is_wrong_is_said_with_the_query_it_is_wrong_in(changed, message):
    columns = {"gold": [["a"], []], "ranked": [["a", "b"], []]} | changed
    with pytest.raises(UserError) as caught:
        rankings_of(**columns)
    message(caught.value)


def test_a_column_that_starts_later_or_ends_early_is_ragged():
    def rows(first, later):
        yield from (Query(number, "A", [], [], fold=first) for number in range(200))
        yield Query(200, "A", [], [], fold=later)

    with pytest.raises(UserError, match="post 200, criterion A: has no fold, which others have"):
        rankings_from(rows("f", None))
    with pytest.raises(UserError, match="criterion A: has no fold, which others have"):
        rankings_from(rows(None, "f"))


def test_rows_may_be_arrays_and_folds_are_in_the_order_of_their_numbers():
    facts = rankings_of(
        np.array([[1], [2]]), [np.array([1, 3]), np.array([3, 2])], scores=np.ones((2, 2)), fold=[10, 2]
    )
    assert facts.hit_rank.tolist() == [1, 2]
    assert (facts.folds, facts.fold.tolist()) == (("2", "10"), [1, 0])


def test_selected_ids_that_were_not_ranked_are_counted():
    facts = rankings_of([["a"]], [["b"]], selected=[["a", "b", "c"]])
    assert (facts.selected_hits.tolist(), facts.selected_elsewhere.tolist()) == ([1], [2])


def test_facts_that_do_not_fit_together_cannot_be_made():
    facts = rankings_of([["a"], []], [["a"], ["b"]])
    for changed in (
        {"prob": np.ones(1)},
        {"hit_rank": np.array([2])},
        {"scores": np.ones(3)},
        {"post": np.zeros(0, int)},
    ):
        with pytest.raises(UserError):
            replace(facts, **changed)


def test_no_queries_are_an_error():
    with pytest.raises(UserError, match="there are no queries"):
        rankings_of([], [])


def test_systems_are_compared_on_the_same_queries_with_the_same_gold_only():
    one = rankings_of([["a"], ["b"]], [["a"], ["b"]])
    check_same_queries(one, rankings_of([{"a"}, {"b"}], [[], ["x"]]), ("left", "right"))
    with pytest.raises(UserError, match="post 1, criterion all: the gold of left is not that of right"):
        check_same_queries(one, rankings_of([["a"], ["c"]], [[], []]), ("left", "right"))
    with pytest.raises(UserError, match="left and right answer different queries"):
        check_same_queries(one, rankings_of([["a"]], [[]]), ("left", "right"))


@pytest.mark.parametrize(("gold", "other"), [({-1}, {-2}), ({0}, {2**61 - 1}), ({-1, 5}, {-2, 5}), ({(-1,)}, {(-2,)})])
def test_gold_is_told_apart_by_what_it_is_and_not_by_its_hash(gold, other):
    assert hash(frozenset(gold)) == hash(frozenset(other))
    one, same = rankings_of([gold, [7]], [[], []]), rankings_of([[*gold], {7}], [[7], [8]])
    check_same_queries(one, same, ("left", "right"))
    with pytest.raises(UserError, match="post 0, criterion all: the gold of left is not that of right"):
        check_same_queries(one, rankings_of([other, [7]], [[], []]), ("left", "right"))


def test_it_says_what_it_holds():
    facts = rankings_of([["a"], []], [[], ["b"]], posts=np.array([3, 3]), criteria=["x", "y"])
    assert repr(facts) == "Rankings(2 queries of 1 posts and 2 criteria, 1 with gold, 1 abstained)"
