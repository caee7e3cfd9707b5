"""A summary: how many units of each cluster are alike in all that is known of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from demur.errors import UserError
from demur.facts.columns import Column, OtherCells, State
from demur.facts.groups import GroupColumn, Grouping
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
class Kept:
    """What a summary is to keep: the signals that the confidences are made of, and how many values of each at most."""

    confidence: str
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
    """Entries in ascending order: a cluster, a state, groups, signals and a loss, each as a number, and a count.

    `values` are the different values of each signal, ascending, and `losses` those of the numerators.
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
    def of(cls, items: Items, losses: Losses, wanted: Kept, part: str) -> Summary:
        """Of one part; `losses` are those of its items, and `part` is the hash of its bytes."""
        losses = _whole(losses, wanted.loss_digits)
        signals = {name: _signal(items, name, wanted) for name in wanted.signals}
        kept, coded = (
            {name: values for name, (_, values, _) in signals.items()},
            [code for *_, code in signals.values()],
        )
        numerators = np.unique(losses.numerators[items.answered])
        loss = np.searchsorted(numerators, losses.numerators).clip(0, max(len(numerators) - 1, 0))
        state = np.where(items.answered, ANSWERED, np.where(items.nan_answer, ABSTAINED_NAN, ABSTAINED))
        groups = [grouping.index for grouping in items.groups.values()]
        about = _about(items, losses, wanted, part, [about for about, *_ in signals.values()])
        columns = [items.cluster, state, *groups, *coded, np.where(items.answered, loss, 0)]
        ids = Ids.of(items.cluster_ids)
        sizes = entry_sizes(about, len(ids), [len(each) for each in kept.values()], len(numerators))
        rows, count = grouped(columns, sizes)
        return cls(about, ids, truth_digests(items), Ids.of(items.failed), kept, numerators, rows, counted(count))

    @property
    def sizes(self) -> list[int]:
        """How many different numbers each column of the entries may hold."""
        return entry_sizes(self.about, len(self.ids), [len(each) for each in self.values.values()], len(self.losses))

    def of_clusters(self, first: int, end: int) -> Summary:
        """The part of it that is about some clusters that follow each other; of none, what is said of all."""
        rows = slice(*np.searchsorted(self.columns[0], (first, end)).tolist())
        cluster, *others = (column[rows] for column in self.columns)
        numbers, size = len(self.ids.numbers), len(self.ids.numbers)
        ids = Ids(self.ids.numbers[first:end], self.ids.texts[max(first - size, 0) : max(end - numbers, 0)])
        moved = cluster.astype(np.int64) - first
        return replace(self, ids=ids, digests=self.digests[first:end], columns=[moved, *others], count=self.count[rows])

    @property
    def units(self) -> int:
        """How many units there are."""
        return int(self.count.sum(dtype=np.int64))

    def check(self) -> None:
        """That it holds together, whoever wrote it."""
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
        """The facts, unless nothing succeeded, as may be in one part of several."""
        if not len(self.count):
            raise UserError(f"nothing to evaluate: no {self.about.noun} succeeded ({len(self.failed)} failed)")
        return self.items(source)

    def items(self, source: Source | None = None) -> Items:
        """The facts, a row for each entry."""
        about, size = self.about, len(self.count)
        cluster, state, *others, loss = self.columns
        groups, signals = others[: len(about.groups)], others[len(about.groups) :]
        # As narrow as in the file, and zeros that take no memory: entries may be tens of millions.
        answered, nothing = state == ANSWERED, np.broadcast_to(np.int64(0), size)
        levels = np.append(self.losses, 0)
        numerators = levels.astype(np.min_scalar_type(~np.abs(levels).max()))[loss]
        numerators[~answered] = 0
        how, failed = about.loss, about.failed_units
        return Items(
            cluster_ids=self.ids.plain(),
            failed=self.failed.plain(),
            item_names=(_ITEM,),
            cluster=cluster,
            item=nothing,
            truth=nothing,
            answer=nothing,
            answered=answered,
            nan_answer=state == ABSTAINED_NAN,
            signals=MappingProxyType(
                {
                    each.name: _CodedColumn(self.values[each.name], code)
                    for each, code in zip(about.signals, signals, strict=True)
                }
            ),
            instrument=Instrument(**dict(about.instrument)) if about.instrument else None,
            noun=about.noun,
            source=source,
            losses=Losses(numerators, how.divisor, how.largest, how.definition, not how.rounded, how.name),
            independent=about.independent,
            ignored_answers=about.ignored_answers,
            failed_units=FailedUnits(failed.rule, counted=failed.by_cause) if failed else None,
            groups={each.name: _grouping(each, code) for each, code in zip(about.groups, groups, strict=True)},
            repeats=Repeats("units", self.units, 0) if about.repeated else None,
            probabilities=tuple(each.name for each in about.signals if each.probability),
            numbered=about.numbered,
            count=self.count,
            summary=self.about,
            digests=self.digests,
        )


