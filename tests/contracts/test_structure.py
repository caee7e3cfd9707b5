"""Promises about the source: a thing is defined once, listed once, public names are documented, tests mirror rooms."""

import ast
import inspect
import re
from collections import defaultdict
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest

import demur
from demur.audit.loops import LOOPS
from demur.quantities import QUANTITIES

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "demur"
MODULES = sorted(SOURCE.rglob("*.py"))
DECLARING = (SOURCE / "quantities", SOURCE / "audit" / "loops")
STEMS = {entry.stem for entry in QUANTITIES.values()}
FEWEST_NAMES_OF_A_LIST = 3


@cache
def texts():
    return {path: path.read_text(encoding="utf-8") for path in MODULES}


def test_no_two_classes_have_one_name():
    homes = defaultdict(list)
    for path, text in texts().items():
        for name in re.findall(r"^ *class (\w+)", text, flags=re.MULTILINE):
            homes[name].append(str(path.relative_to(SOURCE)))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_every_quantity_has_a_plain_loop():
    """A policy chooses what is shown; the loop takes what was shown."""
    names = {entry.name.removesuffix("@policy") for entry in QUANTITIES.values()}
    assert names == LOOPS.keys()


def literal_members(node):
    """The texts a literal list, tuple, set or dict holds, those of its keys if it is a dict."""
    members = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
    return [member.value for member in members if isinstance(member, ast.Constant) and isinstance(member.value, str)]


def lists_of_quantities(tree):
    """Literals that hold names of at least three quantities, as the lines they start at."""
    for node in ast.walk(tree):
        stems = {text.partition("@")[0] for text in literal_members(node)}
        if len(stems & STEMS) >= FEWEST_NAMES_OF_A_LIST:
            yield node.lineno


def test_a_hand_kept_list_of_quantities_would_be_found():
    assert [*lists_of_quantities(ast.parse('SHOWN = ["aurc", "augrc@C", "cmax"]'))] == [1]
    assert [*lists_of_quantities(ast.parse('KEYS = {"aurc": 1, "naurc": 2, "risk@0.3": 3}'))] == [1]
    assert [*lists_of_quantities(ast.parse('WORDS = ["aurc", "left", "cmax"]'))] == []


CHOICES = {
    "reference.py": "the numbers a document gives ranges for",
    "rankings.py": "the four columns of the heat map",
    "json_v1.py": "what the nested file calls the numbers of an item",
    "json_v1_beside.py": "what the nested file calls the numbers at a price",
    "curves.py": "what the nested file holds of a reliability",
    "points.py": "the numbers a published point may give",
    "choosing.py": "what a rule records of the point it chose",
    "words.py": "what is said of a rule",
    "names.py": "what other tools call a quantity",
    "conventions.py": "other definitions of a quantity that are in use, and reported figures taken for one another",
    "runs.py": "reported figures that are not shares",
}


def test_quantities_are_listed_nowhere_but_where_they_are_declared():
    """What is listed elsewhere is a choice among them, with a reason, that a new quantity need not enter."""
    elsewhere = {path: text for path, text in texts().items() if not any(home in path.parents for home in DECLARING)}
    named = {path: {stem for stem in STEMS if f'"{stem}' in text} for path, text in elsewhere.items()}
    looked_at = [path for path, stems in named.items() if len(stems) >= FEWEST_NAMES_OF_A_LIST]
    assert {path.name for path in looked_at if any(lists_of_quantities(ast.parse(texts()[path])))} == CHOICES.keys()


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
