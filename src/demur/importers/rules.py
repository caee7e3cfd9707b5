"""Rules for which answers are abstentions, such as `value=N`, `answer~=REGEX` and `choice=TEXT`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from demur.errors import UserError, literal
from demur.facts.paths import at_path
from demur.importers.paths import as_text, is_number

if TYPE_CHECKING:
    from demur.importers.registry import LogEntry

Applies = Callable[["LogEntry"], bool]
_FORMS = re.compile(r"(value|choice)=(.+)|(answer)~=(.+)|(field|named):(.+?)=(.*)|(unscored)", re.DOTALL)
NULL = "null"


class AbstentionRules:
    """The rules of one import, those of the format first; an abstention is counted under the first that applies."""

    def __init__(self, given: Sequence[str], own: Sequence[str], known: Collection[str]) -> None:
        self._rules: dict[str, Applies] = {name: _rule(name, known) for name in dict.fromkeys([*own, *given])}
        self.counts = dict.fromkeys(self._rules, 0)

    def abstains(self, entry: LogEntry) -> bool:
        """Whether an entry is an abstention; if so, count it."""
        name = next((name for name, applies in self._rules.items() if applies(entry)), None)
        if name is not None:
            self.counts[name] += 1
        return name is not None


def _rule(text: str, known: Collection[str]) -> Applies:
    if text == NULL:
        return lambda entry: entry.value is None
    form = _FORMS.fullmatch(text)
    kind, *rest = [part for part in form.groups() if part is not None] if form else [""]
    if kind not in known:
        raise UserError(f"--abstain {literal(text)}, expected {' or '.join(_KINDS[name][0] for name in known)}")
    return _KINDS[kind][1](*rest)


def _answer(pattern: str) -> Applies:
    try:
        compiled = re.compile(pattern, re.DOTALL)
    except re.error as error:
        raise UserError(f"--abstain answer~={literal(pattern)} is not a regular expression: {error}") from None
    return lambda entry: entry.answer is not None and compiled.fullmatch(entry.answer) is not None


def _field(path: str, wanted: str) -> Applies:
    return lambda entry: _equals(at_path(entry.record, path), wanted)


# How each kind of rule is written, and the function from its parts to the rule.
_KINDS: dict[str, tuple[str, Callable[..., Applies]]] = {
    "value": ("value=N", lambda wanted: lambda entry: _equals(entry.value, wanted)),
    "choice": ("choice=TEXT", lambda wanted: lambda entry: entry.choice == wanted),
    "answer": ("answer~=REGEX", _answer),
    "field": ("field:PATH=VALUE", _field),
    "named": ("named:METRIC=VALUE", lambda metric, wanted: _field(f"namedScores.{metric}", wanted)),
    "unscored": ("unscored", lambda: lambda entry: isinstance(entry.value, float) and math.isnan(entry.value)),
}


def _equals(value: Any, wanted: str) -> bool:
    """Whether a value is this text, or a number that the text spells."""
    if as_text(value) == wanted:
        return True
    try:
        return is_number(value) and float(value) == float(wanted)
    except (ValueError, OverflowError):
        return False
