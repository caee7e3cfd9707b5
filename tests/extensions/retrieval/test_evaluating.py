"""A retrieval evaluation: exact means, the draws of a plain loop, folds, differences."""

import math
import random
from fractions import Fraction
from statistics import pstdev

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from demur import Group, Key, Measure, Minus, Plan, UserError, evaluate_retrieval
from demur.extensions.retrieval import ndcg_at_k
from demur.inference.student import t_quantile
from demur.sampling.draws import weights
from retrievals import compared, evaluated, made

SMALL = {
    "gold": [["a"], ["a", "b"], [], ["c"]],
    "ranked": [["a", "x"], ["x", "a"], ["x"], []],
    "posts": [1, 1, 2, 2],
    "criteria": ["A", "B", "A", "B"],
}


MEAN, A, B = Group("criterion"), Group("criterion", "A"), Group("criterion", "B")


def with_gold(quantity, group=None, system="one"):
    return Key(system, quantity, among="with_gold", group=group)


def of_all(quantity, group=None, system="one"):
    return Key(system, quantity, group=group)


@pytest.fixture(scope="module")
def small():
    return evaluated(SMALL, depths=[1, 2])


class TestNumbers:
    @pytest.mark.parametrize(
        ("key", "expected"),
        [
            (with_gold("recall@2"), Fraction(1 + Fraction(1, 2) + 0, 3)),
            (of_all("recall@2"), Fraction(1 + Fraction(1, 2), 4)),
            (with_gold("recall@2", MEAN), (1 + Fraction(1, 4)) / 2),
            (of_all("recall@2", MEAN), (Fraction(1, 2) + Fraction(1, 4)) / 2),
            (with_gold("recall@2", A), Fraction(1)),
            (of_all("mrr@2", B), Fraction(1, 4)),
            (of_all("empty_precision"), Fraction(0)),
            (of_all("empty_recall"), Fraction(0)),
            (of_all("false_evidence_rate"), Fraction(1)),
            (of_all("empty_f1"), Fraction(0)),
        ],
    )
    def test_means_are_the_fractions(self, small, key, expected):
        assert small[key].value == float(expected)

    def test_the_empty_decision_counts_what_is_right_among_what_is_empty_and_among_what_should_be(self):
        results = evaluated(SMALL | {"selected": [["a"], [], [], []]})
        assert results["empty_precision"].value == 1 / 3
        assert results["empty_recall"].value == 1
        assert results["false_evidence_rate"].value == 0
        assert results["empty_f1"].value == 1 / 2
        (system,) = results.study.systems
        assert dict(system.empty_decision) == {"true_positives": 1, "false_positives": 2, "false_negatives": 0}
        assert results["evidence_recall"].value == (1 + 0 + 1 + 0) / 4
        assert results["average_k"].value == 1 / 4

    @pytest.mark.slow
    def test_a_threshold_makes_the_gate_decide(self):
        columns = SMALL | {"prob": [0.9, 0.5, 0.5, 0.4]}
        results = evaluated(columns, threshold=0.5)
        assert results["empty_precision"].value == 0
        assert results["false_evidence_rate"].value == 1
        assert evaluated(columns, threshold=0.6)["empty_recall"].value == 1
        with pytest.raises(UserError, match="system one: a threshold needs probabilities"):
            evaluated(SMALL, threshold=0.5)

    def test_an_open_gate_returns_nothing_of_an_empty_list(self):
        columns = {"gold": [["a"], []], "ranked": [[], []], "prob": [0.5, 0.5]}
        assert evaluated(columns, threshold=0.3)["false_evidence_rate"].value == 0

    def test_a_number_without_queries_is_undefined_with_a_reason(self):
        results = evaluated(SMALL | {"gold": [["a"], [], [], []]})
        assert results.study.criteria[1].with_gold == 0
        missing = results[with_gold("recall@1", B)]
        assert math.isnan(missing.value)
        assert missing.undefined == "no such query"
        assert results[with_gold("recall@1", MEAN)].value == 1

    @pytest.mark.slow
    def test_the_order_of_the_queries_changes_no_byte(self):
        columns = made()
        order = [*range(36)]
        random.Random(4).shuffle(order)
        moved = {name: [values[place] for place in order] for name, values in columns.items()}
        plan = Plan(50, seed=3)
        assert evaluated(columns, plan).fingerprint == evaluated(moved, plan).fingerprint


