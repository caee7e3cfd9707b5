"""Made-up per-query files: the same for a seed, read like any other, and with what they are said to hold."""

import pytest

from commands import demur
from demur import Measure, UserError, read_queries
from demur.extensions.lab.queries import CRITERIA, FOLDS, simulated_queries
from demur.quantities.ranking import per_query


def test_a_seed_gives_the_same_file_and_another_seed_another():
    assert simulated_queries(3, seed=1) == simulated_queries(3, seed=1) != simulated_queries(3, seed=2)


def test_the_file_holds_two_systems_of_which_the_second_is_better(tmp_path):
    done = demur(tmp_path, "simulate-queries", "--output", "q.csv", "--posts", "40", "--seed", "1")
    assert done.stdout == "wrote q.csv: 40 posts, two systems\n"
    found = read_queries(tmp_path / "q.csv")
    assert [*found] == ["retriever", "reranked"]
    one = found["reranked"]
    assert (len(one.post_ids), one.criteria, len(one.folds)) == (40, CRITERIA, FOLDS)
    assert 0 < one.has_gold.mean() < 1
    assert (one.selected_count is not None, one.scores is not None, one.prob is not None) == (True, True, True)
    ndcg = Measure.of("ndcg@10", "ranking")
    means = {name: per_query(facts, [ndcg])[ndcg].mean() for name, facts in found.items()}
    assert means["reranked"] > means["retriever"] > 0


def test_there_is_at_least_one_post():
    with pytest.raises(UserError, match="posts 0, expected an integer, 1 or more"):
        simulated_queries(0, seed=1)
