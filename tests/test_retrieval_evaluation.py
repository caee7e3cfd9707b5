"""A retrieval evaluation: exact means, the draws of a plain loop, folds, differences, the gate and the artifact."""

import math
import random
from fractions import Fraction
from statistics import pstdev

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from demur.draws import weights
from demur.errors import UserError
from demur.ranking_columns import rankings_of
from demur.resample import Plan
from demur.retrieval import ndcg_at_k
from demur.retrieval_evaluation import OverFolds, evaluate_retrieval
from demur.retrieval_numbers import RetrievalSettings
from demur.retrieval_results import retrieval_metrics_artifact
from retrievals import WHEN, evaluated, made

SMALL = {
    "gold": [["a"], ["a", "b"], [], ["c"]],
    "ranked": [["a", "x"], ["x", "a"], ["x"], []],
    "posts": [1, 1, 2, 2],
    "criteria": ["A", "B", "A", "B"],
}


class TestNumbers:
    def found(self, path):
        return evaluated(SMALL, depths=[1, 2]).systems["one"].estimates[path].point

    @pytest.mark.parametrize(
        ("path", "expected"),
        [
            ("positives_only/micro/recall@2", Fraction(1 + Fraction(1, 2) + 0, 3)),
            ("all_queries/micro/recall@2", Fraction(1 + Fraction(1, 2), 4)),
            ("positives_only/macro/recall@2", (1 + Fraction(1, 4)) / 2),
            ("all_queries/macro/recall@2", (Fraction(1, 2) + Fraction(1, 4)) / 2),
            ("positives_only/0/recall@2", Fraction(1)),
            ("all_queries/1/mrr@2", Fraction(1, 4)),
            ("empty_decision/precision", Fraction(0)),
            ("empty_decision/recall", Fraction(0)),
            ("empty_decision/false_evidence_rate", Fraction(1)),
            ("empty_decision/f1", Fraction(0)),
        ],
    )
    def test_means_are_the_fractions(self, path, expected):
        assert self.found(path) == float(expected)

    def test_the_empty_decision_counts_what_is_right_among_what_is_empty_and_among_what_should_be(self):
        columns = SMALL | {"selected": [["a"], [], [], []]}
        found = evaluated(columns).systems["one"].estimates
        assert found["empty_decision/precision"].point == 1 / 3
        assert found["empty_decision/recall"].point == 1
        assert found["empty_decision/false_evidence_rate"].point == 0
        assert found["empty_decision/f1"].point == 1 / 2
        assert found["dynamic_k/evidence_recall"].point == (1 + 0 + 1 + 0) / 4
        assert found["dynamic_k/average_k"].point == 1 / 4

    def test_a_threshold_makes_the_gate_decide(self):
        columns = SMALL | {"prob": [0.9, 0.5, 0.5, 0.4]}
        found = evaluated(columns, threshold=0.5).systems["one"].estimates
        assert found["empty_decision/precision"].point == 0
        assert found["empty_decision/false_evidence_rate"].point == 1
        found = evaluated(columns, threshold=0.6).systems["one"].estimates
        assert found["empty_decision/recall"].point == 1
        with pytest.raises(UserError, match="system one: a threshold needs probabilities"):
            evaluated(SMALL, threshold=0.5)

    def test_an_open_gate_returns_nothing_of_an_empty_list(self):
        columns = {"gold": [["a"], []], "ranked": [[], []], "prob": [0.5, 0.5]}
        found = evaluated(columns, threshold=0.3).systems["one"].estimates
        assert found["empty_decision/false_evidence_rate"].point == 0

    def test_what_nobody_asked_for_is_undefined_with_a_reason(self):
        columns = SMALL | {"gold": [["a"], [], [], []]}
        artifact = retrieval_metrics_artifact(evaluated(columns), created_at=WHEN).systems["one"]
        one = artifact.positives_only.per_criterion["B"]
        assert one.queries == 0
        assert one.metrics["recall@1"].value is None
        assert one.metrics["recall@1"].reason == "no such query"
        assert artifact.positives_only.macro["recall@1"].value == 1

    def test_the_order_of_the_queries_changes_no_byte(self):
        columns = made()
        order = [*range(36)]
        random.Random(4).shuffle(order)
        moved = {name: [values[place] for place in order] for name, values in columns.items()}
        plan = Plan(50, seed=3)
        one, other = (
            retrieval_metrics_artifact(evaluated(c, plan), created_at=WHEN).to_json() for c in (columns, moved)
        )
        assert one == other


