"""Promises about the source: every quantity has a plain loop, public names are documented, tests mirror rooms."""

import ast
import inspect
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest

import demur
from demur.audit.loops import LOOPS
from demur.quantities import QUANTITIES

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "demur"


def test_every_quantity_has_a_plain_loop():
    """A policy chooses what is shown; the loop takes what was shown."""
    names = {entry.name.removesuffix("@policy") for entry in QUANTITIES.values()}
    assert names == LOOPS.keys()


def homes_in_stub():
    tree = ast.parse(files("demur").joinpath("__init__.pyi").read_text(encoding="utf-8"))
    return {name.name: node.module for node in tree.body if isinstance(node, ast.ImportFrom) for name in node.names}


def test_the_public_names_are_those_of_the_stub():
    assert sorted(homes_in_stub()) == demur.__all__
    assert set(demur.__all__) <= set(dir(demur))
    with pytest.raises(AttributeError, match="module 'demur' has no attribute 'nope'"):
        _ = demur.nope


@pytest.mark.parametrize(("name", "home"), homes_in_stub().items())
def test_every_public_name_exists_where_the_stub_says_and_is_documented(name, home):
    member = getattr(import_module(home), name)
    assert getattr(demur, name) is member
    if inspect.isfunction(member) or inspect.isclass(member):
        assert inspect.getdoc(member)
        assert member.__module__ == home or home in MEETING_PLACES


MEETING_PLACES = ("demur.read", "demur.quantities", "demur.selective_prediction")


NOT_OF_ONE_ROOM = {"contracts", "golden", "statistical"}


def test_the_folders_of_the_tests_are_those_of_the_source():
    rooms = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    folders = {
        path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and not path.name.startswith(("_", "."))
    }
    assert folders - NOT_OF_ONE_ROOM <= rooms
    assert sorted(path.name for path in (ROOT / "tests").glob("test_*.py")) == []
