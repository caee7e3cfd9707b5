"""Do the intervals hold the truth as often as they say? Simulated, with fixed seeds; slow."""

import pytest

from demur.study import Design, coverage, report

MEASURED = ("aurc", "augrc", "mae@0.3", "Δaurc", "Δaugrc", "Δaugrc@C_common")


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


def test_a_small_study_runs_and_reports():
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
