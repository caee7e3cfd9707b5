"""The interval at every operating point is that of the ratio at its threshold, one point at a time."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from demur import grade_units
from demur.extensions.decide.accepted import Accepted
from demur.inference.point_intervals import intervals_at_points
from demur.inference.student import t_quantile, t_quantiles
from demur.inference.views import CurveView

ROWS = st.lists(
    st.tuples(st.integers(1, 8), st.integers(0, 5), st.sampled_from([0, 0, 1, 2, 3, None])), min_size=3, max_size=40
)


def one_at_a_time(graded, curve):
    for threshold in curve.threshold.tolist():
        made, _ = Accepted.of(graded, threshold).risk.interval()
        yield (math.nan, math.nan) if made is None else (made.low, made.high)


def check(graded):
    view = CurveView.of(graded)
    found = intervals_at_points(view)
    if found is None:
        assert len(view.curve) == 0
        return
    expected = np.array([*one_at_a_time(graded, view.curve)])
    assert np.column_stack(found) == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True)


@given(ROWS)
def test_scores_of_an_instrument(rows):
    clusters, confidence, answers = ([row[n] for row in rows] for n in range(3))
    check(
        grade_units(
            confidence, truth=[0] * len(rows), prediction=answers, loss="abs", clusters=clusters, instrument="PHQ-8"
        )
    )


@given(ROWS, st.booleans())
@example(rows=[(1, 0, 0), (1, 0, 2), (2, 0, 1)], negative=True).via("losses of a cluster that cancel")
@example(rows=[(1, 0, 0), (1, 0, 2), (2, 0, 2)], negative=True).via("losses below 0 in sums that are not")
def test_losses_without_a_largest_and_below_0(rows, negative):
    clusters, confidence, losses = ([row[n] for row in rows] for n in range(3))
    check(grade_units(confidence, loss=[x if x is None else x - negative for x in losses], clusters=clusters))


@pytest.mark.slow
def test_more_points_than_a_block():
    rng = np.random.default_rng(3)
    clusters, wrong = np.repeat(np.arange(100), 6), rng.integers(0, 2, 600)
    check(grade_units(rng.random(600), truth=[0] * 600, prediction=wrong.tolist(), loss="zero_one", clusters=clusters))


@given(st.lists(st.floats(1, 400) | st.just(1e5), min_size=1, max_size=2), st.sampled_from([0.9, 0.975]))
def test_quantiles_of_many_degrees_are_those_of_each(degrees, probability):
    expected = [t_quantile(probability, each) for each in degrees]
    many = np.tile(degrees, 101)  # so many that they are computed at once
    assert t_quantiles(probability, many).tolist() == pytest.approx(expected * 101, rel=1e-10)
    assert t_quantiles(probability, np.array(degrees)).tolist() == expected


def test_a_point_that_only_one_cluster_reaches_is_passed_in_silence():
    confidence, losses = [0, 0, 0.25, 0.5, 0.75, 0.75, 1, 1, 0.25, 0], ["1", "0", "0", "0.3", "0", "0.25", "0", "0.1"]
    graded = grade_units(confidence, loss=[*map(float, losses), 0, 0.7], clusters=["a"] * 8 + ["b"] * 2)
    found = intervals_at_points(CurveView.of(replace(graded, largest_loss=graded.divisor)))
    assert np.isnan(found[0]).tolist() == [True, True, True, False, False]
