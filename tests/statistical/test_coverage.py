"""Do the intervals cover as often as they should? Simulated, with fixed seeds; slow."""

from functools import partial

import numpy as np
import pytest

from demur import Curve, Plan, UserError, bootstrap
from demur.inference.bands import bands_of, drawn_risks
from demur.inference.views import CurveView
from demur.simulate.runs import ZERO_SHOT, make_people, run_system
from demur.simulate.study import Design, coverage, report

MEASURED = ("aurc", "augrc", "risk@0.3", "Δaurc", "Δaugrc", "Δaugrc@C_common")


@pytest.mark.slow
@pytest.mark.parametrize(("participants", "within"), [(10, 0.03), (20, 0.03), (41, 0.02)])
def test_recommended_intervals_cover(participants, within, capsys):
    design = Design(participants=participants)
    tallies = coverage(design, datasets=1_000, seed=1)
    with capsys.disabled():
        print("\n" + report(design, tallies))
    for name in MEASURED:
        assert abs(tallies[name].share("recommended") - 0.95) <= within, name
    assert tallies["cmax"].share("recommended") >= 0.91


@pytest.mark.slow
def test_resampling_items_instead_of_people_does_not_cover():
    tallies = coverage(Design(participants=41), datasets=500, seed=2)
    assert tallies["cmax"].share("item-level") < 0.85
    assert tallies["augrc"].share("item-level") < 0.90


def test_a_small_study_runs_and_reports(monkeypatch):
    monkeypatch.setattr("demur.simulate.study._AT_LARGE", 2_000)  # the slow tests take the truth from all 200 000
    told = []
    design = Design(participants=6)
    tallies = coverage(
        design, datasets=3, seed=1, n_resamples=50, progress=lambda done, total: told.append((done, total))
    )
    text = report(design, tallies)
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert text.startswith("6 participants, 3 data sets; nominal 95 %")
    assert len(text.splitlines()) == 2 + 7
    assert {tally.datasets for tally in tallies.values()} == {3}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"participants": 0}, "participants 0, expected an integer, 1 or more"),
        ({"correlation": 2.0}, "correlation 2.0, expected a number from 0 to 1"),
        ({"loss": "ads"}, "no loss is called ads; did you mean abs?"),
    ],
)
def test_a_design_that_makes_no_sense_is_refused_before_anything_is_simulated(wrong, message):
    with pytest.raises(UserError, match=message):
        Design(**wrong)


def truth_inside(curve, coverage, band, name):
    """Whether the curve of very many people lies inside a band wherever it reaches."""
    place = np.searchsorted(curve.coverage, coverage * (1 - 1e-12))
    there = place < len(curve)
    truth = getattr(curve, name)[place[there]]
    return ((band.low_simultaneous[there] <= truth) & (truth <= band.high_simultaneous[there])).all()


@pytest.mark.slow
@pytest.mark.parametrize("confidence", ["llm", "token_msp"])
def test_simultaneous_bands_hold_the_whole_curve(confidence, capsys):
    at_large = Curve.of(run_system(make_people(100_000, seed=10**6), ZERO_SHOT, seed=10**6).graded("abs", confidence))
    held = dict.fromkeys(("selective_risk", "generalized_risk"), 0)
    for seed in range(500):
        graded = run_system(make_people(41, seed=seed), ZERO_SHOT, seed=seed).graded("abs", confidence)
        view = CurveView.of(graded)
        drawn = bootstrap(partial(drawn_risks, view.curve), view.table, plan=Plan(1000, seed=seed))
        bands = bands_of(view, drawn)
        for name in held:
            held[name] += truth_inside(at_large, bands.coverage, getattr(bands, name), name)
    with capsys.disabled():
        print(f"\n{confidence}: {held} of 500")
    for name, count in held.items():
        assert 0.91 <= count / 500 <= 0.98, name
