"""The report in a real browser: what moves shows numbers of the results, nothing is fetched, everyone can read it."""

import json
import os
import re
import shutil
import time
from pathlib import Path

import pytest

from artifacts import GOLDEN, evaluated, golden, large, read_back, renamed, silent, two_variants
from demur import Plan, Settings, evaluate, grade, load, read_table
from demur import choose as choose_rule
from demur.report.html import report_html
from demur.report.text import threshold_at
from demur.simulate.demo import demonstrate
from kinds import calibration, renamed_kind, retrieval
from made_up import continuous
from pages import HOSTILE
from runs import participant

pytestmark = pytest.mark.browser

SWITCHES = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
SHOTS = Path(__file__).parents[2] / "build" / "screenshots"
SERIOUS = ("serious", "critical")
TOO_WIDE = """(width) => [...document.querySelectorAll("body *:not(svg *)")]
  .filter((one) => one.getClientRects().length && !one.closest(".skip"))
  .filter((one) => one.getBoundingClientRect().right > width + 0.5 || one.scrollWidth > width)
  .map((one) => one.outerHTML.slice(0, 200))"""


@pytest.fixture(scope="module")
def chromium():
    sync_api = pytest.importorskip("playwright.sync_api")
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    assert found, "no chromium: apt-get install chromium, or say where it is with CHROMIUM=/path/to/it"
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=SWITCHES)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def three():
    return load(GOLDEN / "three.json")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return demonstrate(tmp_path_factory.mktemp("demo")).results


def choose(page, radio):
    """Click what a reader clicks: the words beside a button that is only drawn."""
    page.locator("label").filter(has=page.locator(radio)).click()
    page.wait_for_function("radio => document.querySelector(radio).checked", arg=radio)


class Opened:
    """A report in a window of its own, and whatever went wrong in it."""

    def __init__(self, chromium, folder, results, **how):
        path = folder / f"{time.monotonic_ns()}.html"
        path.write_text(results if isinstance(results, str) else report_html(results), encoding="utf-8")
        self.address = path.as_uri()
        context = chromium.new_context(viewport={"width": how.pop("width", 1200), "height": 900}, **how)
        self.page = context.new_page()
        self.troubles = []
        self.page.on("console", lambda message: self.troubles.append(message.text))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.troubles.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda request: request.url == self.address or self.troubles.append(request.url))
        self.page.goto(self.address)
        if how.get("java_script_enabled", True) and 'id="data"' in path.read_text(encoding="utf-8"):
            self.page.wait_for_selector(".ready", state="attached")

    def cells(self, row):
        return self.page.locator(".operating:visible tbody tr").nth(row).locator("td").all_inner_texts()

    def seen(self, selector):
        return self.page.locator(f"{selector}:visible").count()


@pytest.fixture
def opened(chromium, tmp_path):
    made = []

    def of(results, **how):
        made.append(Opened(chromium, tmp_path, results, **how))
        return made[-1]

    yield of
    for one in made:
        assert one.troubles == []
        one.page.context.close()


def records(results, confidence="llm"):
    return [results.curves[system, confidence] for system in results.systems]


def row(results, record, point):
    """What the table must say of an operating point."""
    curve, ends, units = record.curve, record.risk_intervals, results.selective.units
    percent = results.selective.loss.name == "zero_one"
    scale, unit = (100, "%") if percent else (1, "")
    low, high = (None, None) if ends is None else (ends.low[point], ends.high[point])
    return [
        threshold_at(record, point),
        f"{curve.coverage[point]:.1%}",
        f"{round(curve.coverage[point] * units)} of {units}",
        f"{scale * curve.selective_risk[point]:.3g}{unit}",
        "no interval at this point" if low is None else f"[{scale * low:.3g}, {scale * high:.3g}]",
        f"{100 * results.selective.loss.raw_multiplier * curve.generalized_risk[point]:.3g}",
    ]


def first_reaching(record, count, units):
    return next((i for i, share in enumerate(record.curve.coverage) if round(share * units) >= count), None)


@pytest.fixture(scope="module")
def study():
    """150 clusters with 4 units each, a continuous confidence and a loss of 0 or 1."""
    items = read_table(continuous(), instrument=None)
    settings = Settings(loss="zero_one", confidence="sure")
    return items, evaluate({"one": items}, settings=settings, plan=Plan(200, seed=7))