class TestDraws:
    """The numbers of every draw are those of a plain loop over the posts that were drawn."""

    columns = made(seed=9)
    plan = Plan(40, seed=11)

    @pytest.fixture(scope="class")
    @classmethod
    def found(cls):
        return evaluated(cls.columns, cls.plan)

    def samples(self):
        posts = self.columns["posts"]
        for row in weights(11, np.arange(40), 12):
            yield [query for query, post in enumerate(posts) for _ in range(int(row[post]))]

    def test_a_mean_over_the_queries_with_gold(self, found):
        values = [ndcg_at_k(g, r, 5) for g, r in zip(self.columns["gold"], self.columns["ranked"])]
        expected = [np.mean([values[q] for q in sample if self.columns["gold"][q]]) for sample in self.samples()]
        np.testing.assert_allclose(found[with_gold("ndcg@5")].evidence.values, expected, atol=1e-12)

    def test_a_mean_over_criteria(self, found):
        values = [ndcg_at_k(g, r, 5) for g, r in zip(self.columns["gold"], self.columns["ranked"])]
        expected = []
        for sample in self.samples():
            by = {name: [values[q] for q in sample if self.columns["criteria"][q] == name] for name in "ABC"}
            expected.append(np.mean([np.mean(some) for some in by.values()]))
        np.testing.assert_allclose(found[of_all("ndcg@5", MEAN)].evidence.values, expected, atol=1e-12)

    @pytest.mark.slow
    def test_the_area_under_the_roc_curve(self, found):
        y = [bool(gold) for gold in self.columns["gold"]]
        p = self.columns["prob"]
        expected = [roc_auc_score([y[q] for q in sample], [p[q] for q in sample]) for sample in self.samples()]
        np.testing.assert_allclose(found["auroc"].evidence.values, expected, atol=1e-12)

    def test_the_f1_of_the_empty_decision(self, found):
        empty = [not one for one in self.columns["selected"]]
        none = [not one for one in self.columns["gold"]]
        expected = [
            2 * sum(empty[q] and none[q] for q in s) / (sum(empty[q] for q in s) + sum(none[q] for q in s))
            for s in self.samples()
        ]
        np.testing.assert_allclose(found["empty_f1"].evidence.values, expected, atol=1e-12)

    @pytest.mark.slow
    def test_blocks_and_threads_change_no_bit(self, found):
        other = evaluated(self.columns, Plan(40, seed=11, block=7, threads=2))
        for row in found.where(minus=None):
            if row.evidence is not None:
                np.testing.assert_array_equal(row.evidence.values, other[row.key].evidence.values)

    def test_the_recommended_interval_of_a_mean_is_that_of_a_ratio_of_sums_over_posts(self, found):
        one = found[of_all("ndcg@5")]
        influence = one.evidence.influence
        posts = len(influence)
        error = math.sqrt(posts / (posts - 1) * float((influence**2).sum()))
        reach = t_quantile(0.975, one.recommended.degrees) * error
        low, high = one.recommended.unclipped or (one.recommended.low, one.recommended.high)
        assert (low, high) == pytest.approx((one.value - reach, one.value + reach))
        assert (one.recommended.method, one.recommended.decided_by) == ("analytic", "clusters_with_gold")
        assert error == pytest.approx(one.std_error, rel=0.4)

    def test_a_number_that_never_varies_has_no_interval(self):
        columns = {"gold": [["a"]] * 4, "ranked": [["a"]] * 4}
        row = evaluated(columns, Plan(20, seed=1))[with_gold("recall@1")]
        assert (row.value, row.recommended, row.percentile) == (1, None, None)
        thirds = {"gold": [["a", "b", "c"]] * 4, "ranked": [["a"]] * 4}
        row = evaluated(thirds, Plan(20, seed=1))[with_gold("recall@1")]
        assert row.recommended is None
        assert row.no_interval == "it is the same in every draw, or given by convention"

    def test_a_large_number_beside_it_does_not_coarsen_a_mean(self):
        posts = 300
        selected = [[f"x{number}" for number in range(3000)] if post == 0 else [] for post in range(posts)]
        columns = {"gold": [["a", "b", "c"]] * posts, "ranked": [["a"]] * posts, "selected": selected}
        row = evaluated(columns, Plan(20, seed=1))[with_gold("recall@1")]
        np.testing.assert_allclose(row.evidence.values, 1 / 3, rtol=0, atol=1e-12)

    def test_one_post_has_an_interval_that_is_the_number(self):
        columns = {"gold": [["a"], ["a"]], "ranked": [["a"], ["x"]], "posts": [1, 1], "criteria": ["A", "B"]}
        results = evaluated(columns, Plan(20, seed=1))
        row = results[with_gold("recall@1")]
        assert (row.recommended.low, row.recommended.high) == (0.5, 0.5)
        assert [warning.code for warning in results.warnings if warning.subject == "clusters"] == ["one_cluster"]


