"""Ranking metrics: exact values, laws, and agreement with a plain loop and with trec_eval."""

import math
import random
from fractions import Fraction
from itertools import pairwise

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, RR, P, R, Success, nDCG

from demur import Measure, UserError, rankings_of
from demur.extensions.retrieval import (
    hit_at_k,
    map_at_k,
    map_trec_at_k,
    mrr_at_k,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
)
from demur.extensions.retrieval.quantities.ranking import Top, per_query
from demur.quantities import quantities

FUNCTIONS = (recall_at_k, precision_at_k, hit_at_k, mrr_at_k, map_at_k, map_trec_at_k, ndcg_at_k)
IDS = [f"s{number}" for number in range(12)]
RANKING = {entry.stem: entry.function for entry in quantities("ranking")}


class TestOneQuery:
    @pytest.mark.parametrize(
        ("function", "k", "expected"),
        [
            (recall_at_k, 1, Fraction(0)),
            (recall_at_k, 2, Fraction(1, 3)),
            (recall_at_k, 4, Fraction(2, 3)),
            (precision_at_k, 4, Fraction(1, 2)),
            (precision_at_k, 10, Fraction(1, 5)),
            (hit_at_k, 1, Fraction(0)),
            (hit_at_k, 2, Fraction(1)),
            (mrr_at_k, 1, Fraction(0)),
            (mrr_at_k, 4, Fraction(1, 2)),
            (map_at_k, 4, (Fraction(1, 2) + Fraction(2, 4)) / 3),
            (map_at_k, 2, Fraction(1, 2) / 2),
            (map_trec_at_k, 2, Fraction(1, 2) / 3),
        ],
    )
    def test_the_value_is_the_fraction(self, function, k, expected):
        assert function({"a", "b", "c"}, ["x", "a", "y", "b"], k) == float(expected)

    def test_ndcg_discounts_by_the_logarithm_of_the_rank(self):
        found = ndcg_at_k({"a", "b"}, ["x", "a", "b"], 3)
        assert found == (1 / math.log2(3) + 1 / math.log2(4)) / (1 + 1 / math.log2(3))

    def test_map_divides_by_what_could_be_found_and_trec_by_all_there_is(self):
        assert map_at_k(["a", "b", "c"], ["a", "b", "x"], 2) == 1
        assert map_trec_at_k(["a", "b", "c"], ["a", "b", "x"], 2) == float(Fraction(2, 3))

    @pytest.mark.parametrize("function", FUNCTIONS)
    def test_nothing_to_find_and_nothing_found_are_0(self, function):
        assert function([], ["a", "b"], 3) == 0
        assert function({"a"}, [], 3) == 0
        assert function({"a"}, ["x", "y", "z", "a"], 3) == 0

    @pytest.mark.parametrize("function", FUNCTIONS)
    def test_a_perfect_list_is_exactly_1_up_to_what_there_is(self, function):
        for size in range(1, 8):
            ideal = {precision_at_k: 3, recall_at_k: size}.get(function, 3)
            k = min(ideal, size) if function is not recall_at_k else size
            if function is map_trec_at_k:
                k = size
            assert function(IDS[:size], IDS, k) == 1

    @pytest.mark.parametrize("function", FUNCTIONS)
    @pytest.mark.parametrize("k", [0, -1, True, 1.0, "3", None, 10**20])
    def test_k_is_an_integer_of_at_least_1(self, function, k):
        with pytest.raises(UserError, match="expected an integer, 1 or more"):
            function({"a"}, ["a"], k)

    @pytest.mark.parametrize("function", FUNCTIONS)
    def test_an_id_ranked_twice_and_a_text_for_ids_are_errors(self, function):
        with pytest.raises(UserError, match="the ranked id a appears twice"):
            function({"a"}, ["a", "a"], 3)
        with pytest.raises(UserError, match="not as one text"):
            function("abc", ["a"], 3)
        with pytest.raises(UserError, match="not as one text"):
            function({"a"}, "abc", 3)
        with pytest.raises(UserError, match="a set has no order"):
            function({"a"}, {"a", "b"}, 3)

    def test_ids_of_any_kind_in_any_collection(self):
        assert recall_at_k((1, 2), np.array([2, 3]), 2) == 0.5
        assert recall_at_k(frozenset({"a"}), ("b", "a"), 2) == 1


def added(values):
    """One after the other: from Python 3.12 on the built-in sum compensates for rounding."""
    total = 0.0
    for value in values:
        total += value
    return total


def slow(name, gold, ranked, k):
    """As the definitions read, one query at a time."""
    gold = set(gold)
    if not gold:
        return 0.0
    hits = [rank for rank, one in enumerate(ranked[:k], 1) if one in gold]
    precisions = added(number / rank for number, rank in enumerate(hits, 1))
    gain = added(1.0 / math.log2(rank + 1) for rank in hits)
    return {
        "recall": len(hits) / len(gold),
        "precision": len(hits) / k,
        "hit": float(bool(hits)),
        "mrr": 1.0 / hits[0] if hits else 0.0,
        "map": precisions / min(len(gold), k),
        "map_trec": precisions / len(gold),
        "ndcg": gain / added(1.0 / math.log2(rank + 1) for rank in range(1, min(len(gold), k) + 1)),
    }[name]


