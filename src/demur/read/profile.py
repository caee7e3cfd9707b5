"""Profiles of files: the types, counts and first values at every path of the records, in one pass."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from demur.errors import literal, shown
from demur.facts.columns import MISSING, State
from demur.facts.items import Items
from demur.read.role_candidates import cell_value
from demur.read.tables import FileTable

MOST_DISTINCT = 1000
MOST_FIELDS = 1000
_EXAMPLES, _LONGEST = 3, 20
_KINDS = {bool: "true/false", int: "integer", float: "number", str: "text", list: "list", dict: "object"}


@dataclass(slots=True)
class Field:
    """The values at one path: how many there are, of which types, how many distinct ones, and the first of them.

    Distinct values are counted up to a limit, by their hashes, because they may be long.
    """

    filled: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    seen: set[int] = field(default_factory=set)
    examples: list[str] = field(default_factory=list)

    def add(self, value: Any) -> None:
        """Count one more value."""
        kind = _KINDS.get(type(value), type(value).__name__)
        self.filled += 1
        self.kinds[kind] += 1
        if len(self.seen) <= MOST_DISTINCT:
            mark = hash((kind, str(value) if isinstance(value, (list, dict)) else value))
            if mark not in self.seen and len(self.examples) < _EXAMPLES:
                self.examples.append(_example(value))
            self.seen.add(mark)

    @property
    def kind(self) -> str:
        """The type of the values, or several types joined by "or"."""
        kinds = {*self.kinds} - ({"integer"} if "number" in self.kinds else set())
        return " or ".join(sorted(kinds)) or "empty"

    @property
    def distinct(self) -> str:
        """The number of distinct values as text, or "more than" the largest number that is counted."""
        count = len(self.seen)
        return str(count) if count <= MOST_DISTINCT else f"more than {MOST_DISTINCT}"


@dataclass(slots=True)
class Profile:
    """The fields of the records of a file, in order of appearance; `left_out` if there were too many of them."""

    records: int = 0
    fields: dict[str, Field] = field(default_factory=dict)
    left_out: bool = False

    @classmethod
    def of(cls, records: Iterable[Mapping[str, Any]], names: Iterable[str] = ()) -> "Profile":
        """Profile the records in one pass; the fields `names` are listed even if they are empty.

        A field that holds nothing but objects is listed by their members alone.
        """
        profile = cls(fields={name: Field() for name in names})
        for record in records:
            profile.records += 1
            for path, value in _flat(record):
                known = profile.fields.get(path)
                if known is None and len(profile.fields) >= MOST_FIELDS:
                    profile.left_out = True
                    continue
                known = known or profile.fields.setdefault(path, Field())
                if value is not None and value is not MISSING and value == value:  # noqa: PLR0124  (NaN is not)
                    known.add(value)
        parents = {name[:dot] for name in profile.fields for dot, mark in enumerate(name) if mark == "."}
        for name in [name for name, known in profile.fields.items() if not known.filled and name in parents]:
            del profile.fields[name]
        return profile


def table_profile(table: FileTable) -> Profile:
    """The fields of a table; a text that reads as a number counts as a number."""
    rows = (row for _, row in table.rows(table.header))
    if table.text_only:
        rows = ({name: cell_value(cell, table) for name, cell in row.items()} for row in rows)
    return Profile.of(rows, table.header)


def items_profile(items: Items) -> Profile:
    """The fields of facts that were read already, named by their roles and signals."""
    return Profile.of(_units(items), ("cluster", "item"))


def _units(items: Items) -> Iterator[dict[str, Any]]:
    for unit, (cluster, item) in enumerate(items.unit_names):
        record: dict[str, Any] = {"cluster": cluster, "item": item}
        if items.losses is not None:
            loss = items.losses.numerators[unit].item() / items.losses.divisor
            record["loss"] = loss if items.answered[unit] else None
        else:
            numbers = int(items.truth[unit]), int(items.answer[unit]) if items.answered[unit] else None
            texts = [items.labels[number] if items.labels and number is not None else number for number in numbers]
            record |= dict(zip(("truth", "prediction"), texts, strict=True))
        yield record | {
            name: column.cell(unit) for name, column in items.signals.items() if column.state[unit] != State.MISSING
        }


def _flat(record: Mapping[str, Any], start: str = "") -> Iterator[tuple[str, Any]]:
    """Every value with its path; the members of objects are listed, those of lists are not."""
    for name, value in record.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{start}{name}.")
        else:
            yield f"{start}{name}", value


def _example(value: Any) -> str:
    if isinstance(value, (list, dict)):
        return f"{len(value)} entries"
    text = shown(value) if isinstance(value, str) else literal(value)
    text = text.lower() if isinstance(value, bool) else text
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
