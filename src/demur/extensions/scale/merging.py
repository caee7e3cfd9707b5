"""Merging of summaries: counts of equal entries are added, one range of clusters at a time, exactly in any order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from demur.errors import UserError, repeated, shown
from demur.extensions.scale.bins import binned, exponent_for, widest
from demur.extensions.scale.header import FailedHeader, GroupHeader, Header, SignalHeader
from demur.extensions.scale.ids import Ids
from demur.extensions.scale.keys import Code, grouped
from demur.extensions.scale.summary import EXACT, FIRST_VALUE, Summary, counted, entry_sizes
from demur.facts.groupings import GroupColumn
from demur.types import Floats, Indices, Integers

_RANGE = 1 << 20  # entries merged at a time
_ALIKE: dict[str, Callable[[Header], Any]] = {
    "the noun": lambda header: header.noun,
    "whether rows are clusters of their own": lambda header: header.independent,
    "whether items have names": lambda header: header.numbered,
    "the loss": lambda header: (header.loss.name, header.loss.definition, _largest(header)),
    "to how many decimals losses are rounded": lambda header: header.loss.digits,
    "the instrument": lambda header: header.instrument and header.instrument.name,
    "the confidence": lambda header: header.confidence,
    "which signals are kept": lambda header: [
        (signal.name, signal.probability, signal.lower_is_surer) for signal in header.signals
    ],
    "the number of bins": lambda header: header.most_bins,
    "which groups are told apart": lambda header: [
        (group.name, group.column, group.cuts, group.file) for group in header.groups
    ],
}


def _largest(header: Header) -> float | None:
    return None if header.loss.largest is None else header.loss.largest / header.loss.divisor


def merged(parts: Sequence[Summary], names: Sequence[object]) -> Summary:
    """One summary of the units of all parts; `names` are those of the parts in messages."""
    _check_alike([part.header for part in parts], names)
    if not any(len(part.ids) for part in parts):
        raise UserError(f"nothing to evaluate: no {parts[0].header.noun} succeeded in any part")
    if len(parts) == 1:
        return parts[0]
    ids, failed = (Ids.union([getattr(part, name) for part in parts]) for name in ("ids", "failed"))
    header, values, losses, recoded = _common([*parts])
    sizes = entry_sizes(header, len(ids), [len(distinct) for distinct in values.values()], len(losses))
    indices, digests = [ids.indices(part.ids) for part in parts], np.zeros(len(ids), np.uint64)
    for part, index in zip(parts, indices, strict=True):
        digests[index] += part.digests
    failed = _still_failed(ids, failed, header)
    codes = [[index, *others] for index, others in zip(indices, recoded, strict=True)]
    pieces = [_piece(parts, codes, slices, sizes) for slices in _ranges(parts, indices, len(ids))]
    columns = [np.concatenate(column) for column in zip(*(piece for piece, _ in pieces), strict=True)]
    total = np.concatenate([counted(count) for _, count in pieces])
    return Summary(header, ids, digests, failed, values, losses, columns, counted(total))


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


def _check_alike(headers: Sequence[Header], names: Sequence[object]) -> None:
    """Raise unless the settings of all parts agree and no part occurs twice."""
    first = headers[0]
    for header, name in zip(headers, names, strict=True):
        for label, setting in _ALIKE.items():
            if setting(header) != setting(first):
                values = f"{shown(str(setting(first)))} in {names[0]} and {shown(str(setting(header)))} in {name}"
                raise UserError(f"these cannot be merged: {label} differs, {values}")
    if twice := repeated(part for header in headers for part in header.parts):
        holding = [str(name) for header, name in zip(headers, names, strict=True) if twice[0] in header.parts]
        where = " and ".join(holding[:2]) if len(holding) > 1 else f"{holding[0]} twice"
        raise UserError(f"the same part is in {where}: its units would count twice; leave one out")


def _still_failed(ids: Ids, failed: Ids, header: Header) -> Ids:
    """The clusters that failed in every part; a part may lack all units of a cluster if failed units are dropped."""
    succeeded = [np.isin(getattr(failed, kind), getattr(ids, kind)) for kind in ("numbers", "texts")]
    conflicts = np.flatnonzero(np.append(*succeeded))
    if conflicts.size and not (header.failed_units and header.failed_units.rule == "drop"):
        name = f"{header.noun} {shown(failed[int(conflicts[0])])}"
        raise UserError(f"{name} succeeded in one part and failed in another")
    return Ids(failed.numbers[~succeeded[0]], failed.texts[~succeeded[1]])


def _common(parts: Sequence[Summary]) -> tuple[Header, dict[str, Floats], Integers, list[list[Code]]]:
    """The header, signal values and losses of all parts together, and the new codes of each part's columns."""
    headers, recoded = [part.header for part in parts], [list[Code]([np.arange(3)]) for _ in parts]
    groups = [
        _common_groups([header.groups[index] for header in headers], recoded) for index in range(len(headers[0].groups))
    ]
    signals, values = [], dict[str, Floats]()
    for index, signal in enumerate(headers[0].signals):
        known = [part.values[signal.name] for part in parts]
        same = [header.signals[index] for header in headers]
        exponent, values[signal.name] = _common_values(same, known, headers[0].most_bins, recoded)
        signals.append(signal.model_copy(update={"exponent": exponent}))
    divisor = math.lcm(*(header.loss.divisor for header in headers))
    factors = [divisor // header.loss.divisor for header in headers]
    _check_exact([part.losses for part in parts], factors)
    scaled = [part.losses * factor for part, factor in zip(parts, factors, strict=True)]
    losses = np.unique(np.concatenate(scaled))
    for codes, numerators in zip(recoded, scaled, strict=True):
        codes.append(np.searchsorted(losses, numerators) if len(numerators) else np.zeros(1, np.int64))
    return _common_header(headers, divisor, groups, signals), values, losses, recoded


def _check_exact(losses: Sequence[Integers], factors: Sequence[int]) -> None:
    """Raise unless integers hold the losses of all parts: large losses and many decimals may not fit together."""
    largest = max(int(np.abs(part).max(initial=0)) * factor for part, factor in zip(losses, factors, strict=True))
    if largest >= EXACT:
        reason = "no grid holds the largest loss and all decimals"
        raise UserError(f"these cannot be merged: {reason}; summarize them with --loss-digits 6")


def _common_groups(groups: Sequence[GroupHeader], recoded: Sequence[list[Code]]) -> GroupHeader:
    """A grouping with the levels of all parts, in the order that a single table would give them."""
    first = groups[0]
    levels = tuple(dict.fromkeys(level for group in groups for level in group.levels))
    if first.column is not None:
        levels = GroupColumn(first.column, first.cuts, first.file).ordered(levels)
    for codes, group in zip(recoded, groups, strict=True):
        codes.append(np.array([levels.index(level) for level in group.levels], np.int64))
    return first.model_copy(update={"levels": levels})


def _common_values(
    signals: Sequence[SignalHeader], values: Sequence[Floats], most: int, recoded: Sequence[list[Code]]
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


def _common_header(headers: Sequence[Header], divisor: int, groups: Sequence[Any], signals: Sequence[Any]) -> Header:
    """The header of all parts together."""
    first = headers[0]
    failed: Counter[str] = Counter()
    for header in headers:
        failed.update(header.failed_units.by_cause if header.failed_units else {})
    largest = None if first.loss.largest is None else first.loss.largest * (divisor // first.loss.divisor)
    rounded = any(header.loss.rounded for header in headers)
    rules = sorted({header.failed_units.rule for header in headers if header.failed_units})
    if len(rules) > 1:
        raise UserError("these cannot be merged: failed units are left out of one part, and abstentions in another")
    return first.model_copy(
        update={
            "loss": first.loss.model_copy(update={"divisor": divisor, "largest": largest, "rounded": rounded}),
            "groups": tuple(groups),
            "signals": tuple(signals),
            "ignored_answers": sum(header.ignored_answers for header in headers),
            "repeated": any(header.repeated for header in headers),
            "failed_units": FailedHeader(rule=rules[0], by_cause=dict(sorted(failed.items()))) if rules else None,
            "parts": tuple(sorted(part for header in headers for part in header.parts)),
        }
    )
