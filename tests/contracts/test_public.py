"""`import demur`: what help teaches, what dir lists, and what a misspelt name is told."""

import pydoc
import re
import subprocess
import sys

import pytest

import demur
from installation import needs_all

PURPOSE = 24  # how wide the column of purposes is


def listed_by_purpose():
    """Every name that the docstring lists, in its order."""
    listing = demur.__doc__.partition("The names, by what they are for:\n\n")[2].partition("\n\nMetrics")[0]
    return [name for line in listing.splitlines() for name in re.findall(r"\w+", line[PURPOSE:])]


def test_help_lists_every_public_name_once_by_what_it_is_for():
    assert sorted(listed_by_purpose()) == demur.__all__


def test_help_begins_with_the_main_job():
    text = pydoc.plain(pydoc.render_doc(demur))
    assert text.index("demur.evaluate(table") < text.index("The names, by what they are for")
    assert "_homes" not in text


def test_the_first_example_comes_within_ten_lines():
    assert "demur.evaluate(" in "\n".join(demur.__doc__.splitlines()[:12])


@needs_all
def test_dir_lists_the_public_names_and_nothing_else():
    assert dir(demur) == sorted([*demur.__all__, "__version__"])
    assert all(hasattr(demur, name) for name in dir(demur))


@needs_all
@pytest.mark.slow
def test_dir_is_the_same_after_everything_was_used():
    code = "import demur, demur.cli; [getattr(demur, name) for name in demur.__all__]; print(*dir(demur))"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.split() == dir(demur)


@pytest.mark.parametrize(
    "name",
    [
        "evalute",
        "Readtable",
        "xyzzy",
        "__wrapped__",
    ],
)
def test_a_misspelt_name_is_told_the_nearest(name, message):
    with pytest.raises(AttributeError) as error:
        getattr(demur, name)
    message(error.value)
