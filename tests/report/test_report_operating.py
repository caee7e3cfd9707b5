"""The operating point of the page, and what it carries of very long curves."""

import operator

import numpy as np
import pytest

from artifacts import evaluated, golden, large, read_back, silent
from demur.drawing.picture import visible
from demur.report.html import report_html
from demur.report.selective.operating import operating, stops_of
from demur.report.text import threshold_at
from demur.results.parts import CurveRecord
from pages import Page
from runs import participant


class TestOperatingPoint:
    """The golden run: 24 items, operating points of llm at 3, 7 and 11 of them, risks 0, 1/7 and 2/11 of abs_norm."""

    def stops(self, one, by):
        return [(stop.label, stop.points[0]) for stop in stops_of(one, "llm")[by]]

    def test_by_coverage_the_first_point_that_reaches_it(self, one):
        assert self.stops(one, "coverage") == [
            *[("10.0%", 0), ("20.0%", 1), ("29.2%", 1), ("30.0%", 2), ("40.0%", 2), ("45.8%", 2)]
        ]

    def test_by_risk_the_largest_coverage_that_keeps_to_it(self, one):
        assert self.stops(one, "risk") == [("0", 0), ("0.1429", 1), ("0.1818", 2)]

    def test_by_threshold_what_is_at_least_as_sure(self, one):
        assert self.stops(one, "threshold") == [("1", 2), ("2", 1), ("3", 0)]

    @pytest.mark.parametrize("lower", [None, True])
    def test_a_threshold_as_printed_accepts_what_the_point_accepts(self, lower):
        close = sorted([0.7123456789, 0.712345678, 2 / 3, 0.3, 0.1 + 0.2, 1e-7, -2 / 3], reverse=True)
        coverage = [(n + 1) / 10 for n in range(len(close))]
        close = [-threshold for threshold in close] if lower else close
        curve = {"coverage": coverage, "selective_risk": coverage, "generalized_risk": coverage, "threshold": close}
        record = CurveRecord(defined=True, lower_is_surer=lower, curve=curve)
        accepts = operator.le if lower else operator.ge
        for point, threshold in enumerate(close):
            typed = float(threshold_at(record, point))
            assert [accepts(each, typed) for each in close] == [accepts(each, threshold) for each in close]

    def test_the_stops_of_two_runs_accept_in_both_what_is_said(self):
        content = golden("paired")
        pair = content["confidence_variants"]["llm"]
        for side, threshold in (("left", 0.12345678), ("right", 0.12345671)):
            lower = [-n for n in range(1, len(pair[side]["curve"]["threshold"]))]
            pair[side]["curve"]["threshold"] = [threshold, *lower]
        *_, first, second = stops_of(read_back(content), "llm")["threshold"]
        assert [first.points, second.points] == [[0, 0], [0, None]]
        assert 0.12345671 < float(second.label) <= 0.12345678

    def test_the_intervals_are_of_one_level_that_the_column_names(self, one):
        along = operating(one)
        assert (along["interval"], along["note"]) == ("95 % interval", "")
        risk = one.curves[*one.systems, "llm"].bands.selective_risk
        stored = [stop.intervals[0] for stop in stops_of(one, "llm")["coverage"]]
        assert {(each.low, each.high) for each in stored if each} <= {*zip(risk.low, risk.high, strict=True)}

    def test_an_interval_of_another_level_is_not_mixed_in(self):
        wrong = [[participant(n, {"Sleep": n % 3}) for n in range(25)]]
        made = evaluated(*wrong, interval="percentile", level=0.9)
        page = Page(report_html(made)).text
        assert "95 % interval of the risk at that coverage" in page
        assert "only the 95 % interval is stored; the 90 % interval is in the table below" in page

    def test_where_nothing_is_answered_there_is_nothing_to_set(self):
        for speaks, hidden in (((False,), True), ((False, False), True), ((True, False), False)):
            text = report_html(silent(*speaks))
            assert ("there is no threshold to set" in text) == hidden
            assert ('id="slide"' not in text) == hidden
            assert ("Copy as JSON" not in text) == hidden

    def test_intervals_are_those_stored_and_no_others(self, one):
        content = golden("one")
        for numbers in content["confidence_variants"].values():
            numbers["bands"] = None
        stops = {stop.label: stop.intervals[0] for stop in stops_of(read_back(content), "llm")["coverage"]}
        assert stops["10.0%"] == one.one(quantity="risk@0.1", confidence="llm").recommended
        assert stops["29.2%"] is None

    def test_a_run_that_does_not_reach_a_coverage_has_no_point_there(self, paired):
        *_, last = stops_of(paired, "llm")["coverage"]
        assert last.points == [None, len(paired.curves[paired.systems[1], "llm"].curve.coverage) - 1]


class TestManyPoints:
    def test_what_is_kept_of_many_points_is_every_height_a_column_reaches(self):
        rng = np.random.default_rng(1)
        across, up = np.sort(rng.random(5000)), rng.random(5000)
        kept = visible(across, up)
        assert len(kept) < 1000
        column, small = np.floor(across * 200), np.floor(across[kept] * 200)
        for here in np.unique(column):
            assert up[column == here].min() == up[kept][small == here].min()
            assert up[column == here].max() == up[kept][small == here].max()
        assert {kept[0], kept[-1]} == {0, 4999}

    @pytest.mark.slow
    def test_thirteen_variants_of_two_runs_with_ten_thousand_points_are_under_a_megabyte(self):
        results = large()
        text = report_html(results)
        assert len(text.encode()) < 1_000_000
        data = Page(text).data
        for shown, confidence in zip(data["variants"], results.selective.confidences):
            for run, system in zip(shown["runs"], results.systems):
                points = results.curves[system, confidence].curve
                curve = dict(zip(points.threshold, points.selective_risk))
                assert [curve[threshold] for threshold in run["threshold"]] == run["selective"]
                assert run["all"] == 10_000

    def test_the_points_a_page_carries_are_a_few_of_many_and_none_is_moved(self):
        results = large(variants=1, points=2000)
        page = Page(report_html(results))
        [shown] = page.data["variants"]
        left = results.curves[results.systems[0], "variant_0"].curve
        assert 100 < len(shown["runs"][0]["accepted"]) < 400
        exact = dict(zip(left.threshold, zip(left.selective_risk, left.generalized_risk)))
        for threshold, selective, generalized in zip(
            *(shown["runs"][0][n] for n in ("threshold", "selective", "generalized"))
        ):
            assert exact[threshold] == (selective, generalized)
        for asked, places, _, needed in shown["stops"]["coverage"]:
            assert round(float(asked[:-1]) * 40) == needed
            assert shown["runs"][0]["accepted"][places[0]] == needed
