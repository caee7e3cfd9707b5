"""Golden files: results, a calibrator, tables and the skeletons of pages; `make golden` writes them anew."""

import json

import pytest
from make_golden import FOLDER, files

from same_numbers import assert_same

GIVEN = {"run.json", "queries.csv"}
KEPT = {path.name for path in FOLDER.iterdir() if path.is_file()} - GIVEN


@pytest.fixture(scope="module")
def anew():
    return dict(files())


@pytest.mark.parametrize("name", sorted(KEPT))
def test_a_golden_file_is_the_same_but_for_the_versions_of_the_tools(anew, name):
    made, kept = anew[name], (FOLDER / name).read_text(encoding="utf-8")
    if not name.endswith(".json"):
        assert made == kept
        return
    content, expected = json.loads(made), json.loads(kept)
    assert_same(content | {"tool": None}, expected | {"tool": None})


def test_every_kind_of_file_has_a_golden_one(anew):
    assert anew.keys() == KEPT
