"""The report in a real browser: what moves shows numbers of the results, nothing is fetched, everyone can read it."""

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from artifacts import evaluated, golden, large, read_back, renamed, silent, two_variants
from demur import PHQ8, Coverage
from demur.report.html import report_html
from demur.report.text import threshold_at
from demur.simulate.demo import demonstrate
from kinds import calibration, renamed_kind, retrieval
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

    def cells(self, row):
        return self.page.locator("#operating-point tbody tr").nth(row).locator("td").all_inner_texts()

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


def row(one, point, items, multiplier, ends):
    """What the table must say of a operating point."""
    curve = one.curve
    return [
        threshold_at(one, point),
        f"{curve.coverage[point]:.1%}",
        f"{curve.selective_risk[point]:.4g}",
        ends,
        f"{round(curve.coverage[point] * items)} of {items}",
        f"{100 * multiplier * curve.generalized_risk[point]:.4g}",
    ]


def interval(one, point):
    """What is stored of this very point in a band; nothing in between."""
    bands = one.bands
    if bands is None or one.curve.coverage[point] not in bands.coverage:
        return "no interval at this point"
    place = bands.coverage.index(one.curve.coverage[point])
    return f"[{bands.selective_risk.low[place]:.3g}, {bands.selective_risk.high[place]:.3g}]"


def by_coverage(one, asked):
    """The first operating point that reaches what is asked for, to the digit it is shown with."""
    return next((i for i, c in enumerate(one.curve.coverage) if round(c, 3) >= float(Coverage.of(asked))), None)


class TestOperatingPoint:
    def test_the_slider_goes_by_key_through_every_stop_and_shows_the_results(self, opened, demo):
        shown, pair = opened(demo), records(demo)
        shown.page.focus("#slide")
        shown.page.keyboard.press("Home")
        visited = []
        for _ in range(int(shown.page.get_attribute("#slide", "max")) + 1):
            asked = shown.page.inner_text("#asked")
            visited.append(asked)
            for side, one in enumerate(pair):
                found = by_coverage(one, f"{float(asked[:-1]) / 100:.3f}")
                if found is None:
                    assert shown.cells(side) == ["not reached", "–", "–", "–", "–", "–"]
                    continue
                assert shown.cells(side) == row(one, found, 328, 1, interval(one, found))
            shown.page.keyboard.press("ArrowRight")
        assert len(visited) == len(set(visited)) > 9

    def test_what_is_asked_for_stays_when_the_signal_or_the_kind_of_risk_is_switched(self, opened, demo):
        shown = opened(demo)
        shown.page.focus("#slide")
        shown.page.keyboard.press("Home")
        asked = shown.page.inner_text("#asked"), shown.page.inner_text("#asked-count")
        choose(shown.page, "#kind-generalized")
        assert (shown.page.inner_text("#asked"), shown.page.inner_text("#asked-count")) == asked
        choose(shown.page, "#variant-1")
        choose(shown.page, "#variant-0")
        assert (shown.page.inner_text("#asked"), shown.page.inner_text("#asked-count")) == asked

    def test_a_first_stop_at_one_half_is_where_it_starts(self, opened):
        people = [participant(n) for n in range(25)]
        for one in people:
            one["item_signals"] = {item: {"llm_evidence_count": n % 2} for n, item in enumerate(PHQ8.items)}
        shown = opened(evaluated(people, grid=("0.5",)))
        assert (shown.page.inner_text("#asked"), shown.page.inner_text("#asked-count")) == ("50.0%", "100 of 200")

    def test_a_page_of_nothing_has_nothing_to_move(self, opened):
        shown = opened(silent(False, False))
        assert shown.seen("#slide") == shown.seen(".operate") == 0
        assert "there is no threshold to set" in shown.page.inner_text("#operating")

    @pytest.mark.parametrize("way", ["risk", "threshold"])
    def test_by_risk_and_by_threshold_each_run_takes_its_own_best_point(self, opened, demo, way):
        shown, pair = opened(demo), records(demo)
        choose(shown.page, f"#way-{way}")
        shown.page.focus("#slide")
        shown.page.keyboard.press("End")
        asked = float(shown.page.inner_text("#asked"))
        for side, one in enumerate(pair):
            risks, thresholds = one.curve.selective_risk, one.curve.threshold
            fits = [
                i for i in range(len(risks)) if (risks[i] <= asked + 5e-5 if way == "risk" else thresholds[i] >= asked)
            ]
            assert shown.cells(side)[:3] == row(one, fits[-1], 328, 1, "")[:3]

    def test_the_digits_are_those_python_prints(self, opened):
        """Halves, tiny numbers, whole numbers and the smallest steps between them."""
        tricky = [0.15625, 0.03125, 0.00048828125, 1.25e-5, 1e-4, 0.1, 0.25, 2 / 3, 0.12345, 0.123450000000001, 0.99995]
        tricky += [0.999949999, 0.5, 1.0, 1.03125, 12.34375, 1234.5, 12345.0, 99995.0, 0.0, 3e-9, 7.0000001]
        content = large(variants=1, points=len(tricky) * 8).to_json()
        for one in content["confidence_variants"]["variant_0"].values():
            one["bands"] = None
            one["curve"] = {
                "coverage": [(n + 1) / (len(tricky) * 16) * 8 for n in range(len(tricky))],
                "selective_risk": tricky,
                "generalized_risk": tricky[::-1],
                "threshold": sorted(tricky, reverse=True),
            }
        shown = opened(read_back(content))
        one = records(read_back(content), "variant_0")[0]
        shown.page.focus("#slide")
        shown.page.keyboard.press("Home")
        for point in range(len(tricky)):
            assert shown.cells(0) == row(one, point, len(tricky) * 16, 3, "no interval at this point")
            shown.page.keyboard.press("ArrowRight")

    def test_the_copied_json_holds_the_numbers_of_the_results_unrounded(self, opened, demo):
        shown, pair = opened(demo), records(demo)
        copied = json.loads(shown.page.locator("#operating-json").text_content())
        point = by_coverage(pair[0], "0.5")
        assert copied["variant"] == "llm"
        assert [each["system"] for each in copied["systems"]] == ["zero_shot", "few_shot"]
        assert copied["systems"][0]["operating_point"] == {
            "threshold": pair[0].curve.threshold[point],
            "coverage": pair[0].curve.coverage[point],
            "selective_risk": pair[0].curve.selective_risk[point],
            "generalized_risk": pair[0].curve.generalized_risk[point],
            "accepted": 174,
            "items": 328,
        }
        shown.page.click("text=Copy as JSON")
        shown.page.wait_for_function(
            "document.querySelector('.operate .copy').textContent === 'Copied' || String(getSelection()).length > 20"
        )


