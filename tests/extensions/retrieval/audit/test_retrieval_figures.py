"""The figures that audits recompute, on cases small enough to work out by hand."""

from fractions import Fraction

import pytest

from demur.extensions.audit.reported.conventions import column_of, conventions_of
from demur.extensions.audit.reported.names import quantity_named
from demur.extensions.audit.retrieval_figures.detection import threshold_at_fpr, tpr_at_fpr
from demur.extensions.audit.retrieval_figures.rows import query_row
from demur.extensions.retrieval.rankings import Query


def query(gold="", ranked="", prob=None, selected=None):
    chosen = None if selected is None else tuple(selected)
    return query_row(Query("p", "c", tuple(gold), tuple(ranked), None, prob, chosen, None))


def value(name, *queries):
    return otherwise(name, "", *queries)


def otherwise(name, way, *queries):
    quantity = quantity_named(name)
    column = column_of(quantity.name)
    return conventions_of(quantity)[way]([getattr(query, column) for query in queries] if column else queries)


def detected(truth, prob):
    return [query("g" if label else "", prob=p) for label, p in zip(truth, prob)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("recall@1", Fraction(1, 3)),
        ("recall@3", Fraction(2, 3)),
        ("recall@9", 1),
        ("precision@3", Fraction(2, 3)),
        ("precision@8", Fraction(3, 8)),
        ("hit@1", 1),
        ("mrr@3", 1),
        ("map@2", Fraction(1, 2)),
        ("map@3", Fraction(5, 9)),
        ("map@4", Fraction(29, 36)),
    ],
)
def test_one_query_of_three_gold_found_at_ranks_1_3_and_4(name, expected):
    assert value(name, query("abc", "axbc")) == pytest.approx(float(expected), abs=1e-15)


def test_ndcg_is_the_gain_over_the_best_gain():
    assert value("ndcg@2", query("ab", "xa")) == pytest.approx(0.6309297535714575 / 1.6309297535714575, abs=1e-15)
    assert value("ndcg@1", query("ab", "ax")) == 1


def test_map_of_two_hits_among_three_gold_is_1_at_depth_2_and_two_thirds_over_all_gold():
    both = query("abc", "abx")
    assert value("map@2", both) == 1
    assert value("map_trec@2", both) == pytest.approx(2 / 3)
    assert otherwise("map@2", "other denominator: ÷ gold, not ÷ min(gold, K)", both) == pytest.approx(2 / 3)


def test_nothing_to_find_is_worth_0_and_counts():
    for name in ("recall@1", "precision@1", "hit@1", "mrr@1", "map@1", "ndcg@1"):
        assert value(name, query("", "ab"), query("a", "ab")) == 0.5
        assert value(name) is None


def test_the_true_positive_rate_looks_at_every_point_of_the_curve():
    rows, half = [(0.1, 0), (0, 1), (0.3, 1), (0.1, 1), (0, 0)], Fraction(1, 2)
    assert tpr_at_fpr(rows, half) == Fraction(2, 3)
    assert threshold_at_fpr(rows, half) == (0.1, Fraction(2, 3), half)
    assert tpr_at_fpr(rows, half, all_points=False) == Fraction(1, 3)


def test_no_threshold_meets_the_target():
    queries = detected([0, 1, 1, 1], [0.9, 0.8, 0.7, 0.6])
    assert (value("tpr@5%fpr", *queries), value("threshold@5%fpr", *queries)) == (0, None)


def test_the_threshold_is_the_lowest_within_the_target():
    queries = detected([1, 0, 0, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5])
    assert value("threshold@fpr=0.5", *queries) == 0.7
    way = "it is the highest threshold that finds as much, not the lowest"
    assert otherwise("threshold@fpr=0.5", way, *queries) == 0.9


def test_one_class_has_the_area_of_a_guess_and_the_precision_of_its_rate():
    for label in (0, 1):
        queries = detected([label, label], [0.1, 0.9])
        assert (value("auroc", *queries), value("auprc", *queries)) == (0.5, label)
        assert (value("tpr@5%fpr", *queries), value("threshold@5%fpr", *queries)) == (0, None)


def test_equal_probabilities_count_half():
    assert value("auroc", *detected([1, 0, 1, 0], [0.5, 0.5, 0.9, 0.1])) == Fraction(7, 8)


def test_average_precision_steps_down_only_where_recall_grows():
    queries = detected([1, 0, 1], [0.9, 0.8, 0.7])
    assert value("auprc", *queries) == pytest.approx(5 / 6)
    way = "area by trapezoids, not average precision"
    assert otherwise("auprc", way, *queries) == pytest.approx(0.5 + 0.5 * (1 / 2 + 2 / 3) / 2)


def test_the_last_bin_holds_1_and_bins_are_those_of_the_decimal():
    sure = detected([0, 0, 1], [1, 1, 0.5])
    assert value("ece", *sure) == pytest.approx(5 / 6)
    assert otherwise("ece", "p = 1.0 dropped: the last bin is open", *sure) == pytest.approx(1 / 6)
    edge = detected([1, 0], [0.3, 0.25])
    assert value("ece", *edge) == pytest.approx(19 / 40)
    assert otherwise(
        "ece", "bins by the rounded edges of numpy.linspace: 0.3 is below its own", *edge
    ) == pytest.approx(9 / 40)
    assert value("ece", *detected([1], [1.5])) is None


@pytest.mark.parametrize(
    ("gold", "selected", "recall", "precision", "f1"),
    [
        ("ab", "ab", 1, 1, 1),
        ("ab", "a", 0.5, 1, 2 / 3),
        ("ab", "", 0, 0, 0),
        ("", "", 1, 1, 1),
        ("", "a", 0, 0, 0),
        ("ab", "xyz", 0, 0, 0),
    ],
)
def test_a_selection_is_judged_by_what_it_leaves_out_and_what_it_takes_in(gold, selected, recall, precision, f1):
    one = query(gold, selected=selected)
    found = [value(f"evidence_{name}", one) for name in ("recall", "precision", "f1")]
    assert found == pytest.approx([recall, precision, f1])
    assert value("avg_k", one) == len(selected)


def test_f1_is_the_mean_of_each_and_not_of_the_means():
    queries = query("ab", selected="ab"), query("ab", selected="axyz")
    assert value("evidence_f1", *queries) == pytest.approx((1 + 1 / 3) / 2)
    way = "F1 of the mean recall and precision, not the mean of F1"
    assert otherwise("evidence_f1", way, *queries) == pytest.approx(2 * 0.75 * 0.625 / (0.75 + 0.625))
