"""One confidence variant of an artifact: everything its sides and their difference should read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from demur.audit.columns import Column
from demur.audit.figures import Expected, Finding, Printed
from demur.audit.loops.confidence import Confidence as Ranked
from demur.audit.loops.confidence import confidence as ranked
from demur.audit.plain_replicates import NUMBERS, Pool
from demur.audit.plain_tables import by_item, histogram, reliability
from demur.audit.plain_units import SIDES, Side
from demur.audit.selective_bands import band_columns
from demur.audit.selective_bootstrap import bootstrap_figures, delta_figures, is_studentised
from demur.audit.selective_draws import Drawn, Resampling
from demur.audit.selective_points import AREAS, RISKS, Asked, Path, arrays_of, expected_of, figures_of
from demur.audit.selective_suspects import ITEM_LEVEL, ItemLevel
from demur.errors import UserError

if TYPE_CHECKING:
    from demur.audit.plain_curve import PlainCurve

_HALF = Fraction(1, 2)
_OTHER_SIDE = "the other side's figure"
_ITS_OWN = "all participants of its own run, not only those in both"


@dataclass(slots=True)
class Known:
    """What the data give for figures and for whole columns of them, by their paths.

    `reasons` says why a variant cannot be recomputed, `suspects` are the sides whose intervals may have been made of
    single items.
    """

    figures: dict[Path, Expected] = field(default_factory=dict)
    columns: dict[Path, Column] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    suspects: dict[Path, ItemLevel] = field(default_factory=dict)

    def explained(self, one: Finding, path: Path, reported: Any) -> Finding:
        """A figure that differs for no reason found so far, with the one that takes draws of its own."""
        if one.status != "differs" or one.cause is not None or not isinstance(reported, Printed):
            return one
        for place, suspect in self.suspects.items():
            if path[: len(place)] == place and suspect.explains(path[len(place) :], reported):
                return replace(one, cause=ITEM_LEVEL)
        return one

    def add(self, place: Path, figures: Mapping[Path, Expected]) -> None:
        """Figures found at a place."""
        self.figures |= {(*place, *path): expected for path, expected in figures.items()}


@dataclass(frozen=True, eq=False)
class OneSide:
    """One side under one confidence, and what is reported of it."""

    side: Side
    ranked: Ranked
    own: Ranked | None
    reported: Mapping[str, Any]

    @classmethod
    def of(cls, side: Side, name: str, calibration: Any, reported: Any) -> OneSide:
        """A side whose confidence can be recomputed."""
        try:
            own = ranked(side.own, name, calibration)
        except UserError:  # of somebody who is not counted
            own = None
        return cls(side, ranked(side.items, name, calibration), own, _mapping(reported))

    @cached_property
    def curve(self) -> PlainCurve:
        """Its curve."""
        return self.side.curve(self.ranked.values)

    @cached_property
    def others(self) -> dict[str, PlainCurve]:
        """Its curve, counted in other ways."""
        found = self.side.other_curves(self.ranked.values)
        if self.own is not None and len(self.side.own) > len(self.side.items):
            found[_ITS_OWN] = Side(self.side.own, self.side.own, self.side.loss).curve(self.own.values)
        return found

    @cached_property
    def pool(self) -> Pool:
        """What each cluster holds."""
        return Pool.of(self.side, self.ranked.values)

    @property
    def has_bands(self) -> bool:
        """Whether bands are reported, or null although something was resampled."""
        drawn = isinstance(self.reported.get("bootstrap"), Mapping)
        return "bands" in self.reported and (drawn or self.reported["bands"] is not None)

    @property
    def asks_for_common(self) -> bool:
        """Whether nothing is said of where areas are cut."""
        return not any(
            isinstance(given, Mapping) and isinstance(given.get("requested"), Printed)
            for given in map(self.reported.get, AREAS)
        )


@dataclass(frozen=True, eq=False)
class Variant:
    """The sides of a variant: one, or left and right."""

    sides: Sequence[OneSide]
    deltas: Mapping[str, Any]
    resamples: int

    @property
    def paired(self) -> bool:
        """Whether there are two sides."""
        return len(self.sides) == len(SIDES)

    @cached_property
    def asked(self) -> list[Asked]:
        """The coverages of each side; risks at those of both, and of the differences."""
        common = min(Fraction(one.curve.answered, one.curve.units) for one in self.sides) if self.paired else _HALF
        found = [Asked.of(one.reported, common) for one in self.sides]
        of_deltas = Asked.of({RISKS: _mapping(self.deltas.get(RISKS))}, common)
        targets = {path: at for one in (of_deltas, *found) for path, at in one.targets.items()}
        return [Asked(one.cuts, targets) for one in found]

    @cached_property
    def figures(self) -> list[dict[Path, float | None]]:
        """The numbers of each side."""
        return [figures_of(one.curve, asked) for one, asked in zip(self.sides, self.asked, strict=True)]

    @cached_property
    def _others(self) -> list[dict[str, dict[Path, float | None]]]:
        """The numbers of each side counted in other ways."""
        pairs = zip(self.sides, self.asked, strict=True)
        return [{way: figures_of(curve, asked) for way, curve in one.others.items()} for one, asked in pairs]

    @cached_property
    def drawn(self) -> list[Drawn]:
        """The replicates of each side, on the same draws."""
        said = next((one.reported["bootstrap"] for one in self.sides if one.reported.get("bootstrap")), None)
        resampling = Resampling.of(said, self.resamples)
        rivals = [one.pool for one in reversed(self.sides)]
        studentised = any(is_studentised(one.reported.get("bootstrap"), one.pool.clusters) for one in self.sides)
        return [
            Drawn(one.side, one.curve, one.pool, figures, asked, resampling, rival, studentised)
            for one, figures, asked, rival in zip(
                self.sides,
                self.figures,
                self.asked,
                rivals if self.paired and self.sides[0].asks_for_common else [None] * len(self.sides),
                strict=True,
            )
        ]

    @cached_property
    def _bands(self) -> list[dict[Path, Column]]:
        """The bands of each side's curve; none where nothing was resampled, or nobody speaks of them."""
        return [
            band_columns(self.drawn[number], one.reported["bands"]) if one.has_bands else {}
            for number, one in enumerate(self.sides)
        ]

    def tell(self, known: Known, name: str) -> None:
        """Add everything this variant should read."""
        for number, one in enumerate(self.sides):
            place = ("confidence_variants", name, *((SIDES[number],) if self.paired else ()))
            self._tell_side(known, place, number)
            self._tell_bands(known, place, number)
            if isinstance(one.reported.get("bootstrap"), Mapping):
                rival = self.drawn[1 - number] if self.paired else None
                known.add(place, bootstrap_figures(self.drawn[number], one.reported["bootstrap"], rival))
                if not self.drawn[number].resampling.draws.repeated:  # our own draws are of participants
                    known.suspects[place] = ItemLevel(self.drawn[number], one.ranked.values)
        if self.paired:
            self._tell_deltas(known, ("comparison", "deltas", name))

    def _tell_side(self, known: Known, place: Path, number: int) -> None:
        one, others = self.sides[number], self._others[number]
        if self.paired:
            others = {_OTHER_SIDE: self.figures[1 - number], **others}
        counted = dict.fromkeys(_mapping(one.reported.get("nulls_filled")), 0) | dict(one.ranked.filled)
        filled = {("nulls_filled", signal): Expected(count, exact=True) for signal, count in counted.items()}
        known.add(place, expected_of(self.figures[number], others))
        known.add(place, filled | by_item(one.side) | reliability(one.side, one.ranked.values))
        known.add(place, {("histogram", "abstained"): Expected(one.side.units - one.curve.answered, exact=True)})
        others_columns = {way: arrays_of(curve) for way, curve in one.others.items()}
        if self.paired:
            others_columns = {_OTHER_SIDE: arrays_of(self.sides[1 - number].curve), **others_columns}
        for path, column in arrays_of(one.curve).items():
            ways = {way: found[path] for way, found in others_columns.items()}
            known.columns[*place, *path] = Column.of(column, ways)
        for path, column in histogram(one.side, one.ranked.values, one.reported.get("histogram")).items():
            known.columns[*place, *path] = Column.of(column)

    def _tell_bands(self, known: Known, place: Path, number: int) -> None:
        rival = self._bands[1 - number] if self.paired else {}
        for path, column in self._bands[number].items():
            others = {_OTHER_SIDE: rival[path].values} if path in rival else {}
            known.columns[*place, *path] = replace(column, others=others)

    def _tell_deltas(self, known: Known, place: Path) -> None:
        left, right = self.figures
        ways = self._others[0].keys() & self._others[1].keys()
        for path in [(key,) for key in NUMBERS] + [path for path in self.asked[0].targets if path[0] == RISKS]:
            others = {way: _minus(self._others[1][way].get(path), self._others[0][way].get(path)) for way in ways}
            otherwise = {"left − right": _minus(left.get(path), right.get(path)), **others}
            delta = Expected(_minus(right.get(path), left.get(path)), otherwise=otherwise)
            for shape in ((), ("delta",), ("point",), ("value",)):
                known.figures[*place, *path, *shape] = delta
        if self._has_intervals:
            ci = _mapping(self.sides[0].reported.get("bootstrap")).get("ci")
            left_drawn, right_drawn = self.drawn
            known.add(place, delta_figures(left_drawn, right_drawn, self.deltas, ci))

    @property
    def _has_intervals(self) -> bool:
        """Whether anything was resampled for the differences."""
        nested = [*self.deltas.values(), *_mapping(self.deltas.get(RISKS)).values()]
        members = ("ci95", "std_error", "ci95_recommended", "p_value")
        return any(_mapping(one).get(member) is not None for one in nested for member in members)


def _mapping(content: Any) -> Mapping[str, Any]:
    return content if isinstance(content, Mapping) else {}


def _minus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other
