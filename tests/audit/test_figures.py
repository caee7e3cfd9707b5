"""Reported figures: when a printed number agrees with a value, and which figure a name asks for."""

import pytest

from demur import UserError
from demur.audit.figures import CUT_OFF, Expected, Explanation, Printed, finding, flattened
from demur.audit.reported.conventions import is_of_queries
from demur.audit.reported.names import SCORES, SELECTIVE, quantity_named, split_affixes
from demur.audit.retrieval_figures import FIGURES
from demur.files.strict_json import loads


@pytest.mark.parametrize(
    ("printed", "value", "agrees"),
    [
        ("0.42", 0.425, True),
        ("0.42", 0.415, True),
        ("0.42", 0.4251, False),
        ("0.42", 0.4149, False),
        ("0.420", 0.4206, False),
        ("0.4200000000000000", 0.4200000009, True),
        ("0.4200000000000000", 0.420000002, False),
        ("4.2e-1", 0.425, True),
        ("4.20e-1", 0.425, False),
        ("0", 0.4, False),
        ("1", 0.7, False),
        ("1", 1.0, True),
        ("0", 0.0, True),
        ("1.0", 0.97, True),
        ("1", 1.4, True),
        ("3", 2.6, True),
    ],
)
def test_a_figure_may_be_half_a_unit_of_its_last_printed_digit_away_and_never_less_than_a_billionth(
    printed, value, agrees
):
    found = finding("x", Printed.of(printed), Expected(value))
    assert found.status == ("match" if agrees else "differs")


@pytest.mark.parametrize(
    ("names", "figure", "number"),
    [
        ("recall@10 Recall@10 recall_at_10 recall@k=10 RECALL-AT-10 recall_10 R@10", "recall@K", 10),
        ("nDCG@5 ndcg@5 ndcg_at_5 NDCG_5", "ndcg@K", 5),
        ("hit@3 hit_rate@3 success@3 Hit-Rate@3 hits@3", "hit@K", 3),
        ("mrr@10 MRR@10", "mrr@K", 10),
        ("map@10 mean_average_precision@10", "map@K", 10),
        ("precision@1 P@1", "precision@K", 1),
        ("tpr@fpr=0.05 tpr@5%fpr tpr_at_fpr_5 TPR@FPR=5%", "tpr@fpr=F", 0.05),
        ("tpr_at_5pct_fpr tpr@fpr<=0.05 tpr_at_fpr_05", "tpr@fpr=F", 0.05),
        ("threshold@fpr=0.1 threshold_at_fpr_10 threshold_at_10%_fpr", "threshold@fpr=F", 0.1),
        ("auroc AUROC roc_auc", "auroc", 0),
        ("auprc average_precision pr_auc", "auprc", 0),
        ("ece ECE ece_10 ece@10 ece_10_bins", "ece", 10),
        ("avg_k average_k avg_K", "average_k", 0),
        ("num_queries n_queries", "queries", 0),
        ("risk@0.3 mae@0.3 mae_at_0.3 risk@30% Risk@c=0.30 mae_at_coverage_0.3", "risk@C", 0.3),
        ("aurc@0.5 aurc_at_0.5 aurc@50", "aurc@C", 0.5),
        ("augrc@1 augrc@1.0", "augrc@C", 1),
        ("coverage@risk=0.1 coverage_at_risk_0.1 Coverage@Risk<=0.1 coverage@risk≤10%", "coverage@risk=R", 0.1),
        ("aurc AURC aurc_full", "aurc", 0),
        ("e-AURC eaurc excess_aurc", "eaurc", 0),
        ("mae risk selective_risk", "risk", 0),
        ("cmax Cmax max_coverage coverage", "cmax", 0),
    ],
)
def test_a_figure_is_known_however_it_is_spelled(names, figure, number):
    for name in names.split():
        quantity = quantity_named(name)
        assert (quantity.name, float(quantity.number)) == (figure, number), name


@pytest.mark.parametrize(
    "name",
    [
        "f1@10",
        "risk@0",
        "risk@1.5",
        "aurc@",
        "mae_3",
        "recall@0",
        "recall@-1",
        "recall@1.5",
        "loss",
        "",
        "@5",
        "tpr@fpr=300%",
        "ece_0",
        "cost",
        "cost_area",
        "cost@0.1",
    ],
)
def test_what_has_no_definition_here_is_not_guessed(name):
    assert quantity_named(name) is None


