"""The page of `make coverage`: every cell is on it, and the ones that miss are named."""

import make_coverage
import pytest

from demur.extensions.lab.designs import DESIGNS
from demur.extensions.lab.study import FAMILY, Outcome, Tally


def tally(number, held, missed, *, doubted=False):
    """Counts of a number whose recommended interval held so often."""
    counts = Tally(number, 0.5)
    for inside in [True] * held + [False] * missed:
        counts.add(Outcome({"recommended": inside, "percentile": True}, 1.0, doubted=doubted))
    return counts


@pytest.mark.parametrize(
    ("counts", "missed"),
    [
        (tally("aurc", 950, 50), False),
        (tally("aurc", 925, 75), False),  # below 93.5, by less than two standard errors
        (tally("aurc", 900, 100), True),
        (tally("aurc", 1000, 0), True),
        (tally("aurc", 900, 100, doubted=True), False),  # every data set is warned
        (tally("aurc", 30, 10), True),  # too few to judge by, but below 92 and unwarned
        (tally("band of the selective risk", 920, 80), False),
        (tally(FAMILY, 1000, 0), False),  # nothing was wrongly called better
        (tally(FAMILY, 930, 70), True),
    ],
)
def test_a_cell_misses_if_it_is_outside_by_more_than_chance_and_unwarned(counts, missed):
    assert make_coverage.misses(counts) is missed


def test_the_page_names_the_cells_that_miss_and_holds_them_all():
    cells = {("sizes", 10): [tally("aurc", 380, 20)], ("sizes", 41): [tally("aurc", 340, 60)]}
    page = make_coverage.page(cells, 400, 500)
    assert "- sizes, 41 participants, aurc: 85.0, unwarned 85.0 of 400\n" in page
    assert "| aurc | 95.0 · 100.0 · 95.0 (100) | **85.0 · 100.0 · 85.0 (100)** |" in page
    assert "400 data sets per cell, 500 resamples each" in page
    assert "± 1.1 (one standard error); over a tenth of them it is ± 3.4" in page


def test_every_design_is_measured_at_each_of_its_sizes():
    assert set(make_coverage.cells()) == {(name, size) for name, each in DESIGNS.items() for size in each.participants}


@pytest.mark.slow
def test_a_small_page_is_written_from_processes(tmp_path, monkeypatch):
    monkeypatch.setattr(make_coverage, "cells", lambda: [("errors_5", 10), ("independent", 10)])
    make_coverage.main(["--datasets", "2", "--resamples", "20", "--output", str(tmp_path / "page.md")])
    page = (tmp_path / "page.md").read_text()
    assert "## errors_5\n" in page
    assert f"| {FAMILY} | " in page