def entry_sizes(about: About, clusters: int, values: Sequence[int], losses: int) -> list[int]:
    """How many different numbers each column of the entries may hold."""
    groups = [len(each.levels) for each in about.groups]
    return [clusters, 3, *groups, *(number + FIRST_VALUE for number in values), max(losses, 1)]


def _ascending(values: Code, kind: str) -> bool:
    return values.dtype.kind == kind and bool(np.isfinite(values).all() and (values[1:] > values[:-1]).all())


def counted(count: Integers) -> Code:
    """Counts in as few bytes as hold them."""
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


def _signal(items: Items, name: str, wanted: Kept) -> tuple[SignalAbout, Floats, Code]:
    """What is said of a signal, its different values, and the number of each unit's; of abstentions it is null."""
    column, lower = items.signals.get(name), name in wanted.lower_is_surer
    if column is None:
        column = Column(np.full(len(items), np.nan), np.full(len(items), State.MISSING, np.uint8))
    numbers = items.answered & column.is_(State.NUMBER)
    taken = column.values if numbers.all() else column.values[numbers]
    values = np.unique(taken) + 0.0
    exponent = exponent_for(values, wanted.most_bins, lower_is_surer=lower)
    if exponent is not None:
        taken = binned(taken, exponent, lower_is_surer=lower)
        values = np.unique(taken)
    codes = np.where(items.answered & column.is_(State.MISSING), _MISSING, _NULL)
    codes[numbers] = np.searchsorted(values, taken) + FIRST_VALUE
    said = SignalAbout(name=name, probability=name in items.probabilities, lower_is_surer=lower, exponent=exponent)
    return said, values, codes


def _about(items: Items, losses: Losses, wanted: Kept, part: str, signals: Sequence[SignalAbout]) -> About:
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
            digits=wanted.loss_digits,
            rounded=not losses.exact,
        ),
        instrument=InstrumentAbout(
            name=instrument.name, items=instrument.items, minimum=instrument.minimum, maximum=instrument.maximum
        )
        if instrument
        else None,
        confidence=wanted.confidence,
        signals=tuple(signals),
        most_bins=wanted.most_bins,
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
    """A column that keeps the codes of its cells, and makes the cells when it is asked for them."""

    __slots__ = ("codes", "levels")
    codes: Code
    levels: Floats

    def __init__(self, levels: Floats, codes: Code) -> None:
        for name, value in (("levels", levels), ("codes", codes), ("other", OtherCells.none())):
            object.__setattr__(self, name, value)

    @property
    def values(self) -> Floats:
        """The numbers, nan elsewhere."""
        return np.append([np.nan, np.nan], self.levels)[self.codes]

    @property
    def state(self) -> NDArray[np.uint8]:
        """What each cell holds; the first codes are numbered as states are."""
        return np.asarray(np.minimum(self.codes, State.NUMBER), np.uint8)


def _grouping(about: GroupAbout, code: Code) -> Grouping:
    column = None if about.column is None else GroupColumn(about.column, about.cuts, about.file)
    return Grouping(about.levels, code.astype(np.intp), column)
