"""A summary: for each cluster, the number of units that are equal in state, groups, signals and loss."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from demur.errors import UserError
from demur.facts.columns import Column, State
from demur.facts.groupings import GroupColumn, Grouping
from demur.facts.instruments import Instrument
from demur.facts.items import Items, Source
from demur.facts.losses import GIVEN, Losses
from demur.facts.raw_units import FailedUnits, Repeats
from demur.summaries.about import About, FailedAbout, GroupAbout, InstrumentAbout, LossAbout, SignalAbout
from demur.summaries.bins import MOST, binned, exponent_for
from demur.summaries.digests import Digests, truth_digests
from demur.summaries.ids import Ids
from demur.summaries.keys import Code, compact, grouped
from demur.types import Floats, Integers

ANSWERED, ABSTAINED, ABSTAINED_NAN = range(3)
_MISSING, _NULL, FIRST_VALUE = range(3)  # codes of a signal
_ITEM = "unit"
EXACT = 2.0**53


@dataclass(frozen=True, slots=True)
class SummaryOptions:
    """The signals to keep, the largest number of distinct values of each, and the rounding of losses."""

    confidence: str | Sequence[str]
    signals: Sequence[str]
    lower_is_surer: Sequence[str] = ()
    most_bins: int = MOST
    loss_digits: int | None = None

    def __post_init__(self) -> None:
        if type(self.most_bins) is not int or self.most_bins < 2:  # noqa: PLR2004
            raise UserError(f"bins {self.most_bins!r}, expected an integer, 2 or more")
        if self.loss_digits is not None and self.loss_digits not in range(10):
            raise UserError(f"loss digits {self.loss_digits!r}, expected an integer from 0 to 9")


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """Entries in ascending order: codes of cluster, state, groups, signals and loss, and a count.

    `values` are the distinct values of each signal, ascending, and `losses` the distinct numerators.
    """

    about: About
    ids: Ids
    digests: Digests
    failed: Ids
    values: Mapping[str, Floats]
    losses: Integers
    columns: Sequence[Code]
    count: Code

    @classmethod
    def of(cls, items: Items, losses: Losses, options: SummaryOptions, part: str) -> Summary:
        """The summary of one part; `losses` are those of its items, and `part` is the hash of its bytes."""
        losses = _whole(losses, options.loss_digits)
        signals = {name: _signal(items, name, options) for name in options.signals}
        values = {name: distinct for name, (_, distinct, _) in signals.items()}
        codes = [code for *_, code in signals.values()]
        numerators = np.unique(losses.numerators[items.answered])
        loss = np.searchsorted(numerators, losses.numerators).clip(0, max(len(numerators) - 1, 0))
        state = np.where(items.answered, ANSWERED, np.where(items.nan_answer, ABSTAINED_NAN, ABSTAINED))
        groups = [grouping.index for grouping in items.groups.values()]
        about = _about(items, losses, options, part, [about for about, *_ in signals.values()])
        columns = [items.cluster, state, *groups, *codes, np.where(items.answered, loss, 0)]
        ids = Ids.of(items.cluster_ids)
        sizes = entry_sizes(about, len(ids), [len(distinct) for distinct in values.values()], len(numerators))
        rows, count = grouped(columns, sizes)
        return cls(about, ids, truth_digests(items), Ids.of(items.failed), values, numerators, rows, counted(count))

    @property
    def sizes(self) -> list[int]:
        """The number of codes of each column of the entries."""
        return entry_sizes(self.about, len(self.ids), [*map(len, self.values.values())], len(self.losses))

    @property
    def units(self) -> int:
        """The number of units."""
        return int(self.count.sum(dtype=np.int64))

    def check(self) -> None:
        """Raise unless the arrays are consistent: the file may not have been written by demur."""
        for ids in (self.ids, self.failed):
            ids.check()
        lengths = {len(self.count), *map(len, self.columns)}
        ranges = zip(self.columns, self.sizes, strict=True)
        good = (
            len(lengths) == 1
            and (len(self.count) > 0 or len(self.failed) > 0)
            and len(self.digests) == len(self.ids)
            and all(column.dtype.kind == "u" and int(column.max(initial=0)) < max(size, 1) for column, size in ranges)
            and self.count.dtype.kind == "u"
            and int(self.count.min(initial=1)) > 0
            and all(_ascending(values, "f") for values in self.values.values())
            and _ascending(self.losses, "i")
            and bool((np.bincount(self.columns[0], minlength=len(self.ids)) > 0).all())
            and bool((self.columns[0][1:] >= self.columns[0][:-1]).all())
            and (len(self.losses) > 0 or not bool((self.columns[1] == ANSWERED).any()))
        )
        if not good:
            raise UserError("its numbers do not hold together; summarize its parts anew")

    def facts(self, source: Source | None = None) -> Items:
        """The facts, a row for each entry; raises if no unit succeeded, which is allowed in one part of several."""
        about, size = self.about, len(self.count)
        if not size:
            raise UserError(f"nothing to evaluate: no {about.noun} succeeded ({len(self.failed)} failed)")
        cluster, state, *others, loss_code = self.columns
        groups, signals = others[: len(about.groups)], others[len(about.groups) :]
        # Types as narrow as in the file, and zeros that take no memory: there may be tens of millions of entries.
        answered, zeros = state == ANSWERED, np.broadcast_to(np.int64(0), size)
        columns = {
            signal.name: _CodedColumn(self.values[signal.name], code)
            for signal, code in zip(about.signals, signals, strict=True)
        }
        levels = np.append(self.losses, 0)
        numerators = levels.astype(np.min_scalar_type(~np.abs(levels).max()))[loss_code]
        numerators[~answered] = 0
        loss, failed = about.loss, about.failed_units
        return Items(
            cluster_ids=self.ids.plain(),
            failed=self.failed.plain(),
            item_names=(_ITEM,),
            cluster=cluster,
            item=zeros,
            truth=zeros,
            answer=zeros,
            answered=answered,
            nan_answer=state == ABSTAINED_NAN,
            signals=MappingProxyType(columns),
            instrument=Instrument(**dict(about.instrument)) if about.instrument else None,
            noun=about.noun,
            source=source,
            losses=Losses(numerators, loss.divisor, loss.largest, loss.definition, not loss.rounded, loss.name),
            independent=about.independent,
            ignored_answers=about.ignored_answers,
            failed_units=FailedUnits(failed.rule, counted=failed.by_cause) if failed else None,
            groups={group.name: _grouping(group, code) for group, code in zip(about.groups, groups, strict=True)},
            repeats=Repeats("units", self.units, 0) if about.repeated else None,
            probabilities=tuple(signal.name for signal in about.signals if signal.probability),
            numbered=about.numbered,
            count=self.count,
            summary=self.about,
            digests=self.digests,
        )


def entry_sizes(about: About, clusters: int, values: Sequence[int], losses: int) -> list[int]:
    """The number of codes of each column of the entries."""
    groups = [len(group.levels) for group in about.groups]
    return [clusters, 3, *groups, *(number + FIRST_VALUE for number in values), max(losses, 1)]


def _ascending(values: Code, kind: str) -> bool:
    return values.dtype.kind == kind and bool(np.isfinite(values).all() and (values[1:] > values[:-1]).all())


def counted(count: Integers) -> Code:
    """Counts in the narrowest type that holds them."""
    return compact(count, int(count.max(initial=0)) + 1)


def _whole(losses: Losses, digits: int | None) -> Losses:
    """Losses in whole numbers: as they are, or rounded to a decimal grid."""
    if losses.exact and (digits is None or losses.name != GIVEN or 10**digits % losses.divisor == 0):
        return losses
    if digits is None:
        raise UserError(
            f"{losses.definition}: some losses have more than 9 decimals; round them, demur summarize --loss-digits 6"
        )
    grid = 10**digits
    numerators = np.rint(losses.numerators * (grid / losses.divisor))
    largest = None if losses.largest is None else math.ceil(losses.largest * grid / losses.divisor)
    if np.abs(numerators).max(initial=0) >= EXACT:
        raise UserError(f"{losses.definition}: the losses are too large for {digits} decimals (--loss-digits)")
    return Losses(numerators.astype(np.int64), grid, largest, losses.definition, exact=False)


def _signal(items: Items, name: str, options: SummaryOptions) -> tuple[SignalAbout, Floats, Code]:
    """The description of a signal, its distinct values, and the code of each unit (null for abstentions)."""
    column, lower = items.signals.get(name), name in options.lower_is_surer
    if column is None:
        column = Column(np.full(len(items), np.nan), np.full(len(items), State.MISSING, np.uint8))
    numbers = items.answered & column.is_(State.NUMBER)
    numeric = column.values if numbers.all() else column.values[numbers]
    values = np.unique(numeric) + 0.0
    exponent = exponent_for(values, options.most_bins, lower_is_surer=lower)
    if exponent is not None:
        numeric = binned(numeric, exponent, lower_is_surer=lower)
        values = np.unique(numeric)
    codes = np.where(items.answered & column.is_(State.MISSING), _MISSING, _NULL)
    codes[numbers] = np.searchsorted(values, numeric) + FIRST_VALUE
    about = SignalAbout(name=name, probability=name in items.probabilities, lower_is_surer=lower, exponent=exponent)
    return about, values, codes


def _about(items: Items, losses: Losses, options: SummaryOptions, part: str, signals: Sequence[SignalAbout]) -> About:
    instrument, failed = items.instrument, items.failed_units
    return About(
        noun=items.noun,
        independent=items.independent,
        numbered=items.numbered,
        loss=LossAbout(
            name=losses.name,
            definition=losses.definition,
            divisor=losses.divisor,
            largest=None if losses.largest is None else int(losses.largest),
            digits=options.loss_digits,
            rounded=not losses.exact,
        ),
        instrument=InstrumentAbout(
            name=instrument.name, items=instrument.items, minimum=instrument.minimum, maximum=instrument.maximum
        )
        if instrument
        else None,
        confidence=options.confidence if isinstance(options.confidence, str) else tuple(options.confidence),
        signals=tuple(signals),
        most_bins=options.most_bins,
        groups=tuple(_group(name, grouping) for name, grouping in items.groups.items()),
        ignored_answers=items.ignored_answers,
        repeated=items.repeats is not None,
        failed_units=FailedAbout(rule="drop" if failed.rule == "drop" else "abstain", by_cause=failed.counts)
        if failed
        else None,
        parts=(part,),
    )


def _group(name: str, grouping: Grouping) -> GroupAbout:
    column, cuts, file = None, tuple[float, ...](), None
    if grouping.column is not None:
        column, cuts, file = grouping.column.name, grouping.column.cuts, grouping.column.file
    return GroupAbout(name=name, column=column, cuts=cuts, file=file, levels=grouping.levels)


class _CodedColumn(Column):
    """A column stored as codes, whose cells are decoded on access."""

    __slots__ = ("codes", "levels")
    codes: Code
    levels: Floats

    def __init__(self, levels: Floats, codes: Code) -> None:
        for name, value in (("levels", levels), ("codes", codes), ("other", None)):
            object.__setattr__(self, name, value)

    @property
    def values(self) -> Floats:
        """The numbers, nan elsewhere."""
        return np.append([np.nan, np.nan], self.levels)[self.codes]

    @property
    def state(self) -> NDArray[np.uint8]:
        """The state of each cell; the first codes equal those of the states."""
        return np.asarray(np.minimum(self.codes, State.NUMBER), np.uint8)


def _grouping(about: GroupAbout, code: Code) -> Grouping:
    column = None if about.column is None else GroupColumn(about.column, about.cuts, about.file)
    return Grouping(about.levels, code.astype(np.intp), column)
