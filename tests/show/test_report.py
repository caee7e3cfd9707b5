"""The report as a page: numbers of the results and no others, nothing fetched, and no text of a file obeyed."""

import base64
import csv
import gzip
import hashlib
import io
import json
import math
import re
from itertools import accumulate

import pytest

from artifacts import difference, evaluated, golden, golden_results, hashed, items_of, renamed, silent, two_variants
from commands import demur
from demur import PHQ8, Key, Plan, Results, Settings, report_html
from demur.drawing.system_styles import STYLES
from demur.results.load import results_of
from demur.results.selective import evaluate
from demur.show.console import evaluation_text
from demur.show.figure import figure_bytes
from demur.show.names import systems_of
from demur.show.selective.cases import by_item
from demur.show.selective.comparisons import forests, signals
from demur.show.tables import table_text
from pages import HOSTILE, Page, spellings
from parametrized import parametrize_few
from runs import failure, participant

KEYS = {f"key-{look.style}" for look in STYLES}


class TestSafety:
    def test_nothing_is_fetched_and_only_our_script_may_run(self, paired_page):
        assert not [
            name for name, _ in paired_page.elements if name in ("link", "img", "iframe", "object", "embed", "base")
        ]
        assert not paired_page.values("src")
        links = paired_page.values("href")
        assert len(links) > 10
        assert all(link.startswith(("#", "data:application/gzip;base64,")) for link in links)
        assert not [key for _, attributes in paired_page.elements for key, _ in attributes if key.startswith("on")]
        policy = next(dict(a)["content"] for n, a in paired_page.elements if dict(a).get("http-equiv"))
        digest = base64.b64encode(hashlib.sha256(paired_page.scripts[1].encode()).digest()).decode()
        assert policy == (
            f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; "
            "form-action 'none'"
        )

    @parametrize_few(
        ("name", "turns"),
        [
            ("one", (0, 25)),
            ("paired", (0, 25)),
            pytest.param("one", range(0, 50, 7), marks=pytest.mark.slow),
            pytest.param("paired", range(50), marks=pytest.mark.slow),
        ],
        1,
        ids=["one", "paired", "one, more turns", "paired, every turn"],
    )
    @pytest.mark.slow
    def test_fifty_hostile_texts_in_every_place_change_no_element_and_no_attribute(self, name, turns):
        """The elements of the page are those of the same page with harmless names; every turn is in the slow tests."""
        assert len(set(HOSTILE)) == 50
        content = two_variants(golden(name))
        plain, *hostile = [self.skeleton(renamed(content, spell)) for spell in spellings(turns)]
        assert [each == plain for each in hostile] == [True] * len(turns)

    def skeleton(self, results):
        """Pictures and headings of cards name the systems; nothing else of an attribute is from a file."""
        page, labels = Page(report_html(results)), "|".join(re.escape(system.label) for system in systems_of(results))
        named = re.compile(f"(?:{labels})(?=: | minus |, with)")

        def plain(attributes):
            kept = [(key, value) for key, value in attributes if key != "href" and not str(value).startswith("--c1:")]
            return [(key, named.sub("name", value) if key == "aria-label" else value) for key, value in kept]

        return [(tag, plain(attributes)) for tag, attributes in page.elements]

    @pytest.mark.slow
    def test_a_heading_in_a_style_is_a_string_of_letters_and_escapes(self):
        content = two_variants(golden("paired"))
        for text in HOSTILE[::10]:
            page = Page(report_html(renamed(content, lambda name, text=text: f"{name}{text}")))
            styles = [value for value in page.values("style") if value and value.startswith("--c")]
            assert len(styles) > 5
            for style in styles:
                assert re.fullmatch(r"(--c\d+:'([A-Za-z0-9 ]|\\[0-9a-f]+ )*';?)+", style)

    def test_what_a_page_would_obey_is_spelled_out(self):
        text = report_html(renamed(golden("paired"), lambda text: f"{text}\u202e\u2028\x07"))
        assert not re.search("[\u202e\u2028\x07]", text)
        assert "\\u202e\\u2028\\x07" in text

    @pytest.mark.slow
    def test_letters_from_the_right_turn_no_sentence(self):
        content = golden("paired")
        content["inputs"][0]["mode"] = "שלום"
        said = Page(report_html(results_of(content))).text
        assert "\u2068שלום\u2069 answers 11 of 16 items (68.8%)" in said


