"""Figures of results: what is drawn is what the results hold, to the millimetre and to the byte."""

import hashlib
import os
import re
import subprocess
import sys
from functools import lru_cache
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest

from artifacts import GOLDEN, difference, golden_results, golden_with_bands
from artifacts import golden as golden_file
from commands import demur
from demur import Key, UserError
from demur.drawing.labels import shortened
from demur.results.load import results_of
from demur.results.pictures import risk_curve
from demur.show.figure import COLUMN_MM, KINDS, figure_bytes, text_of, width_mm
from demur.show.selective.decision import decision
from parametrized import parametrize_few


@lru_cache
def golden(name="paired", confidence="verbalized"):
    return golden_results(name).narrowed(confidence)


def curves_of(results, confidence="verbalized"):
    return [results.curves[system, confidence].curve for system in results.systems]


@lru_cache
def drawn(suffix):
    return figure_bytes(golden(), suffix)


@lru_cache
def golden_panel(kind, name="paired", confidence="verbalized"):
    """The only panel of a figure of a golden file, drawn once for every test of it."""
    (panel,) = panels(golden(name, confidence), kind)
    return panel


def panels(results, kind):
    return KINDS[kind](results, 89.0).axes


def texts(results, kind="risk-coverage"):
    return texts_of(figure_bytes(results, ".svg", kind=kind))


def texts_of(svg):
    tree = ET.fromstring(svg)  # noqa: S314  (our own)
    return ["".join(node.itertext()) for node in tree.iter("{http://www.w3.org/2000/svg}text")]


class TestTheFile:
    @pytest.mark.slow
    def test_it_is_as_wide_as_the_column(self):
        assert [width_mm(name) for name in ("single", "double", "120", "61.5mm")] == [89, 183, 120, 61.5]
        points = 89 / 25.4 * 72
        svg = drawn(".svg").decode()
        assert float(re.search(r'width="([\d.]+)pt"', svg)[1]) == pytest.approx(points, abs=1e-4)
        pdf = drawn(".pdf")
        assert float(re.search(rb"/MediaBox \[ *0 0 ([\d.]+)", pdf)[1]) == pytest.approx(points, abs=1e-3)
        wide = figure_bytes(golden(), ".png", width=120.0)
        assert int.from_bytes(wide[16:20]) == int(120 / 25.4 * 300), "300 dots an inch"

    @pytest.mark.slow
    def test_fonts_are_embedded_and_letters_stay_letters(self):
        assert b"/FontFile2" in drawn(".pdf")
        assert b"/Type3" not in drawn(".pdf")
        assert {"verbalized", "coverage", "zero_shot", "few_shot"} <= set(texts_of(drawn(".svg")))

    @pytest.mark.slow
    def test_it_holds_no_date(self):
        assert b"CreationDate" not in drawn(".pdf")
        assert b"dc:date" not in drawn(".svg")
        assert b"Software" not in drawn(".png")

    @pytest.mark.slow
    def test_it_is_the_same_every_time_whatever_the_settings_of_the_place(self, tmp_path):
        """Another process, with other hashes and settings that would set names by LaTeX."""
        (tmp_path / "matplotlibrc").write_text("font.size: 20\ntext.usetex: True\nsvg.fonttype: path\n")
        code = (
            "import hashlib, sys; from demur import load; from demur.show.figure import figure_bytes\n"
            "found = load(sys.argv[1]).narrowed('verbalized')\n"
            "for suffix in ('.pdf', '.svg', '.png'):\n"
            "    print(hashlib.sha256(figure_bytes(found, suffix)).hexdigest())\n"
            "print('matplotlib.pyplot' in sys.modules)"
        )
        there = os.environ | {"MATPLOTLIBRC": str(tmp_path), "PYTHONHASHSEED": "7", "MPLCONFIGDIR": mpl.get_configdir()}
        path = GOLDEN / "paired.json"
        found = subprocess.run(
            [sys.executable, "-c", code, path], env=there, check=True, capture_output=True, text=True
        )
        here = [hashlib.sha256(drawn(suffix)).hexdigest() for suffix in (".pdf", ".svg", ".png")]
        assert found.stdout.split() == [*here, "False"]

    @pytest.mark.slow
    def test_nobody_elses_settings_change(self):
        before = dict(mpl.rcParams)
        figure_bytes(golden(), ".svg")
        assert dict(mpl.rcParams) == before


