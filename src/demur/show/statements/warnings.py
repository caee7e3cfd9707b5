"""Statements for warnings: their messages, and the numbers they are about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from demur.drawing.labels import isolated, shortened
from demur.files.strict_model import WordedWarning
from demur.inference.warnings import ResultWarning
from demur.results.table import Results
from demur.show.statements.statement import Statement

_MOST_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Warned(Statement):
    """States a kind of warning: its message, and the numbers it is about, the one of the message first."""

    code: str
    message: str
    about: tuple[str, ...]

    @property
    def words(self) -> str:
        """The first number with the message, and some of the other numbers."""
        first, *others = map(isolated, self.about)
        more = f" and {len(others) - _MOST_SHOWN} more" if len(others) > _MOST_SHOWN else ""
        also = f"; also {', '.join(others[:_MOST_SHOWN])}{more}" if others else ""
        return f"{first}: {self.message}{also}"


def warnings(results: Results) -> list[Warned]:
    """The statements for the warnings of results, each kind once."""
    several = len(results.systems) > 1
    labels = dict(zip(results.systems, shortened(results.systems), strict=True)) if several else {}
    noun = results.study.noun
    worded = [(warning.code, warning.message(noun), _subject(results, warning, labels)) for warning in results.warnings]
    return by_kind(worded)


def recorded_warnings(recorded: Iterable[WordedWarning]) -> list[Warned]:
    """The statements for the warnings recorded in a calibration, each kind once."""
    return by_kind((warning.code, warning.message, warning.where) for warning in recorded)


def by_kind(worded: Iterable[tuple[str, str, str]]) -> list[Warned]:
    """Merge warnings, given as (code, message, subject), into one statement per code with its first message."""
    kinds: dict[str, tuple[str, list[str]]] = {}
    for code, message, where in worded:
        kinds.setdefault(code, (message, []))[1].append(where)
    return [Warned(code, message, tuple(about)) for code, (message, about) in kinds.items()]


def _subject(results: Results, warning: ResultWarning, labels: dict[str, str]) -> str:
    own = results.study.warning_subject(warning)
    return results.warning_subject(warning, labels) if own is None else own


@dataclass(frozen=True, slots=True)
class BearingWarning(Statement):
    """States a warning that bears on the verdict, with the name of the system it is about, if any."""

    system: str
    message: str

    @property
    def starts_with_name(self) -> bool:
        """Whether the words start with the name of a system."""
        return bool(self.system)

    @property
    def words(self) -> str:
        """The system and the message."""
        return f"{self.system}: {self.message}" if self.system else self.message


def bearing_warnings(
    results: Results, about: Iterable[ResultWarning], codes: Iterable[str], names: Mapping[str, str]
) -> Iterator[BearingWarning]:
    """The statements for the first warning of each of these codes; `names` are the systems to be named."""
    first = {warning.code: warning for warning in reversed([*about])}
    for warning in (first[code] for code in codes if code in first):
        yield BearingWarning(names.get(warning.about.system or "", ""), warning.message(results.study.noun))
