"""The report as a page: numbers of the artifact and no others, nothing fetched, and no text of a file obeyed."""

import base64
import gzip
import hashlib
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

from artifacts import GOLDEN, evaluated, golden, large, renamed, silent, two_variants
from commands import demur
from demur import PHQ8, UserError, load
from demur.artifact import metrics_of
from demur.report.closer import by_item
from demur.report.curves import curves
from demur.report.forest import forests
from demur.report.html import report_html
from demur.report.numbers import threshold_at
from demur.report.operating import operating, stops_of
from demur.report.signals_compared import signals
from demur.report.thinning import visible
from pages import Page
from runs import failure, participant

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "<!--",
    "-->",
    "]]>",
    "</style>",
    "</title><h1>",
    "</textarea>",
    "</bdi></td></table>",
    "javascript:alert(1)",
    "&lt;b&gt;",
    "&#x3c;b&#x3e;",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "{# x #}",
    "${alert(1)}",
    "`${1}`",
    "\\u003c/script\\u003e",
    "\\",
    "\\'; alert(1); '",
    '\\"',
    "\u2028alert(1)\u2029",
    "\u202eabc",
    "\u2066\u2067x",
    "\u200f\u200e",
    "שלום",
    "مرحبا 123",
    "\x00",
    "\x1b[31m",
    "\r\nSet-Cookie: x",
    "\t\n ",
    "\ufeff",
    "\ufffe",
    "a" * 5000,
    "http://example.com/x.js",
    "//example.com",
    "url(http://example.com)",
    "@import 'x'",
    "</div>" * 20,
    "<base href=//example.com>",
    "<meta http-equiv=refresh content=0>",
    "<form action=//example.com>",
    "<a href=javascript:alert(1)>x</a>",
    "<iframe src=//example.com>",
    "<math><mi//xlink:href='data:x,<script>'>",
    "constructor",
    "__proto__",
    "",
]


