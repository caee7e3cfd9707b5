"""The drawing room: any number of systems told apart without colour, and pictures that need no page around them."""

import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from demur.drawing.confidence import ConfidenceBars, ReliabilityBins, calibration_map, histogram, reliability_diagram
from demur.drawing.forest import IntervalRow, around_zero, bar_strip, difference_strip, scale_strip, value_strip
from demur.drawing.picture import Frame, marker
from demur.drawing.risk_coverage import RiskBand, RiskCurve, risk_coverage
from demur.drawing.system_styles import STYLES, system_style
from demur.features.costs.chart import CostLine, cost_chart
from pictures import HOSTILE, check_alone, check_names, check_texts, without_rule

SVG = "{http://www.w3.org/2000/svg}"


def systems(count):
    return [
        RiskCurve(f"system {n}", system_style(n).style, [0.2, 0.5], [0.1 + n / 20, 0.2 + n / 20], 0.5, (0.2, 0.2))
        for n in range(count)
    ]


def every_chart(name):
    return [
        risk_coverage([RiskCurve(name, "first", [0.5], [0.25], 0.5, mark=(0.5, 0.25, name))], units=name),
        reliability_diagram([ReliabilityBins(name, "first", [0.5], [0.5], [3])], name, (name, name)),
        histogram(ConfidenceBars("first", [0.0, 0.5, 1.0], [1, 2], [0, 1], 3), 3),
        cost_chart([CostLine(name, "first", [(0, 0), (0.5, 0.25), (1, 0.3)], 0.2, [(0.5, 0.25, (0.2, 0.3))])]),
        calibration_map([0.0, 1.0], [0.25, 0.75], name, knots=True),
    ]


class TestStyles:
    def test_no_two_share_a_colour_a_marker_or_a_dash(self):
        for property_ in ("style", "colour", "marker", "dash"):
            assert len({getattr(look, property_) for look in STYLES}) == len(STYLES) == 8

    def test_no_two_markers_have_one_shape(self):
        assert len({re.sub('class="[^"]*"', "", marker(50, 50, look.style)) for look in STYLES}) == len(STYLES)

    def test_eight_systems_in_one_picture_have_a_line_an_end_and_a_key_each(self):
        tree = ET.fromstring(risk_coverage(systems(8)).standalone())  # noqa: S314  (our own)
        texts = ["".join(node.itertext()) for node in tree.iter(f"{SVG}text")]
        for number, look in enumerate(STYLES):
            lines = [node for node in tree.iter(f"{SVG}path") if node.get("class") == f"line {look.style}"]
            assert len(lines) == 2, "the curve and the key"
            assert texts.count(f"system {number}") == 1, "the key"
            assert f"● system {number} 50.0%" in texts, "where the curve ends"

    def test_the_names_of_many_curves_do_not_lie_on_each_other(self):
        """Where they end at one risk as well."""
        alike = [RiskCurve(f"s{n}", system_style(n).style, [0.2, 0.9], [0.1, 0.2], 0.9) for n in range(8)]
        for curves in (systems(8), alike):
            tree = ET.fromstring(risk_coverage(curves).standalone())  # noqa: S314  (our own)
            ends = [float(node.get("y")[:-1]) for node in tree.iter(f"{SVG}text") if node.get("class") == "end"]
            plot = 400 - 34 - 46
            assert min(abs(a - b) for a, b in pairwise(sorted(ends))) * plot / 100 >= 15

    def test_no_text_is_scaled_with_the_picture(self):
        for picture in every_chart("name"):
            check_texts(picture)


class TestStrips:
    def test_zero_is_in_the_middle_and_everything_fits(self):
        rows = [
            IntervalRow("a", "first", 0.5, (0.25, 1.0)),
            IntervalRow("b", "neither", -0.1),
            IntervalRow("c", "x", None),
        ]
        frame = around_zero(rows)
        assert frame.xs == (-1.06, 1.06)
        drawn = difference_strip(rows[0], frame)
        assert re.findall('x[12]="([0-9.]+)%"', drawn) == ["50", "50", "61.79", "97.17"]
        assert "diamond" not in difference_strip(rows[2], frame)

    def test_ranges_lie_behind_a_value_and_a_bar_is_a_share(self):
        row = IntervalRow("a", "second", 0.25, (0.0, 0.5))
        drawn = value_strip(row, Frame(), {"good": (0.5, 0.75)})
        assert drawn.index("range good") < drawn.index("interval second") < drawn.index("dot second")
        assert 'x="50%" width="25%"' in drawn
        assert 'width="25%"' in bar_strip(0.25, "first")

    def test_the_scale_names_round_numbers(self):
        assert re.findall(">([^<]+)</text>", scale_strip(Frame())) == ["0", "0.4", "0.8"]

    def test_nothing_to_draw_is_drawn_as_nothing(self):
        assert around_zero([]).xs == (-1.0, 1.0)


class TestStandalone:
    @pytest.mark.parametrize("index", range(4))
    def test_text_is_shown_and_not_obeyed_on_the_page_and_alone(self, index):
        check_names(every_chart("name")[index], every_chart(HOSTILE)[index])

    @pytest.mark.parametrize("index", range(4))
    def test_it_draws_what_the_page_draws(self, index):
        check_alone(every_chart("name")[index])

    def test_its_rules_leave_the_notebook_around_it_alone(self):
        style = re.search("<style>(.*?)</style>", every_chart("x")[0].standalone(), re.DOTALL)[1]
        selectors = [each for group in re.findall(r"([^{}]+)\{", style) for each in group.split(",")]
        assert len(selectors) > 20
        assert all(selector.strip().startswith(".demur ") for selector in selectors)

    def test_every_class_that_is_drawn_has_a_rule_or_is_plain_text(self):
        band = RiskBand([0.5], [0.1], [0.3], [0.0], [0.4], stepped=True)
        full = RiskCurve("x", "first", [0.5], [0.2], 0.5, (0.2, 0.2), [(0.0, 0.1), (0.5, 0.2)], band)
        assert not without_rule(*every_chart("x"), risk_coverage([full]))

    def test_paper_is_white(self):
        white = '<rect width="760" height="420" fill="white"/>'
        assert white in every_chart("x")[0].standalone(paper=True)
        assert white not in every_chart("x")[0].standalone()


def test_risks_below_nothing_are_inside_the_frame():
    """A loss of one's own may be negative."""
    picture = risk_coverage([RiskCurve("", "first", [0.5, 1.0], [-2.0, -1.0], 1.0)])
    heights = [float(y) for y in re.findall(r'<svg x="[^"]*" y="([\d.]+)%"><circle', picture.svg)]
    assert len(heights) == 2
    assert all(0 <= height <= 100 for height in heights)


def test_empty_bins_are_not_drawn():
    bins = ReliabilityBins.of("", "first", [(0.1, 0.2, 5), (0.5, 0.0, 0), (0.9, 0.8, 20)])
    assert (bins.mean_predicted, bins.fraction_correct, bins.count) == ([0.1, 0.9], [0.2, 0.8], [5, 20])
    assert bins.weight == [0.25, 1.0]


def test_confidences_as_far_apart_as_numbers_can_be_are_drawn_inside_the_frame():
    scales = [-1.7e308, 0.0, 1.7e308], [-1.0, 0.0, 1.0]
    far, near = (histogram(ConfidenceBars("first", edges, [1, 2], [0, 1], 3), 3).svg for edges in scales)
    assert re.findall(r' d="[^"]*"', far) == re.findall(r' d="[^"]*"', near)