class TestRiskCoverage:
    def test_the_curve_is_drawn_as_the_steps_it_is(self):
        panel = golden_panel("risk-coverage")
        steps = [line for line in panel.lines if line.get_drawstyle() == "steps-pre"]
        for line, curve in zip(steps, curves_of(golden()), strict=True):
            assert [*line.get_xdata()] == [0, *curve.coverage]
            assert [*line.get_ydata()] == [curve.selective_risk[0], *curve.selective_risk]
        assert steps[0].get_linestyle() != steps[1].get_linestyle()
        assert steps[0].get_color() != steps[1].get_color()

    def test_operating_points_are_marked_and_the_marks_differ(self):
        panel = golden_panel("risk-coverage")
        marks = [line for line in panel.lines if line.get_marker() != "None"]
        assert [tuple(line.get_xdata()) for line in marks] == [curve.coverage for curve in curves_of(golden())]
        assert [line.get_marker() for line in marks] == ["o", "s"]

    def test_both_bands_are_shaded_from_the_lowest_to_the_highest_end(self):
        results = results_of(golden_with_bands())
        (panel,) = panels(results, "risk-coverage")
        [record] = results.curves.values()
        bands = record.bands
        coverage, band = bands.coverage, bands.selective_risk
        shades = [each for each in panel.collections if each.get_alpha() is not None]
        ends = [(band.low_simultaneous, band.high_simultaneous), (band.low, band.high)]
        for shade, (low, high) in zip(shades, ends, strict=True):
            drawn = shade.get_paths()[0].vertices[:, 1]
            assert set(np.round(drawn, 12)) == set(np.round([*low, *high], 12))
            corners = shade.get_paths()[0].vertices.tolist()
            assert [coverage[0], low[0]] in corners
            assert [coverage[0], low[1]] in corners, "an end holds up to its own coverage, and the next one from there"

    def test_a_thinned_band_has_straight_edges_here_and_on_the_page(self):
        """Of three operating points the band holds the first and the last: nothing is known of the step between."""
        content = golden_file("one")
        content["confidence_variants"] = {"llm": content["confidence_variants"]["llm"]}
        one = content["confidence_variants"]["llm"]
        one["bands"]["coverage"].pop(1)
        for risk in ("selective_risk", "generalized_risk"):
            for column in one["bands"][risk].values():
                column.pop(1)
        (panel,) = panels(results_of(content), "risk-coverage")
        shades = [each for each in panel.collections if each.get_alpha() is not None]
        first, last, low = (
            one["bands"]["coverage"][0],
            one["bands"]["coverage"][-1],
            one["bands"]["selective_risk"]["low"],
        )
        for shade in shades:
            assert [first, low[-1]] not in shade.get_paths()[0].vertices.tolist()
        assert [last, low[-1]] in shades[-1].get_paths()[0].vertices.tolist()
        assert not risk_curve(results_of(content), "zero_shot", "llm").band.stepped
        [drawn] = decision(results_of(content), None)["confidences"]
        band = re.search(r'd="([^"]*)" class="band pointwise first"', drawn["svg"])[1]
        assert len(re.findall("[Mlhv]", band)) == 6, "three spots an edge"

    def test_cmax_and_a_random_order_are_lines(self):
        (panel,) = panels(golden("one"), "risk-coverage")
        [curve], risk = curves_of(golden("one")), golden("one")[Key("zero_shot", "risk", "verbalized")].value
        cmax = curve.coverage[-1]
        ends = [each.get_segments()[0].tolist() for each in panel.collections if each.get_alpha() is None]
        assert ends == [
            [[cmax, 0], [cmax, curve.selective_risk[-1]]],
            [[0, risk], [cmax, risk]],
        ]

    @pytest.mark.slow
    def test_without_resamples_there_is_no_shade_and_no_word_of_one(self):
        content = golden_file("one")
        for one in content["confidence_variants"].values():
            one["bands"] = None
        assert any("95 %" in text for text in texts(golden("one")))
        assert not any("95 %" in text for text in texts(results_of(content).narrowed("verbalized")))

    def test_each_variant_has_a_panel_on_the_same_scale(self):
        found = panels(golden_results("paired"), "risk-coverage")
        assert [panel.get_title(loc="left") for panel in found] == ["llm", "total_evidence", "verbalized"]
        assert len({panel.get_ylim() for panel in found}) == 1
        assert {panel.get_ylim()[0] for panel in found} == {0}
        assert {panel.get_xlim() for panel in found} == {(0, 1)}