class TestOperatingPoint:
    def test_the_slider_goes_by_key_through_every_number_of_items(self, opened, demo):
        shown, pair = opened(demo), records(demo)
        shown.page.focus("#slide")
        shown.page.keyboard.press("Home")
        assert shown.page.get_attribute("#slide", "max") == f"{round(pair[1].cmax * 328) - 1}"
        for count in (1, 2, 3):
            assert shown.page.inner_text("#asked") == f"{count / 328:.1%}, {count} of 328"
            for side, record in enumerate(pair):
                assert shown.cells(side) == row(demo, record, first_reaching(record, count, 328))
            shown.page.keyboard.press("ArrowRight")
        shown.page.keyboard.press("End")
        assert shown.cells(0) == ["no threshold reaches this coverage", "–", "–", "–", "–", "–"]
        assert shown.cells(1) == row(demo, pair[1], len(pair[1].curve.coverage) - 1)

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

    def test_what_no_point_meets_and_what_is_no_number_is_said(self, opened, demo):
        shown = opened(demo)
        choose(shown.page, "#way-risk")
        shown.page.fill("#typed", "0.0001")
        assert shown.cells(0)[0] == "no threshold meets this limit"
        assert "zero_shot: no threshold meets this limit" in shown.page.inner_text("[data-sentence]:visible")
        shown.page.fill("#typed", "ten")
        assert shown.page.inner_text("#asked") == "not a number"
        assert shown.page.get_attribute("#typed", "aria-invalid") == "true"
        assert shown.cells(0)[0] == "no threshold meets this limit"

    def test_what_is_asked_for_stays_when_the_signal_is_switched(self, opened, demo):
        shown = opened(demo)
        shown.page.fill("#typed", "30")
        choose(shown.page, "#variant-1")
        assert shown.page.inner_text("#asked") == "30.0%"
        record = records(demo, "total_evidence")[0]
        assert shown.cells(0) == row(demo, record, first_reaching(record, 99, 328))
        choose(shown.page, "#variant-0")
        assert shown.cells(0) == row(demo, records(demo)[0], first_reaching(records(demo)[0], 99, 328))

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
        results = read_back(content)
        shown, record = opened(results), records(results, "variant_0")[0]
        choose(shown.page, "#way-threshold")
        for point in range(len(tricky)):
            shown.page.fill("#typed", threshold_at(record, point))
            assert shown.cells(0)[:5] == row(results, record, point)[:5]

    def test_the_copied_json_holds_the_numbers_of_the_results_unrounded(self, opened, demo):
        shown, pair = opened(demo), records(demo)
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
        shown.page.click("text=At the coverages asked for")
        shown.page.click("text=Copy the operating point as JSON")
        shown.page.wait_for_function(
            "document.querySelector('#decision .copy').textContent === 'Copied' || String(getSelection()).length > 20"
        )


