"""Designs: data of the kind they say, and true numbers that a large sample comes to."""

import math

import numpy as np
import pytest

from demur import Curve, Measure, UserError, grade_units
from demur.extensions.lab.designs import COMMON_NUMBERS, DESIGNS, LEFT, NUMBERS, RIGHT, Design, design_named, phq8
from demur.extensions.lab.population import CellSums, TruePopulation
from demur.inference.views import CurveView, discordant
from parametrized import parametrize_few

PAIRED = ("phq8", "same_curves", "independent", "discordant_3", "discordant_10")


def drawn(name, participants, seed=1):
    """One data set of a design under its first confidence: a graded table for each system."""
    return next(iter(DESIGNS[name].data(participants, seed, 0).values()))


def error_share(graded):
    """Share of the answers that have a loss."""
    return np.mean(graded.loss > 0)


def small(name):
    """A design with a population that is quickly drawn."""
    known = DESIGNS[name]
    return Design(name, "", known.draw, no_difference=known.no_difference, numbers=known.numbers, at_large=2_000)


@pytest.mark.parametrize("name", DESIGNS)
def test_a_design_draws_the_same_data_again_and_other_data_for_another_number(name):
    def losses(number):
        return {
            system: each.loss.tolist()
            for system, each in next(iter(DESIGNS[name].data(12, 3, number).values())).items()
        }

    assert losses(0) == losses(0) != losses(1)
    for systems in DESIGNS[name].data(12, 3, 0).values():
        assert all(len(graded.clusters.ids) == 12 for graded in systems.values())


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("discrete", 1 / 6),
        ("errors_5", 0.05),
        ("errors_2", 0.02),
        ("abstains_on_errors", 0.35 * 0.4 / (0.35 * 0.4 + 0.65 * 0.8)),
    ],
)
def test_answers_are_wrong_as_often_as_a_design_says(name, share):
    assert error_share(drawn(name, 20_000)[LEFT]) == pytest.approx(share, abs=0.005)


def test_a_discrete_confidence_is_0_to_6_and_a_continuous_one_has_no_ties():
    assert set(drawn("discrete", 500)[LEFT].confidence) == set(range(7))
    continuous = drawn("continuous", 500)[LEFT].confidence
    assert len(set(continuous)) == len(continuous)


def test_sizes_are_1_to_30_and_otherwise_8():
    assert set(drawn("sizes", 2_000)[LEFT].clusters.units) == set(range(1, 31))
    assert set(drawn("discrete", 20)[LEFT].clusters.units) == {8}


