"""Merging of summaries: counts of equal entries are added, one range of clusters at a time, exactly in any order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from demur.errors import UserError, repeated, shown
from demur.facts.groupings import GroupColumn
from demur.summaries.about import About, FailedAbout, GroupAbout, SignalAbout
from demur.summaries.bins import binned, exponent_for, widest
from demur.summaries.ids import Ids
from demur.summaries.keys import Code, grouped
from demur.summaries.summary import EXACT, FIRST_VALUE, Summary, counted, entry_sizes
from demur.types import Floats, Indices, Integers

_RANGE = 1 << 20  # entries merged at a time
_ALIKE: dict[str, Callable[[About], Any]] = {
    "the noun": lambda about: about.noun,
    "whether rows are clusters of their own": lambda about: about.independent,
    "whether items have names": lambda about: about.numbered,
    "the loss": lambda about: (about.loss.name, about.loss.definition, _largest(about)),
    "to how many decimals losses are rounded": lambda about: about.loss.digits,
    "the instrument": lambda about: about.instrument and about.instrument.name,
    "the confidence": lambda about: about.confidence,
    "which signals are kept": lambda about: [
        (signal.name, signal.probability, signal.lower_is_surer) for signal in about.signals
    ],
    "the number of bins": lambda about: about.most_bins,
    "which groups are told apart": lambda about: [
        (group.name, group.column, group.cuts, group.file) for group in about.groups
    ],
}


def _largest(about: About) -> float | None:
    return None if about.loss.largest is None else about.loss.largest / about.loss.divisor


def merged(parts: Sequence[Summary], names: Sequence[object]) -> Summary:
    """One summary of the units of all parts; `names` are those of the parts in messages."""
    _check_alike([part.about for part in parts], names)
    if not any(len(part.ids) for part in parts):
        raise UserError(f"nothing to evaluate: no {parts[0].about.noun} succeeded in any part")
    if len(parts) == 1:
        return parts[0]
    ids, failed = (Ids.union([getattr(part, name) for part in parts]) for name in ("ids", "failed"))
    about, values, losses, recoded = _common([*parts])
    sizes = entry_sizes(about, len(ids), [len(distinct) for distinct in values.values()], len(losses))
    indices, digests = [ids.indices(part.ids) for part in parts], np.zeros(len(ids), np.uint64)
    for part, index in zip(parts, indices, strict=True):
        digests[index] += part.digests
    failed = _still_failed(ids, failed, about)
    codes = [[index, *others] for index, others in zip(indices, recoded, strict=True)]
    pieces = [_piece(parts, codes, slices, sizes) for slices in _ranges(parts, indices, len(ids))]
    columns = [np.concatenate(column) for column in zip(*(piece for piece, _ in pieces), strict=True)]
    total = np.concatenate([counted(count) for _, count in pieces])
    return Summary(about, ids, digests, failed, values, losses, columns, counted(total))


def _piece(
    parts: Sequence[Summary], codes: Sequence[Sequence[Code]], slices: Sequence[slice], sizes: Sequence[int]
) -> tuple[list[Code], Integers]:
    """The merged entries of a range of clusters; `slices` are its entries in each part."""
    columns = [
        [code[column[rows]] for code, column in zip(recoded, part.columns, strict=True)]
        for part, recoded, rows in zip(parts, codes, slices, strict=True)
    ]
    count = [part.count[rows].astype(np.int64) for part, rows in zip(parts, slices, strict=True)]
    return grouped([np.concatenate(column) for column in zip(*columns, strict=True)], sizes, np.concatenate(count))


def _check_alike(abouts: Sequence[About], names: Sequence[object]) -> None:
    """Raise unless the settings of all parts agree and no part occurs twice."""
    first = abouts[0]
    for about, name in zip(abouts, names, strict=True):
        for label, setting in _ALIKE.items():
            if setting(about) != setting(first):
                values = f"{shown(str(setting(first)))} in {names[0]} and {shown(str(setting(about)))} in {name}"
                raise UserError(f"these cannot be merged: {label} differs, {values}")
    if twice := repeated(part for about in abouts for part in about.parts):
        holding = [str(name) for about, name in zip(abouts, names, strict=True) if twice[0] in about.parts]
        where = " and ".join(holding[:2]) if len(holding) > 1 else f"{holding[0]} twice"
        raise UserError(f"the same part is in {where}: its units would count twice; leave one out")


def _still_failed(ids: Ids, failed: Ids, about: About) -> Ids:
    """The clusters that failed in every part; a part may lack all units of a cluster if failed units are dropped."""
    succeeded = [np.isin(getattr(failed, kind), getattr(ids, kind)) for kind in ("numbers", "texts")]
    conflicts = np.flatnonzero(np.append(*succeeded))
    if conflicts.size and not (about.failed_units and about.failed_units.rule == "drop"):
        name = f"{about.noun} {shown(failed[int(conflicts[0])])}"
        raise UserError(f"{name} succeeded in one part and failed in another")
    return Ids(failed.numbers[~succeeded[0]], failed.texts[~succeeded[1]])


def _common(parts: Sequence[Summary]) -> tuple[About, dict[str, Floats], Integers, list[list[Code]]]:
    """The header, signal values and losses of all parts together, and the new codes of each part's columns."""
    abouts, recoded = [part.about for part in parts], [list[Code]([np.arange(3)]) for _ in parts]
    groups = [
        _common_groups([about.groups[index] for about in abouts], recoded) for index in range(len(abouts[0].groups))
    ]
    signals, values = [], dict[str, Floats]()
    for index, signal in enumerate(abouts[0].signals):
        known = [part.values[signal.name] for part in parts]
        same = [about.signals[index] for about in abouts]
        exponent, values[signal.name] = _common_values(same, known, abouts[0].most_bins, recoded)
        signals.append(signal.model_copy(update={"exponent": exponent}))
    divisor = math.lcm(*(about.loss.divisor for about in abouts))
    factors = [divisor // about.loss.divisor for about in abouts]
    _check_exact([part.losses for part in parts], factors)
    scaled = [part.losses * factor for part, factor in zip(parts, factors, strict=True)]
    losses = np.unique(np.concatenate(scaled))
    for codes, numerators in zip(recoded, scaled, strict=True):
        codes.append(np.searchsorted(losses, numerators) if len(numerators) else np.zeros(1, np.int64))
    return _common_about(abouts, divisor, groups, signals), values, losses, recoded


def _check_exact(losses: Sequence[Integers], factors: Sequence[int]) -> None:
    """Raise unless integers hold the losses of all parts: large losses and many decimals may not fit together."""
    largest = max(int(np.abs(part).max(initial=0)) * factor for part, factor in zip(losses, factors, strict=True))
    if largest >= EXACT:
        reason = "no grid holds the largest loss and all decimals"
        raise UserError(f"these cannot be merged: {reason}; summarize them with --loss-digits 6")


def _common_groups(groups: Sequence[GroupAbout], recoded: Sequence[list[Code]]) -> GroupAbout:
    """A grouping with the levels of all parts, in the order that a single table would give them."""
    first = groups[0]
    levels = tuple(dict.fromkeys(level for group in groups for level in group.levels))
    if first.column is not None:
        levels = GroupColumn(first.column, first.cuts, first.file).ordered(levels)
    for codes, group in zip(recoded, groups, strict=True):
        codes.append(np.array([levels.index(level) for level in group.levels], np.int64))
    return first.model_copy(update={"levels": levels})


def _common_values(
    signals: Sequence[SignalAbout], values: Sequence[Floats], most: int, recoded: Sequence[list[Code]]
) -> tuple[int | None, Floats]:
    """The exponent of the bins that all parts need together, and the distinct values in them."""
    lower, exponent = signals[0].lower_is_surer, widest([signal.exponent for signal in signals])
    known = _in_bins(values, exponent, lower=lower)
    wider = exponent_for(np.unique(np.concatenate(known)), most, lower_is_surer=lower)
    known = _in_bins(known, wider, lower=lower)
    distinct = np.unique(np.concatenate(known))
    for codes, own in zip(recoded, known, strict=True):
        codes.append(np.append([0, 1], np.searchsorted(distinct, own) + FIRST_VALUE))
    return exponent if wider is None else wider, distinct


def _in_bins(values: Sequence[Floats], exponent: int | None, *, lower: bool) -> list[Floats]:
    return [part if exponent is None else binned(part, exponent, lower_is_surer=lower) for part in values]


def _ranges(parts: Sequence[Summary], indices: Sequence[Indices], clusters: int) -> Iterator[list[slice]]:
    """Ranges of clusters with similar numbers of entries: for each range, the slice of its entries in each part."""
    entries, ends = np.zeros(clusters, np.int64), []
    for part, index in zip(parts, indices, strict=True):
        own = np.bincount(part.columns[0], minlength=len(index))
        entries[index] += own
        ends.append(np.append(0, np.cumsum(own)))
    number = np.cumsum(entries) // _RANGE
    borders = np.append(np.flatnonzero(np.diff(number, prepend=-1)), clusters)
    for first, last in pairwise(borders.tolist()):
        yield [
            slice(*end[np.searchsorted(index, (first, last))].tolist())
            for index, end in zip(indices, ends, strict=True)
        ]


def _common_about(abouts: Sequence[About], divisor: int, groups: Sequence[Any], signals: Sequence[Any]) -> About:
    """The header of all parts together."""
    first = abouts[0]
    failed: Counter[str] = Counter()
    for about in abouts:
        failed.update(about.failed_units.by_cause if about.failed_units else {})
    largest = None if first.loss.largest is None else first.loss.largest * (divisor // first.loss.divisor)
    rounded = any(about.loss.rounded for about in abouts)
    rules = sorted({about.failed_units.rule for about in abouts if about.failed_units})
    if len(rules) > 1:
        raise UserError("these cannot be merged: failed units are left out of one part, and abstentions in another")
    return first.model_copy(
        update={
            "loss": first.loss.model_copy(update={"divisor": divisor, "largest": largest, "rounded": rounded}),
            "groups": tuple(groups),
            "signals": tuple(signals),
            "ignored_answers": sum(about.ignored_answers for about in abouts),
            "repeated": any(about.repeated for about in abouts),
            "failed_units": FailedAbout(rule=rules[0], by_cause=dict(sorted(failed.items()))) if rules else None,
            "parts": tuple(sorted(part for about in abouts for part in about.parts)),
        }
    )