class TestCurves:
    def test_arrow_keys_go_from_point_to_point_and_between_the_runs(self, opened, demo):
        shown, pair = opened(demo), records(demo)
        shown.page.locator(".reader:visible").focus()
        shown.page.keyboard.press("Home")
        for one, label in zip(pair, ("zero_shot", "few_shot")):
            shown.page.keyboard.press("Home")
            for point in range(len(one.curve.coverage)):
                told = shown.page.inner_text("#readout")
                threshold, coverage, risk, *_ = row(one, point, 328, 1, "")
                expected = f"{label}: threshold {threshold}, coverage {coverage}, selective risk {risk}, "
                assert told == f"{expected}{round(one.curve.coverage[point] * 328)} of 328 items accepted"
                shown.page.keyboard.press("ArrowRight")
            shown.page.keyboard.press("ArrowDown")

    def test_pointing_at_a_curve_tells_the_point_there(self, opened, demo):
        shown = opened(demo)
        shown.page.locator(".plot:visible .dot.second").nth(1).hover(force=True)
        one = records(demo)[1]
        assert f"coverage {one.curve.coverage[1]:.1%}" in shown.page.inner_text("#readout")

    @pytest.mark.parametrize("scripted", [True, False])
    def test_signals_kinds_and_runs_can_be_switched_even_without_the_script(self, opened, demo, scripted):
        shown = opened(demo, java_script_enabled=scripted)
        assert [shown.seen(f"#curves .of-variant-{n}") for n in (0, 1)] == [1, 0]
        shown.page.locator("#choose >> text=total_evidence").click()
        assert [shown.seen(f"#curves .of-variant-{n}") for n in (0, 1)] == [0, 1]
        assert [shown.seen(f"#curves .of-{kind}") for kind in ("selective", "generalized")] == [1, 0]
        shown.page.locator("#choose >> text=over all items").click()
        assert [shown.seen(f"#curves .of-{kind}") for kind in ("selective", "generalized")] == [0, 1]
        assert shown.seen(".curves .line.second") == 1
        shown.page.uncheck("#show-second")
        assert shown.seen(".curves .line.second") == 0
        if scripted:
            one, asked = records(demo, "total_evidence")[0], shown.page.inner_text("#asked")
            found = by_coverage(one, f"{float(asked[:-1]) / 100:.3f}")
            assert shown.cells(0)[:3] == row(one, found, 328, 1, "")[:3]

    def test_a_band_of_equivalence_counts_the_intervals_inside_it(self, opened):
        """Two runs with the same operating points: all nine risks can be compared, and the areas are no risks."""
        people = [[participant(n, {"Sleep": n % 3, "Moving": n % wrong}) for n in range(25)] for wrong in (2, 4)]
        shown, every = opened(evaluated(*people)), 9
        shown.page.fill("#equal", "10")
        assert shown.page.inner_text("#equal-said") == f"{every} of {every} intervals lie wholly inside ±10"
        shown.page.fill("#equal", "0.0001")
        shown.page.keyboard.press("Enter")
        assert shown.page.inner_text("#equal-said").startswith("0 of ")


