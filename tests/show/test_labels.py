"""Labels: systems are called by their names wherever they are shown, two as three; the nested file alone has sides."""

import json
import re
import xml.etree.ElementTree as ET
from functools import cache

import pytest

from artifacts import golden
from commands import demur
from demur import Plan, Settings, load, read_run, report_html
from demur.drawing.labels import shortened
from demur.extensions.audit.listing import findings_text
from demur.extensions.audit.results_audit import audited_runs
from demur.extensions.lab.runs import FEW_SHOT, ZERO_SHOT, make_people, run_system
from demur.results.load import results_of
from demur.results.selective import evaluate
from demur.show.console import evaluation_text
from demur.show.figure import figure_bytes
from demur.show.names import systems_of
from demur.show.tables import FORMS, table_text
from demur.show.text import columns_of
from golden_runs import RUN
from pages import Page
from parametrized import parametrize_few

# What is no side: who is left out, answers that are right, what lies to the right of a picture, and coordinates.
NO_SIDE = re.compile(
    "left out|data-left|data-right|to the right answers more|was right|answered right|exactly right answers"
    r"|\d+ right, \d+ wrong| right wrong "
)
SIDE = re.compile(r"\b(?:left|right)\b", re.IGNORECASE)


@cache
def compared(*names, resamples=50):
    people, systems = make_people(20, seed=0), (ZERO_SHOT, FEW_SHOT, ZERO_SHOT)
    runs = {name: run_system(people, each, seed=n).items() for n, (name, each) in enumerate(zip(names, systems))}
    return evaluate(runs, settings=Settings(loss="abs", confidence="llm"), plan=Plan(resamples, seed=7))


