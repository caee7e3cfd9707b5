"""Files of results that are damaged, incomplete or contradict themselves: one line, and never a traceback."""

import copy
import json
import os
import random
import time
from functools import cache

import pytest

from commands import demur
from damage import damage_rows
from demur import Results, UserError, load
from demur.files.write import json_text
from demur.results.load import results_of
from golden_runs import WHEN
from made_results import pair_text, table_of_three, three_text
from parametrized import parametrize_few
from runs import written
from sections import evaluate

SECONDS = float(os.environ.get("FUZZ_SECONDS", "40"))


def places(content, path=()):
    """Every place in a file, by its path."""
    if path:
        yield path
    members = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for name, value in members:
        yield from places(value, (*path, name))


def parent_of(content, path):
    for name in path[:-1]:
        content = content[name]
    return content


WRONG = (None, True, -1, 0, 1, 2.5, 1e308, "", "nope", [], [None], {}, {"a": 1}, [[]], "risk@0.3", [0.1, 0.2])


def damaged(content, rng):
    """A file with one member deleted, replaced by something else, exchanged with another, or one that is new."""
    content = copy.deepcopy(content)
    every = [*places(content)]
    path, other = rng.choice(every), rng.choice(every)
    members = parent_of(content, path)
    kind = rng.choice(("delete", "retype", "swap", "add", "repeat"))
    if kind == "delete":
        del members[path[-1]]
    elif kind == "retype":
        members[path[-1]] = copy.deepcopy(rng.choice(WRONG))
    elif kind == "swap":
        there = parent_of(content, other)
        one, two = copy.deepcopy(members[path[-1]]), copy.deepcopy(there[other[-1]])
        members[path[-1]] = two
        if other[: len(path)] != path and path[: len(other)] != other:
            there[other[-1]] = one
    elif kind == "add" and isinstance(members, dict):
        members["never heard of"] = copy.deepcopy(rng.choice(WRONG))
    elif isinstance(members, list):
        members.append(copy.deepcopy(members[path[-1]]))
    return content


@pytest.mark.parametrize("text", [pair_text, three_text], ids=["nested", "columns"])
@pytest.mark.parametrize("trials", [60, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_a_damaged_file_is_one_line_and_never_a_traceback(text, trials):
    """Each is refused in one line, or what is left reads as results that can be written; hundreds are slow tests."""
    rng, content, refused = random.Random(1), json.loads(text()), 0
    for _ in range(trials):
        broken = damaged(content, rng)
        try:
            results = results_of(broken)
        except UserError as error:
            refused += 1
            assert "\n" not in str(error)
            assert str(error)
        else:
            used(results)
    assert refused > trials / 3


def used(results):
    """Whatever was read can be shown and written."""
    assert isinstance(results, Results)
    repr(results)
    for warning in results.warnings:
        warning.message(results.study.noun)
    try:
        assert results.text
    except UserError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("estimates", "system", 0), "z"),
        (("estimates", "quantity", 0), "nope"),
        (("estimates", "value", 0), "0.5"),
        (("estimates", "low"), []),
        (("baseline",), "z"),
        (("curves", 0, "system"), "z"),
        (("warnings", 0, "about"), {"sytem": "a"}),
        (("warnings", 0, "about"), {"minus": {"a": "b", "c": "d"}}),
        (("schema_version",), "3"),
        (("task",), "cooking"),
    ],
)
def test_what_is_wrong_with_a_columnar_file_is_said(path, value, message):
    content = table_of_three()
    parent_of(content, path)[path[-1]] = value
    with pytest.raises(UserError) as refused:
        results_of(content)
    message(refused.value)


def test_two_rows_with_one_key_are_refused():
    content = table_of_three()
    for column in content["estimates"].values():
        column.append(column[0])
    with pytest.raises(UserError, match="estimates: two rows have the same key"):
        results_of(content)


