"""Merging: a sum over entries that are alike, range of clusters by range, exact in any order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from demur.errors import UserError, repeated, shown
from demur.facts.groups import GroupColumn
from demur.summaries.about import About, FailedAbout, GroupAbout, SignalAbout
from demur.summaries.bins import binned, exponent_for, widest
from demur.summaries.ids import Ids
from demur.summaries.keys import Code, grouped
from demur.summaries.summary import EXACT, Summary, counted, entry_sizes
from demur.types import Floats, Indices, Integers

_RANGE = 1 << 20  # entries that are merged at a time
_ALIKE: dict[str, Callable[[About], Any]] = {
    "the noun": lambda about: about.noun,
    "whether rows are clusters of their own": lambda about: about.independent,
    "whether items have names": lambda about: about.numbered,
    "whether ids are pseudonyms": lambda about: bool(about.sites),
    "the loss": lambda about: (about.loss.name, about.loss.definition, _largest(about)),
    "to how many decimals losses are rounded": lambda about: about.loss.digits,
    "the instrument": lambda about: about.instrument and about.instrument.name,
    "the confidence": lambda about: about.confidence,
    "which signals are kept": lambda about: [
        (each.name, each.probability, each.lower_is_surer) for each in about.signals
    ],
    "the number of bins": lambda about: about.most_bins,
    "which groups are told apart": lambda about: [
        (each.name, each.column, each.cuts, each.file) for each in about.groups
    ],
}


def _largest(about: About) -> float | None:
    return None if about.loss.largest is None else about.loss.largest / about.loss.divisor


def merged(parts: Sequence[Summary], names: Sequence[object]) -> Summary:
    """One summary of all units; `names` are what the parts are called in a message."""
    check_alike([part.about for part in parts], names)
    if not any(len(part.ids) for part in parts):
        raise UserError(f"nothing to evaluate: no {parts[0].about.noun} succeeded in any part")
    if len(parts) == 1:
        return parts[0]
    ids, failed = (Ids.union([getattr(part, name) for part in parts]) for name in ("ids", "failed"))
    about, values, losses, recoded = _common([*parts])
    sizes = entry_sizes(about, len(ids), [len(each) for each in values.values()], len(losses))
    places, digests = [ids.indices(part.ids) for part in parts], np.zeros(len(ids), np.uint64)
    for part, place in zip(parts, places, strict=True):
        digests[place] += part.digests
    failed = _still_failed(ids, failed, about)
    codes = [[place, *others] for place, others in zip(places, recoded, strict=True)]
    pieces = [_piece(parts, codes, here, sizes) for here in _ranges(parts, places, len(ids))]
    rows = [np.concatenate(each) for each in zip(*(piece for piece, _ in pieces), strict=True)]
    total = np.concatenate([counted(count) for _, count in pieces])
    return Summary(about, ids, digests, failed, values, losses, rows, counted(total))


def _piece(
    parts: Sequence[Summary], codes: Sequence[Sequence[Code]], here: Sequence[slice], sizes: Sequence[int]
) -> tuple[list[Code], Integers]:
    """The entries of a range of clusters, of all parts together."""
    columns = [
        [code[column[rows]] for code, column in zip(recoded, part.columns, strict=True)]
        for part, recoded, rows in zip(parts, codes, here, strict=True)
    ]
    count = [part.count[rows].astype(np.int64) for part, rows in zip(parts, here, strict=True)]
    return grouped([np.concatenate(each) for each in zip(*columns, strict=True)], sizes, np.concatenate(count))


def check_alike(abouts: Sequence[About], names: Sequence[object]) -> None:
    """Parts are of one kind, and none is given twice."""
    first = abouts[0]
    for about, name in zip(abouts, names, strict=True):
        for what, of in _ALIKE.items():
            if of(about) != of(first):
                told = f"{shown(str(of(first)))} in {names[0]} and {shown(str(of(about)))} in {name}"
                raise UserError(f"these cannot be merged: {what} differs, {told}")
    if twice := repeated(part for about in abouts for part in about.parts):
        holding = [str(name) for about, name in zip(abouts, names, strict=True) if twice[0] in about.parts]
        where = " and ".join(holding[:2]) if len(holding) > 1 else f"{holding[0]} twice"
        raise UserError(f"the same part is in {where}: its units would count twice; leave one out")


def _still_failed(ids: Ids, failed: Ids, about: About) -> Ids:
    """The clusters that failed everywhere; where failed units are left out, a part may lack all units of a cluster."""
    back = [np.isin(getattr(failed, kind), getattr(ids, kind)) for kind in ("numbers", "texts")]
    if (
        not (about.failed_units and about.failed_units.rule == "drop")
        and (which := np.flatnonzero(np.append(*back))).size
    ):
        name = f"{about.noun} {shown(failed[int(which[0])])}"
        raise UserError(f"{name} succeeded in one part and failed in another")
    return Ids(failed.numbers[~back[0]], failed.texts[~back[1]])


def _common(parts: Sequence[Summary]) -> tuple[About, dict[str, Floats], Integers, list[list[Code]]]:
    """What is said of all parts, the values that they have together, and what the numbers of each part become."""
    abouts, recoded = [part.about for part in parts], [list[Code]([np.arange(3)]) for _ in parts]
    groups = [
        _common_groups([about.groups[index] for about in abouts], recoded) for index in range(len(abouts[0].groups))
    ]
    signals, values = [], dict[str, Floats]()
    for index, signal in enumerate(abouts[0].signals):
        known = [part.values[signal.name] for part in parts]
        said = [about.signals[index] for about in abouts]
        exponent, values[signal.name] = _common_values(said, known, abouts[0].most_bins, recoded)
        signals.append(signal.model_copy(update={"exponent": exponent}))
    divisor = math.lcm(*(about.loss.divisor for about in abouts))
    factors = [divisor // about.loss.divisor for about in abouts]
    _check_exact([part.losses for part in parts], factors)
    scaled = [part.losses * factor for part, factor in zip(parts, factors, strict=True)]
    losses = np.unique(np.concatenate(scaled))
    for codes, numerators in zip(recoded, scaled, strict=True):
        codes.append(np.searchsorted(losses, numerators) if len(numerators) else np.zeros(1, np.int64))
    return _added(abouts, divisor, groups, signals), values, losses, recoded


def _check_exact(losses: Sequence[Integers], factors: Sequence[int]) -> None:
    """That whole numbers hold the losses of all parts; a part with large ones and one with many decimals may not go."""
    largest = max(int(np.abs(each).max(initial=0)) * factor for each, factor in zip(losses, factors, strict=True))
    if largest >= EXACT:
        told = "no grid holds the largest loss and all decimals"
        raise UserError(f"these cannot be merged: {told}; summarize them with --loss-digits 6")


def _common_groups(groups: Sequence[GroupAbout], recoded: Sequence[list[Code]]) -> GroupAbout:
    """A grouping with the levels of all parts, in the order that one table would have them in."""
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
    """The bins that all parts need together, and the values that there are in them."""
    lower, exponent = signals[0].lower_is_surer, widest([signal.exponent for signal in signals])
    known = _in_bins(values, exponent, lower=lower)
    wider = exponent_for(np.unique(np.concatenate(known)), most, lower_is_surer=lower)
    known = _in_bins(known, wider, lower=lower)
    distinct = np.unique(np.concatenate(known))
    for codes, own in zip(recoded, known, strict=True):
        codes.append(np.append([0, 1], np.searchsorted(distinct, own) + 2))
    return exponent if wider is None else wider, distinct


def _in_bins(values: Sequence[Floats], exponent: int | None, *, lower: bool) -> list[Floats]:
    return [each if exponent is None else binned(each, exponent, lower_is_surer=lower) for each in values]


def _ranges(parts: Sequence[Summary], places: Sequence[Indices], clusters: int) -> Iterator[list[slice]]:
    """Ranges of clusters with about as many entries each, as the entries of each part that are in them."""
    held, ends = np.zeros(clusters, np.int64), []
    for part, place in zip(parts, places, strict=True):
        own = np.bincount(part.columns[0], minlength=len(place))
        held[place] += own
        ends.append(np.append(0, np.cumsum(own)))
    number = np.cumsum(held) // _RANGE
    borders = np.append(np.flatnonzero(np.diff(number, prepend=-1)), clusters)
    for first, last in pairwise(borders.tolist()):
        yield [
            slice(*end[np.searchsorted(place, (first, last))].tolist()) for place, end in zip(places, ends, strict=True)
        ]


def _added(abouts: Sequence[About], divisor: int, groups: Sequence[Any], signals: Sequence[Any]) -> About:
    """What is said of all parts together."""
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
            "sites": tuple(sorted({site for about in abouts for site in about.sites})),
        }
    )
