"""Estimates: numbers with their uncertainty, one row each, all from one pass over one set of draws."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, overload

from demur.errors import IncompleteError, UserError, harmless, shown, unknown
from demur.facts.frames import Tabular, frame_of
from demur.inference.evidence import Evidence
from demur.inference.intervals import Interval, interval
from demur.inference.key import KEY_COLUMNS, Group, Key
from demur.inference.warnings import ResultWarning
from demur.quantities import Measure

_ALL_PARTS = tuple(field.name for field in fields(Interval))
TOO_SMALL = "too small to judge"
INTERVALS = {
    "percentile": ("low", "high"),
    "recommended": _ALL_PARTS,
    "requested": _ALL_PARTS,
    "simultaneous": ("low", "high", "count"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A number with its identity, its standard error and its intervals.

    `percentile` is the plain bootstrap interval at 95 %, `recommended` the one whose coverage was measured, `requested`
    an additional one that the caller chose, `simultaneous` one that holds for all differences that can favour a system
    at once. All are None where the number is undefined, where more than half the replicates lack it, and where no
    answer has a loss; there areas have an `upper_bound` (95 %, one-sided). `at` is the achieved coverage or false
    positive rate, and `threshold` the confidence that achieves it. `other_threshold_rate` is the share of replicates
    with another threshold, `short_domain_rate` the share of those that end before the coverage of a cut area. Of a
    difference, `p_value` is two-sided, and `above` and `below` are the shares of replicates on either side of 0.
    `spread` is the standard deviation of the levels that a mean averages. Of another tool's number, `over_ties` are the
    least and the largest over all orders of equal confidences, None where some leave it undefined.
    """

    key: Key
    value: float
    std_error: float = math.nan
    percentile: Interval | None = None
    recommended: Interval | None = None
    requested: Interval | None = None
    simultaneous: Interval | None = None
    drop_rate: float = math.nan
    upper_bound: float | None = None
    at: float | None = None
    threshold: float | None = None
    other_threshold_rate: float | None = None
    short_domain_rate: float | None = None
    p_value: float = math.nan
    above: float = math.nan
    below: float = math.nan
    spread: float | None = None
    by_convention: bool = False
    undefined: str = ""
    no_interval: str = ""
    not_requested: str = ""
    over_ties: tuple[float | None, float | None] | None = None
    remark: str = ""
    evidence: Evidence | None = None

    @property
    def too_small(self) -> bool:
        """Whether it is about a group too small to be judged, and has no interval for that reason."""
        return self.no_interval.startswith(TOO_SMALL)

    def interval(self, method: str, level: float = 0.95) -> Interval | None:
        """The interval by another method or at another level; a number read from a file has no replicates for it."""
        if self.evidence is None:
            raise UserError(
                "a number read from a file has the intervals of the file, and no replicates to make others of"
            )
        return interval(method, self.evidence, level)

    def __repr__(self) -> str:
        ends = self.recommended
        if ends is None:
            bound = f", at most {self.upper_bound:.3g} (95 %, one-sided)" if self.upper_bound is not None else ""
            return f"{self.value:.6g}, no interval{bound}"
        return f"{self.value:.6g} [{ends.low:.3g}, {ends.high:.3g}] {ends.method}"