@pytest.mark.parametrize(
    "path",
    [
        ("comparison", "deltas", "sure", "naurc"),
        ("comparison", "deltas", "sure", "mae_at_coverage", "0.90"),
        ("confidence_variants", "sure", "left", "bootstrap", "ci", "interval"),
        ("confidence_variants", "sure", "left", "bootstrap", "ci", "cmax", "low"),
    ],
)
def test_what_is_missing_in_a_nested_file_is_said(path, message):
    content = json.loads(pair_text())
    del parent_of(content, path)[path[-1]]
    with pytest.raises(UserError) as refused:
        results_of(content)
    message(refused.value)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("std_error", "mae_at_coverage"), 0.1),
        (("std_error", "cmax"), {"0.30": 0.1}),
        (("ci95", "cmax"), {"0.30": None}),
        (("ci", "mae_at_coverage"), None),
        (("ci", "cmax"), {"0.30": None}),
        (("ci", "undefined"), {"cmax": 3}),
        (("ci", "level"), 2),
    ],
)
def test_a_number_for_each_coverage_is_not_a_single_one(path, value):
    content = json.loads(pair_text())
    members = content["confidence_variants"]["sure"]["left"]["bootstrap"]
    parent_of(members, path)[path[-1]] = value
    with pytest.raises(UserError, match=path[0]):
        results_of(content)


def test_a_nested_file_whose_parts_say_different_things_is_refused():
    for path, value in ((("mae_at_coverage",), {}), (("bootstrap", "seed"), 9), (("aurc_at_c", "requested"), 0.5)):
        content = json.loads(pair_text())
        members = content["confidence_variants"]["sure"]["right"]
        parent_of(members, path)[path[-1]] = value
        with pytest.raises(UserError, match="under every confidence, and on both sides"):
            results_of(content)


with_features = pytest.mark.uses("groups", "costs", "conventions", "raters")


