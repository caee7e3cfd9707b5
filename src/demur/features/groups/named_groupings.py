"""The groupings of a run by their names, checked to form groups, and to be the same in all systems."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from demur.errors import UserError, shown
from demur.facts.columns import written_number
from demur.facts.groupings import Grouping
from demur.facts.items import Items
from demur.options import as_blank, as_column, as_option

ITEM = "item"
MOST_LEVELS = 30


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
