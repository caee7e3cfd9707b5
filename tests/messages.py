"""Messages that tests provoke, with the case that provokes each: recorded in one file, which `make messages` writes."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import pytest

FILE = Path(__file__).with_name("messages.txt")
ROOT = Path(__file__).parents[1]
UPDATING = bool(os.environ.get("UPDATE_MESSAGES"))
PLAIN = (str, bytes, int, float, bool, type(None))
LONGEST_ID = 70
FOREIGN = re.compile("(?<=not valid TOML: ).*|(?<=not valid Parquet: ).*")

Recorded = dict[tuple[str, str], str]
made: Recorded = {}
provoked: set[tuple[str, str]] = set()  # by the tests that were collected, whether they are run or not


@cache
def recorded() -> Recorded:
    """The recorded messages, by test and case."""
    return parsed(FILE.read_text(encoding="utf-8"))


def parsed(text: str) -> Recorded:
    messages: dict[tuple[str, str], list[str]] = {}
    test = case = ""
    for line in text.split("\n"):
        if line.startswith("- "):
            case = line[2:]
        elif line.startswith("  "):
            messages.setdefault((test, case), []).append(line[2:])
        elif line:
            test = line
    return {key: "\n".join(lines) for key, lines in messages.items()}


def written(messages: Recorded) -> str:
    blocks: dict[str, str] = {}
    for (test, case), text in sorted(messages.items()):
        lines = "".join(f"  {line}\n" for line in text.split("\n"))
        blocks[test] = blocks.get(test, f"{test}\n") + f"- {case}\n{lines}"
    return "\n".join(blocks.values())


def key_of(item: pytest.Item) -> tuple[str, str]:
    """The test and its case."""
    test, _, case = item.name.partition("[")
    return f"{item.path.name}::{test}", case.removesuffix("]")


class Check:
    """Checks that a message, or an error, is the recorded one of a test and case.

    Temporary folders are called FOLDER and that of the checkout ROOT. What another library says is left out: it changes
    with its version.
    """

    def __init__(self, key: tuple[str, str], temporary: Path) -> None:
        self.key, self.temporary = key, temporary

    def __call__(self, said: str | BaseException) -> None:
        text = self.anywhere(str(said)).rstrip("\n")
        if UPDATING:
            assert made.setdefault(self.key, text) == text, "another message of a test of this name: rename one"
        else:
            assert text == recorded().get(self.key), "another message than the recorded one: see `make messages`"

    def anywhere(self, text: str) -> str:
        """The text as it is wherever the tests are run."""
        text = re.sub(rf"{re.escape(str(self.temporary))}/[\w.-]+", "FOLDER", text)
        return FOREIGN.sub("…", text.replace(str(ROOT), "ROOT"))


def case_id(value: object) -> str | None:
    """An id that says what a case is; None for what cannot be spelled."""
    if isinstance(value, tuple) and value and all(isinstance(word, str) for word in value):
        spelled = " ".join(value)
    elif _is_plain(value):
        spelled = repr(value)
    else:
        return None
    if isinstance(value, PLAIN) and len(spelled) <= LONGEST_ID:
        return None  # pytest's own id is shorter
    return spelled if len(spelled) <= LONGEST_ID else f"{spelled[:LONGEST_ID]}…"


def _is_plain(value: object) -> bool:
    if isinstance(value, dict):
        return all(_is_plain(part) for pair in value.items() for part in pair)
    return all(map(_is_plain, value)) if isinstance(value, (tuple, list)) else isinstance(value, PLAIN)