def test_a_heavy_tail_makes_up_much_of_the_loss():
    losses = np.sort(drawn("heavy_tail", 2_000)[LEFT].loss)
    assert losses[-len(losses) // 20 :].sum() > 0.2 * losses.sum()
    assert drawn("heavy_tail", 20)[LEFT].largest_loss is None


def test_units_of_a_participant_are_alike_where_a_design_says_so():
    def between(name):
        graded = drawn(name, 3_000)[LEFT]
        per_person = np.bincount(graded.clusters.of_answer, graded.loss, minlength=3_000)
        return np.mean(per_person == 0)

    assert between("alike") > between("discrete") + 0.2


@pytest.mark.slow
def test_about_23_of_250_participants_hold_the_errors():
    held = [len(CurveView.of(DESIGNS["rare_clusters"].data(250, 1, n)[""][LEFT]).first_losses) for n in range(200)]
    assert np.mean(held) == pytest.approx(23, abs=1)


def test_the_participants_who_differ_are_better_served_by_the_second_system():
    population = TruePopulation(small("discordant_10"), 1)
    left, right = (population.number("augrc", "", side) for side in (LEFT, RIGHT))
    assert 0.8 * left < right < 0.95 * left


@pytest.mark.slow
@pytest.mark.parametrize(("name", "about"), [("discordant_3", 3), ("discordant_10", 10)])
def test_about_so_many_participants_differ(name, about):
    numbers = []
    for number in range(200):
        systems = DESIGNS[name].data(41, 1, number)[""]
        left, right = (CurveView.of(systems[side]).entries() for side in (LEFT, RIGHT))
        numbers.append(discordant(left, right))
    assert np.mean(numbers) == pytest.approx(about, rel=0.1)


def test_the_first_of_two_systems_with_one_curve_withholds_its_least_confident_answers():
    systems = drawn("same_curves", 400)
    assert systems[LEFT].confidence.min() == 2
    assert systems[RIGHT].answered == systems[RIGHT].units


def test_the_eight_confidences_rank_the_same_answers():
    data = DESIGNS["eight_confidences"].data(20, 1, 0)
    assert len(data) == 8
    first, *others = (systems[LEFT].loss.tolist() for systems in data.values())
    assert all(other == first for other in others)


@parametrize_few("name", DESIGNS, 5)
def test_the_numbers_of_a_population_are_those_of_all_its_units_together(name):
    design = small(name)
    population = TruePopulation(design, 5)
    data = design.draw(design.random(5, 2**31, 0), 2_000)
    for confidence, systems in data.items():
        curves = {system: Curve.of(graded) for system, graded in systems.items()}
        common = min(curve.coverage_reached for curve in curves.values())
        for system, curve in curves.items():
            for number in design.numbers:
                exact = float(Measure.of(number)(curve))
                close = 2e-3 if name == "continuous" else 1e-9  # its confidences are rounded
                assert population.number(number, confidence, system) == pytest.approx(exact, rel=close, abs=1e-12)
            at_common = float(Measure.of(f"augrc@{common}")(curve))
            found = population.number("augrc@C_common", confidence, system)
            assert found == pytest.approx(at_common, rel=2e-3 if name == "continuous" else 1e-9)


def test_a_population_in_chunks_is_that_of_the_chunks_together():
    one, other = (grade_units(c, loss=losses) for c, losses in (([3, 2, 1], [0, 1, None]), ([3, 1, 1], [1, 0, 2])))
    both = grade_units([3, 2, 1, 3, 1, 1], loss=[0, 1, None, 1, 0, 2])
    cells = CellSums(one)
    for graded in (one, other):
        cells.add(graded, 0.0)
    for number in ("aurc", "augrc", "eaurc", "eaugrc", "cmax", "risk@0.5"):
        assert Measure.of(number)(cells.curve()).value[0] == pytest.approx(float(Measure.of(number)(Curve.of(both))))


def test_the_true_numbers_of_fair_coins_are_known():
    """Every unit answered, equally confident, wrong with probability ½: AURC ½, AUGRC ¼ and eAUGRC ⅛."""

    def draw(_, participants):
        loss = np.repeat([0, 1], participants // 2)
        return {"": {LEFT: grade_units(np.ones(participants), loss=loss.tolist(), clusters=list(range(participants)))}}

    population = TruePopulation(Design("coins", "", draw, at_large=10_000), 1)
    wanted = {"aurc": 0.5, "augrc": 0.25, "eaugrc": 0.125, "cmax": 1.0, "risk@0.3": 0.5}
    assert {name: population.number(name, "", LEFT) for name in wanted} == pytest.approx(wanted)
    assert population.number("eaurc", "", LEFT) == pytest.approx(0.5 - (0.5 + 0.5 * math.log(0.5)), abs=1e-4)


def test_designs_are_found_by_name_or_listed():
    assert design_named("sizes") is DESIGNS["sizes"]
    with pytest.raises(UserError, match="no design is called size; did you mean sizes"):
        design_named("size")
    with pytest.raises(UserError, match="there are: abstains_on_errors, alike, .*, sizes"):
        design_named("q")


@pytest.mark.parametrize(
    "wrong",
    [
        {"correlation": 2.0},
        {"loss": "ads"},
    ],
)
def test_a_design_that_makes_no_sense_is_refused_before_anything_is_simulated(wrong, message):
    with pytest.raises(UserError) as refused:
        phq8(**wrong)
    message(refused.value)


def test_two_systems_have_every_number_and_its_difference():
    assert {str(Measure.of(name)) for name in (*NUMBERS, *COMMON_NUMBERS)} == {*NUMBERS, *COMMON_NUMBERS}
    for name in PAIRED:
        assert set(drawn(name, 10)) == {LEFT, RIGHT}