class TestNumbers:
    def test_the_page_carries_the_file(self, paired, paired_page):
        link = next(link for link in paired_page.values("href") if link.startswith("data:"))
        packed = base64.b64decode(link.partition(",")[2])
        assert gzip.decompress(packed).decode() == paired.text

    def test_the_file_is_written_as_text_once_for_its_page_its_hash_and_itself(self, monkeypatch):
        made, texts = silent(True), []
        monkeypatch.setattr("demur.results.table.json_members", lambda content: texts.append(content) or {"x": "1"})
        fresh = Results(made, made.study, made.curves, made.warnings)
        report_html(fresh, sha256=hashlib.sha256(fresh.text.encode()).hexdigest())
        assert (fresh.fingerprint, len(texts)) == (fresh.fingerprint, 1)

    def test_every_risk_of_the_grid_stands_in_a_table(self, paired, paired_page):
        text = paired_page.text
        for coverage in paired.selective.coverages:
            rows = [paired[Key(system, f"risk@{coverage}", "llm")] for system in paired.systems]
            cells = [f"{100 * row.at:.1f}% {row.value:.3g}" if row.at else "beyond Cmax –" for row in rows]
            shown = rf"{float(coverage):.2f} {re.escape(cells[0])} \S+( \S+)? {re.escape(cells[1])}"
            assert re.search(shown, text), coverage

    def test_every_difference_stands_in_a_table_with_the_replicates_for_each_side(self, paired, paired_page):
        text, names = paired_page.text, paired.selective.names_at_coverages
        for confidence in paired.selective.confidences:
            for name in ("augrc@C_common", "aurc@C_common", *names):
                row = difference(paired, name, confidence)
                if not math.isnan(row.value):
                    ends = row.recommended
                    interval = f"[{ends.low:.3g}, {ends.high:.3g}]" if ends else "–"
                    assert f"{row.value:.3g} {interval} {row.above:.1%} {row.below:.1%}" in text

    def test_of_a_number_that_is_better_higher_the_replicates_above_favour_the_system(self, paired, paired_page):
        row = difference(paired, "cmax")
        assert row.above > row.below
        assert f"{row.below:.1%} {row.above:.1%}" in paired_page.text

    def test_the_script_knows_only_operating_points_of_the_results(self, paired, paired_page):
        units, multiplier = paired_page.data["items"], paired_page.data["multiplier"]
        for runs, confidence in zip(paired_page.points, paired.selective.confidences, strict=True):
            for run, system in zip(runs, paired.systems, strict=True):
                curve = paired.curves[system, confidence].curve
                counts = [*accumulate(run["count"])]
                assert [count / units for count in counts] == list(curve.coverage)
                sums = accumulate(run["sum"])
                assert [loss / (count * multiplier) for loss, count in zip(sums, counts)] == list(curve.selective_risk)
                typed = [float(text.partition("=")[2] or text) for text in run["typed"].split()]
                assert typed == list(curve.threshold)

    @pytest.mark.slow
    def test_the_methods_are_those_of_the_intervals_shown(self):
        wrong = [[participant(n, {"Sleep": n % 3}) for n in range(25)]]
        usual, asked = (
            Page(report_html(evaluated(*wrong, **more))) for more in ({}, {"interval": "bca", "level": 0.9})
        )
        assert "in brackets the 95 % interval, by method:" in usual.text
        assert "bca" not in usual.text.partition("Intervals")[2].partition("Inputs")[0]
        named = asked.text.partition("in brackets the 90 % interval, by method:")[2].partition("Inputs")[0]
        assert "bca: " in named
        assert "expanded percentile" not in named

    @pytest.mark.slow
    def test_failed_are_those_counted_and_whose_they_are(self):
        both = [participant(n, {"Sleep": 0}) for n in range(25)]
        made = evaluated([*both, failure(30), failure(31)], [*both, participant(30)], intersection=True)
        assert (made.selective.failed, made.selective.clusters_failed) == ((30,), 1)
        page = Page(report_html(made)).text
        assert "0.json failed on 1 and 1.json on 0 of 26 participants." in page
        assert "Participants that are not in all runs are left out: 1 only in 0.json." in page

    @pytest.mark.slow
    def test_a_list_that_was_cut_says_so(self):
        for people, cut in ((19, False), (20, True), (25, True)):
            text = Page(report_html(evaluated([participant(n, {"Sleep": 0}) for n in range(people)]))).text
            assert ("the first 20; there may be more" in text) == cut

    @pytest.mark.slow
    def test_a_margin_is_for_risks_of_both_runs_at_one_coverage(self):
        wrong = [participant(n, {"Sleep": n % 3}) for n in range(25)]
        few = [participant(n, {"Sleep": n % 2, "Tired": None, "Failure": None}) for n in range(25)]
        for person in few:
            person["item_signals"]["Moving"] = person["item_signals"]["Concentrating"]
        made = evaluated(wrong, few)
        [[forest]] = forests(made)["by_confidence"]
        reached = {
            name: {made[Key(system, name, "llm")].at for system in made.systems}
            for name in made.selective.names_at_coverages
        }
        same = [name for name, ends in reached.items() if len(ends) == 1 and None not in ends]
        rows = [row for _, _, panel in forest["panels"] for row, _ in panel["rows"]]
        assert {row.estimate.key.quantity for row in rows if row.has_margin} == set(same)
        assert 0 < len(same) < 9
        assert report_html(made).count("data-low=") == len(same)
        assert 'id="equal"' in report_html(made)
        assert 'id="equal"' not in report_html(silent(True, False))
        assert any(row.conclusion.words.startswith("not comparable: reached at") for row in rows)

    @pytest.mark.slow
    def test_the_hash_of_a_file_is_of_its_bytes(self, tmp_path):
        (tmp_path / "m.json").write_text(json.dumps(golden("one"), indent=7), encoding="utf-8")
        demur(tmp_path, "report", "m.json", "--output", "r.html")
        assert f"sha256 {hashed(tmp_path / 'm.json')}" in (tmp_path / "r.html").read_text("utf-8")
        assert "File this page was made from" not in report_html(golden_results("one"))

    def test_who_was_counted(self, paired, paired_page):
        text, study = paired_page.text, paired.selective
        assert f"{study.clusters_included} participants with {study.units} items" in text
        assert f"({study.clusters_failed} more failed" in text
        assert f"{study.systems[0].answered} {study.units - study.systems[0].answered}" in text

    def test_a_single_run_has_no_differences_and_says_why_no_abstention_is_called_needless(self, one):
        page = Page(report_html(one))
        assert "differences" not in page.values("id")
        assert "With one run it is not known whether an abstention was needless" in page.text

    def test_a_bias_of_nothing_has_no_sign(self):
        content = golden("one")
        for one in content["confidence_variants"].values():
            for item, bias in zip(one["by_item"].values(), (-0.0001, 0.0001, 0.0, 0.25)):
                item["bias"] = bias
        shown = [cells[0][2][0] for cells in by_item(results_of(content))["cells"].values()]
        assert shown[:4] == ["0.000", "0.000", "0.000", "+0.250"]

    def test_the_histograms_of_two_runs_have_one_scale(self):
        declines = [participant(n, dict.fromkeys([*PHQ8.items][:6])) for n in range(25)]
        [drawn] = signals(evaluated([participant(n) for n in range(25)], declines))["pictures"]
        ticks = [re.findall(r'text-anchor="end"[^>]*>(\d+)<', svg) for _, svg, _ in drawn["histograms"]]
        assert len(ticks) == 2
        assert ticks[0] == ticks[1] != []

    def test_a_calibration_error_is_told_with_its_system(self):
        content = golden("paired")
        name, pair = next((n, p) for n, p in content["confidence_variants"].items() if p["left"]["reliability"])
        pair["left"]["reliability"] = None
        rows = {row["name"]: row["ece"] for row in signals(results_of(content))["rows"]}
        right = pair["right"]["reliability"]
        beside = f"(calibrated: about {right['ece_if_calibrated']['mean']:.3f})"
        assert rows[name] == f"zero_shot –, few_shot {right['ece']:.3f} {beside}"

    def test_without_resamples_no_level_is_named(self):
        made = evaluated(*([participant(n, {"Sleep": 0}) for n in range(25)],) * 2, resamples=0)
        assert "95 % interval" not in Page(report_html(made)).text.partition("For a paper")[0]

    def test_few_answers_are_greyed(self, one):
        answered = [row.value for row in one.where(quantity="answered")]
        assert (len(answered), max(answered) < 10) == (8, True)
        styles = [value for value in Page(report_html(one)).values("class") if value and "number few" in value]
        assert len(styles) == 3 * 8