def letters(svg):
    """The texts of a figure."""
    return "\n".join("".join(node.itertext()) for node in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"))  # noqa: S314


def page_of(results):
    """The text of a page, what its pictures say of themselves, and its classes and ids."""
    page = Page(report_html(results))
    named = [value or "" for name in ("aria-label", "class", "id", "for") for value in page.values(name)]
    return "\n".join([page.text, *named, json.dumps({name: page.data[name] for name in ("systems", "names")})])


SHOWN = {
    "console": evaluation_text,
    "narrow console": lambda results: evaluation_text(results, width=80),
    "page": page_of,
    "notebook": lambda results: results._repr_html_(),
    **{form: lambda results, form=form: table_text(results, form) for form in FORMS},
    **{
        kind: lambda results, kind=kind: letters(figure_bytes(results, ".svg", kind=kind, width=183.0))
        for kind in ("risk-coverage", "forest")
    },
}


@cache
def shown(where, *names):
    return SHOWN[where](compared(*names))


@parametrize_few("where", [*SHOWN], 4)
def test_two_systems_are_called_by_their_labels_and_never_left_and_right(where):
    text = shown(where, "ours v2", "baseline")
    found = SIDE.search(NO_SIDE.sub("", text))
    assert not found, text[found.start() - 60 : found.end() + 60]
    assert "ours" in text
    assert "baseline" in text
    if where not in ("risk-coverage", "json-003"):  # without differences
        assert re.search(r"baseline (?:−|\$-\$) ours v2", text), "what is subtracted from what"


@parametrize_few("where", [*SHOWN], 4)
def test_two_are_called_as_three_are(where):
    names = ("ours v2", "baseline", "third one")
    two, three = (shown(where, *names[:count]) for count in (2, 3))
    for name in names[:2]:
        assert name in two
        assert name in three


@pytest.mark.slow
def test_an_audit_lists_them_by_their_labels():
    modes = ("zero_shot", "few_shot")
    runs = [read_run(RUN, mode=mode) for mode in modes]
    made = evaluate(*runs, settings=Settings(confidence="llm"), plan=Plan(20, seed=1))
    text = findings_text(audited_runs(made, runs, None, None))
    assert not SIDE.search(re.sub("histogram, right", "", text))
    assert all(name in text for name in modes)


def test_the_nested_file_alone_has_sides(tmp_path):
    path = compared("ours", "baseline").save(tmp_path / "m.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    assert [*content["confidence_variants"]["llm"]] == ["left", "right"]
    assert [source["label"] for source in content["inputs"]] == ["ours", "baseline"]
    assert load(path).systems == ("ours", "baseline")


@pytest.mark.slow
def test_a_label_on_the_command_line_reaches_console_page_latex_and_figure(tmp_path):
    arguments = (
        "--mode",
        "zero_shot",
        "--mode",
        "few_shot",
        "--seed",
        "1",
        "--bootstrap-resamples",
        "20",
        "--confidence",
        "llm",
    )
    made = demur(
        tmp_path, "evaluate", f"x_1={RUN}", f"50%={RUN}", *arguments, "--output", "m.json", "--report", "m.html"
    )
    assert (made.returncode, "50% − x_1" in made.stdout) == (0, True)
    assert made.stdout.startswith("x_1: ")
    assert "50% − x_1" in Page((tmp_path / "m.html").read_text(encoding="utf-8")).text
    assert "{50\\% $-$ x\\_1}" in demur(tmp_path, "table", "m.json", "--format", "latex").stdout
    assert demur(tmp_path, "figure", "m.json", "-o", "f.svg", "--kind", "forest").returncode == 0
    assert "50% − x_1" in letters((tmp_path / "f.svg").read_bytes())


def test_one_system_is_called_by_its_label_too():
    for show in (evaluation_text, page_of, lambda results: table_text(results, "latex")):
        assert "ours" in show(compared("ours"))


class TestLongNames:
    NAMES = ("meta-llama-3.1-70b-instruct-temperature-0", "meta-llama-3.1-70b-instruct-temperature-1")

    def test_columns_line_up_and_the_name_in_full_is_at_the_top(self):
        lines = evaluation_text(compared(*self.NAMES)).splitlines()
        assert [line.split(",")[0] for line in lines[:2]] == [
            f"{label}: {name}" for label, name in zip(shortened(self.NAMES), self.NAMES)
        ]
        assert lines[0].startswith("meta-llama-…emperature-0: ")
        start = next(n for n, line in enumerate(lines) if line.endswith("operating points"))
        head, *rows = lines[start + 1 : start + 6]
        assert head.split() == [*shortened(self.NAMES), shortened(self.NAMES)[1], "−", shortened(self.NAMES)[0]]
        for row in rows:
            ends = [match.end() for match in re.finditer(r"\]", row)][:2]
            assert ends == [head.index(label) + len(label) for label in shortened(self.NAMES)]

    def test_names_alike_but_in_their_middle_are_numbered(self):
        names = [f"{'a' * 40}{n}{'b' * 40}" for n in "12"]
        named = systems_of(compared(*names))
        assert [system.label[:2] for system in named] == ["1 ", "2 "]
        assert len({system.name for system in named}) == 2
        assert max(len(system.label) for system in named) == 24

    @parametrize_few("name", ["\x1b[31m" * 20, " " + "a" * 100, "א\u202e" * 30, "x" * 5000], 1)
    def test_hostile_ones_that_differ_in_a_sign_are_told_apart_and_have_no_effect(self, name):
        named = systems_of(compared(f"{name}1{name}", f"{name}2{name}", "c"))
        for texts in ([system.label for system in named], [system.name for system in named]):
            assert len({*texts}) == 3
            assert all(text.replace("\u2068", "").replace("\u2069", "").isprintable() for text in texts)
            assert max(map(len, texts)) <= 62

    def test_letters_that_run_from_the_right_stay_between_their_isolates(self):
        label = systems_of(compared("א" * 60, "b"))[0].label
        assert (label[0], label[-1], len(label)) == ("\u2068", "\u2069", 26)

    def test_wide_letters_and_isolates_leave_the_columns_in_line(self):
        lines = evaluation_text(compared("字字", "אב")).splitlines()
        start = next(n for n, line in enumerate(lines) if line.endswith("operating points"))
        head, row = lines[start + 1 : start + 3]
        ends = [columns_of(row[: match.end()]) for match in re.finditer(r"\]", row)][:2]
        places = [head.index(label) + len(label) for label in ("字字", "\u2068אב\u2069")]
        assert [columns_of(head[:place]) for place in places] == ends


@pytest.mark.slow
def test_names_that_are_members_of_the_copied_point_are_names_all_the_same():
    data = Page(report_html(compared("variant", "__proto__"))).data
    assert data["systems"] == ["variant", "__proto__"]


def test_looks_go_by_place_whatever_the_names():
    for names in (("right", "left"), ("a", "b")):
        assert [system.style for system in systems_of(compared(*names))] == ["first", "second"]


def test_nothing_that_tells_two_runs_apart_gives_them_numbers():
    content = golden("paired")
    for source in content["inputs"]:
        source |= {"mode": "m", "run_id": None, "path": None}
    assert results_of(content).systems == ("system 1", "system 2")
