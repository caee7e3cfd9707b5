"""The report of retrieval on a console: nothing a file says is obeyed by a terminal."""

import pytest

from demur.extensions.retrieval.console import retrieval_text
from kinds import renamed_kind, retrieval

OBEYED = "\x1b[31m\x9b2J\u202e\u2028\nFORGED"


@pytest.mark.parametrize("verbose", [False, True])
def test_whatever_a_file_says_is_visible_on_its_line_and_without_effect(verbose):
    def text(spell):
        return retrieval_text(renamed_kind(retrieval().to_json(), spell), verbose=verbose)

    shown = text(lambda name: f"{name}{OBEYED}")
    assert len(shown.splitlines()) == len(text(lambda name: f"{name}_").splitlines())
    assert all(line.isprintable() for line in shown.split("\n"))
    assert "\\x1b[31m\\x9b2J\\u202e\\u2028\\nFORGED" in shown
