"""Groups: a label for each unit, from a column of its table or a file of labels; a text, or an interval of numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from demur.errors import UserError, literal, shown
from demur.facts.codes import Codes
from demur.facts.columns import MISSING, written_number
from demur.options import as_blank, as_column, as_option
from demur.types import Flags, Indices

if TYPE_CHECKING:
    from demur.facts.items import Items

NONE, OTHER, REST, ITEM = "(none)", "(other)", "rest", "item"
MOST_LEVELS = 30
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


def grouping_of(items: Items, name: str, most: int = MOST_LEVELS) -> Grouping:
    """A grouping of a run by its name, checked to form groups; `item` groups by the items of any run."""
    if name == ITEM and name not in items.groups:
        if items.count is not None:
            raise UserError("groups by item need single units, and a summary holds counts: give the data themselves")
        if items.numbered:
            raise UserError(f"groups by item need a column of items: map one, {as_column('item')}")
        grouping = Grouping(items.item_names, items.item).take(np.arange(len(items)))
    elif name in items.groups:
        grouping = items.groups[name]
    else:
        known, own = ", ".join(map(shown, [*items.groups, ITEM])), shown(name)
        column = own if name in items.signals else "COLUMN"
        naming = as_option("labels", f"{own}={column}")
        raise UserError(f"no group is called {own}: name its column, {naming}; there are: {known}")
    levels, clusters = len(grouping.levels), grouping.of_clusters(items.cluster)
    if levels == 1:
        raise UserError(f"the group {shown(name)} has one level, {shown(grouping.levels[0])}: expected two or more")
    if levels > most:
        numbers = all(written_number(level) is not None for level in grouping.levels)
        cut = f", or cut the numbers, {as_option('labels', 'NAME=COLUMN:18,40,65')}" if numbers else ""
        more = f"allow more, {as_blank('max_groups')}{cut}"
        raise UserError(f"the group {shown(name)} has {levels} levels, expected at most {most}: {more}")
    if clusters is not None and levels == len(items.cluster_ids):
        raise UserError(f"the group {shown(name)} has a level for each {items.noun}: it forms no groups")
    return grouping


def check_same_groups(systems: Mapping[str, Items], name: str) -> None:
    """Check that the systems to compare have the same label for each unit."""
    (first, left), *others = systems.items()
    own = grouping_of(left, name, len(left))
    for other, right in others:
        theirs = grouping_of(right, name, len(right))
        if left.count is not None:
            text = f"{shown(name)} differs in {shown(first)} and {shown(other)}"
            _check_same_counts((left, own), (right, theirs), text)
            continue
        labels = [np.array(grouping.levels, dtype=object)[grouping.index] for grouping in (own, theirs)]
        if (different := np.flatnonzero(labels[0] != labels[1])).size:
            unit = int(different[0])
            both = f"{shown(labels[0][unit])} in {shown(first)} and {shown(labels[1][unit])} in {shown(other)}"
            raise UserError(f"{left.place(unit)}: {shown(name)} is {both}")


def _check_same_counts(left: tuple[Items, Grouping], right: tuple[Items, Grouping], text: str) -> None:
    """Check that each cluster of two summaries has the same number of units in each group."""
    for level in dict.fromkeys((*left[1].levels, *right[1].levels)):
        sizes = [
            items.cluster_sizes(grouping.units(grouping.levels.index(level) if level in grouping.levels else -1))
            for items, grouping in (left, right)
        ]
        if (different := np.flatnonzero(sizes[0] != sizes[1])).size:
            items = left[0]
            raise UserError(
                f"{items.noun} {shown(items.cluster_ids[different[0]])}: how many units are {shown(level)} of {text}"
            )
