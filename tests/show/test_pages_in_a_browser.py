"""Pages in a real browser: at any width, printed, without the script, and whatever texts they hold."""

import json
import re
import time
from pathlib import Path

import pytest

from artifacts import golden, golden_results, large, renamed, silent, two_variants
from clicks import choose, first_reaching, records, row
from demur import report_html
from demur.results.load import results_of
from installation import needs
from kinds import calibration, renamed_kind, retrieval
from pages import spellings

pytestmark = pytest.mark.browser

SHOTS = Path(__file__).parents[2] / "build" / "screenshots"

SERIOUS = ("serious", "critical")
ARTIFACTS = [
    pytest.param(retrieval, marks=needs("retrieval"), id="retrieval"),
    pytest.param(calibration, id="calibration"),
]


TOO_WIDE = """(width) => [...document.querySelectorAll("body *:not(svg *)")]
  .filter((one) => one.getClientRects().length && !one.closest(".skip"))
  .filter((one) => one.getBoundingClientRect().right > width + 0.5 || one.scrollWidth > width)
  .map((one) => one.outerHTML.slice(0, 200))"""


def pages_of(pdf):
    return len(re.findall(rb"/Type\s*/Page[^s]", pdf))


class TestForEveryone:
    @pytest.mark.parametrize("colours", ["light", "dark"])
    @pytest.mark.parametrize("width", [1200, 360])
    def test_no_serious_violation_of_accessibility(self, opened, demo_results, colours, width):
        from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415

        shown = opened(demo_results, color_scheme=colours, width=width, bypass_csp=True)
        found = Axe().run(shown.page).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in SERIOUS] == []
        SHOTS.mkdir(parents=True, exist_ok=True)
        shown.page.screenshot(path=SHOTS / f"{colours}-{width}.png", full_page=True)

    def test_nothing_is_wider_than_the_screen_from_360_to_1440_pixels(self, opened, demo_results, three):
        for results in (demo_results, three):
            shown = opened(results)
            for width in (360, 390, 480, 640, 700, 768, 860, 1000, 1200, 1440):
                shown.page.set_viewport_size({"width": width, "height": 900})
                assert shown.page.evaluate("document.documentElement.scrollWidth") <= width, width

    def test_on_a_phone_a_table_is_cards_with_their_headings(self, opened, demo_results):
        shown = opened(demo_results, width=360)
        cell = shown.page.locator("#items tbody td").first
        before = cell.evaluate("(one) => getComputedStyle(one, '::before').content")
        assert before == '"zero_shot coverage "'
        assert shown.page.locator("#items tr").nth(3).evaluate("(one) => getComputedStyle(one).display") == "grid"

    def test_the_five_questions_are_answered_on_the_first_two_screens(self, opened, demo_results):
        shown = opened(demo_results)
        for question in ("How many cases?", "How wrong?", "How sure?", "Compared with whom?", "For whom is it worse?"):
            box = shown.page.locator("dt", has_text=question).locator("xpath=../dd").bounding_box()
            assert box["y"] + box["height"] < 2 * 900, question

    def test_without_the_script_everything_but_the_slider_is_there(self, opened, demo_results):
        shown = opened(demo_results, java_script_enabled=False)
        assert shown.seen(".curves") == 1
        assert shown.seen("#slide") == shown.seen("#typed") == 0
        assert shown.seen("table") >= 6
        assert shown.cells(0) == row(
            demo_results, records(demo_results)[0], first_reaching(records(demo_results)[0], 164, 328)
        )
        assert (
            "zero_shot makes fewer or smaller errors, over all thresholds up to the coverage both reach (57.6%)."
            in shown.page.inner_text("main")
        )

    def test_it_prints_the_chosen_point_on_at_most_five_pages(self, opened, demo_results):
        shown = opened(demo_results)
        choose(shown.page, "#way-risk")
        shown.page.fill("#typed", "0.7")
        shown.page.emulate_media(media="print")
        assert [shown.seen(one) for one in ("nav", "#slide", "#typed", "button", "#choose", "pre")] == [0] * 6
        assert "For a risk of at most 0.7: zero_shot answers" in shown.page.inner_text("main")
        assert "\\begin{" not in shown.page.inner_text("main")
        pdf = shown.page.pdf(prefer_css_page_size=True)
        assert 1 <= pages_of(pdf) <= 5

    def test_nothing_printed_is_split_from_its_heading(self, opened, demo_results):
        shown = opened(demo_results)
        shown.page.emulate_media(media="print")
        style = "(all) => all.map((one) => getComputedStyle(one).breakAfter)"
        assert {*shown.page.locator("main :is(h2, h3):visible").evaluate_all(style)} == {"avoid"}
        inside = "(all) => all.map((one) => getComputedStyle(one).breakInside)"
        assert {*shown.page.locator("main :is(tr, figure):visible").evaluate_all(inside)} == {"avoid"}

    def test_long_names_are_no_wider_than_a_phone(self, opened):
        content = golden("paired")
        for end, source in enumerate(content["inputs"]):
            source["label"] = f"meta-llama-3.1-70b-instruct-temperature-{end}"
        shown = opened(results_of(content), width=360)
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= 360

    def test_nothing_printed_is_wider_than_the_paper(self, opened, demo_results):
        for results in (demo_results, silent(True, False), golden_results("one")):
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


@pytest.mark.parametrize("artifact", ARTIFACTS)
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
        content, count = artifact().to_json(), "document.querySelectorAll('*').length"
        plain, *hostile = [
            opened(renamed_kind(content, spell)).page.evaluate(count) for spell in spellings((0, 17, 34))
        ]
        assert hostile == [plain] * 3

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
    content, count = two_variants(golden("paired")), "document.querySelectorAll('*').length"
    harmless, *hostile = spellings(range(0, 50, 5))
    plain = opened(renamed(content, harmless)).page.evaluate(count)
    for spell in hostile:
        shown = opened(renamed(content, spell))
        assert shown.page.evaluate(count) == plain
        shown.page.locator("#choose label").nth(1).click()
        assert json.loads(shown.page.locator("#operating-json").text_content())["chosen_by"] == "coverage"
