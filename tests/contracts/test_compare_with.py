"""`scripts/compare_with.py` finds a number, a row and a word that changed, and nothing in what only moved."""

import copy
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from compare_with import Checkout
from same_numbers import Comparison, leaves

from parametrized import parametrize_few

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
THREE = json.loads((GOLDEN / "three.json").read_text(encoding="utf-8"))
PAIRED = json.loads((GOLDEN / "paired.json").read_text(encoding="utf-8"))


def compared(old, new):
    comparison = Comparison()
    comparison.add(leaves(old), leaves(new))
    return comparison


def row_of(content, **key):
    estimates = content["estimates"]
    rows = range(len(estimates["quantity"]))
    return next(row for row in rows if all(estimates[name][row] == value for name, value in key.items()))


def altered(column, amount, **key):
    """The golden file of three systems with one number moved."""
    new = copy.deepcopy(THREE)
    new["estimates"][column][row_of(THREE, **{"minus": None} | key)] += amount
    return compared(THREE, new)


def findings(comparison):
    return [len(part) for part in (comparison.different, comparison.missing, comparison.inserted, comparison.words)]


def test_equal_files_have_no_differences_and_every_number_is_compared():
    comparison = compared(THREE, THREE)
    assert findings(comparison) == [0, 0, 0, 0]
    estimates = THREE["estimates"]
    numbers = sum(isinstance(cell, float) for column in estimates.values() for cell in column)
    assert comparison.numbers.total() > numbers > 900


def test_rows_in_another_order_are_the_same():
    new = copy.deepcopy(THREE)
    new["estimates"] = {name: column[::-1] for name, column in THREE["estimates"].items()}
    new["curves"] = THREE["curves"][::-1]
    assert findings(compared(THREE, new)) == [0, 0, 0, 0]


@parametrize_few(
    ("column", "quantity", "within", "beyond"),
    [
        ("value", "aurc", 4e-14, 1e-13),  # 0.06: on its own scale
        ("value", "eaurc", 9e-13, 2e-12),  # 0.04: on that of the largest loss, 1
        ("ci95_low", "aurc", 7e-14, 1e-13),  # 0.04: on that of the other end, 0.08
        ("ci95_low", "eaurc", 9e-13, 2e-12),
        ("std_error", "augrc", 4e-14, 1e-12),  # 0.003: on that of the largest of its kind in the file
        ("count", "aurc", 0, 1),
    ],
    1,
)
def test_a_number_may_move_by_rounding_on_its_scale_and_no_further(column, quantity, within, beyond):
    assert findings(altered(column, within, system="zero", quantity=quantity)) == [0, 0, 0, 0]
    assert findings(altered(column, beyond, system="zero", quantity=quantity)) == [1, 0, 0, 0]


@parametrize_few(
    ("path", "within", "beyond"),
    [
        (("confidence_variants", "llm", "left", "interpretation", "augrc_gap_pct"), 9e-11, 2e-10),
        (("confidence_variants", "llm", "left", "cmax"), 5e-13, 1e-12),
        (("comparison", "deltas", "llm", "aurc_full", "delta"), 9e-13, 2e-12),
        (("comparison", "deltas", "llm", "aurc_full", "p_value"), 9e-10, 2e-9),
        (("confidence_variants", "llm", "left", "bootstrap", "ci95", "aurc_full", 0), 7e-14, 1e-13),
    ],
    1,
)
def test_a_nested_number_likewise(path, within, beyond):
    for amount, differ in ((within, 0), (beyond, 1)):
        new = copy.deepcopy(PAIRED)
        holder = new
        for name in path[:-1]:
            holder = holder[name]
        holder[path[-1]] += amount
        assert findings(compared(PAIRED, new)) == [differ, 0, 0, 0]


@pytest.mark.slow
def test_a_number_that_is_lost_or_found_in_its_row_differs():
    new = copy.deepcopy(THREE)
    new["estimates"]["value"][row_of(THREE, quantity="aurc")] = None
    assert findings(compared(THREE, new)) == findings(compared(new, THREE)) == [1, 0, 0, 0]


@pytest.mark.slow
def test_a_row_on_one_side_alone_is_listed_apart():
    row, new = row_of(THREE, quantity="aurc", system="zero", minus=None), copy.deepcopy(THREE)
    for column in new["estimates"].values():
        del column[row]
    lost, found = compared(THREE, new), compared(new, THREE)
    assert findings(lost) == [0, 1, 0, 0]
    assert "quantity=aurc" in lost.missing[0]
    assert found.inserted == lost.missing


def test_a_file_on_one_side_alone_is_listed():
    comparison = Comparison()
    comparison.add(leaves({"a": {"b": 1.5}}), {}, "file")
    assert (len(comparison.missing), comparison.different) == (1, [])


def test_a_word_that_differs_is_no_number():
    new = copy.deepcopy(THREE)
    new["estimates"]["method"][0] = "another"
    comparison = compared(THREE, new)
    assert findings(comparison) == [0, 0, 0, 1]
    assert comparison.words[0].endswith("method: 'logit' became 'another'")


def test_options_are_spelled_as_the_help_of_a_checkout_names_them(monkeypatch):
    spellings = {"group": (("--group", "{}={}"), ("--groups.{}", "{}")), "quiet": (("--quiet",), ())}
    monkeypatch.setattr("compare_with.SPELLINGS", spellings)
    command = ["evaluate", "a.csv", ["group", "sex", "Gender"], ["quiet"], ["seed", "7"]]
    for text, words in [
        ("--group NAME=COLUMN --quiet", ["--group", "sex=Gender", "--quiet"]),
        ("--groups.NAME COLUMN", ["--groups.sex", "Gender"]),
    ]:
        monkeypatch.setattr(Checkout, "_python", lambda *_, text=text: text)
        assert Checkout(ROOT).spelled(command) == ["evaluate", "a.csv", *words, "--seed", "7"]


@pytest.mark.slow
@pytest.mark.parametrize("changed", [False, True])
def test_the_script_compares_with_another_checkout(tmp_path, changed):
    """Another checkout with the same source, and a golden file with another number and word and one row less."""
    (tmp_path / "src").symlink_to(ROOT / "src")
    shutil.copytree(GOLDEN, tmp_path / "tests" / "golden")
    if changed:
        other = {name: column[1:] for name, column in THREE["estimates"].items()}
        other["value"][0] += 1e-9
        other["method"][0] = "another"
        text = json.dumps(THREE | {"estimates": other})
        (tmp_path / "tests" / "golden" / "three.json").write_text(text, encoding="utf-8")
    command = [sys.executable, ROOT / "scripts" / "compare_with.py", tmp_path, "--evaluations", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.findall(r"^(numbers|rows|words) (that differ|missing|inserted): (\d+)$", done.stdout, re.MULTILINE)
    assert [int(count) for *_, count in found] == ([1, 0, 1, 1] if changed else [0, 0, 0, 0]), done.stdout
    assert done.returncode == changed, done.stderr
