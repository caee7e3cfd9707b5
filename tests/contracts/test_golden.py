"""Golden files: results, a calibrator, tables and the skeletons of pages; `make golden` writes them anew."""

import json
import re

import pytest
from make_golden import FOLDER, files
from same_numbers import Comparison, leaves

from demur.extension import tasks

GIVEN = {"run.json", "queries.csv"}
OF_EXTENSIONS = ("retrieval",)
GONE = {*OF_EXTENSIONS} - tasks().keys()
KEPT = {path.name for path in FOLDER.iterdir() if path.is_file() and path.stem not in GONE} - GIVEN


@pytest.fixture(scope="module")
def anew():
    return dict(files())


def without_fractions(text):
    """A JSON file with its members in order, 0.0 in place of every number that is no integer."""
    return json.loads(text, parse_float=lambda _: 0.0, object_pairs_hook=list)


def as_number(cell):
    try:
        return float(cell)
    except ValueError:
        return cell


def as_expected(cell):
    number = as_number(cell)
    return pytest.approx(number, rel=1e-12) if isinstance(number, float) else number


@pytest.mark.parametrize("name", sorted(KEPT))
def test_a_golden_file_is_the_same_but_for_the_versions_of_the_tools(anew, name):
    made, kept = anew[name], (FOLDER / name).read_text(encoding="utf-8")
    if name.endswith(".csv"):
        cells = [re.split(r"[,\n]", text) for text in (made, kept)]
        assert [*map(as_number, cells[0])] == [*map(as_expected, cells[1])]
        return
    if not name.endswith(".json"):
        assert made == kept
        return
    shapes = [[pair for pair in without_fractions(text) if pair[0] != "tool"] for text in (made, kept)]
    assert shapes[0] == shapes[1]
    comparison = Comparison()
    comparison.add(leaves(json.loads(kept)), leaves(json.loads(made)))
    assert not comparison.different


def test_every_kind_of_file_has_a_golden_one(anew):
    assert anew.keys() == KEPT
