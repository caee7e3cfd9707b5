"""Numbers of other conventions with the remarks on them, and the signatures of those conventions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

from demur.errors import UserError
from demur.inference.estimates import Estimate
from demur.inference.key import Key
from demur.quantities.signature import NONE, Signature
from demur.results.table import Results
from demur.show.statements.statement import Statement
from demur.show.text import UNDEFINED, Title, number_title

_ONLY_THERE = {"aurc_hyperbola": "AURC by hyperbolas"}


@dataclass(frozen=True, slots=True)
class OtherNumbers:
    """A number of another convention, of every system."""

    convention: str
    name: str
    numbers: tuple[Estimate, ...]

    @property
    def title(self) -> Title:
        """The title of the number with its convention."""
        title = Title(_ONLY_THERE.get(self.name, self.name))
        with suppress(UserError):  # a quantity of that convention alone, or one this version does not know
            title = number_title(self.numbers[0])
        return title._replace(rest=f"{title.rest}, {self.convention}")


@dataclass(frozen=True, slots=True)
class Remark(Statement):
    """Why a number of another convention is undefined for some system, or a remark on it."""

    title: str
    text: str
    starts_with_name: ClassVar[bool] = True

    @property
    def words(self) -> str:
        """The number and the remark."""
        return f"{self.title}: {self.text}"


@dataclass(frozen=True, slots=True)
class OverTies(Statement):
    """What the ranges of numbers of other conventions are."""

    @property
    def words(self) -> str:
        """The kind of range, and that there are no intervals."""
        ranges = "in parentheses the range over all orders of equal confidences"
        return f"numbers of other conventions have no interval; {ranges}"


def conventions_of(results: Results) -> tuple[str, ...]:
    """The conventions whose numbers results hold."""
    study: Any = results.selective
    return study.conventions or ()


def is_order_dependent(row: Estimate) -> bool:
    """Whether another order of equal confidences gives another number, or none."""
    return row.over_ties is not None and row.over_ties[0] != row.over_ties[1]


def other_numbers(results: Results, confidence: str) -> Iterator[OtherNumbers]:
    """The numbers of every requested convention, in the order of the file."""
    keys = dict.fromkeys(
        (row.key.convention, row.key.quantity)
        for row in results
        if row.key.convention and row.key.confidence == confidence
    )
    for convention, name in keys:
        own = [Key(system, name, confidence, convention=convention) for system in results.systems]
        yield OtherNumbers(convention, name, tuple(results.get(key) or Estimate(key, math.nan) for key in own))


def remarks(rows: Sequence[OtherNumbers]) -> list[Remark]:
    """The remarks on numbers of other conventions, each once."""
    texts = ((row, text) for row in rows for number in row.numbers for text in (number.undefined, number.remark))
    return [*dict.fromkeys(Remark(row.title.words, text) for row, text in texts if text)]


def emulated_text(number: Estimate) -> str:
    """The number, and where it depends on the order of equal confidences its range."""
    value = UNDEFINED if math.isnan(number.value) else f"{number.value:.4g}"
    if not is_order_dependent(number) or number.over_ties is None:
        return value
    ends = ["undefined" if end is None else f"{end:.4g}" for end in number.over_ties]
    return f"{value} ({' to '.join(ends)})"


def signatures_of_tools(results: Results, ours: Signature) -> dict[str, Signature]:
    """The signatures of the conventions by name; their numbers have no intervals."""
    from demur.features.conventions.emulations import EMULATIONS  # noqa: PLC0415  (sections and tables need none)

    known = [name for name in conventions_of(results) if name in EMULATIONS]
    return {name: ours.under({**EMULATIONS[name].keys, "boot": NONE}) for name in known}


def statements_on(results: Results, topic: str) -> Iterator[Statement]:
    """What the ranges of the numbers are, below a table."""
    if topic == "table" and conventions_of(results):
        yield OverTies()