def hashed(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def paired():
    return load(GOLDEN / "paired.json")


@pytest.fixture(scope="module")
def one():
    return load(GOLDEN / "one.json")


class TestSafety:
    def test_nothing_is_fetched_and_only_our_script_may_run(self, paired):
        page = Page(report_html(paired))
        assert not [name for name, _ in page.elements if name in ("link", "img", "iframe", "object", "embed", "base")]
        assert not page.values("src")
        links = page.values("href")
        assert len(links) > 10
        assert all(link.startswith(("#", "data:application/gzip;base64,")) for link in links)
        assert not [key for _, attributes in page.elements for key, _ in attributes if key.startswith("on")]
        policy = next(dict(a)["content"] for n, a in page.elements if dict(a).get("http-equiv"))
        digest = base64.b64encode(hashlib.sha256(page.scripts[1].encode()).digest()).decode()
        assert policy == (
            f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; "
            "form-action 'none'"
        )

    @pytest.mark.parametrize(("name", "turns"), [("one", range(0, 50, 7)), ("paired", range(50))])
    def test_fifty_hostile_texts_in_every_place_change_no_element_and_no_attribute(self, name, turns):
        """The elements of the page are those of the same page with harmless names, one by one."""
        assert len(set(HOSTILE)) == 50
        content, numbers = two_variants(golden(name)), {}

        def number(text):
            return numbers.setdefault(text, len(numbers))

        plain = self.skeleton(renamed(content, lambda text: f"name{number(text)}"))
        for turn in turns:
            texts = [*HOSTILE[turn:], *HOSTILE[:turn]]
            hostile = renamed(content, lambda text, texts=texts: f"{number(text)}{texts[number(text) % 50]}")
            assert self.skeleton(hostile) == plain, texts[0]

    def skeleton(self, metrics):
        page = Page(report_html(metrics))
        return [(tag, [pair for pair in attributes if pair[0] != "href"]) for tag, attributes in page.elements]

    def test_what_a_page_would_obey_is_spelled_out(self):
        text = report_html(renamed(golden("paired"), lambda text: f"{text}\u202e\u2028\x07"))
        assert not re.search("[\u202e\u2028\x07]", text)
        assert "\\u202e\\u2028\\x07" in text

    def test_letters_from_the_right_turn_no_sentence(self):
        content = golden("paired")
        content["inputs"][0]["mode"] = "שלום"
        said = Page(report_html(metrics_of(content))).text
        assert "\u2068שלום\u2069 answers 68.8% of the items" in said


class TestNumbers:
    def test_the_page_carries_the_artifact(self, paired):
        link = next(link for link in Page(report_html(paired)).values("href") if link.startswith("data:"))
        packed = base64.b64decode(link.partition(",")[2])
        assert json.loads(gzip.decompress(packed)) == paired.to_json()

    def test_every_risk_of_the_grid_stands_in_a_table(self, paired):
        text = Page(report_html(paired)).text
        for pair in paired.confidence_variants.values():
            for key in pair.left.mae_at_coverage:
                cells = [
                    f"{100 * at.achieved:.1f}% {at.value:.4g}" if at else "beyond Cmax –"
                    for at in (one.mae_at_coverage[key] for one in (pair.left, pair.right))
                ]
                found = re.search(rf"{re.escape(key)} {re.escape(cells[0])} \S+( \S+)? {re.escape(cells[1])}", text)
                assert found, key

    def test_every_difference_stands_in_a_table_with_the_replicates_for_each_side(self, paired):
        text = Page(report_html(paired)).text
        for deltas in paired.comparison.deltas.values():
            for delta in (deltas["augrc_at_c"], deltas["aurc_at_c"], *deltas["mae_at_coverage"].values()):
                if delta.delta is not None:
                    ends = delta.ci95_recommended
                    interval = f"[{ends.low:.3g}, {ends.high:.3g}]" if ends else "–"
                    shares = f"{delta.favours_left:.1%} {delta.favours_right:.1%}"
                    assert f"{delta.delta:.4g} {interval} {shares}" in text

    def test_the_script_knows_only_working_points_of_the_artifact(self, paired):
        data = Page(report_html(paired)).data
        for shown, pair in zip(data["variants"], paired.confidence_variants.values()):
            for run, one in zip(shown["runs"], (pair.left, pair.right)):
                assert [k / data["items"] for k in run["accepted"]] == list(one.curve.coverage)
                assert run["threshold"] == list(one.curve.threshold)
                assert run["selective"] == list(one.curve.selective_risk)
                assert run["generalized"] == list(one.curve.generalized_risk)

    def test_the_methods_are_those_of_the_intervals_shown(self):
        wrong = [[participant(n, {"Sleep": n % 3}) for n in range(25)]]
        usual, asked = (
            Page(report_html(evaluated(*wrong, **more))) for more in ({}, {"interval": "bca", "level": 0.9})
        )
        assert "The 95 % interval, by method:" in usual.text
        assert "bca" not in usual.text.partition("Intervals")[2].partition("Of what")[0]
        named = asked.text.partition("The 90 % interval, by method:")[2].partition("Of what")[0]
        assert "bca: " in named
        assert "expanded percentile" not in named

    def test_failed_are_those_counted_and_whose_they_are(self):
        both = [participant(n, {"Sleep": 0}) for n in range(25)]
        made = evaluated([*both, failure(30), failure(31)], [*both, participant(30)], intersection=True)
        assert (made.cases.failed, made.population.participants_failed) == ((30,), 1)
        assert "0.json failed on 1, 1.json on 0." in Page(report_html(made)).text
        outside = made.model_copy(update={"cases": made.cases.model_copy(update={"failed": (30, 31)})})
        assert "1 more are in one run alone, and left out of the comparison" in Page(report_html(outside)).text

    def test_a_list_that_was_cut_says_so(self):
        for people, cut in ((19, False), (20, True), (25, True)):
            text = Page(report_html(evaluated([participant(n, {"Sleep": 0}) for n in range(people)]))).text
            assert ("the first 20; there may be more" in text) == cut

    def test_a_margin_is_for_risks_of_both_runs_at_one_coverage(self):
        wrong = [participant(n, {"Sleep": n % 3}) for n in range(25)]
        few = [participant(n, {"Sleep": n % 2, "Tired": None, "Failure": None}) for n in range(25)]
        for one in few:
            one["item_signals"]["Moving"] = one["item_signals"]["Concentrating"]
        made = evaluated(wrong, few)
        [forest] = forests(made)
        pair = made.confidence_variants["llm"]
        same = [
            key
            for key, at in pair.left.mae_at_coverage.items()
            if at and pair.right.mae_at_coverage[key] and at.achieved == pair.right.mae_at_coverage[key].achieved
        ]
        rows = {row.name: row for row in forest.rows}
        assert {name for name, row in rows.items() if row.has_margin} == {f"risk at {key}" for key in same}
        assert 0 < len(same) < 9
        assert report_html(made).count("data-low=") == len(same)
        assert 'id="equal"' in report_html(made)
        assert 'id="equal"' not in report_html(silent(True, False))
        assert any(row.said.startswith("not comparable: reached at") for row in forest.rows)

    def test_the_hash_of_a_file_is_of_its_bytes(self, tmp_path):
        (tmp_path / "m.json").write_text(json.dumps(golden("one"), indent=7), encoding="utf-8")
        demur(tmp_path, "report", "m.json", "--output", "r.html")
        assert f"sha256 {hashed(tmp_path / 'm.json')}" in (tmp_path / "r.html").read_text("utf-8")
        assert "File this page was made from" not in report_html(load(tmp_path / "m.json"))

    def test_who_was_counted(self, paired):
        text = Page(report_html(paired)).text
        people, answered = paired.population, paired.population.items_predicted
        assert f"{people.participants_total} participants in both runs" in text
        assert f"{people.participants_failed} failed" in text
        assert f"{answered.left} {people.items_total - answered.left}" in text

    def test_a_single_run_has_no_differences_and_says_why_no_abstention_is_called_needless(self, one):
        page = Page(report_html(one))
        assert "differences" not in page.values("id")
        assert "Of one run nobody knows whether an abstention was needless" in page.text

    def test_a_bias_of_nothing_has_no_sign(self):
        content = golden("one")
        for one in content["confidence_variants"].values():
            for item, bias in zip(one["by_item"].values(), (-0.0001, 0.0001, 0.0, 0.25)):
                item["bias"] = bias
        shown = [row.cells[0][2].shown for row in by_item(metrics_of(content))]
        assert shown[:4] == ["0.000", "0.000", "0.000", "+0.250"]

    def test_the_histograms_of_two_runs_have_one_scale(self):
        declines = [participant(n, dict.fromkeys([*PHQ8.items][:6])) for n in range(25)]
        [drawn] = signals(evaluated([participant(n) for n in range(25)], declines)).pictures
        ticks = [re.findall(r'text-anchor="end"[^>]*>(\d+)<', svg) for _, svg, _ in drawn.histograms]
        assert len(ticks) == 2
        assert ticks[0] == ticks[1] != []

    def test_a_calibration_error_is_told_with_its_side(self):
        content = golden("paired")
        name, pair = next((n, p) for n, p in content["confidence_variants"].items() if p["left"]["reliability"])
        pair["left"]["reliability"] = None
        rows = {row.name: row.ece for row in signals(metrics_of(content)).rows}
        assert rows[name] == f"left –, right {pair['right']['reliability']['ece']:.3f}"

    def test_without_resamples_no_level_is_named(self):
        made = evaluated(*([participant(n, {"Sleep": 0}) for n in range(25)],) * 2, resamples=0)
        assert "95 % interval" not in Page(report_html(made)).text.partition("For a paper")[0]

    def test_few_answers_are_greyed(self, one):
        assert max(item.answered for item in one.confidence_variants["llm"].by_item.values()) < 10
        styles = [value for value in Page(report_html(one)).values("class") if value and "number few" in value]
        assert len(styles) == 3 * 8


class TestOperatingPoint:
    """The golden run: 24 items, working points of llm at 3, 7 and 11 of them, risks 0, 1/7 and 2/11 of abs_norm."""

    def stops(self, one, by):
        found = stops_of([one.confidence_variants["llm"]], one.population.items_total, banded=True)
        return [(stop.asked, stop.points[0]) for stop in found[by]]

    def test_by_coverage_the_first_point_that_reaches_it(self, one):
        assert self.stops(one, "coverage") == [
            *[("10.0%", 0), ("20.0%", 1), ("29.2%", 1), ("30.0%", 2), ("40.0%", 2), ("45.8%", 2)]
        ]

    def test_by_risk_the_largest_coverage_that_keeps_to_it(self, one):
        assert self.stops(one, "risk") == [("0", 0), ("0.1429", 1), ("0.1818", 2)]

    def test_by_threshold_what_is_at_least_as_sure(self, one):
        assert self.stops(one, "threshold") == [("1", 2), ("2", 1), ("3", 0)]

    def test_a_threshold_as_printed_accepts_what_the_point_accepts(self):
        close = [0.7123456789, 0.712345678, 2 / 3, 0.3, 0.1 + 0.2 - 1e-16, 1e-7, -2 / 3]
        curve = SimpleNamespace(threshold=tuple(close))
        for point, threshold in enumerate(close):
            typed = float(threshold_at(SimpleNamespace(curve=curve), point))
            assert [confidence >= typed for confidence in close] == [confidence >= threshold for confidence in close]

    def test_the_stops_of_two_runs_accept_in_both_what_is_said(self):
        left, right = (SimpleNamespace(curve=SimpleNamespace(threshold=(t,))) for t in (0.12345678, 0.12345671))
        stops = [*stops_of([left, right], 24, banded=False)["threshold"]]
        assert [stop.points for stop in stops] == [(0, 0), (0, None)]
        assert 0.12345671 < float(stops[1].asked) <= 0.12345678

    def test_the_intervals_are_of_one_level_that_the_column_names(self, one):
        along = operating(one)
        assert (along.interval, along.note) == ("95 % interval", "")
        llm = one.confidence_variants["llm"]
        stops = stops_of([llm], 24, banded=True)["coverage"]
        band = {*zip(llm.bands.selective_risk.low, llm.bands.selective_risk.high, strict=True)}
        assert {(stop.ends[0].low, stop.ends[0].high) for stop in stops if stop.ends[0]} <= band

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
        llm = one.confidence_variants["llm"].model_copy(update={"bands": None})
        stops = {stop.asked: stop.ends[0] for stop in stops_of([llm], 24, banded=False)["coverage"]}
        assert stops["10.0%"] == llm.bootstrap.ci95_recommended["mae_at_coverage"]["0.10"]
        assert stops["29.2%"] is None

    def test_a_run_that_does_not_reach_a_coverage_has_no_point_there(self, paired):
        pair = paired.confidence_variants["llm"]
        stops = [*stops_of([pair.left, pair.right], paired.population.items_total, banded=True)["coverage"]]
        assert stops[-1].points == (None, len(pair.right.curve.coverage) - 1)


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
        metrics = large()
        text = report_html(metrics)
        assert len(text.encode()) < 1_000_000
        data = Page(text).data
        for shown, pair in zip(data["variants"], metrics.confidence_variants.values()):
            for run, one in zip(shown["runs"], (pair.left, pair.right)):
                curve = dict(zip(one.curve.threshold, one.curve.selective_risk))
                assert [curve[threshold] for threshold in run["threshold"]] == run["selective"]
                assert run["all"] == 10_000

    def test_the_points_a_page_carries_are_a_few_of_many_and_none_is_moved(self):
        metrics = large(variants=1, points=2000)
        page = Page(report_html(metrics))
        [shown] = page.data["variants"]
        left = metrics.confidence_variants["variant_0"].left.curve
        assert 100 < len(shown["runs"][0]["accepted"]) < 400
        exact = dict(zip(left.threshold, zip(left.selective_risk, left.generalized_risk)))
        for threshold, selective, generalized in zip(
            *(shown["runs"][0][n] for n in ("threshold", "selective", "generalized"))
        ):
            assert exact[threshold] == (selective, generalized)
        for asked, places, _, needed in shown["stops"]["coverage"]:
            assert round(float(asked[:-1]) * 40) == needed
            assert shown["runs"][0]["accepted"][places[0]] == needed


class TestCommand:
    def test_it_writes_a_page_beside_the_artifact_or_where_it_is_told(self, tmp_path):
        (tmp_path / "m.json").write_bytes((GOLDEN / "one.json").read_bytes())
        assert demur(tmp_path, "report", "m.json").stdout == "wrote m.html\n"
        assert demur(tmp_path, "report", "m.json", "--output", "r.html").stdout == "wrote r.html\n"
        assert (tmp_path / "m.html").read_text("utf-8") == report_html(
            load(tmp_path / "m.json"), sha256=hashed(tmp_path / "m.json")
        )
        assert (tmp_path / "m.html").read_bytes() == (tmp_path / "r.html").read_bytes()

    def test_an_artifact_that_does_not_hold_together_is_refused(self, tmp_path):
        content = golden("one")
        content["confidence_variants"]["llm"]["cmax"] = 0.5
        (tmp_path / "m.json").write_text(json.dumps(content))
        found = demur(tmp_path, "report", "m.json")
        assert found.returncode == 2
        assert re.fullmatch(r"demur: m\.json: .*the curve ends at 0\.458\S*, not at cmax 0\.5.*\n", found.stderr)
        assert not (tmp_path / "m.html").exists()

    def test_what_is_wrong_with_one_of_two_runs_is_told_of_that_run_and_of_nothing_else(self, tmp_path):
        content = golden("paired")
        content["confidence_variants"]["llm"]["left"]["cmax"] = 0.5
        (tmp_path / "m.json").write_text(json.dumps(content))
        found = demur(tmp_path, "report", "m.json")
        assert found.stderr == (
            "demur: m.json: confidence_variants.llm.pair.left: the curve ends at 0.6875, not at cmax 0.5\n"
        )

    @pytest.mark.parametrize("path", ["x" * 5000, "a\0b"])
    def test_a_path_that_no_file_can_have_blocks_nothing(self, tmp_path, path):
        content = golden("one")
        content["inputs"][0]["path"] = path
        (tmp_path / "m.json").write_text(json.dumps(content), encoding="utf-8")
        for _ in range(2):
            found = demur(tmp_path, "report", "m.json", "--output", "r.html")
            assert (found.returncode, found.stdout) == (0, "wrote r.html\n")

    def test_it_never_replaces_what_it_was_made_from(self, tmp_path):
        (tmp_path / "m.json").write_bytes((GOLDEN / "one.json").read_bytes())
        found = demur(tmp_path, "report", "m.json", "--output", "m.json")
        assert found.stderr == "demur: m.json: is an input, and an output never replaces one\n"

    def test_evaluate_writes_it_too_or_neither_of_the_two(self, tmp_path):
        (tmp_path / "run.json").write_bytes((GOLDEN / "run.json").read_bytes())
        asked = ("evaluate", "--input", "run.json", "--mode", "few_shot", "--seed", "1", "--bootstrap-resamples", "20")
        found = demur(tmp_path, *asked, "--output", "m.json", "--report", "r.html")
        assert found.stdout.endswith("wrote m.json\nwrote r.html\n")
        assert "few_shot" in Page((tmp_path / "r.html").read_text("utf-8")).text
        for place, told in (
            ("none/r.html", "does not exist"),
            ("n.json", "is the artifact's place"),
            ("run.json", "is an input"),
        ):
            refused = demur(tmp_path, *asked, "--output", "n.json", "--report", place)
            assert refused.returncode == 2
            assert told in refused.stderr
            assert not (tmp_path / "n.json").exists()


class TestEdges:
    def test_an_artifact_without_variants_is_refused(self):
        with pytest.raises(UserError, match="confidence_variants: Dictionary should have at least 1 item"):
            metrics_of(golden("one") | {"confidence_variants": {}})

    def test_nothing_is_measured_at_a_common_coverage_of_0(self):
        for speaks in ((True, False), (False, False)):
            page = Page(report_html(silent(*speaks)))
            before = page.text.partition("For a paper")[0]
            assert "C_common 0" not in before
            assert "No coverage is reached by both runs" in before

    def test_without_resamples_no_interval_is_made_up(self):
        content = golden("one")
        for numbers in content["confidence_variants"].values():
            numbers.update(dict.fromkeys({"bootstrap", "bands"} & set(numbers)))
        page = Page(report_html(metrics_of(content)))
        assert "none: there are no intervals" in page.text
        assert all(ends == [""] for shown in page.data["variants"] for _, _, ends, _ in shown["stops"]["coverage"])

    def test_an_interval_that_was_asked_for_is_the_one_shown(self, tmp_path):
        asked = ("evaluate", "--input", GOLDEN / "run.json", "--mode", "few_shot", "--seed", "1", "--level", "0.5")
        demur(tmp_path, *asked, "--output", "m.json", "--report", "r.html")
        made, text = load(tmp_path / "m.json"), (tmp_path / "r.html").read_text("utf-8")
        ends = made.confidence_variants["llm"].bootstrap.ci["augrc_full"]
        assert f"[{ends['low']:.3g}, {ends['high']:.3g}]" in text
        assert "50 % interval" in text

    def test_bands_are_drawn_and_read_where_they_are_stored(self, one):
        """Of three working points the last two are in the band."""
        llm = one.confidence_variants["llm"]
        columns = {
            "low": (0.1, 0.15),
            "high": (0.2, 0.3),
            "low_simultaneous": (0.0, 0.1),
            "high_simultaneous": (0.3, 0.4),
        }
        edges = SimpleNamespace(**columns)
        bands = SimpleNamespace(
            level=0.95, coverage=llm.curve.coverage[1:], selective_risk=edges, generalized_risk=edges
        )
        banded = llm.model_copy(update={"bands": bands})
        found = {stop.asked: stop.ends[0] for stop in stops_of([banded], 24, banded=True)["threshold"]}
        assert found["3"] is None
        assert (found["2"].low, found["2"].high) == (0.1, 0.2)
        [drawn] = curves(one.model_copy(update={"confidence_variants": {"llm": banded}}))
        assert drawn.has_bands
        assert [picture.svg.count('class="band pointwise left"') for picture in drawn.pictures] == [1, 1]

    @pytest.mark.parametrize(
        ("place", "value", "told"),
        [
            (("histogram", "edges"), [], "a histogram has one edge more than bars"),
            (("reference", "oracle", "coverage", 0), 0.0, "not strictly increasing from 0"),
            (("bootstrap", "ci95_recommended", "cmax"), {}, "only mae_at_coverage holds an interval for each"),
            (("bootstrap", "ci"), {}, "ci.level: expected a number between 0 and 1, not null"),
            (("bootstrap", "ci"), {"level": 0.9, "cmax": {"low": 1.0}}, "ci.cmax"),
            (("bootstrap", "ci"), {"level": 0.9, "cmax": {}}, "ci.cmax: only mae_at_coverage holds an interval"),
            (("bootstrap", "ci"), {"level": 0.9, "mae_at_coverage": None}, "ci.mae_at_coverage: only"),
            (
                ("reference", "oracle"),
                {"coverage": [], "selective_risk": [], "generalized_risk": []},
                "the best order has a bend where the curve has a point",
            ),
            (("mae_at_coverage", "0.10", "requested"), 0.0, "requested: Input should be greater than 0"),
        ],
    )
    def test_a_corner_that_could_not_be_shown_is_refused_on_reading(self, place, value, told):
        content = golden("one")
        part = content["confidence_variants"]["llm"]
        for step in place[:-1]:
            part = part[step]
        part[place[-1]] = value
        with pytest.raises(UserError, match=re.escape(told)) as refused:
            metrics_of(content)
        assert str(refused.value).isprintable()

    def test_a_coverage_that_is_no_number_of_items_is_refused(self):
        content = golden("one")
        llm = content["confidence_variants"]["llm"]
        llm["curve"]["coverage"][0] += 1e-9
        llm["bands"] = None
        with pytest.raises(UserError, match="llm: a coverage of the curve is no number of the 24 items"):
            metrics_of(content)

    def test_risks_of_left_and_right_at_different_coverages_are_refused(self):
        content = golden("paired")
        content["confidence_variants"]["llm"]["left"]["mae_at_coverage"].popitem()
        with pytest.raises(UserError):
            metrics_of(content)

    @pytest.mark.parametrize("key", ["cmax", "augrc_at_c", "mae_at_coverage", None])
    def test_a_comparison_that_lacks_a_difference_is_refused(self, key):
        content = golden("paired")
        deltas = content["comparison"]["deltas"]
        del (deltas if key is None else deltas["llm"])["llm" if key is None else key]
        with pytest.raises(UserError, match="the differences"):
            metrics_of(content)