class TestDraws:
    """The numbers of every draw are those of a plain loop over the posts that were drawn."""

    columns = made(seed=9)
    plan = Plan(40, seed=11)

    @pytest.fixture(scope="class")
    @classmethod
    def found(cls):
        return evaluated(cls.columns, cls.plan).systems["one"].estimates

    def samples(self):
        posts = self.columns["posts"]
        for row in weights(11, np.arange(40), 12):
            yield [query for query, post in enumerate(posts) for _ in range(int(row[post]))]

    def test_a_mean_over_the_queries_with_gold(self, found):
        values = [ndcg_at_k(g, r, 5) for g, r in zip(self.columns["gold"], self.columns["ranked"])]
        expected = [np.mean([values[q] for q in sample if self.columns["gold"][q]]) for sample in self.samples()]
        np.testing.assert_allclose(found["positives_only/micro/ndcg@5"].evidence.values, expected, atol=1e-12)

    def test_a_mean_over_criteria(self, found):
        values = [ndcg_at_k(g, r, 5) for g, r in zip(self.columns["gold"], self.columns["ranked"])]
        expected = []
        for sample in self.samples():
            by = {name: [values[q] for q in sample if self.columns["criteria"][q] == name] for name in "ABC"}
            expected.append(np.mean([np.mean(some) for some in by.values()]))
        np.testing.assert_allclose(found["all_queries/macro/ndcg@5"].evidence.values, expected, atol=1e-12)

    def test_the_area_under_the_roc_curve(self, found):
        y = [bool(gold) for gold in self.columns["gold"]]
        p = self.columns["prob"]
        expected = [roc_auc_score([y[q] for q in sample], [p[q] for q in sample]) for sample in self.samples()]
        np.testing.assert_allclose(found["detection/micro/auroc"].evidence.values, expected, atol=1e-12)

    def test_the_f1_of_the_empty_decision(self, found):
        empty = [not one for one in self.columns["selected"]]
        none = [not one for one in self.columns["gold"]]
        expected = [
            2 * sum(empty[q] and none[q] for q in s) / (sum(empty[q] for q in s) + sum(none[q] for q in s))
            for s in self.samples()
        ]
        np.testing.assert_allclose(found["empty_decision/f1"].evidence.values, expected, atol=1e-12)

    def test_blocks_and_threads_change_no_bit(self, found):
        other = evaluated(self.columns, Plan(40, seed=11, block=7, threads=2)).systems["one"].estimates
        for path, one in found.items():
            np.testing.assert_array_equal(one.evidence.values, other[path].evidence.values)

    def test_the_recommended_interval_of_a_mean_is_the_expanded_percentile(self, found):
        one = found["all_queries/micro/ndcg@5"]
        assert one.recommended.method == "expanded_percentile"
        assert one.recommended.low <= one.percentile.low <= one.point <= one.percentile.high <= one.recommended.high

    def test_a_number_that_never_varies_has_no_interval(self):
        columns = {"gold": [["a"]] * 4, "ranked": [["a"]] * 4}
        one = evaluated(columns, Plan(20, seed=1)).systems["one"].estimates["positives_only/micro/recall@1"]
        assert (one.point, one.recommended, one.percentile) == (1, None, None)
        thirds = {"gold": [["a", "b", "c"]] * 4, "ranked": [["a"]] * 4}
        found = evaluated(thirds, Plan(20, seed=1))
        assert found.systems["one"].estimates["positives_only/micro/recall@1"].recommended is None
        shown = retrieval_metrics_artifact(found, created_at=WHEN).systems["one"].positives_only.micro["recall@1"]
        assert shown.no_interval == "it is the same in every draw, or given by convention"

    def test_a_large_number_beside_it_does_not_coarsen_a_mean(self):
        posts = 300
        selected = [[f"x{number}" for number in range(3000)] if post == 0 else [] for post in range(posts)]
        columns = {"gold": [["a", "b", "c"]] * posts, "ranked": [["a"]] * posts, "selected": selected}
        found = evaluated(columns, Plan(20, seed=1)).systems["one"].estimates["positives_only/micro/recall@1"]
        np.testing.assert_allclose(found.evidence.values, 1 / 3, rtol=0, atol=1e-12)

    def test_one_post_has_an_interval_that_is_the_number(self):
        columns = {"gold": [["a"], ["a"]], "ranked": [["a"], ["x"]], "posts": [1, 1], "criteria": ["A", "B"]}
        found = evaluated(columns, Plan(20, seed=1))
        one = found.systems["one"].estimates["positives_only/micro/recall@1"]
        assert (one.recommended.low, one.recommended.high) == (0.5, 0.5)
        assert [w.code for w in found.warnings if w.where == "posts"] == ["one_cluster"]


