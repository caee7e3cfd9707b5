"""The quantities of retrieval: their names, which others cite, and what a wrong one is told."""

import pytest

import demur
from demur import QUANTITIES, Measure, UserError
from demur.quantities import default_measures, quantities, quantity


def test_the_names_are_stable():
    """Change one here only with a line under Numbers in the CHANGELOG."""
    ours = [
        entry for entry in QUANTITIES.values() if entry.function.__module__.startswith("demur.extensions.retrieval")
    ]
    families = ("forecasts", "ranking", "selection", "decision")
    assert {family: [entry.name for entry in ours if entry.of == family] for family in families} == {
        "forecasts": ["auprc", "tpr@fpr=F"],
        "ranking": ["recall@K", "precision@K", "hit@K", "mrr@K", "map@K", "map_trec@K", "ndcg@K"],
        "selection": ["evidence_recall@policy", "evidence_precision@policy", "evidence_f1@policy", "average_k@policy"],
        "decision": ["empty_precision", "empty_recall", "false_evidence_rate", "empty_f1"],
    }


@pytest.mark.parametrize("family", ["ranking", "selection", "decision"])
def test_every_default_prints_as_it_parses(family):
    names = [*map(str, default_measures(family))]
    assert [entry.of for entry in quantities(family)] == [family] * len(quantities(family)) != []
    assert [str(Measure.of(name, family)) for name in names] == names


def test_a_name_cannot_be_registered_twice():
    with pytest.raises(ValueError, match="registered already"):
        quantity("ndcg@K", of="ranking")(lambda _: 0.0)


@pytest.mark.parametrize("name", ["recall", "tpr@0.05", "ndcg@ten", "ndcg@0", "tpr@fpr=2", "evidence_f1@nope:3"])
def test_a_name_that_is_none_is_one_line(name, message):
    with pytest.raises(UserError) as refused:
        Measure.of(name)
    message(refused.value)


def test_a_name_is_refused_where_it_makes_no_sense_with_who_computes_it():
    told = r"^no quantity is called ndcg@10 here: evaluate_retrieval computes it, of rankings$"
    with pytest.raises(UserError, match=told):
        Measure.of("ndcg@10", "curve")
    with pytest.raises(UserError, match=told):
        demur.estimate(demur.grade_units([1, 2], loss=[0, 1]), "ndcg@10", plan=demur.Plan(0, seed=None))


def test_titles_hold_the_parameter():
    expected = {"ndcg@10": "nDCG@10", "map_trec@5": "MAP@5 (÷ gold)", "tpr@fpr=0.05": "TPR@5% FPR"}
    assert {name: Measure.of(name).title for name in expected} == expected
