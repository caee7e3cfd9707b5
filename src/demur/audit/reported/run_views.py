"""Runs as an audit counts them: the units of a system under a confidence and a loss, and what their figures are."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

from demur.audit.loops import LOOPS, family
from demur.audit.loops.confidence import FORMULAS, confidence, is_confidence
from demur.audit.loops.draws import joint_replicates
from demur.audit.loops.rows import LOSSES, by_cluster, forecast_rows, selective_rows
from demur.audit.loops.selective import PlainCurve, first_reaching
from demur.audit.reported.names import ReportedQuantity
from demur.errors import UserError
from demur.items import Items

UNRANKED = frozenset(("cmax", "risk", "aurc_optimal", "augrc_optimal", "aurc_random", "augrc_random"))
SELECTIVE = frozenset(name for name in LOOPS if family(name) == "selective")
CALIBRATION = frozenset(name for name in LOOPS if family(name) == "forecasts" and "@" not in name)
COUNTS: dict[str, Callable[[Items, int], int]] = {
    "participants_total": lambda _, everyone: everyone,
    "participants_included": lambda items, _: len(items.cluster_ids),
    "participants_failed": lambda items, everyone: everyone - len(items.cluster_ids),
    "items_total": lambda items, _: len(items),
    "items_predicted": lambda items, _: int(items.answered.sum()),
    "items_abstained": lambda items, _: len(items) - int(items.answered.sum()),
}
_USUAL_CONFIDENCE = "llm"
_SEED = 20_000


@dataclass(frozen=True, slots=True)
class RunView:
    """One system's units under one confidence and loss, counted as the definitions do or as others are known to.

    `shared` counts only participants that succeeded in every run; `minus` is the system a difference subtracts; `draws`
    is an end of an interval or a standard error, of participants drawn or of `single_units`.
    """

    system: str
    confidence: str
    loss: str = "abs_norm"
    shared: bool = False
    answered_only: bool = False
    failed_too: bool = False
    ties_broken: bool = False
    anchored: bool = True
    minus: str | None = None
    draws: str | None = None
    single_units: bool = False


class Runs:
    """The runs of an audit by their names; confidences, curves and draws are made once."""

    def __init__(self, runs: Mapping[str, Items], calibration: Any, resamples: int) -> None:
        self.own = dict(runs)
        self.together = set.intersection(*(set(items.cluster_ids) for items in runs.values()))
        self._shared = {name: items.only(self.together) for name, items in runs.items()} if self.together else self.own
        self._calibration, self.resamples = calibration, resamples
        self._made, self.curve, self.drawn = cache(self._confidence), cache(self._curve), cache(self._drawn)

    def items(self, view: RunView) -> Items:
        """The facts a view counts."""
        return (self._shared if view.shared else self.own)[view.system]

    @property
    def common_coverage(self) -> Fraction:
        """The coverage that every run reaches on the participants they share."""
        return min(Fraction(int(items.answered.sum()), len(items)) for items in self._shared.values())

    def is_confidence(self, name: str) -> bool:
        """Whether answers can be ranked by something of that name."""
        return any(is_confidence(items, name) for items in self.own.values())

    def usual_confidence(self, system: str) -> str:
        """What ranks the answers where nothing is said."""
        served = (name for name in FORMULAS if isinstance(self.confidence(RunView(system, name)), list))
        return next(served, _USUAL_CONFIDENCE)

    def confidence(self, view: RunView) -> list[float] | str:
        """The confidence of each answered unit, or why it cannot be recomputed; no name, no ranking."""
        return self._made(view.system, view.confidence, view.shared)

    def _confidence(self, system: str, name: str, shared: bool) -> list[float] | str:  # noqa: FBT001
        items = (self._shared if shared else self.own)[system]
        try:
            return confidence(items, name, self._calibration).values if name else [0.0] * int(items.answered.sum())
        except UserError as error:
            return str(error)

    def _rows(self, view: RunView) -> list[Any]:
        given = self.confidence(view)
        return selective_rows(self.items(view), given if isinstance(given, list) else [], view.loss)

    def _curve(self, view: RunView) -> PlainCurve:
        rows, failed = self._rows(view), self.own[view.system].failed
        answers, abstained = [row for row in rows if row.loss is not None], [row for row in rows if row.loss is None]
        if view.ties_broken:
            ranked = sorted(answers, key=lambda row: row.confidence, reverse=True)
            answers = [row._replace(confidence=-rank) for rank, row in enumerate(ranked)]
        if view.failed_too:
            abstained += [(None, None)] * (len(failed) * len(self.items(view).item_names))
        return PlainCurve(answers if view.answered_only else answers + abstained, anchored=view.anchored)

    def value(self, quantity: ReportedQuantity, view: RunView) -> float | None:
        """What a figure is in a view; None of what a run cannot serve."""
        if view.minus is not None:
            sides = [self.value(quantity, replace(view, system=name, minus=None)) for name in (view.system, view.minus)]
            return None if None in sides else float(sides[0] or 0) - float(sides[1] or 0)
        items, given = self.items(view), self.confidence(view)
        if quantity.name in COUNTS:
            people = {name: {*run.cluster_ids, *run.failed} for name, run in self.own.items()}
            everyone = set.intersection(*people.values()) if view.shared else people[view.system]
            return COUNTS[quantity.name](items, len(everyone))
        if isinstance(given, str) or view.loss not in LOSSES or (view.loss == "abs_norm" and not items.instrument):
            return None
        if quantity.name in CALIBRATION:
            binned = {"bins": quantity.depth} if quantity.name == "ece" else {}
            value = LOOPS[quantity.name](forecast_rows(items, given), **binned)
        else:
            value = _selective(quantity, self.curve(view))
        return None if value is None else float(value)

    def _drawn(self, view: RunView, wanted: Collection[ReportedQuantity]) -> dict[ReportedQuantity, list[float | None]]:
        """Figures of a view in each replicate of our own."""
        sides = [self._clusters(replace(view, system=name)) for name in (view.system, view.minus) if name is not None]

        def numbers(*rows: Any) -> dict[ReportedQuantity, float | None]:
            curves = [*map(PlainCurve, rows)]
            each = {quantity: [_selective(quantity, curve) for curve in curves] for quantity in wanted}
            return {
                quantity: None if None in side else float(side[0] - sum(side[1:])) for quantity, side in each.items()
            }

        replicates = joint_replicates(sides, numbers, _SEED, self.resamples)
        return {quantity: [values[quantity] for values in replicates] for quantity in wanted}

    def _clusters(self, view: RunView) -> list[list[Any]]:
        rows = self._rows(view)
        return [[row] for row in rows] if view.single_units else by_cluster(self.items(view), rows)


def _selective(quantity: ReportedQuantity, curve: PlainCurve) -> Any:
    if not quantity.achieved:
        return LOOPS[quantity.name](curve, *([quantity.number] if "@" in quantity.name else []))
    if quantity.name == "risk@C":
        point = first_reaching(curve, quantity.number)
        return None if point is None else point.coverage
    return min(quantity.number, LOOPS["cmax"](curve) or Fraction(0))
