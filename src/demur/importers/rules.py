"""Rules that say which answers are abstentions, such as `value=N`, `answer~=REGEX` and `choice=TEXT`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from demur.errors import UserError, literal
from demur.importers.paths import as_text, is_number
from demur.read.paths import at_path

if TYPE_CHECKING:
    from demur.importers.registry import LogEntry

Applies = Callable[["LogEntry"], bool]
_FORMS = re.compile(r"(value|choice)=(.+)|(answer)~=(.+)|(field|named):(.+?)=(.*)|(unscored)", re.DOTALL)
NULL = "null"


class AbstentionRules:
    """The rules of one import, in order: first the format's own. A unit is counted under the first that applies."""

    def __init__(self, given: Sequence[str], own: Sequence[str], known: Collection[str]) -> None:
        self._rules: dict[str, Applies] = {name: _rule(name, known) for name in dict.fromkeys([*own, *given])}
        self.counts = dict.fromkeys(self._rules, 0)

    def abstains(self, entry: LogEntry) -> bool:
        """Whether the entry is an abstention, which is counted."""
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
        forms = {"value": "value=N", "answer": "answer~=REGEX", "choice": "choice=TEXT", "unscored": "unscored"}
        forms |= {"field": "field:PATH=VALUE", "named": "named:METRIC=VALUE"}
        raise UserError(f"--abstain {literal(text)}, expected {' or '.join(forms[name] for name in known)}")
    return _KINDS[kind](*rest)


def _value(wanted: str) -> Applies:
    return lambda entry: _equals(entry.value, wanted)


def _choice(wanted: str) -> Applies:
    return lambda entry: entry.choice == wanted


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


def _unscored() -> Applies:
    return lambda entry: isinstance(entry.value, float) and math.isnan(entry.value)


_KINDS: dict[str, Callable[..., Applies]] = {
    "value": _value,
    "choice": _choice,
    "answer": _answer,
    "field": _field,
    "named": _named,
    "unscored": _unscored,
}


def _equals(value: Any, wanted: str) -> bool:
    """The same text, or the same number however it is written."""
    if as_text(value) == wanted:
        return True
    try:
        return is_number(value) and float(value) == float(wanted)
    except (ValueError, OverflowError):
        return False
