"""The report in a real browser: what moves shows numbers of the results, and nothing is fetched."""

import json

import pytest

from artifacts import evaluated, large, silent
from clicks import choose, first_reaching, records, row
from demur import Plan, Settings, evaluate, grade, read_table
from demur import choose as choose_rule
from demur.results.load import results_of
from demur.show.text import threshold_at
from made_up import continuous
from runs import participant

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def study():
    """150 clusters with 4 units each, a continuous confidence and a loss of 0 or 1."""
    items = read_table(continuous(), instrument=None)
    settings = Settings(loss="zero_one", confidence="sure")
    return items, evaluate({"one": items}, settings=settings, plan=Plan(200, seed=7))


class TestOperatingPoint:
    def test_the_slider_goes_by_key_through_every_number_of_items(self, opened, demo_results):
        shown, pair = opened(demo_results), records(demo_results)
        shown.page.focus("#slide")
        shown.page.keyboard.press("Home")
        assert shown.page.get_attribute("#slide", "max") == f"{round(pair[1].cmax * 328) - 1}"
        for count in (1, 2, 3):
            assert shown.page.inner_text("#asked") == f"{count / 328:.1%}, {count} of 328"
            for side, record in enumerate(pair):
                assert shown.cells(side) == row(demo_results, record, first_reaching(record, count, 328))
            shown.page.keyboard.press("ArrowRight")
        shown.page.keyboard.press("End")
        assert shown.cells(0) == ["no threshold reaches this coverage", "–", "–", "–", "–", "–"]
        assert shown.cells(1) == row(demo_results, pair[1], len(pair[1].curve.coverage) - 1)

    @pytest.mark.parametrize("typed", ["10 %", "10%", "0.1", "0,1", ".1", "10", "1e-1"])
    def test_a_limit_of_the_risk_that_is_typed_is_the_answer_of_demur_choose(self, opened, study, typed):
        items, results = study
        rule = choose_rule(grade(items, loss="zero_one", confidence="sure"), risk="0.1", seed=7)
        [record] = records(results, "sure")
        point = max(i for i, risk in enumerate(record.curve.selective_risk) if risk <= 0.1)
        shown = opened(results)
        choose(shown.page, "#way-risk")
        shown.page.fill("#typed", typed)
        assert shown.page.inner_text("#asked") == "10%"
        assert shown.cells(0) == row(results, record, point)
        assert shown.cells(0)[0] == repr(rule.threshold)
        assert shown.cells(0)[2] == f"{rule.chosen.accepted} of 600"
        ends = [f"{100 * end[point]:.3g}%" for end in (record.risk_intervals.low, record.risk_intervals.high)]
        assert shown.page.inner_text("[data-sentence]:visible") == (
            f"For a risk of at most 10%: one answers {rule.chosen.accepted} of 600 items "
            f"({rule.chosen.accepted / 600:.1%}), of which {100 * rule.chosen.risk:.3g}% are wrong "
            f"(95 % interval {ends[0]} to {ends[1]})."
        )

    def test_the_slider_stops_at_the_same_answer(self, opened, study):
        _, results = study
        [record] = records(results, "sure")
        risks = record.curve.selective_risk
        point = max(i for i, risk in enumerate(risks) if risk <= 0.1)
        kept = sorted({risk for i, risk in enumerate(risks) if all(risk < later for later in risks[i + 1 :])})
        shown = opened(results)
        choose(shown.page, "#way-risk")
        assert shown.page.get_attribute("#slide", "max") == f"{len(kept) - 1}"
        shown.page.focus("#slide")
        shown.page.keyboard.press("Home")
        for _ in range(kept.index(risks[point])):
            shown.page.keyboard.press("ArrowRight")
        assert shown.cells(0) == row(results, record, point)

    def test_every_operating_point_is_reached_by_its_threshold_typed(self, opened, study):
        _, results = study
        [record] = records(results, "sure")
        shown = opened(results)
        choose(shown.page, "#way-threshold")
        assert int(shown.page.get_attribute("#slide", "max")) + 1 == len(record.curve.coverage) > 500
        for point in range(0, len(record.curve.coverage), 61):
            shown.page.fill("#typed", threshold_at(record, point))
            assert shown.cells(0) == row(results, record, point)
            shown.page.fill("#typed", f"{record.curve.threshold[point]}")
            assert shown.cells(0) == row(results, record, point)

    def test_what_no_point_meets_and_what_is_no_number_is_said(self, opened, demo_results):
        shown = opened(demo_results)
        choose(shown.page, "#way-risk")
        shown.page.fill("#typed", "0.0001")
        assert shown.cells(0)[0] == "no threshold meets this limit"
        assert "zero_shot: no threshold meets this limit" in shown.page.inner_text("[data-sentence]:visible")
        shown.page.fill("#typed", "ten")
        assert shown.page.inner_text("#asked") == "not a number"
        assert shown.page.get_attribute("#typed", "aria-invalid") == "true"
        assert shown.cells(0)[0] == "no threshold meets this limit"

    def test_what_is_asked_for_stays_when_the_signal_is_switched(self, opened, demo_results):
        shown = opened(demo_results)
        shown.page.fill("#typed", "30")
        choose(shown.page, "#variant-1")
        assert shown.page.inner_text("#asked") == "30.0%"
        record = records(demo_results, "total_evidence")[0]
        assert shown.cells(0) == row(demo_results, record, first_reaching(record, 99, 328))
        choose(shown.page, "#variant-0")
        assert shown.cells(0) == row(
            demo_results, records(demo_results)[0], first_reaching(records(demo_results)[0], 99, 328)
        )

    def test_a_page_of_nothing_has_nothing_to_move(self, opened):
        shown = opened(silent(False, False))
        assert shown.seen("#slide") == shown.seen(".operate") == 0
        assert "there is no threshold to set" in shown.page.inner_text("#decision")

    def test_the_digits_are_those_python_prints(self, opened):
        """Halves, tiny numbers, whole numbers and the smallest steps between them."""
        tricky = [0.15625, 0.03125, 0.00048828125, 1.25e-5, 1e-4, 0.1, 0.25, 2 / 3, 0.12345, 0.123450000000001, 0.9995]
        tricky += [0.999499999, 0.5, 1.0, 1.03125, 12.34375, 1234.5, 12345.0, 99995.0, 0.0, 3e-9, 7.0000001]
        content = large(variants=1, points=len(tricky) * 8).to_json()
        for one in content["confidence_variants"]["variant_0"].values():
            one["bands"] = None
            coverage = [(n + 1) / (len(tricky) * 16) * 8 for n in range(len(tricky))]
            one["curve"] = {
                "coverage": coverage,
                "selective_risk": tricky,
                "generalized_risk": [risk * share for risk, share in zip(tricky, coverage, strict=True)],
                "threshold": sorted(tricky, reverse=True),
            }
        results = results_of(content)
        shown, record = opened(results), records(results, "variant_0")[0]
        choose(shown.page, "#way-threshold")
        for point in range(len(tricky)):
            shown.page.fill("#typed", threshold_at(record, point))
            assert shown.cells(0)[:5] == row(results, record, point)[:5]

    def test_the_copied_json_holds_the_numbers_of_the_results_unrounded(self, opened, demo_results):
        shown, pair = opened(demo_results), records(demo_results)
        copied = json.loads(shown.page.locator("#operating-json").text_content())
        point = first_reaching(pair[0], 164, 328)
        assert (copied["variant"], copied["chosen_by"]) == ("llm", "coverage")
        assert [each["system"] for each in copied["systems"]] == ["zero_shot", "few_shot"]
        assert copied["systems"][0]["operating_point"] == {
            "threshold": pair[0].curve.threshold[point],
            "coverage": pair[0].curve.coverage[point],
            "selective_risk": pair[0].curve.selective_risk[point],
            "accepted": 174,
            "items": 328,
        }
        shown.page.click("text=At the requested coverages")
        shown.page.click("text=Copy the operating point as JSON")
        shown.page.wait_for_function(
            "document.querySelector('#decision .copy').textContent === 'Copied' || String(getSelection()).length > 20"
        )