class TestSystems:
    def test_only_what_says_something_is_compared(self):
        """Not one gate with itself, not decisions by different rules, not criterion by criterion."""
        columns = made()
        bare = {name: values for name, values in columns.items() if name != "selected"}
        found = evaluate_retrieval({"a": rankings_of(**columns), "b": rankings_of(**bare)}, plan=Plan(0, seed=None))
        assert {path.split("/")[0] for path in found.deltas["b"]} == {"positives_only", "all_queries"}
        assert not any(path.split("/")[1].isdigit() for path in found.deltas["b"])
        other = columns | {"prob": [1 - one for one in columns["prob"]]}
        found = evaluate_retrieval({"a": rankings_of(**columns), "b": rankings_of(**other)}, plan=Plan(30, seed=1))
        kinds = {path.split("/")[0] for path in found.deltas["b"]}
        assert kinds == {"positives_only", "all_queries", "dynamic_k", "empty_decision", "detection", "gate"}
        one, two = (found.systems[name].gate["augrc"] for name in "ab")
        assert found.deltas["b"]["gate/augrc"].point == two.point - one.point
        expected = two.evidence.values - one.evidence.values
        np.testing.assert_array_equal(found.deltas["b"]["gate/augrc"].evidence.values, expected)

    def test_ids_that_never_meet_are_told(self):
        columns = {"gold": [["a;b"], ["c"]], "ranked": [["a", "b"], ["d"]]}
        assert "no_hits" in [warning.code for warning in evaluated(columns).warnings]
        assert "no_hits" not in [warning.code for warning in evaluated().warnings]

    def test_a_policy_that_needs_scores_is_left_out_of_a_system_without_and_that_is_told(self):
        columns = made()
        scored = columns | {"scores": [[*range(len(ranked), 0, -1)] for ranked in columns["ranked"]]}
        settings = RetrievalSettings(policies=["gap", "fixed:2"])
        systems = {"a": rankings_of(**columns), "b": rankings_of(**scored)}
        found = evaluate_retrieval(systems, settings=settings, plan=Plan(0, seed=None))
        assert ("no_scores", "a") in [(warning.code, warning.where) for warning in found.warnings]
        assert "policies/gap/average_k" in found.systems["b"].estimates
        assert "policies/gap/average_k" not in found.systems["a"].estimates
        with pytest.raises(UserError, match="the policy gap needs scores, and no system has any"):
            evaluated(columns, policies=["gap"])

    def test_a_difference_is_taken_in_every_draw_on_the_same_queries(self):
        columns = made(posts=15)
        other = columns | {"ranked": [ranked[::-1] for ranked in columns["ranked"]]}
        plan = Plan(60, seed=2)
        found = evaluate_retrieval({"a": rankings_of(**columns), "b": rankings_of(**other)}, plan=plan)
        delta = found.deltas["b"]["all_queries/micro/mrr@3"]
        one, two = (found.systems[name].estimates["all_queries/micro/mrr@3"] for name in "ab")
        assert delta.point == two.point - one.point
        np.testing.assert_array_equal(delta.evidence.values, two.evidence.values - one.evidence.values)
        assert delta.recommended.method == "bootstrap_t"
        turned = evaluate_retrieval(
            {"a": rankings_of(**columns), "b": rankings_of(**other)},
            settings=RetrievalSettings(baseline="b"),
            plan=plan,
        )
        assert turned.deltas["a"]["all_queries/micro/mrr@3"].point == -delta.point

    def test_a_system_differs_from_itself_by_nothing(self):
        facts = rankings_of(**made())
        found = evaluate_retrieval({"a": facts, "b": facts}, plan=Plan(20, seed=2))
        for one in found.deltas["b"].values():
            assert (one.evidence.values[~np.isnan(one.evidence.values)] == 0).all()
            assert one.point == 0 or math.isnan(one.point)

    def test_systems_on_other_queries_or_with_other_gold_are_refused(self):
        facts = rankings_of(**made())
        with pytest.raises(UserError, match="answer different queries"):
            evaluate_retrieval({"a": facts, "b": rankings_of(**made(posts=11))}, plan=Plan(0, seed=None))
        with pytest.raises(UserError, match="the gold of a is not that of b"):
            evaluate_retrieval({"a": facts, "b": rankings_of(**made(seed=2))}, plan=Plan(0, seed=None))
        with pytest.raises(UserError, match=r"no system is called c; there are: a"):
            evaluate_retrieval({"a": facts}, settings=RetrievalSettings(baseline="c"), plan=Plan(0, seed=None))
        with pytest.raises(UserError, match="no system is given"):
            evaluate_retrieval({}, plan=Plan(0, seed=None))


class TestFolds:
    def test_mean_and_population_deviation(self):
        over = OverFolds({"1": 0.25, "2": 0.5, "3": 1.0})
        assert over.mean == pytest.approx(float(Fraction(7, 12)), abs=1e-15)
        assert over.std == pytest.approx(pstdev([0.25, 0.5, 1.0]), abs=1e-15)

    def test_every_fold_is_counted_by_itself(self):
        columns = made()
        found = evaluated(columns).systems["one"].folds["positives_only/ndcg@10"]
        values = [ndcg_at_k(g, r, 10) for g, r in zip(columns["gold"], columns["ranked"])]
        for fold, value in found.values.items():
            inside = [v for v, f, g in zip(values, columns["fold"], columns["gold"]) if f == fold and g]
            assert value == pytest.approx(np.mean(inside), abs=1e-15)

    def test_a_fold_without_such_queries_leaves_no_mean(self):
        columns = {"gold": [["a"], []], "ranked": [["a"], ["a"]], "fold": ["1", "2"]}
        found = evaluated(columns).systems["one"].folds
        assert (found["positives_only/recall@1"].mean, found["positives_only/recall@1"].std) == (None, None)
        assert found["all_queries/recall@1"].mean == 0.5

    def test_a_post_in_two_folds_is_told(self):
        columns = made(fold=[str(number % 2) for number in range(36)])
        assert "post_in_several_folds" in [warning.code for warning in evaluated(columns).warnings]
        assert "post_in_several_folds" not in [warning.code for warning in evaluated(made()).warnings]
