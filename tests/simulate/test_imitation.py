"""Imitation: data like those of a run in what matters to an interval."""

import numpy as np
import pytest

from demur import Curve, Measure, UserError, grade_units
from demur.extensions.lab.designs import DESIGNS, LEFT
from demur.extensions.lab.imitation import imitation, within
from demur.extensions.lab.population import TruePopulation
from parametrized import parametrize_few


def imitated(graded, participants=20_000):
    """One large data set like a given one."""
    return imitation(graded, "run").data(participants, 1, 0)[""][LEFT]


def owners(graded):
    return graded.clusters.of_answer


@parametrize_few("name", ["discrete", "alike", "sizes", "errors_5", "heavy_tail"], 2)
@pytest.mark.slow
def test_an_imitation_answers_errs_and_varies_as_the_run_does(name):
    run = DESIGNS[name].data(400, 1, 0)[""][LEFT]
    like = imitated(run)
    assert like.answered / like.units == pytest.approx(run.answered / run.units, abs=0.01)
    assert like.loss.mean() == pytest.approx(run.loss.mean(), rel=0.05)
    assert within(like.loss, owners(like)) == pytest.approx(within(run.loss, owners(run)), abs=0.03)
    assert set(like.clusters.units) <= set(run.clusters.units)
    assert (like.divisor, like.largest_loss) == (run.divisor, run.largest_loss)


@pytest.mark.slow
def test_an_imitation_has_the_ties_of_the_run_and_no_others():
    for name in ("discrete", "continuous"):
        run = DESIGNS[name].data(60, 1, 0)[""][LEFT]
        like = imitated(run, 60)
        if name == "discrete":
            assert set(like.confidence) <= set(run.confidence)
        else:
            assert len(set(like.confidence)) > 0.95 * like.answered


@pytest.mark.parametrize("name", ["discrete", "continuous", "heavy_tail"])
@pytest.mark.slow
def test_the_true_numbers_of_an_imitation_are_near_those_of_the_run(name):
    run = DESIGNS[name].data(200, 1, 0)[""][LEFT]
    population = TruePopulation(imitation(run, "run"), 1)
    for number in ("aurc", "augrc", "cmax", "risk@0.5"):
        assert population.number(number, "", LEFT) == pytest.approx(float(Measure.of(number)(Curve.of(run))), rel=0.03)


def test_two_units_of_a_participant_correlate_as_much_as_they_are_the_same():
    rng = np.random.default_rng(1)
    shared, own = rng.normal(size=2_000), rng.normal(size=(2_000, 5))
    values = (np.sqrt(0.4) * shared[:, None] + np.sqrt(0.6) * own).ravel()
    assert within(values, np.repeat(np.arange(2_000), 5)) == pytest.approx(0.4, abs=0.03)
    assert within(np.ones(4), np.array([0, 0, 1, 1])) == 0
    assert within(np.array([0.0, 1.0]), np.array([0, 1])) == 0


@pytest.mark.slow
def test_what_holds_few_units_or_large_ones_can_be_imitated():
    alone = grade_units([1, 2], loss=[0, 1], clusters=["a", "a"])
    assert imitated(alone, 3).units == 6
    large = grade_units(np.arange(3_000) % 7, loss=(np.arange(3_000) % 3).tolist(), clusters=[1] * 3_000)
    design = imitation(large, "run")
    assert design.chunk * 3_000 <= 40_000
    assert "1 participants with 3e+03 units each, 100% answered, 67% of those with a loss" in design.words


def test_nothing_answered_cannot_be_imitated():
    with pytest.raises(UserError, match="nothing is answered: there is nothing to imitate"):
        imitation(grade_units([1, 2], loss=[None, None], clusters=["a", "b"]), "run")