query = st.tuples(
    st.sets(st.sampled_from(IDS)), st.permutations(IDS).flatmap(lambda ids: st.integers(0, 12).map(lambda n: ids[:n]))
)
queries = st.lists(query, min_size=1, max_size=8)


class TestAllQueriesAtOnce:
    @given(queries, st.integers(1, 15))
    def test_every_bit_is_that_of_the_plain_loop(self, asked, k):
        facts = rankings_of([gold for gold, _ in asked], [ranked for _, ranked in asked])
        found = per_query(facts, [Measure.of(f"{stem}@{k}") for stem in RANKING])
        for measure, column in found.items():
            assert column.tolist() == [slow(measure.quantity.stem, gold, ranked, k) for gold, ranked in asked]

    @given(queries, st.integers(1, 15))
    def test_effective_k_is_k_where_the_list_is_long_enough_and_its_length_otherwise(self, asked, k):
        facts = rankings_of([gold for gold, _ in asked], [ranked for _, ranked in asked])
        for stem, function in RANKING.items():
            found = function(Top(facts, k, effective=True)).tolist()
            expected = [slow(stem, gold, ranked, min(k, len(ranked))) if ranked else 0.0 for gold, ranked in asked]
            assert found == expected, stem

    @given(queries)
    def test_a_deeper_look_never_finds_less(self, asked):
        facts = rankings_of([gold for gold, _ in asked], [ranked for _, ranked in asked])
        for stem in ("recall", "hit", "mrr", "map_trec"):
            columns = [RANKING[stem](Top(facts, k)) for k in range(1, 14)]
            assert all((after >= before).all() for before, after in pairwise(columns))

    @given(queries, st.integers(1, 15))
    def test_all_values_are_shares_and_agree_on_finding_nothing(self, asked, k):
        facts = rankings_of([gold for gold, _ in asked], [ranked for _, ranked in asked])
        columns = {stem: function(Top(facts, k)) for stem, function in RANKING.items()}
        for column in columns.values():
            assert ((column >= 0) & (column <= 1)).all()
            assert ((column > 0) == (columns["hit"] > 0)).all()

    def test_names_print_as_they_parse(self):
        for name in ("recall@1", "ndcg@10", "map_trec@5"):
            assert str(Measure.of(name)) == name
        with pytest.raises(UserError, match=r"no quantity is called ndgc@10; did you mean ndcg@K\?"):
            Measure.of("ndgc@10")
        for name in ("recall", "ndcg@", "ndcg@0", "ndcg@-1", 3):
            with pytest.raises(UserError):
                Measure.of(name)


@pytest.fixture(scope="module")
def asked():
    rng = random.Random(5)
    made = []
    for number in range(200):
        ids = [f"d{place:02d}" for place in range(30)]
        gold = rng.sample(ids, rng.randint(1, 12))
        made.append((f"q{number:03d}", gold, rng.sample(ids, rng.randint(1, 30))))
    return made


@pytest.fixture(scope="module")
def theirs(asked):
    qrels = {name: dict.fromkeys(gold, 1) for name, gold, _ in asked}
    run = {name: {one: -float(rank) for rank, one in enumerate(ranked)} for name, _, ranked in asked}
    measures = [measure @ k for measure in (R, P, AP, nDCG, Success) for k in (1, 3, 5, 10)]
    found = {}
    for metric in ir_measures.iter_calc([*measures, RR], qrels, run):
        found[str(metric.measure), metric.query_id] = metric.value
    return found


class TestAgainstTrecEval:
    """ir-measures runs trec_eval; the definitions agree but for map@K, and for topics that are missing from a run."""

    @pytest.mark.parametrize(
        ("ours", "other"),
        [("recall", "R"), ("precision", "P"), ("map_trec", "AP"), ("ndcg", "nDCG"), ("hit", "Success")],
    )
    @pytest.mark.parametrize("k", [1, 3, 5, 10])
    def test_the_same_number_for_every_query(self, asked, theirs, ours, other, k):
        facts = rankings_of([g for _, g, _ in asked], [r for _, _, r in asked], posts=[name for name, _, _ in asked])
        measure = Measure.of(f"{ours}@{k}")
        found = per_query(facts, [measure])[measure]
        expected = [theirs[f"{other}@{k}", name] for name, _, _ in asked]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)

    def test_the_reciprocal_rank_of_a_whole_list(self, asked, theirs):
        for name, gold, ranked in asked:
            assert mrr_at_k(gold, ranked, 100) == pytest.approx(theirs["RR", name], abs=1e-12)

    @pytest.mark.slow
    def test_where_map_differs_and_why(self, asked, theirs):
        """Ours divides by min(gold, K): it is trec_eval's, or more where there is more gold than K."""
        for name, gold, ranked in asked:
            for k in (1, 3, 5, 10):
                ours, trec = map_at_k(gold, ranked, k), theirs[f"AP@{k}", name]
                assert ours == pytest.approx(trec * len(gold) / min(len(gold), k), abs=1e-12)
