"""The chart of costs: what it draws is what the rows say, at every price."""

import re

import pytest

from demur import Costs, Key, Plan, evaluate
from demur.features.costs.chart import CostLine, cost_chart
from demur.features.costs.section import cost_line, costs
from four_clusters import system

PRICES = ["0", "0.02", "0.1", "1/3", "0.5", "0.75", "1"]
LOSSES = [0, 1, 0, 0, 1, None, 0, None], [0, 0, 0, 1, 1, 0, 1, None], [0] * 8, [None] * 8


def priced(loss, resamples=0):
    return evaluate({"sys": system(loss)}, Costs(*PRICES), confidence="sure", plan=Plan(resamples, seed=7))


@pytest.mark.parametrize("loss", LOSSES)
def test_the_line_passes_through_the_rows(loss):
    results = priced(loss)
    line = cost_line(results.curves["sys", "sure"], "", "first")
    for price in PRICES:
        lowest, of_all = (results[Key("sys", f"{name}@{price}", "sure")].value for name in ("cost", "cost_of_all"))
        at = 1 / 3 if price == "1/3" else float(price)
        assert line.cost(at) == pytest.approx(lowest, abs=1e-15)
        assert line.cost_of_all(at) == pytest.approx(of_all, abs=1e-15)


def test_marks_and_intervals_are_where_the_numbers_are():
    line = CostLine("", "first", [(0, 0), (1, 0.5)], 0.2, [(0.1, 0.05, (0.0, 0.27)), (0.0, 0.0, None)])
    drawn = cost_chart([line]).svg
    assert drawn.count("<circle") == 1, "a price of 0 has no place on a log scale"
    assert '<svg x="50%" y="90.74%"><circle' in drawn, "0.1 is in the middle of 0.01 to 1; 0.05 of 0.54"
    assert 'y1="100%" y2="50%" class="interval first"' in drawn


def test_a_lower_price_that_was_asked_for_widens_the_scale():
    drawn = cost_chart([CostLine("", "first", [(0, 0), (1, 0.5)], 0.2, [(1e-4, 5e-5, None)])]).svg
    assert re.search(r'<text x="0%"[^>]*>0.0001<', drawn)
    assert '<svg x="0%"' in drawn


def test_the_page_has_it_for_every_confidence():
    results = priced(LOSSES[0], resamples=50)
    drawn = [one["svg"] for one in costs(results)["confidences"]]
    assert len(drawn) == 1
    assert "0.1 at 0.1, 0.3333 at 0.3333, 0.375 at 0.5" in drawn[0]