MINUS_A = Minus("system", "a")


def families(differences):
    return {(Measure.of(row.key.quantity).quantity.of, row.key.among) for row in differences}


class TestSystems:
    @pytest.mark.slow
    def test_only_what_says_something_is_compared(self):
        """Not one gate with itself, not decisions by different rules, not criterion by criterion."""
        columns = made()
        bare = {name: values for name, values in columns.items() if name != "selected"}
        differences = compared({"a": columns, "b": bare}).where(system="b", minus=MINUS_A)
        rankings = {("ranking", "with_gold"), ("ranking", "all")}
        assert families(differences) == rankings
        assert {row.key.group for row in differences} == {None, MEAN}
        other = columns | {"prob": [1 - one for one in columns["prob"]]}
        results = compared({"a": columns, "b": other}, Plan(30, seed=1))
        rest = {(family, "all") for family in ("selection", "decision", "forecasts", "curve")}
        assert families(results.where(system="b", minus=MINUS_A)) == rankings | rest
        one, two = (results[Key(name, "augrc", "prob")] for name in "ab")
        difference = results[Key("b", "augrc", "prob", minus=MINUS_A)]
        assert difference.value == two.value - one.value
        np.testing.assert_array_equal(difference.evidence.values, two.evidence.values - one.evidence.values)

    @pytest.mark.slow
    def test_ids_that_never_meet_are_told(self):
        columns = {"gold": [["a;b"], ["c"]], "ranked": [["a", "b"], ["d"]]}
        assert "no_hits" in [warning.code for warning in evaluated(columns).warnings]
        assert "no_hits" not in [warning.code for warning in evaluated().warnings]

    @pytest.mark.slow
    def test_a_policy_that_needs_scores_is_left_out_of_a_system_without_and_that_is_told(self):
        columns = made()
        scored = columns | {"scores": [[*range(len(ranked), 0, -1)] for ranked in columns["ranked"]]}
        results = compared({"a": columns, "b": scored}, policies=["gap", "fixed:2"])
        assert ("no_scores", "a") in [(warning.code, warning.about.system) for warning in results.warnings]
        assert results.get(Key("b", "average_k@gap")) is not None
        assert results.get(Key("a", "average_k@gap")) is None
        with pytest.raises(UserError, match="the policy gap needs scores, and no system has any"):
            evaluated(columns, policies=["gap"])

    def test_a_difference_is_taken_in_every_draw_on_the_same_queries(self):
        columns = made(posts=15)
        systems = {"a": columns, "b": columns | {"ranked": [ranked[::-1] for ranked in columns["ranked"]]}}
        results = compared(systems, Plan(60, seed=2), depths=(3,))
        difference = results[Key("b", "mrr@3", minus=MINUS_A)]
        one, two = (results[of_all("mrr@3", system=name)] for name in "ab")
        assert difference.value == two.value - one.value
        np.testing.assert_array_equal(difference.evidence.values, two.evidence.values - one.evidence.values)
        assert difference.recommended.method == "analytic"
        turned = compared(systems, Plan(0, seed=None), baseline="b", depths=(3,))
        assert turned[Key("a", "mrr@3", minus=Minus("system", "b"))].value == -difference.value

    @pytest.mark.slow
    def test_a_system_differs_from_itself_by_nothing(self):
        for row in compared({"a": made(), "b": made()}, Plan(20, seed=2)).where(minus=MINUS_A):
            assert (row.evidence.values[~np.isnan(row.evidence.values)] == 0).all()
            assert row.value == 0 or math.isnan(row.value)

    @pytest.mark.slow
    def test_a_system_whose_name_begins_with_that_of_another_keeps_its_own_numbers(self):
        """Numbers were once gathered by the text their paths begin with: bge got the intervals of bge/large."""
        columns = made(posts=10)
        other = columns | {"ranked": [ranked[::-1] for ranked in columns["ranked"]]}
        plan = Plan(20, seed=2)
        systems = {"bge": columns, "bge/means": columns, "bge/large": other}
        results = compared(systems, plan, depths=(1, 10))
        for name, alone in systems.items():
            expected = compared({name: alone}, plan, depths=(1, 10))
            for row in expected:
                found = results[row.key]
                assert repr((found.value, found.recommended)) == repr((row.value, row.recommended))
            assert {row.key for row in results.where(system=name, minus=None)} == {row.key for row in expected}

    def test_systems_on_other_queries_or_with_other_gold_are_refused(self):
        with pytest.raises(UserError, match="answer different queries"):
            compared({"a": made(), "b": made(posts=11)})
        with pytest.raises(UserError, match="the gold of a is not that of b"):
            compared({"a": made(), "b": made(seed=2)})
        alike = {"a": {"gold": [{-1}], "ranked": [[-1]]}, "b": {"gold": [{-2}], "ranked": [[-1]]}}  # in their hashes
        with pytest.raises(UserError, match="post 0, criterion all: the gold of a is not that of b"):
            compared(alike)
        with pytest.raises(UserError, match=r"no system is called c; there are: a"):
            compared({"a": made()}, baseline="c")
        with pytest.raises(UserError, match="no system is given"):
            evaluate_retrieval({}, plan=Plan(0, seed=None))


