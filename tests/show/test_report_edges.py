"""`demur report` as a command, and results at the edges of what can be shown."""

import json
import re

import pytest

from artifacts import GOLDEN, golden, hashed, silent
from commands import demur
from demur import Key, UserError, load, report_html
from demur.results.load import results_of
from demur.show.selective.decision import decision
from pages import Page
from parametrized import parametrize_few

LOSSES = {"loss": [0, 1, 0, 1], "sure": [4, 3, 2, 1]}
REQUESTED = {"level": 0.9, "interval": "bca", "undefined": {}}


class TestCommand:
    @pytest.mark.slow
    def test_it_writes_a_page_beside_the_artifact_or_where_it_is_told(self, tmp_path):
        (tmp_path / "m.json").write_bytes((GOLDEN / "one.json").read_bytes())
        assert demur(tmp_path, "report", "m.json").stdout == "wrote m.html\n"
        assert demur(tmp_path, "report", "m.json", "--output", "r.html").stdout == "wrote r.html\n"
        assert (tmp_path / "m.html").read_text("utf-8") == report_html(
            load(tmp_path / "m.json"), sha256=hashed(tmp_path / "m.json")
        )
        assert (tmp_path / "m.html").read_bytes() == (tmp_path / "r.html").read_bytes()

    def test_a_file_that_does_not_hold_together_is_refused(self, tmp_path):
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

    @parametrize_few("path", ["x" * 5000, "a\0b"], 1)
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
            ("n.json", "is the result file itself"),
            ("run.json", "is an input"),
        ):
            refused = demur(tmp_path, *asked, "--output", "n.json", "--report", place)
            assert refused.returncode == 2
            assert told in refused.stderr
            assert not (tmp_path / "n.json").exists()


class TestEdges:
    def test_a_file_without_variants_is_refused(self):
        with pytest.raises(UserError, match="confidence_variants: Dictionary should have at least 1 item"):
            results_of(golden("one") | {"confidence_variants": {}})

    def test_nothing_is_measured_at_a_common_coverage_of_0(self):
        for speaks in ((True, False), (False, False)):
            page = Page(report_html(silent(*speaks)))
            before = page.text.partition("For a paper")[0]
            assert "C_common 0" not in before
            assert "No coverage is reached by both runs" in before

    def test_without_resamples_no_interval_is_made_up(self):
        content = golden("one")
        for numbers in content["confidence_variants"].values():
            numbers.update(dict.fromkeys({"bootstrap", "bands", "risk_intervals"} & set(numbers)))
        page = Page(report_html(results_of(content)))
        assert "nothing was resampled, so there are no intervals" in page.text
        assert {low for runs in page.points for run in runs for low in run["low"].split()} == {"-"}
        assert "no interval at this point" in page.text

    @pytest.mark.slow
    def test_an_interval_that_was_asked_for_is_the_one_shown(self, tmp_path):
        asked = ("evaluate", "--input", GOLDEN / "run.json", "--mode", "few_shot", "--seed", "1", "--level", "0.5")
        demur(tmp_path, *asked, "--output", "m.json", "--report", "r.html")
        made, text = load(tmp_path / "m.json"), (tmp_path / "r.html").read_text("utf-8")
        ends = made[Key("few_shot", "augrc", "llm")].requested
        assert f"[{ends.low:.3g},\u00a0{ends.high:.3g}]" in text
        assert "50 % interval" in text

    def test_bands_are_drawn_where_they_are_stored(self):
        """Of three operating points the last two are in the band."""
        content = golden("one")
        bands = content["confidence_variants"]["llm"]["bands"]
        bands["coverage"].pop(0)
        for risk in ("selective_risk", "generalized_risk"):
            for column in bands[risk].values():
                column.pop(0)
        content["confidence_variants"] = {"llm": content["confidence_variants"]["llm"]}
        [drawn] = decision(results_of(content), None)["confidences"]
        assert drawn["has_bands"]
        assert drawn["svg"].count('class="band pointwise first"') == 1

    @pytest.mark.parametrize(
        ("place", "value"),
        [
            (("histogram", "edges"), []),
            (("reference", "oracle", "coverage", 0), 0.0),
            (("bootstrap", "ci95_recommended", "cmax"), {}),
            (("bootstrap", "ci"), {}),
            (("bootstrap", "ci"), REQUESTED | {"cmax": {"low": 1.0}}),
            (("bootstrap", "ci"), REQUESTED | {"cmax": {}}),
            (("bootstrap", "ci"), REQUESTED | {"mae_at_coverage": None}),
            (("reference", "oracle"), {"coverage": [], "selective_risk": [], "generalized_risk": []}),
            (("mae_at_coverage", "0.10", "requested"), 0.0),
        ],
    )
    def test_a_corner_that_could_not_be_shown_is_refused_on_reading(self, place, value, message):
        content = golden("one")
        part = content["confidence_variants"]["llm"]
        for step in place[:-1]:
            part = part[step]
        part[place[-1]] = value
        with pytest.raises(UserError) as refused:
            results_of(content)
        message(refused.value)
        assert str(refused.value).isprintable()

    def test_a_coverage_that_is_not_a_number_of_items_is_refused(self):
        content = golden("one")
        llm = content["confidence_variants"]["llm"]
        llm["curve"]["coverage"][0] += 1e-9
        llm["bands"] = None
        with pytest.raises(UserError, match="llm: a coverage of the curve is not a number of the 24 items"):
            results_of(content)

    def test_risks_of_left_and_right_at_different_coverages_are_refused(self):
        content = golden("paired")
        content["confidence_variants"]["llm"]["left"]["mae_at_coverage"].popitem()
        with pytest.raises(UserError):
            results_of(content)

    @pytest.mark.parametrize("key", ["cmax", "augrc_at_c", "mae_at_coverage", None])
    def test_a_comparison_that_lacks_a_difference_is_refused(self, key):
        content = golden("paired")
        deltas = content["comparison"]["deltas"]
        del (deltas if key is None else deltas["llm"])["llm" if key is None else key]
        with pytest.raises(UserError, match="the differences"):
            results_of(content)