class TestForest:
    def test_differences_stand_beside_the_line_at_nothing(self):
        panel = golden_panel("forest")
        rows = [difference(golden(), name, "verbalized") for name in ("aurc@C_common", "augrc@C_common")]
        marks = [line for line in panel.lines if line.get_marker() == "o"]
        assert [mark.get_xdata() for mark in marks[:2]] == [[row.value] for row in rows]
        bars = [line for line in panel.lines if line.get_marker() == "" and len(set(line.get_ydata())) == 1]
        assert [[*bar.get_xdata()] for bar in bars[:2]] == [[row.recommended.low, row.recommended.high] for row in rows]
        assert any(list(line.get_xdata()) == [0, 0] for line in panel.lines)

    def test_a_difference_that_decides_nothing_is_hollow(self):
        panel = golden_panel("forest")
        marks = {
            tuple(line.get_ydata()): line.get_markerfacecolor() for line in panel.lines if line.get_marker() == "o"
        }
        labels = {tick: label.get_text().strip() for tick, label in zip(panel.get_yticks(), panel.get_yticklabels())}
        faces = {labels[height]: face for (height,), face in marks.items()}
        assert faces["AUGRC to C_common 0.688"] != "white"
        assert faces["risk at 0.10"] == "white", "reached at other coverages"

    def test_without_resamples_there_are_marks_and_no_bars(self):
        content = golden_file("paired")
        for pair in content["confidence_variants"].values():
            for one in pair.values():
                one["bootstrap"] = one["bands"] = None
        for deltas in content["comparison"]["deltas"].values():
            for delta in (*(one for one in deltas.values() if "delta" in one), *deltas["mae_at_coverage"].values()):
                delta["ci95"] = delta["ci95_recommended"] = None
        (panel,) = panels(results_of(content), "forest")
        assert all(line.get_marker() == "o" or list(line.get_xdata()) == [0, 0] for line in panel.lines)
        assert panel.get_xlabel().startswith("few_shot − zero_shot, nothing resampled")

    def test_one_run_has_no_differences(self):
        with pytest.raises(UserError, match="these are results of one run"):
            figure_bytes(golden("one"), ".svg", kind="forest")


class TestReliability:
    def test_points_are_the_bins(self):
        (panel,) = panels(golden("one"), "reliability")
        [record] = golden("one").curves.values()
        bins = record.reliability.bins
        (points,) = panel.collections
        assert points.get_offsets().tolist() == [[each.mean_predicted, each.fraction_correct] for each in bins]
        order = np.argsort(points.get_sizes(), kind="stable").tolist()
        assert order == np.argsort([each.count for each in bins], kind="stable").tolist(), "larger where there are more"

    def test_bins_of_nothing_are_drawn_as_nothing(self):
        content = golden_file("one")
        content["confidence_variants"]["verbalized"]["reliability"]["bins"] = []
        (panel,) = panels(results_of(content), "reliability")
        assert not panel.collections[0].get_offsets().size

    def test_variants_that_are_no_probability_are_left_out(self):
        assert [panel.get_title(loc="left") for panel in panels(golden_results("paired"), "reliability")] == [
            "verbalized"
        ]
        with pytest.raises(UserError, match="no confidence of these results is a probability"):
            figure_bytes(golden(confidence="llm"), ".svg", kind="reliability")


