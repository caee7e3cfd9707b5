"""Labels of units, such as a site or a range of ages: which level of a named grouping each unit has."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from demur.errors import UserError, literal, shown
from demur.facts.codes import Codes
from demur.facts.columns import MISSING, written_number
from demur.types import Flags, Indices

NONE, OTHER = "(none)", "(other)"
GroupText: TypeAlias = "str | GroupColumn"  # a column in the notation of the command line, or parsed


@dataclass(frozen=True, slots=True)
class GroupColumn:
    """A column of labels: its name, the points where numbers are cut, and the file of labels it is in, if any.

    >>> GroupColumn.of("Age:18,40,65").cuts
    (18.0, 40.0, 65.0)
    """

    name: str
    cuts: tuple[float, ...] = ()
    file: str | None = None

    @classmethod
    def of(cls, text: str | GroupColumn, columns: Sequence[str] = ()) -> GroupColumn:
        """Parse COLUMN or COLUMN:18,40,65, the notation of the command line; a column's name may contain a colon."""
        if isinstance(text, GroupColumn):
            return text
        name, colon, listed = text.rpartition(":")
        if not colon or text in columns:
            return cls(text)
        return cls.cut_at(name, listed.split(","), text)

    @classmethod
    def cut_at(cls, name: str, points: Iterable[object], given: object) -> GroupColumn:
        """A column of numbers that is cut at ascending points; `given` is what an error shows."""
        cuts = [written_number(str(point).strip()) for point in points]
        known = [cut for cut in cuts if cut is not None and math.isfinite(cut)]
        if len(known) < len(cuts) or len(cuts) < 2 or sorted({*known}) != known:  # noqa: PLR2004
            raise UserError(f"{literal(given)}: expected COLUMN, or COLUMN:18,40,65 with ascending numbers to cut at")
        return cls(name, tuple(known))

    @property
    def text(self) -> str:
        """The column in the notation of the command line."""
        return f"{self.name}:{','.join(self._written)}" if self.cuts else self.name

    @property
    def _written(self) -> list[str]:
        return [repr(cut).removesuffix(".0") for cut in self.cuts]

    def grouping(self, cells: Sequence[Any]) -> Grouping:
        """The group of each unit, from the cells of the column; units without a label are the group `(none)`."""
        labels = Codes.of(cells).mapped(self._level)
        levels = self.ordered(labels.values)
        index = np.array([levels.index(label) for label in labels.values], np.intp)
        return Grouping(levels, index[labels.numbers], self)

    def ordered(self, labels: Iterable[str]) -> tuple[str, ...]:
        """The distinct labels, in the order of the levels."""
        distinct = {*labels}
        order: Sequence[str] = [*self._intervals, OTHER] if self.cuts else sorted(distinct - {NONE}, key=by_size)
        return tuple(level for level in (*order, NONE) if level in distinct)

    @property
    def _intervals(self) -> list[str]:
        return [f"[{low},{high})" for low, high in pairwise(self._written)]

    def _level(self, cell: Any) -> str:
        number = written_number(cell) if isinstance(cell, str) else cell
        if cell is None or cell is MISSING or cell == "" or (isinstance(number, float) and math.isnan(number)):
            return NONE
        return self._interval(cell, number) if self.cuts else self._label(cell, number)

    def _label(self, cell: Any, number: Any) -> str:
        if isinstance(number, float) and not number.is_integer():
            raise UserError(
                f"{shown(self.name)} holds the number {shown(str(cell))}: cut it, such as {shown(self.name)}:18,40,65"
            )
        label = str(cell).lower() if isinstance(cell, bool) else str(int(cell) if isinstance(cell, float) else cell)
        if label in (NONE, OTHER):
            which = "without a label" if label == NONE else "outside all intervals"
            raise UserError(f"{shown(self.name)} {literal(cell)}: this label is for units {which}, choose another")
        if label.strip() != label or not isinstance(cell, (str, int, float)):
            raise UserError(f"{shown(self.name)} {literal(cell)}, expected a label: a text without spaces around it")
        return label

    def _interval(self, cell: Any, number: Any) -> str:
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise UserError(f"{shown(self.name)} {literal(cell)}, expected a number, as it is cut")
        index = int(np.searchsorted(self.cuts, number, side="right"))
        return self._intervals[index - 1] if 0 < index < len(self.cuts) else OTHER


def by_size(level: str) -> tuple[bool, float, str]:
    """The sort key of levels: numbers by size, then texts."""
    number = written_number(level)
    is_text = number is None or math.isnan(number)
    return is_text, 0.0 if is_text else number or 0.0, level


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """The group of every unit, as the index of its level; `column` is where labels come from, None for the items."""

    levels: tuple[str, ...]
    index: Indices
    column: GroupColumn | None = None

    def take(self, units: Indices) -> Grouping:
        """The groups of these units, without the levels that none of them has."""
        index = self.index[units]
        is_used = np.bincount(index, minlength=len(self.levels)) > 0
        levels = tuple(level for level, used in zip(self.levels, is_used, strict=True) if used)
        return replace(self, levels=levels, index=(np.cumsum(is_used) - 1)[index])

    def units(self, level: int) -> Flags:
        """Which units have a level, given by its index."""
        return np.asarray(self.index == level)

    def of_clusters(self, cluster: Indices) -> Indices | None:
        """The level of each cluster; None if the units of some cluster have different levels."""
        first = np.zeros(int(cluster.max()) + 1, np.intp)
        first[cluster[::-1]] = self.index[::-1]
        return first if bool((first[cluster] == self.index).all()) else None