@pytest.fixture(scope="module")
def three():
    """Three systems with awkward names, compared with the last: nothing wrong, one item wrong, two wrong."""
    predictions = {"a/b": {}, "a": {"Sleep": 0}, "<i>": {"Sleep": 0, "Tired": 1}}
    systems = {
        name: items_of([participant(n, predicted) for n in range(40)]) for name, predicted in predictions.items()
    }
    settings = Settings(confidence="llm", baseline="<i>")
    return evaluate(systems, settings=settings, plan=Plan(200, seed=1))


@pytest.fixture(scope="module")
def three_page(three):
    return Page(report_html(three))


class TestSeveralSystems:
    def test_each_is_shown_against_the_baseline_in_every_section(self, three_page):
        text = three_page.text
        for name in ("a/b", "a"):
            assert f"{name} − <i>" in text
        doubt = "(too few participants hold an error)"
        assert f"AUGRC against <i> (lower is better): lower: a/b {doubt}, a." in text
        assert "Each run minus <i> on the same participants" in text
        assert text.count("is better") > 8

    def test_each_has_a_look_of_its_own(self, three_page):
        drawn = {value for value in three_page.values("class") if value and value.startswith("line ")}
        assert {f"line {look.style}" for look in STYLES[:3]} <= drawn
        assert [f"key-{look.style}" for look in STYLES[:3]] == [i for i in three_page.values("id") if i in KEYS]

    def test_the_console_and_the_tables_name_them_all(self, three):
        console, table = evaluation_text(three), table_text(three, "csv")
        assert "a/b − <i>" in console
        assert "a/b answers " in console
        names = {line["system"] for line in csv.DictReader(io.StringIO(table))}
        assert names == {"a/b", "a", "<i>", "a/b − <i>", "a − <i>"}

    @pytest.mark.slow
    def test_a_figure_of_them_is_drawn(self, three):
        for kind in ("risk-coverage", "forest"):
            assert figure_bytes(three, ".svg", kind=kind, width=183.0).startswith(b"<?xml")
