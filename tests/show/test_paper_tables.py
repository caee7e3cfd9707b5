"""Tables of an artifact: every number once, with its interval, and nothing from a file that a program would obey."""

import csv
import io
import re
from itertools import accumulate
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from artifacts import GOLDEN, difference, golden, golden_results, silent
from commands import demur
from demur import Key, UserError
from demur.results.load import results_of
from demur.show import latex, markdown
from demur.show.tables import table_text
from parametrized import parametrize_few

HOSTILE = [
    r"\input{/etc/passwd}",
    r"\write18{rm -rf *}",
    "50% done_so far",
    "$x^2$ & #1 ~ {a}",
    "^^5cinput{x}",
    "a\\\\[9cm]b",
    "[x](javascript:alert(1))",
    "<script>alert(1)</script>",
    "x | y\n| z",
    "www.example.org and https://example.org",
    "\u202egnp.exe",
    "=HYPERLINK(1)",
    "@SUM(A1)",
]


def renamed(text):
    """Results in which everything that is text of a file's own says the same."""
    made = golden("one")
    made["confidence_variants"] = {text: made["confidence_variants"]["llm"]}
    made["loss"] |= {"name": text, "definition": text}
    made["convention"] = dict.fromkeys(made["convention"], text)
    made["inputs"][0] |= {"path": f"folder/{text}", "mode": text, "run_id": text}
    return results_of(made)


def lines_of(name):
    return [*csv.DictReader(io.StringIO(table_text(golden_results(name), "csv")))]


class TestCsv:
    def test_one_row_per_number_in_full(self, one):
        found = {line["metric"]: line for line in lines_of("one") if line["variant"] == "llm"}
        numbers = {row.key.quantity: row for row in one.where(confidence="llm")}
        ends = numbers["augrc"].recommended
        assert (found["augrc"]["system"], float(found["augrc"]["value"])) == ("zero_shot", numbers["augrc"].value)
        assert (float(found["augrc"]["low"]), float(found["augrc"]["high"])) == (ends.low, ends.high)
        assert (found["augrc"]["level"], found["augrc"]["method"]) == ("0.95", ends.method)
        for name in ("aurc@0.5", "risk@0.2"):
            assert float(found[name]["value"]) == numbers[name].value
        line = str(one.selective.signature("llm"))
        assert [*found["risk@0.9"].values()] == ["llm", "zero_shot", "risk@0.9", "", "", "", "", "", line]

    def test_two_runs_are_called_by_their_names_and_so_is_their_difference(self, paired):
        delta = difference(paired, "augrc@C_common")
        found = {one["system"]: one for one in lines_of("paired") if one["metric"] == "augrc@C_common"}
        assert [*found] == ["zero_shot", "few_shot", "few_shot − zero_shot"]
        here = [one for one in lines_of("paired") if (one["variant"], one["metric"]) == ("llm", "augrc@C_common")]
        areas = [paired[Key(system, "augrc@C_common", "llm")].value for system in paired.systems]
        assert [float(one["value"]) for one in here] == [*areas, delta.value]
        assert float(here[2]["high"]) == delta.recommended.high

    def test_no_name_is_taken_for_a_formula(self):
        for text in ("=1+1", "+1", "-1", "@SUM(A1)"):
            assert {line[0] for line in csv.reader(io.StringIO(table_text(renamed(text), "csv")))} == {
                "variant",
                f"'{text}",
            }
        assert any(float(line["low"] or 0) < 0 for line in lines_of("paired")), "a negative number stays a number"

    def test_no_cell_is_taken_for_a_formula_whatever_it_holds(self):
        made = golden("one")
        one = made["confidence_variants"]["llm"]
        one["bootstrap"]["ci95_recommended"]["cmax"]["method"] = "=cmd()\x07\u202e"
        text = table_text(results_of(made), "csv")
        assert "'=cmd()\\x07\\u202e" in text
        assert "\u202e" not in text
        cells = [cell for line in csv.reader(io.StringIO(text)) for cell in line]
        assert not [cell for cell in cells if cell.startswith(("=", "+", "@"))]

    def test_a_one_sided_bound_has_no_low_end(self):
        made = golden("one")
        made["confidence_variants"]["llm"]["bootstrap"]["upper_bound95"] = {"aurc_full": 0.25}
        made["confidence_variants"]["llm"]["bootstrap"]["ci95_recommended"]["aurc_full"] = None
        results = results_of(made)
        lines = csv.DictReader(io.StringIO(table_text(results, "csv")))
        line = next(one for one in lines if one["metric"] == "aurc")
        assert (line["low"], line["high"], line["method"]) == ("", "0.25", "one_sided_bound")
        assert "≤ 0.25" in table_text(results, "markdown")
        assert "no answer was wrong" in table_text(results, "markdown")


