"""The charts beside others: marks are where the numbers are, and lines lead to the system at the same coverage."""

import pytest

from demur.drawing.risk_coverage import RiskCurve
from demur.features.raters.charts import Handover, OutsidePoint, handover_chart, points_chart
from demur.features.raters.comparators import Comparators
from demur.features.raters.section import raters_and_points
from pictures import HOSTILE, check_alone, check_names, check_texts, without_rule
from raters import PLAN, evaluated, rater

CURVE = RiskCurve("sys", "first", [0.25, 0.5], [0.4, 0.8], 0.5)  # the frame reaches to 1.25 · 0.8 · 1.04


def test_a_point_has_bars_both_ways_and_a_line_to_the_system():
    point = OutsidePoint("A", "counts", 0.25, 0.52, (0.2, 0.3), (0.26, 0.78), [("first", 0.4)])
    drawn = points_chart([CURVE], [point]).svg
    assert '<svg x="25%" y="50%"><path d="M-5-5h10v10h-10Z" class="diamond"/>' in drawn
    assert 'x1="20%" x2="30%" y1="50%" y2="50%" class="interval neither"' in drawn
    assert 'x1="25%" x2="25%" y1="75%" y2="25%" class="interval neither"' in drawn
    assert 'x1="25%" x2="25%" y1="50%" y2="61.54%" class="reference first"' in drawn
    assert "sys: 0.4 at a coverage of 25.0%, 0.8 at 50.0%. Beside them A: 0.52 at a coverage of 25.0%." in drawn


def test_a_point_without_uncertainty_is_hollow_and_one_beyond_the_curve_has_no_line():
    drawn = points_chart([CURVE], [OutsidePoint("A", "published", 1.0, 0.52)]).svg
    assert '<svg x="100%" y="50%"><path d="M-6 5h12l-6-11Z" class="diamond neither"/>' in drawn
    assert "interval" not in drawn
    assert "reference" not in drawn


@pytest.mark.parametrize("risk", [2.5, 0.0])
def test_the_frame_holds_the_highest_point(risk):
    drawn = points_chart([], [OutsidePoint("A", "paired", 0.5, risk, None, (risk, risk))]).svg
    assert f'<svg x="50%" y="{"3.85%" if risk else "100%"}"><path d="M0-7' in drawn


def test_handing_over_is_drawn_beside_the_rater_alone():
    drawn = handover_chart(Handover("first", "A", [1.0, 0.75, 0.5], [0.25, 0.5, 0.25])).svg
    assert [f'<svg x="{x}%" y="{y}%"><circle' in drawn for x, y in ((100, 53.7), (75, 7.41), (50, 53.7))] == [True] * 3
    assert 'x="100%" y="53.7%" dy="-9" text-anchor="end" class="end">A alone<' in drawn


@pytest.mark.parametrize(
    "draw",
    [
        lambda name: points_chart([CURVE], [OutsidePoint(name, "counts", 0.5, 0.25)]),
        lambda name: handover_chart(Handover("first", name, [1.0, 0.5], [0.25, 0.2])),
    ],
)
def test_names_are_inert_and_the_chart_stands_alone(draw):
    check_names(draw("name"), draw(HOSTILE))
    check_texts(draw("name"))
    check_alone(draw("name"))
    assert not without_rule(draw("name"))


def test_the_page_draws_the_worked_example():
    """The rater at 3/4 and 1/6, the system there 1/3, the frame up to 1.04 times the end of the interval or of 5/8."""
    results = evaluated(Comparators(raters={"A": rater()}), plan=PLAN)
    (one,) = raters_and_points(results)["confidences"]
    assert 'x1="75%" x2="75%"' in one["svg"]
    assert "Beside them A: 0.1667 at a coverage of 75.0%." in one["svg"]
    ((_, name, handed, rows),) = one["handover"]
    assert (name, len(rows), handed.count("<circle")) == ("A", 5, 5)
    assert "0.2857 at 25.0%, 0.1667 at 100.0%" in handed