@cache
def grouped_text(count):
    """The file of so many systems with groups, prices, another tool's definition and a rater."""
    size, rng = 24, random.Random(4)
    table = {
        "cluster": [f"p{n // 2}" for n in range(size)],
        "item": [f"q{n % 2}" for n in range(size)],
        "truth": [n % 3 for n in range(size)],
        "sex": ["mf"[n // 2 % 2] for n in range(size)],
    }
    answers = [[rng.choice([None, 0, 1, 2]) if n else 0 for n in range(size)] for _ in range(count + 1)]
    systems = {
        f"s{number}": table | {"prediction": answers[number], "sure": [rng.randint(0, 5) for _ in range(size)]}
        for number in range(count)
    }
    results = evaluate(
        systems,
        confidence="sure",
        loss="zero_one",
        instrument=None,
        labels={"sex": "sex"},
        prices=["0.1"],
        names=["fd-shifts"],
        raters={"r": table | {"prediction": answers[count]}},
        seed=1,
        resamples=8,
        created_at=WHEN,
    )
    return json_text(results.to_json())


def shown_every_way(folder, content):
    """Whatever a command makes of a file: a page, tables, figures; each is made, or refused in one line."""
    written(folder, content, "in.json")
    ways = [("report", "in.json", "-o", "m.html"), ("figure", "in.json", "-o", "m.svg")]
    ways += [("table", "in.json", "--format", form) for form in ("csv", "latex", "markdown", "sentence")]
    told = []
    for words in ways:
        done = demur(folder, *words)
        assert done.returncode in (0, 2)
        if done.returncode:
            assert (done.stdout, done.stderr.count("\n")) == ("", 1)
            assert done.stderr.startswith("demur: in.json: ")
            assert len(done.stderr) <= 500
        told.append(done.stderr)
    return told


def without_rows(content, **columns):
    """The content without the rows of the table that have these cells."""
    rows = content["estimates"]
    kept = [n for n in range(len(rows["value"])) if any(rows[name][n] != cell for name, cell in columns.items())]
    assert len(kept) < len(rows["value"])
    return content | {"estimates": {name: [column[n] for n in kept] for name, column in rows.items()}}


def without(content, *path):
    del parent_of(content, path)[path[-1]]
    return content


THRESHOLD = "groups: no threshold of s0, by sure"
LACKING = {
    "a curve": (lambda file: without(file, "curves", 0), "these results lack a curve: of s0, by sure"),
    "every curve": (lambda file: file | {"curves": []}, "these results lack a curve: of s0, by sure"),
    "a row": (lambda file: without_rows(file, system="s1", quantity="cmax"), "these results lack a number: s1, cmax"),
    "a number": (lambda file: without_rows(file, quantity="risk"), "these results lack a number: s0, risk, sure"),
    "a coverage": (lambda file: without_rows(file, quantity="risk@0.1"), "these results lack a number: s0, risk@0.1"),
    "units of an item": (lambda file: without_rows(file, quantity="units"), "these results lack a number: s0, units"),
    "a convention": (lambda file: without(file, "convention", "ties"), "the convention lacks ties"),
    "every convention": (lambda file: file | {"convention": {}}, "the convention lacks ties"),
    "a threshold": (lambda file: without(file, "groups", "thresholds", 0), THRESHOLD),
    "thresholds": (lambda file: file | {"groups": file["groups"] | {"thresholds": []}}, THRESHOLD),
    "curves of groups": (lambda file: without(file, "groups", "curves", 0), "groups: no curve of s0, by sure, of "),
    "a switch": (lambda file: without(file, "curves", 0, "switches", 0, "a"), "a switch of thresholds lacks a, from"),
}


@with_features
@parametrize_few("lacking", LACKING, 1)
def test_a_file_of_columns_that_lacks_something_is_one_line(tmp_path, lacking):
    change, message = LACKING[lacking]
    told = shown_every_way(tmp_path, change(json.loads(grouped_text(3))))
    assert message in told[0]


NESTED = {
    "thresholds": (lambda file: file["groups"].update(thresholds=[]), THRESHOLD),
    "a curve of a group": (lambda file: without(file, "groups", "curves", 0), "groups: no curve of s0, by sure, of "),
    "a convention": (lambda file: without(file, "convention", "ties"), "convention.ties: Field required"),
    "a grouping": (lambda file: without(file, "confidence_variants", "sure", "groups", "sex"), "lack a number"),
    "levels": (
        lambda file: file["confidence_variants"]["sure"]["groups"]["sex"].update(levels=[]),
        "these results lack a number: s0, clusters, sure, sex f",
    ),
}


@with_features
@parametrize_few("lacking", NESTED, 1)
def test_a_nested_file_that_lacks_something_is_one_line(tmp_path, lacking):
    content = json.loads(grouped_text(1))
    change, message = NESTED[lacking]
    change(content)
    assert message in shown_every_way(tmp_path, content)[0]


@with_features
@parametrize_few(
    ("path", "value"),
    [
        (("curves", 0, "curve", "selective_risk", 0), 1e308),
        (("loss", "raw_multiplier"), 10**30),
        (("loss", "raw_multiplier"), 0),
        (("units",), 10**40),
        (("groups", "curves", 0, "coverage", 0), 1e300),
        (("external_points",), []),
    ],
    1,
)
@pytest.mark.slow
def test_numbers_that_do_not_fit_together_are_shown_or_one_line(tmp_path, path, value):
    content = json.loads(grouped_text(3))
    parent_of(content, path)[path[-1]] = value
    shown_every_way(tmp_path, content)


@with_features
@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_damaged_file_is_shown_or_refused_in_one_line(tmp_path, count):
    """Any member deleted, replaced, exchanged, and rows and columns of the table taken out."""
    rng, content, until = random.Random(count), json.loads(grouped_text(count)), time.monotonic() + SECONDS
    while time.monotonic() < until:
        broken = damaged(content, rng)
        if rng.random() < 0.5:
            damage_rows(rng, broken)
        shown_every_way(tmp_path, broken)


def test_a_file_that_is_none_of_ours(tmp_path):
    for content in ({}, [], 3, {"schema_version": "9"}, {"kind": "other"}):
        path = tmp_path / "x.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(UserError, match=r"x\.json: not a result file"):
            load(path)
