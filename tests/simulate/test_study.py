"""The coverage study: it counts what it says it counts."""

from dataclasses import replace

import numpy as np
import pytest

from demur import Estimate, Interval, Key, Measure, Minus, Plan, ResultWarning, UserError, grade_units
from demur.extensions.lab import study
from demur.extensions.lab.coverage_chart import coverage_chart
from demur.extensions.lab.designs import DESIGNS, LEFT, Design, phq8
from demur.extensions.lab.population import CellSums
from demur.extensions.lab.study import FAMILY, Outcome, Tally, coverage, report
from demur.inference.bands import BandColumns, BandEnds
from demur.inference.key import Pattern
from demur.inference.rows import contrasts_with
from demur.inference.uncertainty import SIDE_ONLY, estimated
from demur.inference.views import CurveView
from demur.results.curves import curve_rows
from installation import needs
from parametrized import parametrize_few

EVERYTHING, NOTHING = Interval("fixed", -9e9, 9e9), Interval("fixed", 9e9, 9e9)


def quick(name, **changes):
    """A design with a small population: these tests look at how is counted, not at the truth."""
    return replace(DESIGNS[name], at_large=2_000, **changes)


def with_intervals(monkeypatch, recommended, percentile):
    """Every number gets these intervals, whatever the data say."""
    made = study.estimated

    def fixed(*rows, **options):
        estimates, asked = made(*rows, **options)
        chosen = {"recommended": recommended, "percentile": percentile}
        return [replace(row, **chosen, simultaneous=row.simultaneous and recommended) for row in estimates], asked

    monkeypatch.setattr(study, "estimated", fixed)


@parametrize_few(("design", "numbers"), [("discrete", 14), ("independent", 16), ("phq8", 30)], 1)
def test_what_holds_everything_covers_always_and_what_holds_nothing_never(monkeypatch, design, numbers):
    with_intervals(monkeypatch, EVERYTHING, NOTHING)
    tallies = [
        tally
        for tally in coverage(quick(design), 10, datasets=4, seed=1, resamples=20)
        if not tally.number.startswith(("band", FAMILY))
    ]
    assert len(tallies) == numbers
    for tally in tallies:
        assert (tally.share("recommended"), tally.share("percentile")) == (1.0, 0.0), tally.number
        assert tally.made == {"recommended": 4, "percentile": 4}


def test_a_data_set_without_an_interval_is_counted_apart_and_is_no_miss(monkeypatch):
    with_intervals(monkeypatch, None, EVERYTHING)
    tally = next(each for each in coverage(quick("discrete"), 10, datasets=3, seed=1, resamples=20))
    assert (tally.datasets, tally.made, tally.doubted) == (3, {"recommended": 0, "percentile": 3}, 3)
    assert np.isnan(tally.share())
    assert np.isnan(tally.share_undoubted)


def test_shares_are_over_the_intervals_there_are_and_over_the_data_sets_without_a_warning():
    tally = Tally("aurc", 0.5)
    for recommended, percentile, doubted in ((True, True, False), (False, True, True), (True, False, True)):
        tally.add(Outcome({"recommended": recommended, "percentile": percentile}, 2.0, doubted=doubted))
    tally.add(Outcome({"recommended": None, "percentile": None}, 0.0, doubted=True))
    assert tally.datasets == 4
    assert (tally.share(), tally.share("percentile")) == (2 / 3, 2 / 3)
    assert (tally.undoubted, tally.share_undoubted, tally.mean_width) == (1, 1.0, 2.0)


def outcome(about, key=None, interval=EVERYTHING):
    """What is made of one number, given one warning."""
    row = Estimate(key or Key(LEFT, "aurc"), 0.5, recommended=interval)
    return study._outcome(row, 0.5, [ResultWarning("any", about)])


def test_a_warning_is_about_a_number_or_about_everything():
    difference = Key("right", "aurc", minus=Minus("system", LEFT))
    general, own = outcome(Pattern()), outcome(Pattern(system=LEFT, quantity="aurc"))
    assert (general.warned, general.doubted) == (True, False)
    assert (own.warned, own.doubted) == (True, True)
    assert not outcome(Pattern(system=LEFT, quantity="augrc")).warned
    assert outcome(Pattern(minus=Minus("system", LEFT)), difference).doubted
    assert not outcome(Pattern(minus=Minus("system", LEFT))).warned


@pytest.mark.parametrize(
    ("low", "high", "held"), [(0.5, 1.0, True), (0.0, 0.5, True), (0.6, 1.0, False), (0, 0.4, False)]
)
def test_an_interval_holds_the_truth_up_to_its_ends(low, high, held):
    assert outcome(Pattern(), interval=Interval("fixed", low, high)).held["recommended"] is held


def band(low, high, coverages=(0.5, 1.0)):
    ends = BandColumns(*(np.array(column, dtype=float) for column in (low, high, low, high)))
    return BandEnds(np.array(coverages), ends, ends)