FOUR = ("$x^2$", "a\nb\x1b[31m", "字字", "<b>&amp;")
MORE = (r"\frac{1}{2} $", "\u202egnp.exe", "x" * 500, "_under_$_{a}$")


@parametrize_few(
    ("kind", "name"),
    [
        *(("risk-coverage", name) for name in FOUR),
        *(pytest.param("risk-coverage", name, marks=pytest.mark.slow) for name in MORE),
        *(pytest.param("reliability", name, marks=pytest.mark.slow) for name in (*FOUR, *MORE)),
    ],
    1,
)
@pytest.mark.slow
def test_names_from_a_file_are_letters_and_nothing_else(name, kind):
    content = golden_file("one")
    content["confidence_variants"] = {name: content["confidence_variants"]["verbalized"]}
    content["inputs"][0]["mode"] = content["loss"]["name"] = name
    found = texts(results_of(content), kind)
    expected = [text_of(name), text_of(shortened([name])[0])]
    assert sorted(text for text in found if text in expected) == sorted(expected), "the panel, and the run in the key"
    assert all(text.isprintable() for text in found)
    assert (f"selective risk ({text_of(name)})" in found) == (kind == "risk-coverage")


class TestCommand:
    def test_it_writes_the_file(self, tmp_path):
        arguments = (GOLDEN / "paired.json", "-o", "f.SVG", "--kind", "forest", "--width", "double")
        found = demur(tmp_path, "figure", *arguments, "--confidence", "llm")
        assert (found.returncode, found.stdout, found.stderr) == (0, "wrote f.SVG\n", "")
        made = figure_bytes(golden(confidence="llm"), ".svg", kind="forest", width=COLUMN_MM["double"])
        assert (tmp_path / "f.SVG").read_bytes() == made

    @pytest.mark.parametrize(
        "arguments",
        [
            ("-o", "f.jpg"),
            ("-o", "f"),
            ("-o", "f.pdf", "--kind", "florest"),
            ("-o", "f.pdf", "--width", "wide"),
            ("-o", "f.pdf", "--width", "39"),
            ("-o", "f.pdf", "--width", "nan"),
            ("-o", "f.pdf", "--confidence", "lm"),
            ("-o", "none/f.pdf"),
        ],
    )
    def test_a_mistake_is_one_line_and_writes_nothing(self, tmp_path, arguments, message):
        found = demur(tmp_path, "figure", GOLDEN / "one.json", *arguments)
        assert (found.returncode, found.stdout) == (2, "")
        message(found.stderr)
        assert found.stderr.count("\n") == 1
        assert [*tmp_path.iterdir()] == []

    def test_without_matplotlib_it_says_how_to_get_it(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        monkeypatch.delitem(sys.modules, "demur.show.figure")
        found = demur(tmp_path, "figure", GOLDEN / "one.json", "-o", "f.pdf")
        assert (found.returncode, found.stderr) == (
            2,
            "demur: figures need matplotlib: pip install '.[plot]' in a checkout of demur\n",
        )

    @pytest.mark.slow
    def test_the_commands_of_the_page_on_reporting_run(self, tmp_path):
        (tmp_path / "metrics.json").write_bytes((GOLDEN / "paired.json").read_bytes())
        page = (GOLDEN.parents[1] / "docs" / "reporting.md").read_text(encoding="utf-8")
        lines = re.findall(r"^\$ demur (.*?) *#", page, flags=re.MULTILINE)
        assert len(lines) == 5
        for line in lines:
            assert demur(tmp_path, *line.split()).returncode == 0, line
        names = ["curves.pdf", "differences.svg", "metrics.json", "reliability.png", "table.tex"]
        assert sorted(path.name for path in tmp_path.iterdir()) == names

    def test_what_does_not_fit_on_a_page_is_refused(self):
        content = golden_file("one")
        one = content["confidence_variants"]["llm"]
        content["confidence_variants"] = {f"v{number}": one for number in range(9)}
        with pytest.raises(UserError, match=r"mm tall, and a page is 247 mm: choose variants with --confidence"):
            figure_bytes(results_of(content), ".svg")
