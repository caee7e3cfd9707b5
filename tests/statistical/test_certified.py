"""Certified thresholds on made-up studies: how often a wrong one is certified, and the errors of risk control."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from demur.extensions.decide.accepted import Accepted
from demur.extensions.decide.certifiers import CERTIFIERS
from demur.extensions.decide.terms import Terms

pytestmark = pytest.mark.slow
STUDIES, ITEMS, DELTA = 1000, 8, 0.1
GRID = (1.5, 1.25, 1.0, 0.5, 0.25, 0.0, -0.25, -0.56, -1.0)
PEOPLE, ALIKE, LIMITS = (20, 41, 100, 500), (0.5, 0.9), ("0.01", "0.15")


def units(rng, shape, alike):
    """Confidence and error of items that are alike within a person; one item by itself does not depend on `alike`."""
    ability = math.sqrt(alike) * rng.standard_normal((*shape[:-1], 1)) + math.sqrt(1 - alike) * rng.standard_normal(
        shape
    )
    confidence = ability + 0.5 * rng.standard_normal(shape)
    return confidence, ability + 0.7 * rng.standard_normal(shape) < -0.6


@pytest.fixture(scope="module")
def truth():
    """Risk and generalized risk at each threshold, from four million items."""
    confidence, wrong = units(np.random.default_rng(0), (4_000_000, 1), 0.5)
    accepted = [confidence >= threshold for threshold in GRID]
    return [float(wrong[each].mean()) for each in accepted], [float((wrong & each).mean()) for each in accepted]


def passing(method, count, loss, alpha):
    """Which studies (rows) pass, by numpy alone; `count` and `loss` are of their participants."""
    people = count.shape[1]
    beyond = loss - alpha * count
    if method == "crc":
        return loss.sum(axis=1) - alpha * people * ITEMS + (1 - alpha) * ITEMS <= 0
    if method == "betting":
        bets = (bet / ((1 - alpha) * ITEMS) for bet in (0.5, 0.9))
        wealth = sum(np.exp(np.log1p(-bet * beyond).sum(axis=1)) for bet in bets) / 2
        return wealth * DELTA >= 1
    with_one_more = np.column_stack([beyond, (1 - alpha) * count.mean(axis=1)])
    spread = with_one_more.std(axis=1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = math.sqrt(people + 1) * with_one_more.mean(axis=1) / spread
    return (spread > 0) & (stats.t.cdf(t, people) <= DELTA)


def certified(method, confidence, wrong, limit):
    """The index of the certified threshold of each study, -1 for none; the library tests the first studies too."""
    alpha, terms = float(limit), Terms(Fraction(limit), Fraction(1, 10), Fraction(1), ITEMS)
    last, going = np.full(len(confidence), -1), np.ones(len(confidence), bool)
    for index, threshold in enumerate(GRID):
        accepted = confidence >= threshold
        count, loss = accepted.sum(axis=2), (accepted & wrong).sum(axis=2)
        passes = passing(method, count, loss, alpha)
        for study in range(10):
            sums = Accepted(count[study], loss[study], np.full(count.shape[1], ITEMS), 1, Fraction(1))
            assert CERTIFIERS[method].test(sums, terms).passed == passes[study]
        going &= passes
        last[going] = index
    return last


@pytest.mark.parametrize("alike", ALIKE)
@pytest.mark.parametrize("people", PEOPLE)
def test_certified_thresholds_keep_their_promise(people, alike, truth):
    rng = np.random.default_rng([people, int(10 * alike)])
    confidence, wrong = units(rng, (STUDIES, people, ITEMS), alike)
    for limit in LIMITS:
        for method in ("guarded_t", "betting"):
            risks = np.array([*truth[0], 0.0])[certified(method, confidence, wrong, limit)]
            violations = float(np.mean(risks > float(limit)))
            assert violations <= DELTA + 2 * math.sqrt(DELTA * (1 - DELTA) / STUDIES), (method, limit)
        lost = np.array([*truth[1], 0.0])[certified("crc", confidence, wrong, limit)]
        assert lost.mean() <= float(limit) + 2 * lost.std(ddof=1) / math.sqrt(STUDIES), limit


def test_something_is_certified_where_there_are_people_enough(truth):
    """A method that never certifies anything would keep every promise, and so would one in a world without errors."""
    risks, lost = truth
    assert all(each[0] < float(limit) < each[-1] for each in truth for limit in LIMITS)
    assert risks[2] > float(LIMITS[0]) > lost[1]
    confidence, wrong = units(np.random.default_rng(1), (200, 500, ITEMS), 0.5)
    for method in CERTIFIERS:
        assert np.mean(certified(method, confidence, wrong, "0.15") >= 0) > 0.9
    few, errors = units(np.random.default_rng(2), (200, 41, ITEMS), 0.5)
    assert np.mean(certified("guarded_t", few, errors, "0.15") >= 0) > 0.5
