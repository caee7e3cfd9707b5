"""Promises about the source: every quantity has a plain loop, public names exist and are documented."""

import ast
import inspect
from importlib import import_module
from importlib.resources import files

import pytest

import demur
from demur.quantities import QUANTITIES
from reference import LOOPS
from whole import whole


@whole
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


def used_by(home):
    """The marks of a test of a name whose home is in the folder of a feature or an extension."""
    kind, _, folder = home.removeprefix("demur.").partition(".")
    return [pytest.mark.uses(folder.partition(".")[0])] if kind in ("features", "extensions") else []


@pytest.mark.parametrize(
    ("name", "home"), [pytest.param(name, home, marks=used_by(home)) for name, home in homes_in_stub().items()]
)
def test_every_public_name_exists_where_the_stub_says_and_is_documented(name, home):
    member = getattr(import_module(home), name)
    assert getattr(demur, name) is member
    if inspect.isfunction(member) or inspect.isclass(member):
        assert inspect.getdoc(member)
        assert member.__module__ == home or home in MEETING_PLACES


MEETING_PLACES = ("demur.read", "demur.quantities", "demur.selective_prediction")