class TestForEveryone:
    @pytest.mark.parametrize("colours", ["light", "dark"])
    @pytest.mark.parametrize("width", [1200, 390])
    def test_no_serious_violation_of_accessibility_and_nothing_wider_than_the_screen(
        self, opened, demo, colours, width
    ):
        from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415

        shown = opened(demo, color_scheme=colours, width=width, bypass_csp=True)
        found = Axe().run(shown.page).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in SERIOUS] == []
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
        SHOTS.mkdir(parents=True, exist_ok=True)
        shown.page.screenshot(path=SHOTS / f"{colours}-{width}.png", full_page=True)

    def test_without_the_script_everything_but_the_slider_is_there(self, opened, demo):
        shown = opened(demo, java_script_enabled=False)
        assert shown.seen(".curves") == 1
        assert shown.seen(".forest") == 1
        assert shown.seen("#slide") == 0
        assert shown.seen("table") >= 6
        assert (
            "zero_shot makes fewer or smaller errors, over all thresholds up to the coverage both reach (57.6%)."
            in shown.page.inner_text("main")
        )

    def test_it_prints_without_what_only_a_screen_can_do(self, opened, demo):
        shown = opened(demo)
        shown.page.emulate_media(media="print")
        assert [shown.seen(one) for one in ("nav", "#slide", "button", "#choose")] == [0, 0, 0, 0]
        assert shown.seen(".curves") == 1
        assert shown.page.pdf(prefer_css_page_size=True).startswith(b"%PDF")

    def test_long_names_are_no_wider_than_a_phone_and_cover_nothing_of_a_forest(self, opened):
        content = golden("paired")
        for end, source in enumerate(content["inputs"]):
            source["label"] = f"meta-llama-3.1-70b-instruct-temperature-{end}"
        shown = opened(read_back(content), width=390)
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= 390
        texts = "(all) => all.map((one) => one.getBoundingClientRect()).map((b) => [b.left, b.right, b.top, b.bottom])"
        boxes = shown.page.locator(".forest:visible text").evaluate_all(texts)
        assert len(boxes) > 20
        for n, (left, right, top, bottom) in enumerate(boxes):
            for other in boxes[:n]:
                apart = right <= other[0] + 1 or other[1] <= left + 1 or bottom <= other[2] + 4 or other[3] <= top + 4
                assert apart, (boxes[n], other)

    def test_nothing_printed_is_wider_than_the_paper(self, opened, demo):
        for results in (demo, silent(True, False), read_back(golden("one"))):
            shown = opened(results, width=688)
            shown.page.emulate_media(media="print")
            assert shown.page.evaluate(TOO_WIDE, 688) == []

    def test_a_print_has_no_hatching_that_a_printer_makes_a_picture_of(self, opened):
        shown = opened(read_back(golden("one")))
        shown.page.emulate_media(media="print")
        style = (
            "[...document.querySelectorAll('.heat td, .swatch')].map((one) => getComputedStyle(one).backgroundImage)"
        )
        assert {*shown.page.evaluate(style)} == {"none"}

    def test_ten_thousand_points_of_thirteen_variants_open_without_a_wait(self, opened):
        text = report_html(large())
        start = time.monotonic()
        shown = opened(text)
        shown.page.wait_for_selector(".scripted #slide")
        assert time.monotonic() - start < 3
        shown.page.locator("#choose >> text=variant_12").click()
        assert json.loads(shown.page.locator("#operating-json").text_content())["variant"] == "variant_12"


@pytest.mark.parametrize("artifact", [retrieval, calibration], ids=["retrieval", "calibration"])
class TestOtherKinds:
    @pytest.mark.parametrize("colours", ["light", "dark"])
    @pytest.mark.parametrize("width", [1200, 390])
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
        shown = opened(artifact(), width=688)
        shown.page.emulate_media(media="print")
        assert [shown.seen(one) for one in ("nav", "button", ".choices")] == [0, 0, 0]
        assert shown.page.evaluate(TOO_WIDE, 688) == []
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