class TestNothingAnswered:
    @pytest.mark.parametrize("form", ["latex", "markdown"])
    @pytest.mark.slow
    def test_no_area_is_printed_as_0(self, form):
        dash = {"latex": "--", "markdown": "–"}[form]
        for speaks in ((False,), (True, False), (False, False)):
            text = table_text(silent(*speaks), form)
            rows = [
                line for line in text.splitlines() if (re.search("[aA]UG?RC", line) and "&" in line) or "| llm" in line
            ]
            areas = [row for row in rows if re.search("e?AUG?RC", row)]
            assert len(areas) == 5
            assert all(dash in row for row in areas)
            assert "answers nothing has none" in text

    def test_what_the_other_run_measures_stays(self):
        lines = [*csv.DictReader(io.StringIO(table_text(silent(True, False), "csv")))]
        found = {(line["metric"], line["system"]): line["value"] for line in lines}
        made = silent(True, False)
        first, second, both = "0.json", "1.json", "1.json − 0.json"
        assert float(found["augrc", first]) == made[Key(made.systems[0], "augrc", "llm")].value
        assert [found["augrc", whose] for whose in (second, both)] == ["", ""]
        assert [found["augrc@C_common", whose] for whose in (first, second, both)] == ["", "", ""]
        assert [float(found["cmax", whose]) for whose in (first, second, both)] == [1, 0, -1]


class TestLatex:
    @pytest.mark.parametrize(("name", "columns"), [("one", 1), ("paired", 3)])
    def test_rows_have_as_many_cells_as_the_table_has_columns(self, name, columns):
        text = table_text(golden_results(name), "latex")
        assert text.count("\\begin{") == text.count("\\end{") == 3
        assert text.count("r@{ }l") == columns
        body = text.partition("\\toprule")[2].partition("\\bottomrule")[0]
        rows = [line for line in body.splitlines() if line.strip().endswith("\\\\")]
        numbers = [row for row in rows if "multicolumn" not in row]
        assert len(numbers) == 3 * 16, "three variants, seven numbers and nine risks each"
        assert {len(re.findall(r"(?<!\\)&", row)) for row in numbers} == {2 * columns}

    def test_numbers_are_those_of_the_results(self, paired):
        delta = difference(paired, "augrc@C_common")
        row = next(line for line in table_text(paired, "latex").splitlines() if "AUGRC to" in line)
        assert f"${delta.value:.4f}$ & {{[}}${delta.recommended.low:.4f}$, {delta.recommended.high:.4f}]" in row

    def test_minus_signs_are_formulas_and_no_number_is_a_power_of_ten(self):
        text = table_text(golden_results("paired"), "latex")
        assert r"{[}$-0.3267$, 0.3020]" in text
        assert not re.search(r"\de[-+]\d", text)

    @parametrize_few("text", HOSTILE, 4)
    def test_hostile_text_is_printed_and_not_obeyed(self, text):
        made = table_text(renamed(text), "latex")
        ours = set(re.findall(r"\\[a-zA-Z]+", table_text(renamed("x"), "latex")))
        theirs = set(re.findall(r"\\[a-zA-Z]+", made)) - ours
        printed = {"textbackslash", "textasciicircum", "textasciitilde", "textless", "textgreater", "textbar", "symbol"}
        assert theirs <= {f"\\{name}" for name in printed}
        lines = made.splitlines()
        assert len(lines) == len(table_text(renamed("x"), "latex").splitlines())
        assert [line for line in lines if re.search(r"(?<!\\)%", line)] == ["% needs \\usepackage{booktabs}"]
        assert made.isprintable() or all(c.isprintable() or c == "\n" for c in made)
        unescaped = re.sub(r"\\[{}]", "", made)
        assert unescaped.count("{") == unescaped.count("}")

    def test_ligatures_are_broken(self):
        assert latex.escaped("a--b ``c''") == r"a-{}-{}b \symbol{96}\symbol{96}c\symbol{39}\symbol{39}"


class TestMarkdown:
    def test_every_row_has_as_many_cells_as_the_head(self):
        lines = table_text(golden_results("paired"), "markdown").splitlines()
        rows = [line for line in lines if line.startswith("|")]
        assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {6}
        assert len(rows) == 2 + 3 * 16

    @parametrize_few("text", HOSTILE, 4)
    def test_hostile_text_is_shown_and_not_obeyed(self, text):
        made = table_text(renamed(text), "markdown")
        assert len(made.splitlines()) == len(table_text(renamed("x"), "markdown").splitlines())
        plain = re.sub(r"\\[^\w\s]|(?<=: )`[a-z0-9._@+|:%A-F-]*`$", "", made, flags=re.MULTILINE)  # code is no markup
        assert not re.search(r"<script|\]\(|https?://|www\.|\$x", plain)
        rows = [line for line in plain.splitlines() if line.startswith("|")]
        assert {row.count("|") for row in rows} == {4}
        assert "\u202e" not in made

    def test_an_escape_cannot_be_escaped(self):
        assert markdown.escaped(r"\<b>") == r"\\\<b\>"


