"""Many systems and planned studies: how often equal systems are called unequal, and a difference is found. Slow."""

import numpy as np
import pytest

from demur import Graded, Key, Measure, Minus, Plan
from demur.inference.planning import Pilot, needed
from demur.inference.rows import Contrast, all_pairs
from demur.inference.student import t_tails
from demur.inference.uncertainty import Headline, estimated
from demur.inference.views import CurveView
from demur.results.curves import curve_rows
from demur.sampling.graded import Clusters

AREA = Measure.of("augrc@C_common")
UNITS = 4


def system(rng, hard, wrong=0.3, answered=0.8):
    """Units of people some of whom are hard; a confidence that knows a little about the losses."""
    people = len(hard)
    loss = rng.random((people, UNITS)) < 1 / (1 + np.exp(-hard[:, None] - np.log(wrong / (1 - wrong))))
    known = rng.random((people, UNITS)) < answered
    sure = rng.random((people, UNITS)) - 0.4 * loss
    owner = np.repeat(np.arange(people), UNITS).reshape(people, UNITS)
    clusters = Clusters(tuple(range(people)), np.full(people, UNITS), owner[known])
    return Graded(people * UNITS, loss[known].astype(float), sure[known], clusters=clusters, largest_loss=1)


def rows_of(systems):
    views = {name: CurveView.of(each) for name, each in systems.items()}
    return [*curve_rows("", views, [AREA])]


@pytest.mark.slow
@pytest.mark.parametrize("people", [10, 20, 41])
def test_of_eight_equal_systems_some_pair_is_called_unequal_in_at_most_5_percent(people, capsys):
    datasets, false = 200, 0
    for number in range(datasets):
        rng = np.random.default_rng([people, number])
        hard = rng.normal(size=people)
        rows = rows_of({f"s{index}": system(rng, hard) for index in range(8)})
        pairs = all_pairs(rows, [])
        assert len(pairs) == 28
        headline = Headline(Key("", str(AREA)), pairs)
        estimates, _ = estimated(rows, [], plan=Plan(200, seed=number), headline=headline)
        ends = [row.simultaneous for row in estimates if row.key.minus]
        false += any(each is not None and not each.low <= 0 <= each.high for each in ends)
    with capsys.disabled():
        print(f"\n{people} clusters: {100 * false / datasets:.1f} % of {datasets} data sets")
    assert false / datasets <= 0.05 + 2 * (0.05 * 0.95 / datasets) ** 0.5


def difference(people, wrong, rng):
    """The difference of two systems on the same people, as a contrast without draws."""
    hard = rng.normal(size=people)
    first, second = rows_of({"a": system(rng, hard, 0.3), "b": system(rng, hard, wrong)})
    contrast = Contrast(Key("b", str(AREA), minus=Minus("system", "a")), second, first, people)
    estimates, _ = estimated([first, second], [contrast], plan=Plan(0, None))
    return estimates[-1]


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [0.235, 0.16, 0.09])
def test_a_planned_study_finds_the_difference_in_80_percent(wrong, capsys):
    """The truth from 40 000 people; then studies of the planned size, each decided by its own interval."""
    large = Pilot.of(difference(40_000, wrong, np.random.default_rng(1)), 40_000)
    size, studies, found = needed(large).clusters, 1000, 0
    for number in range(studies):
        evidence = difference(size, wrong, np.random.default_rng([2, number])).evidence
        found += t_tails(evidence.point / evidence.std_error, evidence.degrees) < 0.05
    with capsys.disabled():
        print(f"\nplanned {size}: {100 * found / studies:.1f} % of {studies} studies find it")
    assert abs(found / studies - 0.8) <= 0.04
