"""Golden files: results, a calibrator, tables and the skeletons of pages; `make golden` writes them anew."""

import json

import pytest
from make_golden import FOLDER, files

MADE = dict(files())


@pytest.mark.parametrize("name", MADE)
def test_a_golden_file_is_the_same_but_for_the_versions_of_the_tools(name):
    made, kept = MADE[name], (FOLDER / name).read_text(encoding="utf-8")
    if not name.endswith(".json"):
        assert made == kept
        return
    content, expected = json.loads(made), json.loads(kept)
    assert content | {"tool": None} == expected | {"tool": None}
    if content["tool"] == expected["tool"]:
        assert made == kept


def test_every_kind_of_file_has_a_golden_one():
    kept = {path.name for path in FOLDER.iterdir() if path.is_file()}
    assert kept == {*MADE, "run.json", "queries.csv", "retrieval-v1.json"}
