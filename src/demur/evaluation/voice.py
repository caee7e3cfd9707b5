"""How what is asked and told is worded: to a caller of Python as a call, to a user of the command as a command."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from demur.errors import UserError

# What Python calls an option that, where it can hold several things, is called otherwise on the command line.
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
    """Whom an evaluation speaks to."""

    @property
    def noun(self) -> str:
        """What is pasted: a call, or a command."""

    def answer(self, words: Sequence[str]) -> str:
        """What was asked with these words of a command more."""

    def tell(self, notes: Sequence[str]) -> None:
        """What was taken that nobody had said."""


@dataclass(frozen=True, slots=True)
class Call:
    """Speaks of keywords; what was taken is not printed, but recorded."""

    keywords: Mapping[str, Any]
    columns: Mapping[str, str]
    noun: str = "call"

    def answer(self, words: Sequence[str]) -> str:
        """A call with the keywords that the words stand for."""
        said, columns = dict[str, Any](), dict[str, str]()
        for option, value in zip(words, [*words[1:], "--"], strict=True):
            if option == "--column":
                role, _, name = value.partition("=")
                columns[role] = name
            elif option.startswith("--"):
                name = self._name(option[2:]) or option
                said[name] = True if value.startswith("--") else int(value) if name == "seed" else value
        kept = {"columns": {**self.columns, **columns}} if columns else {}
        return f"evaluate(…, {', '.join(f'{name}={value!r}' for name, value in (kept | said).items())})"

    def tell(self, notes: Sequence[str]) -> None:
        """Nothing is printed by a library."""

    def _name(self, option: str) -> str | None:
        name = option.replace("-", "_")
        name = NAMES.get(name, name)
        return name if name in self.keywords else None

    @contextmanager
    def wording(self) -> Iterator[None]:
        """Mistakes are told with the names of keywords."""
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
