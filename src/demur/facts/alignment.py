"""Alignment of several systems on the clusters they share, with a record of the clusters left out."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.errors import UserError, and_more, shown
from demur.facts.ids import sorted_ids
from demur.facts.items import Items
from demur.facts.labels import folded
from demur.options import as_blank, as_option


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """Systems restricted to the clusters that succeeded in all of them, with counts of those left out.

    `overlap` is the number of clusters that all systems have, failed or not; `failed`, by system, how many of them
    failed; `only`, by system, how many of its clusters some other system lacks. `left_out` are the clusters that are
    not compared, because they failed in a system or a system lacks them.
    """

    systems: Mapping[str, Items]
    intersection_only: bool
    overlap: int
    only: Mapping[str, int]
    failed: Mapping[str, int]
    left_out: frozenset[int | str]

    @property
    def included(self) -> int:
        """The number of clusters that are compared."""
        return len(next(iter(self.systems.values())).cluster_ids)


def aligned(systems: Mapping[str, Items], *, intersection_only: bool = False) -> Alignment:
    """Restrict systems to the clusters they share, in the order given; a single system is returned unchanged.

    Different clusters are an error unless `intersection_only` is set; a unit with different ground truths always is.
    """
    if not systems:
        raise UserError("there are no systems: nothing can be evaluated")
    clusters = {name: {*items.cluster_ids, *items.failed} for name, items in systems.items()}
    shared, noun = set.intersection(*clusters.values()), next(iter(systems.values())).noun
    if not intersection_only:
        _check_same_clusters(clusters, shared, noun)
    _check_same_kind(systems)
    included = shared.difference(*(items.failed for items in systems.values()))
    if not included:
        raise UserError(f"nothing to compare: no {noun} succeeded in all systems ({len(shared)} are in all of them)")
    cut = dict(systems)
    if len(systems) > 1:
        cut = _in_one_order(_without_failed_units({name: items.only(included) for name, items in cut.items()}))
    check_same_truth(cut)
    return Alignment(
        systems=MappingProxyType(cut),
        intersection_only=intersection_only,
        overlap=len(shared),
        only=MappingProxyType({name: len(own - shared) for name, own in clusters.items()}),
        failed=MappingProxyType({name: len(shared.intersection(items.failed)) for name, items in systems.items()}),
        left_out=frozenset().union(*clusters.values()).difference(next(iter(cut.values())).cluster_ids),
    )


def _check_same_clusters(clusters: Mapping[str, set[int | str]], shared: set[int | str], noun: str) -> None:
    """Check that every system holds the clusters that all share, and no others."""
    if any(own != shared for own in clusters.values()):
        counts = ", ".join(
            f"{len(own - shared)} of {shown(name)}"
            f"{f' ({shown(sorted_ids(own - shared)[0])}, …)' if own - shared else ''}"
            for name, own in clusters.items()
        )
        raise UserError(
            f"the {len(clusters)} inputs hold different {noun}s; not in all of them: {counts}; "
            f"{as_blank('intersection_only')} compares the {len(shared)} they share"
        )


def _check_same_kind(systems: Mapping[str, Items]) -> None:
    """Check that all systems are summaries, or none is."""
    counted = {items.count is not None: shown(name) for name, items in reversed([*systems.items()])}
    if len(counted) > 1:
        raise UserError(
            f"{counted[True]} is a summary, {counted[False]} is not: not paired; summarize both (demur summarize)"
        )


def _without_failed_units(systems: Mapping[str, Items]) -> dict[str, Items]:
    """The systems without the units that failed in any of them, where failed units are left out."""
    failed = [items.failed_units for items in systems.values() if items.failed_units]
    if any(units.counted and units.rule == "drop" for units in failed):
        keeping = as_option("failed_units", "abstain")
        raise UserError(f"units failed and were left out, and no summary says which: {keeping} keeps all units")
    names = {name for units in failed if units.rule == "drop" for name in units.names}
    if not names:
        return dict(systems)
    reduced = {system: items.take(np.flatnonzero(~items.are_named(names))) for system, items in systems.items()}
    for items in reduced.values():
        if not len(items):
            raise UserError(f"nothing to compare: no unit succeeded in all systems ({len(names)} failed in one)")
    return reduced


def _in_one_order(systems: Mapping[str, Items]) -> dict[str, Items]:
    """The systems with items in the order of the first, where tables without an instrument list them in another."""
    first = next(iter(systems.values()))
    if first.instrument is not None or all(items.item_names == first.item_names for items in systems.values()):
        return dict(systems)
    order = _used(first)
    return {name: items.ordered(order) if {*_used(items)} == {*order} else items for name, items in systems.items()}


def _used(items: Items) -> tuple[str, ...]:
    is_used = np.bincount(items.item, minlength=len(items.item_names)) > 0
    return tuple(name for name, used in zip(items.item_names, is_used, strict=True) if used)


def check_same_truth(systems: Mapping[str, Items]) -> None:
    """Check that all systems have the same units with the same ground truths."""
    (first, left), *others = systems.items()
    for name, right in others:
        units = left.cluster_sizes(), right.cluster_sizes()
        if left.cluster_ids != right.cluster_ids:
            raise UserError(f"{shown(first)} and {shown(name)} hold different {left.noun}s")
        if (uneven := np.flatnonzero(units[0] != units[1])).size:
            sizes = f"{units[0][uneven[0]]} units in {shown(first)} and {units[1][uneven[0]]} in {shown(name)}"
            raise UserError(f"{left.noun} {shown(left.cluster_ids[uneven[0]])} holds {sizes}: not paired")
        named = left.count is None
        if named and (left.item_names != right.item_names or (left.item != right.item).any()):
            raise UserError(f"{shown(first)} and {shown(name)} hold different items")
        sources = _loss_source(left), _loss_source(right)
        if sources[0] != sources[1]:
            raise UserError(f"{shown(first)} has {sources[0]}, {shown(name)} has {sources[1]}: not paired")
        if left.digests is not None and right.digests is not None:
            _check_digests(left, right, (first, name))
            continue
        truths_of = [_truths(items) for items in (left, right)]
        different = np.flatnonzero(truths_of[0] != truths_of[1])
        if different.size:
            unit = int(different[0])
            values = [shown(str(truths[unit])) for truths in truths_of]
            truths = f"{values[0]} in {shown(first)}, {values[1]} in {shown(name)}"
            raise UserError(and_more(f"{left.place(unit)}: ground truth {truths}", different.size))


def _check_digests(left: Items, right: Items, names: tuple[str, str]) -> None:
    """Check that two summaries have equal digests: a cluster's digest stands for its units and their ground truths."""
    different = np.flatnonzero(left.digests != right.digests)
    if different.size:
        cluster = f"{left.noun} {shown(left.cluster_ids[different[0]])}"
        difference = f"other units, or another ground truth, in {shown(names[0])} than in {shown(names[1])}"
        raise UserError(and_more(f"{cluster}: {difference}", different.size))


def _loss_source(items: Items) -> str:
    if items.losses is not None:
        return f"the loss {items.losses.definition}"
    return "numbers as truths" if items.labels is None else "texts as truths"


def _truths(items: Items) -> NDArray[Any]:
    return items.truth if items.labels is None else np.array([*map(folded, items.labels)], dtype=object)[items.truth]