class TestCurves:
    def test_arrow_keys_go_from_point_to_point_and_between_the_runs(self, opened, demo):
        shown, pair = opened(demo), records(demo)
        shown.page.locator(".reader:visible").focus()
        for record, label in zip(pair, ("zero_shot", "few_shot"), strict=True):
            shown.page.keyboard.press("Home")
            for point in range(len(record.curve.coverage)):
                threshold, coverage, accepted, risk, ends, _ = row(demo, record, point)
                told = f"threshold {threshold}, coverage {coverage}, risk {risk} {ends}, {accepted} items accepted"
                assert shown.page.inner_text("#readout") == f"{label}: {told}"
                shown.page.keyboard.press("ArrowRight")
            shown.page.keyboard.press("ArrowDown")

    def test_pointing_at_a_curve_tells_the_point_there(self, opened, demo):
        shown = opened(demo)
        shown.page.locator(".plot:visible .dot.second").nth(1).hover(force=True)
        assert f"coverage {records(demo)[1].curve.coverage[1]:.1%}" in shown.page.inner_text("#readout")

    def test_a_finger_on_a_curve_and_on_the_controls_does_the_same(self, opened, demo):
        shown = opened(demo, width=360, has_touch=True, is_mobile=True)
        box = shown.page.locator(".plot:visible .dot.second").nth(1).bounding_box()
        shown.page.locator(".plot:visible .dot.second").nth(1).scroll_into_view_if_needed()
        box = shown.page.locator(".plot:visible .dot.second").nth(1).bounding_box()
        shown.page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        shown.page.wait_for_function("document.querySelector('#readout').textContent.startsWith('few_shot')")
        shown.page.locator("label").filter(has=shown.page.locator("#way-risk")).tap()
        assert shown.page.inner_text("#slide-name") == "risk at most"

    def test_the_ring_lies_on_the_point_of_the_table(self, opened, demo):
        shown, record = opened(demo), records(demo)[0]
        area = shown.page.locator(".plot:visible .area").bounding_box()
        ring = shown.page.locator(".plot:visible .here.first circle").bounding_box()
        coverage = (ring["x"] + ring["width"] / 2 - area["x"]) / area["width"]
        assert coverage == pytest.approx(record.curve.coverage[first_reaching(record, 164, 328)], abs=0.005)

    @pytest.mark.parametrize("scripted", [True, False])
    def test_signals_can_be_switched_even_without_the_script(self, opened, demo, scripted):
        shown = opened(demo, java_script_enabled=scripted)
        assert [shown.seen(f"#decision figure.of-variant-{n}") for n in (0, 1)] == [1, 0]
        shown.page.locator("#choose >> text=total_evidence").click()
        assert [shown.seen(f"#decision figure.of-variant-{n}") for n in (0, 1)] == [0, 1]
        record = records(demo, "total_evidence")[0]
        assert shown.cells(0) == row(demo, record, first_reaching(record, 164, 328))

    def test_type_is_as_large_on_a_phone_as_on_a_wide_screen(self, opened, demo):
        height = "(all) => all.map((one) => one.getBoundingClientRect().height)"
        sizes = [
            {*opened(demo, width=width).page.locator(".plot:visible .tick").evaluate_all(height)}
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


def pages_of(pdf):
    return len(re.findall(rb"/Type\s*/Page[^s]", pdf))


class TestForEveryone:
    @pytest.mark.parametrize("colours", ["light", "dark"])
    @pytest.mark.parametrize("width", [1200, 360])
    def test_no_serious_violation_of_accessibility(self, opened, demo, colours, width):
        from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415

        shown = opened(demo, color_scheme=colours, width=width, bypass_csp=True)
        found = Axe().run(shown.page).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in SERIOUS] == []
        SHOTS.mkdir(parents=True, exist_ok=True)
        shown.page.screenshot(path=SHOTS / f"{colours}-{width}.png", full_page=True)

    def test_nothing_is_wider_than_the_screen_from_360_to_1440_pixels(self, opened, demo, three):
        for results in (demo, three):
            shown = opened(results)
            for width in (360, 390, 480, 640, 700, 768, 860, 1000, 1200, 1440):
                shown.page.set_viewport_size({"width": width, "height": 900})
                assert shown.page.evaluate("document.documentElement.scrollWidth") <= width, width

    def test_on_a_phone_a_table_is_cards_with_their_headings(self, opened, demo):
        shown = opened(demo, width=360)
        cell = shown.page.locator("#items tbody td").first
        before = cell.evaluate("(one) => getComputedStyle(one, '::before').content")
        assert before == '"zero_shot coverage "'
        assert shown.page.locator("#items tr").nth(3).evaluate("(one) => getComputedStyle(one).display") == "grid"

    def test_the_five_questions_are_answered_on_the_first_two_screens(self, opened, demo):
        shown = opened(demo)
        for question in ("How many cases?", "How wrong?", "How sure?", "Compared with whom?", "For whom is it worse?"):
            box = shown.page.locator("dt", has_text=question).locator("xpath=../dd").bounding_box()
            assert box["y"] + box["height"] < 2 * 900, question

    def test_without_the_script_everything_but_the_slider_is_there(self, opened, demo):
        shown = opened(demo, java_script_enabled=False)
        assert shown.seen(".curves") == 1
        assert shown.seen("#slide") == shown.seen("#typed") == 0
        assert shown.seen("table") >= 6
        assert shown.cells(0) == row(demo, records(demo)[0], first_reaching(records(demo)[0], 164, 328))
        assert (
            "zero_shot makes fewer or smaller errors, over all thresholds up to the coverage both reach (57.6%)."
            in shown.page.inner_text("main")
        )

    def test_it_prints_the_chosen_point_on_at_most_five_pages(self, opened, demo):
        shown = opened(demo)
        choose(shown.page, "#way-risk")
        shown.page.fill("#typed", "0.7")
        shown.page.emulate_media(media="print")
        assert [shown.seen(one) for one in ("nav", "#slide", "#typed", "button", "#choose", "pre")] == [0] * 6
        assert "For a risk of at most 0.7: zero_shot answers" in shown.page.inner_text("main")
        assert "\\begin{" not in shown.page.inner_text("main")
        pdf = shown.page.pdf(prefer_css_page_size=True)
        assert 1 <= pages_of(pdf) <= 5

    def test_nothing_printed_is_split_from_its_heading(self, opened, demo):
        shown = opened(demo)
        shown.page.emulate_media(media="print")
        style = "(all) => all.map((one) => getComputedStyle(one).breakAfter)"
        assert {*shown.page.locator("main :is(h2, h3):visible").evaluate_all(style)} == {"avoid"}
        inside = "(all) => all.map((one) => getComputedStyle(one).breakInside)"
        assert {*shown.page.locator("main :is(tr, figure):visible").evaluate_all(inside)} == {"avoid"}

    def test_long_names_are_no_wider_than_a_phone(self, opened):
        content = golden("paired")
        for end, source in enumerate(content["inputs"]):
            source["label"] = f"meta-llama-3.1-70b-instruct-temperature-{end}"
        shown = opened(read_back(content), width=360)
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= 360

    def test_nothing_printed_is_wider_than_the_paper(self, opened, demo):
        for results in (demo, silent(True, False), read_back(golden("one"))):
            shown = opened(results, width=695)
            shown.page.emulate_media(media="print")
            assert shown.page.evaluate(TOO_WIDE, 695) == []

    def test_ten_thousand_points_of_thirteen_variants_open_without_a_wait(self, opened):
        text = report_html(large())
        start = time.monotonic()
        shown = opened(text)
        assert time.monotonic() - start < 5
        shown.page.locator("#choose >> text=variant_12").click()
        assert json.loads(shown.page.locator("#operating-json").text_content())["variant"] == "variant_12"
        assert "of the 10000 operating points" in shown.page.inner_text("#carried")


