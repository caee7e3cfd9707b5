"""Words messages for whoever called: for Python in terms of keywords, for the command in terms of its options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from demur.errors import UserError

# Options of the command whose keyword has another name: as they are spelled on the command line, then in Python.
NAMES = {
    "column": "columns",
    "coverage_grid": "coverages",
    "bootstrap_resamples": "resamples",
    "rater": "raters",
    "point": "points",
    "abstention_cost": "abstention_costs",
    "convention": "conventions",
}
_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*)(?: (none|first|drop|vote)\b)?")


class Voice(Protocol):
    """The wording of messages for one kind of caller."""

    @property
    def noun(self) -> str:
        """What the user would run again: "call" or "command"."""

    def answer(self, words: Sequence[str]) -> str:
        """The call or command to run again, with these words of a command line added."""

    def tell(self, notes: Sequence[str]) -> None:
        """Report what was guessed."""


@dataclass(frozen=True, slots=True)
class Call:
    """The wording for Python, in terms of keywords; guesses are not printed, as the results record them."""

    keywords: Mapping[str, Any]
    columns: Mapping[str, str]
    noun: str = "call"

    def answer(self, words: Sequence[str]) -> str:
        """The call with the keywords that these words of a command line stand for."""
        keywords, columns = dict[str, Any](), dict[str, str]()
        rest = iter(words)
        for option in rest:
            if option == "--column":
                role, _, name = next(rest).partition("=")
                columns[role] = name
            else:
                name = self._name(option[2:]) or option
                flag = isinstance(self.keywords.get(name), bool)
                keywords[name] = True if flag else int(next(rest)) if name == "seed" else next(rest)
        mapping = {"columns": {**self.columns, **columns}} if columns else {}
        return f"evaluate(…, {', '.join(f'{name}={value!r}' for name, value in (mapping | keywords).items())})"

    def tell(self, notes: Sequence[str]) -> None:
        """Print nothing: a library does not print."""

    def _name(self, option: str) -> str | None:
        name = option.replace("-", "_")
        name = NAMES.get(name, name)
        return name if name in self.keywords else None

    @contextmanager
    def wording(self) -> Iterator[None]:
        """Replace the options of the command in an error by the keywords of Python."""
        try:
            yield
        except UserError as error:
            text = _OPTION.sub(self._worded, str(error))
            if text == str(error):
                raise
            raise UserError(text) from None

    def _worded(self, option: re.Match[str]) -> str:
        name = self._name(option[1])
        if name is None:
            return option[0]
        return f"{name}={option[2]!r}" if option[2] else name
