"""Choices of the user about a log: one of several scorers, filters or systems, and rules for abstentions.

Rules for abstentions are written like `value=N`, `answer~=REGEX` and `choice=TEXT`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from demur.errors import UserError, literal, shown
from demur.extensions.importers.registry import LogEntry
from demur.extensions.importers.values import as_text, is_nan
from demur.facts.columns import written_number
from demur.facts.labels import folded
from demur.facts.paths import at_path
from demur.files.numbers import finite_float

Applies = Callable[[LogEntry], bool]
_OF_SCORES = re.compile("value=|unscored$|null$")


def no_such(noun: str, name: str, names: Iterable[str]) -> UserError:
    """Build the error for a scorer, metric, filter or system that is not in the log."""
    return UserError(f"no {noun} is called {shown(name)}; there are: {', '.join(map(shown, names)) or 'none'}")


class OneOf:
    """The requested scorer, filter or system, or else the only one in the log.

    >>> filters = OneOf("filter", "--filter", None)
    >>> [filters.takes(name) for name in ("first", "first", "maj")]
    [True, True, False]
    >>> filters.check()
    Traceback (most recent call last):
    demur.errors.UserError: 2 filters: first, maj; choose one with --filter
    """

    def __init__(self, noun: str, option: str, requested: str | None) -> None:
        self._noun, self._option, self._requested = noun, option, requested
        self.chosen = requested
        self.counts: Counter[str] = Counter()
        self._second_at = ""

    def takes(self, name: str, where: str = "") -> bool:
        """Whether this name is chosen: it was requested, or is the first in the log."""
        if self._requested is None and self.counts and name not in self.counts:
            self._second_at = self._second_at or where
        self.counts[name] += 1
        self.chosen = self.chosen if self.chosen is not None else name
        return name == self.chosen

    @property
    def is_guess(self) -> bool:
        """Whether none was requested."""
        return self._requested is None

    def check(self, of: str = "") -> None:
        """Raise an error at the end of the log unless the requested one, or only one, occurred."""
        if self._requested is not None:
            if self.counts and self._requested not in self.counts:
                raise no_such(self._noun, self._requested, self.counts)
            return
        if len(self.counts) > 1:
            shares = [f"{shown(name)} ({count} of {of})" if of else shown(name) for name, count in self.counts.items()]
            text = f"{len(self.counts)} {self._noun}s: {', '.join(shares)}; choose one with {self._option}"
            raise UserError(f"{self._second_at}: {text}" if self._second_at else text)


class AbstentionRules:
    """The rules of one import, those of the format first; an abstention is counted under the first that applies.

    The rules of the format are about the score, and a given rule about the score replaces them all.
    """

    def __init__(self, given: Sequence[str], own: Sequence[str], known: Collection[str]) -> None:
        rules = {name: _rule(name, known) for name in dict.fromkeys([*own, *given])}
        replaced = any(_OF_SCORES.match(name) for name in given)
        self._dropped = {name: rules[name] for name in own if replaced and name not in given}
        self._rules = {name: rule for name, rule in rules.items() if name not in self._dropped}
        self.counts = dict.fromkeys(self._rules, 0)

    def rule_for(self, entry: LogEntry) -> str | None:
        """The rule by which an entry is an abstention, None if it is not one; rules count their uses."""
        name = _first(self._rules, entry)
        if name is not None:
            self.counts[name] += 1
        return name

    def dropped_for(self, entry: LogEntry) -> str | None:
        """The rule of the format that would apply, if the user's rules had not replaced it."""
        return _first(self._dropped, entry)


def _first(rules: Mapping[str, Applies], entry: LogEntry) -> str | None:
    return next((name for name, applies in rules.items() if applies(entry)), None)


def _rule(text: str, known: Collection[str]) -> Applies:
    if text == "null":
        return lambda entry: entry.value is None
    for kind in known:
        _, pattern, rule = _KINDS[kind]
        if form := re.fullmatch(pattern, text, re.DOTALL):
            return rule(*form.groups())
    raise UserError(f"--abstain {literal(text)}, expected {' or '.join(_KINDS[kind][0] for kind in known)}")


def _answer(pattern: str) -> Applies:
    try:
        compiled = re.compile(pattern, re.DOTALL)
    except re.error as error:
        raise UserError(f"--abstain answer~={literal(pattern)} is not a regular expression: {error}") from None
    return lambda entry: entry.answer is not None and compiled.fullmatch(entry.answer) is not None


def _field(path: str, wanted: str) -> Applies:
    return lambda entry: _equals(at_path(entry.record, path), wanted)


def _named(metric: str, wanted: str) -> Applies:
    return _field(f"namedScores.{metric}", wanted)


# How each kind of rule is written, in words and as a pattern, and the function from its parts to the rule.
_KINDS: dict[str, tuple[str, str, Callable[..., Applies]]] = {
    "value": ("value=N", "value=(.+)", lambda wanted: lambda entry: _equals(entry.value, wanted)),
    "choice": ("choice=TEXT", "choice=(.+)", lambda wanted: lambda entry: entry.choice == wanted),
    "answer": ("answer~=REGEX", "answer~=(.+)", _answer),
    "field": ("field:PATH=VALUE", "field:(.+?)=(.*)", _field),
    "named": ("named:METRIC=VALUE", "named:(.+?)=(.*)", _named),
    "unscored": ("unscored", "unscored", lambda: lambda entry: is_nan(entry.value)),
}


def _equals(value: Any, wanted: str) -> bool:
    if folded(as_text(value)) == folded(wanted):
        return True
    number = finite_float(value)
    return number is not None and number == written_number(wanted)
