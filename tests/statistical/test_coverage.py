"""Do the intervals cover as often as they should? Simulated, with fixed seeds; slow.

`make coverage` measures every design at every size; here is what must not get worse.
"""

from dataclasses import replace

import pytest

from demur import Plan, estimate
from demur.extensions.lab.designs import DESIGNS, LEFT
from demur.extensions.lab.population import TruePopulation
from demur.extensions.lab.study import FAMILY, coverage, monte_carlo_error, report

DATASETS = 500
LOWEST, HIGHEST, BAND_LOWEST = 0.935, 0.98, 0.93
LEAST = 200  # data sets without a warning, below which a share says little


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "participants"),
    [("phq8", 41), ("continuous", 41), ("sizes", 41), ("errors_5", 100), ("alike", 41), ("rare_clusters", 250)],
)
def test_intervals_cover_wherever_nothing_is_warned_about(name, participants, capsys):
    tallies = coverage(DESIGNS[name], participants, datasets=DATASETS, seed=1, resamples=500)
    with capsys.disabled():
        print("\n" + report(DESIGNS[name], participants, tallies))
    for tally in tallies:
        if tally.undoubted >= LEAST:
            slack = 3 * monte_carlo_error(tally.undoubted)
            lowest = BAND_LOWEST if tally.number.startswith("band") else LOWEST
            assert lowest - slack <= tally.share_undoubted <= HIGHEST + slack, tally.number


@pytest.mark.slow
@pytest.mark.parametrize("name", ["independent", "same_curves", "eight_confidences"])
def test_nothing_is_called_better_that_is_not(name):
    tallies = {each.number: each for each in coverage(DESIGNS[name], 41, datasets=DATASETS, seed=1, resamples=500)}
    for number in (FAMILY, "Δaugrc@C_common"):
        assert 1 - tallies[number].share() <= 0.05 + 3 * monte_carlo_error(DATASETS), number


@pytest.mark.slow
def test_resampling_items_instead_of_people_does_not_cover():
    design, held = DESIGNS["phq8"], {"cmax": 0, "augrc": 0}
    population = TruePopulation(design, 2)
    for number in range(DATASETS):
        graded = design.data(41, 2, number)[""][LEFT]
        found = estimate(replace(graded, clusters=None), [*held], plan=Plan(500, seed=number))
        for name in held:
            ends = found[name].percentile
            held[name] += ends.low <= population.number(name, "", LEFT) <= ends.high
    assert held["cmax"] < 0.85 * DATASETS
    assert held["augrc"] < 0.90 * DATASETS


@pytest.mark.slow
def test_more_resamples_sharpen_an_interval_and_do_not_change_its_kind():
    """Ends differ by no more than quantiles of 500 replicates do: by about a tenth of a standard error each."""
    apart: dict[str, list[float]] = {}
    for number in range(200):
        graded = DESIGNS["errors_5"].data(41, 3, number)[""][LEFT]
        few, many = (estimate(graded, plan=Plan(size, seed=number)) for size in (500, 10_000))
        for row, other in zip(few, many, strict=True):
            if row.recommended is None or other.recommended is None:
                assert row.drop_rate > 0.3 or row.no_interval == other.no_interval
                continue
            assert row.recommended.method == other.recommended.method, row.key
            assert row.recommended.count == other.recommended.count
            ends, others = (each.unclipped or (each.low, each.high) for each in (row.recommended, other.recommended))
            moved = max(abs(end - another) for end, another in zip(ends, others, strict=True))
            apart.setdefault(row.recommended.method, []).append(moved / max(others[1] - others[0], 1e-12))
    for method, shares in apart.items():
        if method.startswith(("analytic", "logit", "cluster")):
            assert max(shares) < 1e-12, method
        else:
            assert sorted(shares)[len(shares) // 2] < 0.12, method
