"""Made-up per-query files: the same for a seed, read like any other, and with what they are said to hold."""

import pytest

import demur as public
from commands import demur
from demur import UserError
from demur.extensions.lab.queries import CRITERIA, FOLDS, simulated_queries
from installation import needs


def test_a_seed_gives_the_same_file_and_another_seed_another():
    assert simulated_queries(3, seed=1) == simulated_queries(3, seed=1) != simulated_queries(3, seed=2)


@needs("retrieval")
def test_the_file_holds_two_systems_of_which_the_second_is_better(tmp_path):
    done = demur(tmp_path, "simulate-queries", "--output", "q.csv", "--posts", "40", "--seed", "1")
    assert done.stdout == "wrote q.csv: 40 posts, two systems\n"
    found = public.read_queries(tmp_path / "q.csv")
    assert [*found] == ["retriever", "reranked"]
    one = found["reranked"]
    assert (len(one.post_ids), one.criteria, len(one.folds)) == (40, CRITERIA, FOLDS)
    assert 0 < one.has_gold.mean() < 1
    assert (one.selected_count is not None, one.scores is not None, one.prob is not None) == (True, True, True)
    results = public.evaluate_retrieval(found, plan=public.Plan(0, seed=None))
    means = [results[public.Key(name, "ndcg@10")].value for name in ("retriever", "reranked")]
    assert 0 < means[0] < means[1]


def test_there_is_at_least_one_post():
    with pytest.raises(UserError, match="posts 0, expected an integer, 1 or more"):
        simulated_queries(0, seed=1)
