"""Numbers of other conventions, and the signatures of all conventions."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from demur.errors import UserError
from demur.inference.estimates import Estimate
from demur.inference.key import Key
from demur.quantities.conventions.signature import NONE, Signature
from demur.report.names import systems_of
from demur.report.sections import Content, section
from demur.report.text import UNDEFINED, table, title_of
from demur.results.emulated import is_order_dependent
from demur.results.table import Results

_ONLY_THERE = {"aurc_hyperbola": "AURC by hyperbolas"}
OURS = "Signature"  # what the line of our own numbers is headed by
OVER_TIES = "in parentheses the range over all orders of equal confidences"


class OtherNumbers(NamedTuple):
    """A number of another convention, of every system."""

    convention: str
    name: str
    numbers: list[Estimate]

    @property
    def title(self) -> str:
        """The title of the number with its convention."""
        try:
            title = _ONLY_THERE.get(self.name) or title_of(self.numbers[0])
        except UserError:  # a quantity this version does not know
            title = self.name
        return f"{title}, {self.convention}"

    @property
    def notes(self) -> list[str]:
        """The reasons why it is undefined for some system, and the remarks on it."""
        return [*dict.fromkeys(text for number in self.numbers for text in (number.undefined, number.remark) if text)]


def other_numbers(results: Results, confidence: str) -> Iterator[OtherNumbers]:
    """The numbers of every requested convention, in the order of the file."""
    keys = dict.fromkeys(
        (row.key.convention, row.key.quantity)
        for row in results
        if row.key.convention and row.key.confidence == confidence
    )
    for convention, name in keys:
        own = [Key(system, name, confidence, convention=convention) for system in results.systems]
        yield OtherNumbers(convention, name, [results.get(key) or Estimate(key, math.nan) for key in own])


def emulated_text(number: Estimate) -> str:
    """The number, and where it depends on the order of equal confidences its range."""
    value = UNDEFINED if math.isnan(number.value) else f"{number.value:.4g}"
    if not is_order_dependent(number) or number.over_ties is None:
        return value
    ends = ["undefined" if end is None else f"{end:.4g}" for end in number.over_ties]
    return f"{value} ({' to '.join(ends)})"


def signatures(results: Results, confidence: str | None = None) -> dict[str, str]:
    """The signature of our numbers, and those of other conventions by name, which have no intervals."""
    ours = results.selective.signature(confidence)
    conventions = results.selective.conventions
    return {OURS: str(ours), **(_of_others(ours, conventions) if conventions else {})}


def _of_others(ours: Signature, conventions: Sequence[str]) -> dict[str, str]:
    from demur.quantities.conventions.emulations import EMULATIONS  # noqa: PLC0415  (few results have any)

    known = [name for name in conventions if name in EMULATIONS]
    return {name: str(ours.under({**EMULATIONS[name].keys, "boot": NONE})) for name in known}


def conventions_text(results: Results, confidence: str) -> Iterator[str]:
    """The numbers of other conventions, if any were requested."""
    rows = [*other_numbers(results, confidence)]
    if rows:
        labels = [system.label if len(results.systems) > 1 else "value" for system in systems_of(results)]
        cells = [(f"  {row.title}", *map(emulated_text, row.numbers)) for row in rows]
        yield from ["", *table([("  in other conventions", *labels), *cells], to_the_left=(0,))]
        yield OVER_TIES
        yield from (f"{row.title}: {note}" for row in rows for note in row.notes)


@section("conventions", "Other conventions", task="selective", order=75)
def conventions(results: Results) -> Content | None:
    """Every number of another convention; None if none was requested."""
    if not results.selective.conventions:
        return None
    tables = [[*other_numbers(results, confidence)] for confidence in results.selective.confidences]
    return {
        "tables": [[(row, [*map(emulated_text, row.numbers)]) for row in table] for table in tables],
        "notes": [*dict.fromkeys(f"{row.title}: {note}" for table in tables for row in table for note in row.notes)],
    }
