"""Quantities of retrieval against the plain loops, on random cases."""

import math
import random
from dataclasses import replace
from fractions import Fraction

import pytest

from demur import Measure
from demur.extensions.audit.retrieval_figures.detection import detection, threshold_at_fpr
from demur.extensions.audit.retrieval_figures.rows import ranking_row
from demur.extensions.retrieval.quantities.detection import by_convention, checked_rate
from demur.extensions.retrieval.quantities.detection import threshold_at_fpr as core_threshold
from demur.extensions.retrieval.quantities.evidence import Selection
from demur.extensions.retrieval.quantities.ranking import per_query
from demur.extensions.retrieval.quantities.selection import Bounds, Policy, shown_hits
from demur.extensions.retrieval.ranking_columns import rankings_from
from demur.extensions.retrieval.rankings import Query
from demur.quantities.forecasts import Forecasts
from demur.quantities.registry import quantities
from reference import number, parsed
from reference.policies import PlainBounds, shown_by

# How many random cases: more of them are among the slow tests.
some_cases = pytest.mark.parametrize("cases", [15, pytest.param(300, marks=pytest.mark.slow)])


def assert_close(value, expected, name):
    if expected is None:
        assert math.isnan(value), name
    else:
        assert abs(value - expected) <= 1e-12 * max(1, abs(expected)), name


def random_forecasts(rng):
    size, decimals = rng.randint(1, 40), rng.choice([1, 2, 15])
    outcome = rng.choice([lambda: rng.randint(0, 1), lambda: 1, lambda: 0, lambda: rng.choice([0, 1 / 3, 1])])
    return [(round(rng.random(), decimals), outcome()) for _ in range(size)]


@some_cases
def test_detection_agrees_and_so_do_its_conventions(cases):
    rng = random.Random(3)
    for _ in range(cases):
        rows = [(p, round(outcome)) for p, outcome in random_forecasts(rng)]
        forecasts = Forecasts.of(*zip(*rows))
        for name in ("auroc", "auprc", "tpr@fpr=0.05", "tpr@fpr=0.5"):
            registered, at = parsed(name)
            assert_close(by_convention(Measure.of(name), forecasts)[0], detection(registered, rows, *at), name)
        threshold, tpr, fpr = threshold_at_fpr(rows, Fraction("0.3"))
        assert (threshold, float(tpr), float(fpr)) == core_threshold(forecasts, checked_rate("0.3"))


def random_queries(rng):
    queries = []
    for post in range(rng.randint(1, 12)):
        ids = [f"s{number}" for number in range(rng.randint(0, 12))]
        gold = rng.sample([*ids, "elsewhere"], rng.randint(0, min(5, len(ids))))
        scores = sorted((round(rng.random(), 1) for _ in ids), reverse=True)
        queries.append(Query(post, "c", tuple(gold), tuple(rng.sample(ids, len(ids))), tuple(scores)))
    return queries


@some_cases
def test_rankings_agree_at_every_depth_and_so_do_effective_depths(cases):
    rng = random.Random(4)
    for _ in range(cases):
        queries = random_queries(rng)
        rows, facts = [*map(ranking_row, queries)], rankings_from(queries)
        measures = [Measure.of(entry.name.replace("K", k)) for entry in quantities("ranking") for k in ("1", "3", "10")]
        for effective in (False, True):
            for measure, values in per_query(facts, measures, effective=effective).items():
                assert_close(values.mean(), number(str(measure), rows, effective=effective), str(measure))


@some_cases
def test_graded_rankings_agree_at_every_level(cases):
    rng = random.Random(6)
    for _ in range(cases):
        plain, level = random_queries(rng), rng.choice((1, 2, 3))
        queries = [replace(each, grades=[rng.randint(-1, 3) for _ in each.gold]) for each in plain]
        queries.append(Query("last", "c", ("a",), ("b", "a"), (1, 0), grades=(3,)))
        rows, facts = [ranking_row(query, level) for query in queries], rankings_from(queries).at_level(level)
        measures = [Measure.of(name) for name in ("ndcg", "ndcg@1", "ndcg@3", "recall@3", "map_trec", "map@3", "mrr")]
        for effective in (False, True):
            for measure, values in per_query(facts, measures, effective=effective).items():
                assert_close(values.mean(), number(str(measure), rows, effective=effective), str(measure))


@some_cases
def test_policies_and_what_they_show_agree(cases):
    rng = random.Random(5)
    for _ in range(cases):
        queries, ratio = random_queries(rng), rng.choice([0.29, 0.5, 1.0])
        rows, facts = [*map(ranking_row, queries)], rankings_from(queries)
        for name in ("fixed:3", "threshold:0.5", "gap", "elbow", "mass:0.5", "mass:0.8", "mass:1"):
            chosen = Policy.of(name).chosen(facts, Bounds(2, 6, ratio))
            shown = [shown_by(name, query.scores, PlainBounds(2, 6, ratio)) for query in queries]
            assert shown == chosen.tolist(), name
            selections = [(row.gold, k, row.hits_within(k)) for row, k in zip(rows, shown)]
            selection = Selection(facts.gold_count, chosen, shown_hits(facts, chosen))
            for entry in quantities("selection"):
                assert_close(entry.function(selection).mean(), number(entry.stem, selections), entry.stem)


def test_the_decision_that_there_is_nothing_is_counted_by_hand():
    rows = [(0, 0, 0), (0, 0, 0), (0, 3, 0), (2, 0, 0), (2, 2, 1)]
    names = "empty_precision", "empty_recall", "empty_f1", "false_evidence_rate"
    assert [number(name, rows) for name in names] == [Fraction(2, 3)] * 3 + [Fraction(1, 3)]
    assert [number(name, [(1, 1, 1)]) for name in names] == [None] * 4