def test_a_band_holds_if_it_holds_the_population_at_each_of_its_coverages():
    cells = CellSums(units := grade_units([2, 2, 1, 1], loss=[0, 0, 0, 1]))  # risks 0 at ½ and ¼ at 1
    cells.add(units, 0.0)
    curve = cells.curve()
    held = {
        (0.0, 0.3): True,
        (0.1, 0.3): False,
        (0.0, 0.2): False,
    }
    for (low, high), expected in held.items():
        found = study._band(band([low, low], [high, high]), "selective_risk", curve)
        assert found.held == {"recommended": expected, "percentile": expected}
    assert study._band(band([0.0, 0.25], [0.0, 0.25]), "generalized_risk", curve).held["recommended"]
    assert study._band(band([0.0, 0.25], [0.0, 0.25], (0.4, 0.6)), "selective_risk", curve).held["recommended"]


def test_a_band_is_looked_at_where_it_is_drawn_and_where_the_population_reaches():
    cells = CellSums(units := grade_units([2, 2, 1, 1], loss=[0, 0, 1, None]))
    cells.add(units, 0.0)
    nowhere = band([np.nan, np.nan], [np.nan, np.nan])
    partly = band([np.nan, 0.3], [np.nan, 0.4], (0.5, 0.7))
    beyond = band([0.0, 0.9], [0.1, 0.9], (0.5, 0.9))
    assert study._band(nowhere, "selective_risk", cells.curve()).held["recommended"] is None
    assert study._band(partly, "selective_risk", cells.curve()).held["recommended"]
    assert study._band(beyond, "selective_risk", cells.curve()).held["recommended"]
    assert study._band(None, "selective_risk", cells.curve()).held == {"recommended": None, "percentile": None}


def test_a_number_the_population_has_not_is_left_out():
    def half(rng, participants):
        loss = [0, 1, None, None] * participants
        confidence = rng.random(4 * participants)
        return {"": {LEFT: grade_units(confidence, loss=loss, clusters=np.repeat(range(participants), 4).tolist())}}

    design = Design("half", "", half, numbers=("aurc", "risk@0.3", "risk@0.6"), at_large=500)
    assert [tally.number for tally in coverage(design, 6, datasets=2, seed=1, resamples=20)][:2] == ["aurc", "risk@0.3"]


@pytest.mark.slow
def test_nothing_differs_where_a_design_says_so_and_the_rest_has_its_own_truth():
    truths = {
        tally.number: tally.truth for tally in coverage(quick("same_curves"), 6, datasets=1, seed=1, resamples=20)
    }
    assert truths["Δaugrc@C_common"] == truths["Δrisk@0.3"] == truths["Δaurc@0.5"] == 0
    assert truths["Δcmax"] > 0.1
    assert truths["Δaugrc"] > 0.01
    everywhere = coverage(quick("independent"), 6, datasets=1, seed=1, resamples=20)
    assert {tally.truth for tally in everywhere if tally.number.startswith("Δ")} == {0.0}


@pytest.mark.slow
def test_of_several_confidences_the_first_is_counted_alone_and_all_of_them_together():
    tallies = coverage(quick("eight_confidences"), 12, datasets=2, seed=1, resamples=20)
    assert {tally.datasets for tally in tallies} == {2}
    assert [tally.number for tally in tallies][-1] == FAMILY


def test_a_family_holds_if_none_of_its_differences_leaves_out_0():
    def row(low, high):
        interval = Interval("fixed", low, high)
        return Estimate(Key("b", "aurc"), 0.0, percentile=interval, simultaneous=interval)

    both = study._family([row(-1, 1), row(0, 1)])
    assert both.held == {"recommended": True, "percentile": True}
    assert study._family([row(-1, 1), row(0.1, 1)]).held == {"recommended": False, "percentile": False}


def test_a_small_study_runs_reports_and_is_drawn():
    told = []
    design = replace(phq8(), at_large=500)
    tallies = coverage(design, 6, datasets=3, seed=1, resamples=50, progress=lambda *done: told.append(done))
    assert told == [(1, 3), (2, 3), (3, 3)]
    text = report(design, 6, tallies)
    assert text.startswith("phq8, 6 participants: ")
    assert all(f"\n{tally.number} " in text for tally in tallies)
    drawing = coverage_chart(tallies, "words").standalone(paper=True)
    shown = [tally for tally in tallies if any(tally.made.values())]
    assert drawing.count('class="row"') == len(shown)
    assert drawing.count("<circle") == 1 + sum(tally.made["recommended"] > 0 for tally in shown)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_study_and_another_another():
    def counts(seed):
        return [vars(each) for each in coverage(quick("discrete"), 8, datasets=3, seed=seed, resamples=30)]

    assert counts(1) == counts(1) != counts(2)


@pytest.mark.parametrize(
    "wrong",
    [
        {"participants": 0},
        {"datasets": 0},
        {"resamples": 0},
        {"seed": -1},
    ],
)
def test_a_study_that_makes_no_sense_is_refused(wrong, message):
    with pytest.raises(UserError) as refused:
        coverage(DESIGNS["discrete"], **{"participants": 5, "datasets": 1, "seed": 1, "resamples": 10} | wrong)
    message(refused.value)


