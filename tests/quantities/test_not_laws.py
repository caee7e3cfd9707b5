"""Statements that sound true and are not, each with the counterexample that keeps it out of the code."""

import math

import numpy as np
import pytest

from demur import aurc_optimal_zero_one, measure


def scores(confidence, loss):
    return measure(confidence, loss=loss)


def test_excess_aurc_can_be_negative_with_ties():
    found = scores([1, 0, 0], [0, 1, 1])
    assert (found["aurc"], found["aurc_optimal"], found["eaurc"]) == (2 / 9, 5 / 18, -1 / 18)
    assert found["eaugrc"] >= 0


def test_merging_plateaus_moves_aurc_either_way():
    assert scores([1, 0, 0], [0, 1, 1])["aurc"] < scores([2, 1, 0], [0, 1, 1])["aurc"]
    assert scores([1, 1, 0], [0, 1, 1])["aurc"] > scores([2, 1, 0], [0, 1, 1])["aurc"]


def test_the_achievable_area_can_lie_below_the_optimum():
    found = scores([1, 0, 0], [0, 1, 1])
    assert found["aurc_achievable"] < found["aurc_optimal"]


def test_the_closed_form_is_not_the_finite_optimum_but_its_limit():
    def gap(size):
        loss = [0] * (size // 2) + [1] * (size // 2)
        return scores(range(size), loss)["aurc_optimal"] - aurc_optimal_zero_one(0.5)

    assert abs(gap(4)) > 0.005
    assert 0 < abs(gap(4_000)) < 1e-3


def test_a_ranking_and_its_reverse_do_not_share_the_aurc():
    def both(loss):
        return scores([3, 2, 1], loss)["aurc"] + scores([1, 2, 3], loss)["aurc"]

    assert both([1, 0, 0]) != pytest.approx(both([0, 1, 0]))


def test_a_steep_sigmoid_is_not_strictly_increasing_in_doubles():
    confidence = np.array([1.0, 0.99, 0.5])
    squashed = 1 / (1 + np.exp(-40 * confidence))
    assert squashed[0] == squashed[1]
    assert scores(squashed, [1, 0, 0])["aurc"] != scores(confidence, [1, 0, 0])["aurc"]


def test_a_closed_form_of_certain_error_is_one():
    assert aurc_optimal_zero_one(1) == 1.0
    assert aurc_optimal_zero_one(0) == 0.0
    assert aurc_optimal_zero_one(0.5) == 0.5 + 0.5 * math.log(0.5)