class Estimates(Sequence[Estimate], Tabular):
    """A table of estimates, one row per number, selected by the columns of its key; with warnings."""

    def __init__(
        self, rows: Iterable[Estimate] = (), warnings: Iterable[ResultWarning] = (), library: str = ""
    ) -> None:
        self._rows, self.warnings, self.library = tuple(rows), tuple(warnings), library
        self._by_key = {row.key: row for row in self._rows}

    @overload
    def __getitem__(self, index: int | str | Key) -> Estimate: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Estimate]: ...
    def __getitem__(self, index: int | slice | str | Key) -> Estimate | Sequence[Estimate]:
        """A row by its position, by its key, or, where that is enough, by the name of the quantity."""
        if isinstance(index, Key):
            if index not in self._by_key:
                raise IncompleteError(f"these results lack a number: {label(index)}")
            return self._by_key[index]
        if not isinstance(index, str):
            return self._rows[index]
        known = any(row.key.quantity == index for row in self)
        return self.one(quantity=index if known else str(Measure.of(index)))

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Estimate]:
        return iter(self._rows)

    def get(self, key: Key) -> Estimate | None:
        """The estimate with this key, or None."""
        return self._by_key.get(key)

    def where(self, **columns: Any) -> Estimates:
        """The rows whose key has these columns: `where(system="a", minus=None)`."""
        for name in columns:
            if name not in KEY_COLUMNS:
                raise unknown("column of a key", name, KEY_COLUMNS)
        rows: Iterable[Estimate] = self
        for name, value in columns.items():
            rows = [row for row in rows if getattr(row.key, name) == value]
        return Estimates(rows, library=self.library)

    def one(self, **columns: Any) -> Estimate:
        """The only row whose key has these columns; of several, the one that is neither a difference nor of a group."""
        rows = self.where(**columns)
        if len(rows) > 1:
            defaults = {"group": None, "minus": None, "convention": "", "among": "all"}
            rows = rows.where(**{name: value for name, value in defaults.items() if name not in columns})
        if len(rows) == 1:
            return rows[0]
        if not rows and "quantity" in columns:
            known = list(dict.fromkeys(row.key.quantity for row in self))
            if columns["quantity"] not in known:
                raise _not_here(columns["quantity"], known)
        words = " and ".join(f"{name} {value!r}" for name, value in columns.items()) or "any key"
        raise UserError(f"{len(rows)} numbers have {words}, expected one: name more columns of the key")

    def to_columns(self) -> dict[str, list[Any]]:
        """The table as columns: those of the key, then those of the estimate; None where there is no value."""
        keys = [row.key.to_json() for row in self]
        table = {name: [key[name] for key in keys] for name in KEY_COLUMNS}
        for name in (field.name for field in fields(Estimate) if field.name not in ("key", "evidence")):
            cells = [getattr(row, name) for row in self]
            if name in INTERVALS:
                for part in INTERVALS[name]:
                    table[f"{name}_{part}"] = [None if cell is None else getattr(cell, part) for cell in cells]
            else:
                table[name] = [None if isinstance(cell, float) and math.isnan(cell) else cell for cell in cells]
        return table

    def to_frame(self) -> Any:
        """The table as a data frame: of the kind that the data came in, or else of one that is loaded or installed."""
        columns, names = self.to_columns(), ("group", "level", "minus", "subtracted", "subtracted_level")
        cells = []
        for key in (row.key for row in self):
            column, value = key.minus or (None, None)
            subtracted = value if isinstance(value, Group) else (value, None)
            cells.append((*(key.group or (None, None)), column, *subtracted))
        flat = {name: [row[index] for row in cells] for index, name in enumerate(names)}
        front = {name: columns[name] for name in KEY_COLUMNS[:-3]}
        rest = {name: column for name, column in columns.items() if name not in front | flat}
        return frame_of(front | flat | rest, self.library)

    def __repr__(self) -> str:
        names = [label(row.key) for row in self]
        width = max(map(len, names), default=0)
        rows = zip(names, self, strict=True)
        table = "\n".join(harmless(f"{name:<{width}}  {row!r}") for name, row in rows)
        warnings = (harmless(f"warning ({warning.code}): {warning.message()}") for warning in self.warnings)
        return "\n".join([table, *warnings])

    def _repr_html_(self) -> str:
        from demur.drawing.html import html_table  # noqa: PLC0415  (only notebooks need it)

        return html_table(("number", "value"), [(label(row.key), repr(row)) for row in self], f"{len(self)} numbers")


def deciding(estimate: Estimate) -> Interval | None:
    """The interval that decides a difference: the simultaneous one if there is one, else the recommended one."""
    return estimate.simultaneous or estimate.recommended


def _not_here(name: object, known: Sequence[str]) -> UserError:
    """The error of a quantity that a table lacks: who computes it, or, if there is none, the nearest name."""
    try:
        quantity = Measure.of(str(name)).quantity
    except UserError:
        return unknown("quantity of these results", name, known)
    return UserError(f"no quantity of these results is called {shown(name)}: {quantity.computed_by}")


def label(key: Key) -> str:
    """A key as one line of text."""
    group = None
    if key.group is not None:
        over = "" if Measure.of(key.quantity).quantity.of == "groups" else "mean"
        group = f"{key.group.name} {key.group.level or over}".strip()
    among = None if key.among == "all" else key.among
    value = key.minus and key.minus.value
    minus = None if value is None else f"minus {value if isinstance(value, str) else value.level or 'mean'}"
    return ", ".join(filter(None, (key.system, key.quantity, key.confidence, among, group, minus, key.convention)))