class TestNotebook:
    def test_a_row_for_each_run_and_one_for_the_difference(self, paired):
        found, delta = paired._repr_html_(), difference(paired, "augrc@C_common")
        assert found.count("<tr>") == 1 + 3 * 3
        assert found.count("<svg xmlns") == 3
        assert [found.count(f'class="line {side}"') for side in ("first", "second")] == [2 * 3, 2 * 3], "and in the key"
        ends = delta.recommended
        assert f"<td>{delta.value:.4g} [{ends.low:.3g}, {ends.high:.3g}]</td>" in found
        row = next(row for row in found.split("<tr>") if row.startswith("<td>llm, few_shot − zero_shot"))
        assert row.count("Cmax differs") == 3, "areas and risks over different coverages are not compared"

    def test_the_steps_start_at_coverage_0_and_end_at_cmax(self, one):
        curve = one.curves[*one.systems, "llm"].curve
        path = re.search(r'd="([^"]+)" class="line first"', one._repr_html_())[1]
        start, *runs = map(float, re.findall(r"[Mh](-?[\d.]+)", path))
        ends = [(x - start) / 2000 for x in accumulate([start, *runs])]
        assert ends == pytest.approx([0, *curve.coverage], abs=1e-3)
        rises = [float(rise) for rise in re.findall(r"v(-?[\d.]+)", path)]
        assert len(rises) == len(set(curve.selective_risk)) - 1
        heights = np.diff(curve.selective_risk)
        assert rises[1] / rises[0] == pytest.approx(heights[1] / heights[0], abs=0.01)

    @pytest.mark.parametrize("text", HOSTILE)
    def test_hostile_text_is_shown_and_not_obeyed(self, text):
        found = renamed(text)._repr_html_()
        assert ET.fromstring(found) is not None, "it is well formed"  # noqa: S314  (our own)
        assert "<script" not in found
        assert "\u202e" not in found

    def test_of_many_variants_a_few_are_drawn(self):
        made = golden("one")
        made["confidence_variants"] = {f"v{n}": made["confidence_variants"]["llm"] for n in range(7)}
        found = results_of(made)._repr_html_()
        assert found.count("<svg xmlns") == 4
        assert "and 3 more" in found
        assert found.count("<tr>") == 1 + 7


@pytest.mark.parametrize("form", ["latex", "markdown"])
class TestNotes:
    def test_they_say_what_the_numbers_rest_on(self, form):
        text = table_text(golden_results("one"), form).replace("\\", "")
        for said in (
            "3 participants with 24 items (1 more failed and is excluded).",
            "Loss: abs_norm, abs(pred",
            "Resampling: 200 bootstrap resamples of participants, seed 7.",
            "equal confidences are one operating point",
            "mode zero_shot",
            "logit, analytic log, analytic logit, bootstrap log",
        ):
            assert said in text

    def test_a_difference_that_decides_nothing_is_marked(self, form):
        text = table_text(golden_results("paired"), form)
        mark = {"latex": r"\textsuperscript{\dag}", "markdown": "†"}[form]
        full = next(line for line in text.splitlines() if "AUGRC" in line and "to" not in line)
        common = next(line for line in text.splitlines() if "AUGRC to" in line)
        excess = next(line for line in text.splitlines() if "eAUGRC" in line)
        assert mark in full
        assert mark in excess
        assert mark not in common
        assert "not comparable: Cmax differs" in text

    def test_without_resamples_there_are_no_intervals(self, form):
        made = golden("one")
        for one in made["confidence_variants"].values():
            one["bootstrap"] = one["bands"] = None
        text = table_text(results_of(made), form)
        assert "nothing was resampled" in text
        body = re.split(r"zero(?:\\)?_shot: ", text)[0]
        assert "0.4583" in body
        assert not re.search(r"\[\d|\[\}\d", body)


class TestCommand:
    def test_it_prints_or_writes_the_same(self, tmp_path):
        printed = demur(tmp_path, "table", GOLDEN / "one.json", "--format", "csv")
        written = demur(tmp_path, "table", GOLDEN / "one.json", "--format", "csv", "--output", "t.csv")
        assert (printed.returncode, written.stdout) == (0, "wrote t.csv\n")
        assert (tmp_path / "t.csv").read_text(encoding="utf-8") == printed.stdout

    @pytest.mark.parametrize(
        "arguments",
        [
            ("m.json", "--format", "html"),
            ("none.json", "--format", "csv"),
            ("m.json", "--format", "csv", "--output", "m.json"),
            ("run.json", "--format", "csv"),
        ],
    )
    def test_a_mistake_is_one_line_and_writes_nothing(self, tmp_path, arguments, message):
        for name, source in (("m.json", "one.json"), ("run.json", "run.json")):
            (tmp_path / name).write_bytes((GOLDEN / source).read_bytes())
        found = demur(tmp_path, "table", *arguments)
        assert (found.returncode, found.stdout) == (2, "")
        message(found.stderr)
        assert found.stderr.count("\n") == 1
        assert (tmp_path / "m.json").read_bytes() == (GOLDEN / "one.json").read_bytes()


def test_an_unknown_format_is_refused():
    with pytest.raises(UserError, match="no table format is called tex; did you mean latex"):
        table_text(golden_results("one"), "tex")