class TestFolds:
    def test_every_fold_is_counted_by_itself(self):
        columns = made()
        results = evaluated(columns)
        values = [ndcg_at_k(g, r, 10) for g, r in zip(columns["gold"], columns["ranked"])]
        by_fold = []
        for fold in results.study.folds:
            inside = [v for v, f, g in zip(values, columns["fold"], columns["gold"]) if f == fold and g]
            by_fold.append(results[with_gold("ndcg@10", Group("fold", fold))].value)
            assert by_fold[-1] == pytest.approx(np.mean(inside), abs=1e-15)
        mean = results[with_gold("ndcg@10", Group("fold"))]
        assert mean.value == pytest.approx(np.mean(by_fold), abs=1e-15)
        assert mean.spread == pytest.approx(pstdev(by_fold), abs=1e-15)

    def test_a_fold_without_such_queries_leaves_no_mean(self):
        results = evaluated({"gold": [["a"], []], "ranked": [["a"], ["a"]], "fold": ["1", "2"]})
        mean = results[with_gold("recall@1", Group("fold"))]
        assert (math.isnan(mean.value), mean.spread, mean.undefined) == (True, None, "a fold has no such query")
        assert results[of_all("recall@1", Group("fold"))].value == 0.5

    @pytest.mark.slow
    def test_a_post_in_two_folds_is_told(self):
        columns = made(fold=[str(number % 2) for number in range(36)])
        assert "post_in_several_folds" in [warning.code for warning in evaluated(columns).warnings]
        assert "post_in_several_folds" not in [warning.code for warning in evaluated(made()).warnings]


class TestChosenMetrics:
    def test_the_metrics_that_were_named_are_reported_and_no_others(self):
        results = evaluated(
            made(), Plan(20, seed=1), metrics=["nDCG@10", "P@5", "AP", "R@100", "Success@1", "RR", "ndcg@010"]
        )
        chosen = ["ndcg@10", "precision@5", "map_trec", "recall@100", "hit@1", "mrr"]
        rows = results.where(among="with_gold", group=None)
        assert [row.key.quantity for row in rows] == chosen
        assert all(row.recommended is not None for row in rows)
        study = results.study.settings
        assert ([*study.metrics], study.k, study.verdict_metric) == (chosen, (1, 5, 10, 100), "ndcg@10")
        assert results.get(Key("one", "auroc", "prob")) is not None

    @pytest.mark.parametrize(
        ("metrics", "verdict"),
        [(["P@5", "AP"], "precision@5"), (["AP", "ndcg@3", "ndcg"], "ndcg"), (["RR"], "mrr")],
    )
    def test_the_verdict_rests_on_the_ndcg_or_on_the_first(self, metrics, verdict):
        assert evaluated(made(), metrics=metrics).study.settings.verdict_metric == verdict

    def test_a_metric_without_a_depth_looks_at_the_whole_list(self):
        results = evaluated(made(), metrics=["AP", "RR", "nDCG", "AP@8", "RR@8", "nDCG@8"])
        for stem in ("map_trec", "mrr", "ndcg"):
            assert results[with_gold(stem)].value == results[with_gold(f"{stem}@8")].value

    def test_all_names_that_are_none_are_told_together(self):
        with pytest.raises(UserError) as caught:
            evaluated(metrics=["nDGC@10", "nDCG@10", "P", "P(rel=2)@5", "MAP@10", "auroc", "P@0"])
        for told in (
            "nDGC@10 is not known (nearest: ndcg@K",
            "the quantity precision takes a parameter: write precision@10",
            "P(rel=2)@5 has parameters, expected precision@10; the level of all is --relevance-level",
            "MAP@10 is not known (nearest: map@K, map_trec@K)",
            "auroc is not a metric of rankings, and only these are chosen",
            "k 0, expected an integer, 1 or more",
        ):
            assert told in str(caught.value)
        assert "\n" not in str(caught.value)