class TestCurves:
    def test_arrow_keys_go_from_point_to_point_and_between_the_runs(self, opened, demo_results):
        shown, pair = opened(demo_results), records(demo_results)
        shown.page.locator(".reader:visible").focus()
        for record, label in zip(pair, ("zero_shot", "few_shot"), strict=True):
            shown.page.keyboard.press("Home")
            for point in range(len(record.curve.coverage)):
                threshold, coverage, accepted, risk, ends, _ = row(demo_results, record, point)
                told = f"threshold {threshold}, coverage {coverage}, risk {risk} {ends}, {accepted} items accepted"
                assert shown.page.inner_text("#readout") == f"{label}: {told}"
                shown.page.keyboard.press("ArrowRight")
            shown.page.keyboard.press("ArrowDown")

    def test_pointing_at_a_curve_tells_the_point_there(self, opened, demo_results):
        shown = opened(demo_results)
        shown.page.locator(".plot:visible .dot.second").nth(1).hover(force=True)
        assert f"coverage {records(demo_results)[1].curve.coverage[1]:.1%}" in shown.page.inner_text("#readout")

    def test_a_finger_on_a_curve_and_on_the_controls_does_the_same(self, opened, demo_results):
        shown = opened(demo_results, width=360, has_touch=True, is_mobile=True)
        box = shown.page.locator(".plot:visible .dot.second").nth(1).bounding_box()
        shown.page.locator(".plot:visible .dot.second").nth(1).scroll_into_view_if_needed()
        box = shown.page.locator(".plot:visible .dot.second").nth(1).bounding_box()
        shown.page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        shown.page.wait_for_function("document.querySelector('#readout').textContent.startsWith('few_shot')")
        shown.page.locator("label").filter(has=shown.page.locator("#way-risk")).tap()
        assert shown.page.inner_text("#slide-name") == "risk at most"

    def test_the_ring_lies_on_the_point_of_the_table(self, opened, demo_results):
        shown, record = opened(demo_results), records(demo_results)[0]
        area = shown.page.locator(".plot:visible .area").bounding_box()
        ring = shown.page.locator(".plot:visible .here.first circle").bounding_box()
        coverage = (ring["x"] + ring["width"] / 2 - area["x"]) / area["width"]
        assert coverage == pytest.approx(record.curve.coverage[first_reaching(record, 164, 328)], abs=0.005)

    @pytest.mark.parametrize("scripted", [True, False])
    def test_signals_can_be_switched_even_without_the_script(self, opened, demo_results, scripted):
        shown = opened(demo_results, java_script_enabled=scripted)
        assert [shown.seen(f"#decision figure.of-variant-{n}") for n in (0, 1)] == [1, 0]
        shown.page.locator("#choose >> text=total_evidence").click()
        assert [shown.seen(f"#decision figure.of-variant-{n}") for n in (0, 1)] == [0, 1]
        record = records(demo_results, "total_evidence")[0]
        assert shown.cells(0) == row(demo_results, record, first_reaching(record, 164, 328))

    def test_type_is_as_large_on_a_phone_as_on_a_wide_screen(self, opened, demo_results):
        height = "(all) => all.map((one) => one.getBoundingClientRect().height)"
        sizes = [
            {*opened(demo_results, width=width).page.locator(".plot:visible .tick").evaluate_all(height)}
            for width in (360, 1440)
        ]
        assert sizes[0] == sizes[1]

    def test_a_margin_of_equivalence_counts_the_intervals_inside_it(self, opened):
        """Two runs with the same operating points: all nine risks can be compared, and the areas are no risks."""
        people = [[participant(n, {"Sleep": n % 3, "Moving": n % wrong}) for n in range(25)] for wrong in (2, 4)]
        shown, every = opened(evaluated(*people)), 9
        shown.page.fill("#equal", "10")
        assert shown.page.inner_text("#equal-said") == f"{every} of {every} intervals lie wholly inside ±10"
        shown.page.fill("#equal", "0.0001")
        shown.page.keyboard.press("Enter")
        assert shown.page.inner_text("#equal-said").startswith("0 of ")