FIGURES = """\
cmax 0.5746 100.0% 50.0% 100.0% 4 0.0% 0.3307
aurc 0.11 100.0% 100.0% 100.0% 3 25.0% 0.1377
augrc 0.03381 100.0% 50.0% 100.0% 3 25.0% 0.05064
naurc 0.1915 75.0% 75.0% 66.7% 3 25.0% 0.2249
naugrc 0.05885 100.0% 75.0% 100.0% 3 25.0% 0.06564
eaurc 0.07168 100.0% 100.0% 0 100.0% 0.1007
eaugrc 0.01618 100.0% 75.0% 0 100.0% 0.02489
risk 0.2321 100.0% 50.0% 100.0% 3 25.0% 0.1806
aurc@0.3 0.05229 75.0% 75.0% 0 100.0% 0.08106
aurc@0.5 0.09327 100.0% 100.0% 0 100.0% 0.1102
augrc@0.3 0.008217 100.0% 75.0% 0 100.0% 0.011
augrc@0.5 0.02479 100.0% 100.0% 0 100.0% 0.03622
risk@0.3 0.2031 100.0% 100.0% 0 100.0% 0.214
risk@0.5 0.2196 100.0% 100.0% 0 2 100.0% 0.1801
Δcmax 0.1426 75.0% 75.0% 0 100.0% 0.3004
Δaurc 0.06119 100.0% 50.0% 0 100.0% 0.1369
Δaugrc 0.03107 100.0% 100.0% 0 100.0% 0.05859
Δnaurc 0.04726 75.0% 50.0% 0 100.0% 0.1886
Δnaugrc 0.03163 100.0% 75.0% 0 100.0% 0.06194
Δeaurc 0.03674 75.0% 75.0% 0 100.0% 0.1064
Δeaugrc 0.01364 100.0% 100.0% 0 100.0% 0.03061
Δrisk 0.04507 100.0% 75.0% 0 100.0% 0.1464
Δaurc@0.3 0.01301 75.0% 50.0% 0 100.0% 0.08949
Δaurc@0.5 0.02052 100.0% 75.0% 0 100.0% 0.1316
Δaugrc@0.3 0.001963 75.0% 25.0% 0 100.0% 0.01031
Δaugrc@0.5 0.004966 100.0% 75.0% 0 100.0% 0.03346
Δrisk@0.3 0.04258 100.0% 100.0% 0 100.0% 0.1873
Δrisk@0.5 0.04491 50.0% 100.0% 0 2 100.0% 0.1092
Δaurc@C_common 0.02289 75.0% 50.0% 0 100.0% 0.1135
Δaugrc@C_common 0.006283 75.0% 25.0% 0 100.0% 0.02551
band of the selective risk 100.0% 75.0% 100.0% 4 0.0% 0.2619
band of the generalized risk 100.0% 75.0% 100.0% 4 0.0% 0.1378
"""


def printed(threads):
    """The rows of a small study."""
    design = quick("phq8")
    tallies = coverage(design, 12, datasets=4, seed=3, resamples=60, threads=threads)
    return [line.split() for line in report(design, 12, tallies).splitlines()[3:-5]]


@pytest.mark.slow
def test_a_small_study_has_the_figures_it_had_before_data_sets_were_shared_out():
    assert printed(1) == [line.split() for line in FIGURES.splitlines()]


@pytest.mark.slow
def test_a_study_on_two_processes_prints_what_it_prints_on_one():
    assert printed(2) == printed(1)


@pytest.mark.slow
@needs("scale")
@pytest.mark.parametrize("name", ["continuous", "eight_confidences"])
def test_processes_add_the_data_sets_in_their_order(name):
    told = []
    design = quick(name)

    def counted(**options):
        return [repr(vars(tally)) for tally in coverage(design, 8, datasets=13, seed=1, resamples=30, **options)]

    assert counted(threads=2, progress=lambda *done: told.append(done)) == counted()
    assert told == [(7, 13), (13, 13)]


def test_the_side_of_a_difference_alone_has_no_interval_and_changes_no_difference():
    views = {name: CurveView.of(graded) for name, graded in DESIGNS["phq8"].data(12, 1, 0)[""].items()}
    measures = [Measure.of(name) for name in ("cmax", "aurc", "risk@0.5", "aurc@C_common")]
    rows = [*curve_rows("", views, measures)]
    sides = [replace(row, side=True) for row in rows]
    full, light = (
        [*estimated(each, [*contrasts_with(each, LEFT)], plan=Plan(60, seed=1))[0]] for each in (rows, sides)
    )
    for usual, side in zip(full, light, strict=True):
        assert (side.key, side.value, side.drop_rate) == (usual.key, usual.value, usual.drop_rate)
        assert (side.other_threshold_rate, side.short_domain_rate) == (
            usual.other_threshold_rate,
            usual.short_domain_rate,
        )
        if side.key.minus:
            assert (side.recommended, side.percentile, side.p_value) == (
                usual.recommended,
                usual.percentile,
                pytest.approx(usual.p_value, abs=0, nan_ok=True),
            )
        else:
            assert (side.recommended, side.percentile, side.no_interval) == (None, None, SIDE_ONLY)