@pytest.mark.parametrize("artifact", [retrieval, calibration], ids=["retrieval", "calibration"])
class TestOtherKinds:
    @pytest.mark.parametrize("colours", ["light", "dark"])
    @pytest.mark.parametrize("width", [1200, 360])
    def test_no_serious_violation_of_accessibility_and_nothing_wider_than_the_screen(
        self, opened, artifact, colours, width
    ):
        from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415

        shown = opened(artifact(), color_scheme=colours, width=width, bypass_csp=True)
        found = Axe().run(shown.page).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in SERIOUS] == []
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
        SHOTS.mkdir(parents=True, exist_ok=True)
        shown.page.screenshot(path=SHOTS / f"{artifact.__name__}-{colours}-{width}.png", full_page=True)

    def test_without_the_script_everything_but_the_copying_is_there(self, opened, artifact):
        shown = opened(artifact(), java_script_enabled=False)
        assert shown.seen("section") == shown.page.locator("nav a").count()
        assert shown.seen("section svg[role=img]") >= 1
        assert shown.seen("button") == 0

    def test_it_prints_within_the_width_of_the_paper(self, opened, artifact):
        shown = opened(artifact(), width=695)
        shown.page.emulate_media(media="print")
        assert [shown.seen(one) for one in ("nav", "button", ".choices")] == [0, 0, 0]
        assert shown.page.evaluate(TOO_WIDE, 695) == []
        assert shown.page.pdf(prefer_css_page_size=True).startswith(b"%PDF")

    def test_hostile_texts_make_no_element_and_no_sound(self, opened, artifact):
        content, numbers = artifact().to_json(), {}

        def number(text):
            return numbers.setdefault(text, len(numbers))

        count = "document.querySelectorAll('*').length"
        plain = opened(renamed_kind(content, lambda text: f"n{number(text)}")).page.evaluate(count)
        for turn in (0, 17, 34):
            texts = [*HOSTILE[turn:], *HOSTILE[:turn]]
            hostile = renamed_kind(content, lambda text, texts=texts: f"{number(text)}{texts[number(text) % 50]}")
            assert opened(hostile).page.evaluate(count) == plain

    def test_text_is_copied_or_selected(self, opened, artifact):
        shown = opened(artifact())
        shown.page.click("text=Copy BibTeX")
        shown.page.wait_for_function(
            "document.querySelector('.copy').textContent === 'Copied' || String(getSelection()).length > 20"
        )


@pytest.mark.parametrize("scripted", [True, False])
def test_queries_and_systems_of_a_retrieval_page_can_be_switched_even_without_the_script(opened, scripted):
    shown = opened(retrieval(), java_script_enabled=scripted)
    assert [shown.seen(f"#rankings .of-{key}") for key in ("with_gold", "all")] == [1, 0]
    shown.page.locator("#rankings label").nth(1).click()
    assert [shown.seen(f"#rankings .of-{key}") for key in ("with_gold", "all")] == [0, 1]
    for section in ("criteria", "folds"):
        assert [shown.seen(f"#{section} div.of-variant-{n}") for n in (0, 1)] == [1, 0]
    shown.page.locator("#choose >> text=reranked").click()
    for section in ("criteria", "folds"):
        assert [shown.seen(f"#{section} div.of-variant-{n}") for n in (0, 1)] == [0, 1]


def test_hostile_texts_make_no_element_no_request_and_no_sound(opened):
    content, numbers = two_variants(golden("paired")), {}

    def number(text):
        return numbers.setdefault(text, len(numbers))

    count = "document.querySelectorAll('*').length"
    plain = opened(renamed(content, lambda text: f"n{number(text)}")).page.evaluate(count)
    for turn in range(0, 50, 5):
        texts = [*HOSTILE[turn:], *HOSTILE[:turn]]
        shown = opened(renamed(content, lambda text, texts=texts: f"{number(text)}{texts[number(text) % 50]}"))
        assert shown.page.evaluate(count) == plain
        shown.page.locator("#choose label").nth(1).click()
        assert json.loads(shown.page.locator("#operating-json").text_content())["chosen_by"] == "coverage"
