"""Detection of queries without evidence: exact values, the rules for one class, agreement with scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from demur import Measure, UserError
from demur.extensions.retrieval import compute_threshold_at_fpr, no_evidence_metrics
from demur.extensions.retrieval.quantities.detection import by_convention, detection_measures
from demur.quantities import Forecasts

told = st.lists(st.tuples(st.integers(0, 8).map(lambda n: n / 8), st.booleans()), min_size=2, max_size=30)
both = told.filter(lambda rows: len({y for _, y in rows}) == 2)


def test_the_users_own_check():
    assert no_evidence_metrics([0.9, 0.7, 0.4, 0.2, 0.8], [1, 1, 0, 0, 1])["auroc"] == 1


def test_collinear_points_of_the_roc_curve_count():
    p, y = [0.1, 0, 0.3, 0.1, 0], [0, 1, 1, 1, 0]
    assert compute_threshold_at_fpr(p, y, target_fpr=0.5) == (0.1, 2 / 3, 0.5)
    assert float(Measure.of("tpr@fpr=0.5")(Forecasts.of(p, y))[0]) == 2 / 3


def test_no_finite_threshold_is_none_and_catches_nothing():
    assert compute_threshold_at_fpr([0.9, 0.8, 0.7, 0.6], [0, 1, 1, 1]) == (None, 0.0, 0.0)


@pytest.mark.parametrize(("outcome", "rate"), [([1, 1], 1.0), ([0, 0], 0.0)])
def test_one_class_has_the_conventional_values_and_is_flagged(outcome, rate):
    found = no_evidence_metrics([0.2, 0.9], outcome)
    assert found["single_class"] is True
    assert (found["auroc"], found["auprc"], found["tpr@fpr=0.05"]) == (0.5, rate, 0.0)
    assert compute_threshold_at_fpr([0.2, 0.9], outcome) == (None, 0.0, 0.0)


def test_a_rate_is_kept_exactly():
    """Two of twenty are a tenth, and a tenth is allowed."""
    p = np.linspace(1, 0, 40)
    y = np.arange(40) % 2 == 0
    threshold, tpr, fpr = compute_threshold_at_fpr(p, y, target_fpr=0.1)
    assert (tpr, fpr) == (3 / 20, 2 / 20)
    assert threshold == p[4]


def test_a_sample_of_one_class_has_the_same_convention_in_a_draw():
    """The first draw holds both queries, the second only the one with evidence, the third none."""
    drawn = Forecasts(
        probability=np.array([0.2, 0.9]),
        count=np.array([[1.0, 0.0, 0.0], [1.0, 2.0, 0.0]]),
        outcome=np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 0.0]]),
        squares=np.array([1.0, 2.0, 0.0]),
    )
    assert by_convention(Measure.of("auroc"), drawn)[:2].tolist() == [1, 0.5]
    assert by_convention(Measure.of("auprc"), drawn)[:2].tolist() == [1, 1]
    assert by_convention(Measure.of("tpr@fpr=0.05"), drawn)[:2].tolist() == [1, 0]
    assert all(np.isnan(by_convention(measure, drawn)[2]) for measure in detection_measures())


@given(both)
def test_areas_are_those_of_scikit_learn(rows):
    p, y = zip(*rows)
    found = no_evidence_metrics(p, y)
    assert found["auroc"] == pytest.approx(roc_auc_score(y, p), abs=1e-12)
    assert found["auprc"] == pytest.approx(average_precision_score(y, p), abs=1e-12)
    assert found["single_class"] is False


@given(both, st.sampled_from([0.0, 0.03, 0.05, 0.1, 0.25, 0.5, 1.0]))
def test_the_threshold_is_that_of_the_whole_roc_curve(rows, rate):
    p, y = zip(*rows)
    fpr, tpr, thresholds = roc_curve(y, p, drop_intermediate=False)
    last = np.flatnonzero(fpr <= rate)[-1]
    expected = (float(thresholds[last]), float(tpr[last]), float(fpr[last])) if last else (None, 0.0, 0.0)
    assert compute_threshold_at_fpr(p, y, rate) == expected
    assert float(Measure.of(f"tpr@fpr={rate}")(Forecasts.of(p, y))[0]) == expected[1]


@given(both)
def test_using_the_threshold_keeps_the_rate_and_catches_what_was_said(rows):
    p, y = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    threshold, tpr, fpr = compute_threshold_at_fpr(p, y, 0.25)
    accepted = p >= threshold if threshold is not None else np.zeros(len(p), bool)
    assert accepted[y].mean() == tpr
    assert accepted[~y].mean() == fpr <= 0.25


@given(both)
def test_turning_the_probabilities_around_turns_the_auroc_around(rows):
    p, y = zip(*rows)
    mirrored = no_evidence_metrics([1 - one for one in p], y)["auroc"]
    assert no_evidence_metrics(p, y)["auroc"] == pytest.approx(1 - mirrored, abs=1e-12)


@pytest.mark.parametrize(
    ("p", "y", "rate"),
    [
        ([0.5, float("nan")], [0, 1], 0.05),
        ([0.5, 1.5], [0, 1], 0.05),
        ([0.5, 0.5], [0, 0.5], 0.05),
        ([0.5], [0, 1], 0.05),
        ([], [], 0.05),
        ([0.5, 0.6], [0, 1], 1.5),
        ([0.5, 0.6], [0, 1], float("nan")),
        ([0.5, 0.6], [0, 1], True),
    ],
)
def test_bad_input_is_one_line(p, y, rate, message):
    with pytest.raises(UserError) as caught:
        compute_threshold_at_fpr(p, y, rate)
    message(caught.value)


def test_names_are_stable_and_print_as_they_parse():
    rates = ["tpr@fpr=0.03", "tpr@fpr=0.05", "tpr@fpr=0.10"]
    assert [*map(str, detection_measures())] == ["auroc", "auprc", *rates, "ece"]
    with pytest.raises(UserError, match=r"no quantity is called auruc; did you mean auroc\?"):
        Measure.of("auruc", "forecasts")