def test_every_quantity_is_known_by_its_own_name_and_is_of_runs_or_of_rankings():
    # Counts are known by older names, nobody reports a threshold in a name, and costs need a largest loss, which
    # reports of others do not tell.
    reported = [name for name in {*FIGURES, *SELECTIVE, *SCORES} if "@threshold" not in name]
    for name in (name for name in reported if name != "clusters"):
        quantity = quantity_named(
            name.replace("=F", "=0.05").replace("=R", "=0.1").replace("@C", "@0.3").replace("@K", "@10")
        )
        assert quantity.name == name
        assert is_of_queries(name) or name in SELECTIVE | SCORES


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", Expected(-0.3)),
        ("-1", Expected(-0.7)),
        ("0", Expected(0.3, (0.2, 0.4))),
        ("1", Expected(0.8, (0.7, 0.9))),
    ],
    ids=str,
)
def test_a_bare_0_or_1_is_no_match_for_a_difference_or_an_interval_of_shares_either(text, expected):
    assert finding("x", Printed.of(text), expected).status == "differs"


def test_a_bare_0_or_1_is_exact_only_for_a_share():
    assert finding("x", Printed.of("1"), Expected(0.7, share=False)).status == "match"
    assert finding("x", Printed.of("1"), Expected(0.7)).status == "differs"


@pytest.mark.parametrize(
    ("printed", "value", "cause"),
    [
        ("0.666", 2 / 3, f"would equal it, {CUT_OFF}"),
        ("-0.66", -2 / 3, f"would equal it, {CUT_OFF}"),
        ("0.4", 0.49, f"would equal it, {CUT_OFF}"),
        ("0.29", 0.3, None),
        ("0", 0.9, None),
        ("66.66", 2 / 3, f"would equal it, given in percent (× 100), {CUT_OFF}"),
        ("66.67", 2 / 3, "would equal it, given in percent (× 100)"),
    ],
)
def test_digits_that_were_cut_off_are_told_from_digits_that_are_wrong(printed, value, cause):
    found = finding("x", Printed.of(printed), Expected(value))
    assert (found.status, found.cause) == ("differs", cause)


def test_0_is_0_on_any_scale():
    assert finding("x", Printed.of("0.0"), Expected(0.42)).cause is None
    assert (
        finding("x", Printed.of("0.0"), Expected(0.42, otherwise={Explanation("another way"): 0.0})).cause
        == "would equal it, another way"
    )


def test_a_count_printed_with_an_exponent_is_still_exact():
    assert finding("x", Printed.of("4e1"), Expected(43, exact=True)).status == "differs"
    assert finding("x", Printed.of("4e1"), Expected(40, exact=True)).status == "match"


@pytest.mark.parametrize("text", ["1e999", "-1e400", "1e-99999999999999999999", "0e999999999999999999"])
def test_a_number_out_of_range_is_refused(text):
    with pytest.raises(UserError, match="is out of range"):
        loads(text, number=Printed.of)


def test_a_number_too_small_to_tell_from_0_is_0():
    assert Printed.of("1e-999999").agrees(0.0)


def test_every_leaf_is_listed_in_the_order_of_the_file_however_deep():
    deep = {"a": 1, "b": [2, {"c": None}], "d": {}}
    assert [*flattened(deep)] == [(("a",), 1), (("b", "0"), 2), (("b", "1", "c"), None)]
    nested = 1
    for _ in range(5000):
        nested = [nested]
    assert [len(path) for path, _ in flattened(nested)] == [5000]


@pytest.mark.parametrize(
    ("spread", "averaging", "names"),
    [
        ("mean", None, ["ndcg@10_mean", "mean_ndcg@10", "ndcg@10.mean", "avg_ndcg@10"]),
        ("std", None, ["ndcg@10_std", "std_ndcg@10", "ndcg@10_sd"]),
        (None, "macro", ["macro_ndcg@10", "ndcg@10_macro", "ndcg@10/macro"]),
        ("std", "macro", ["macro_ndcg@10_std", "std_macro_ndcg@10"]),
    ],
)
def test_a_name_says_over_what_it_is_averaged(spread, averaging, names):
    for name in names:
        said, bare = split_affixes(name)
        quantity = quantity_named(bare)
        assert (quantity.name, quantity.depth, said.get("spread"), said.get("averaging")) == (
            "ndcg@K",
            10,
            spread,
            averaging,
        ), name


@pytest.mark.parametrize(
    "name", ["mean_" * 5000 + "recall@1", "tpr@fpr=" + "9" * 100_000, "a_" * 50_000, "mean_mean_mrr@1"]
)
def test_a_name_made_to_be_hard_to_read_is_unknown_at_once(name):
    assert quantity_named(split_affixes(name)[1]) is None
