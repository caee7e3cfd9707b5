"""Figures of selective prediction, held against the runs they were computed from.

A figure is of the system (the mode or the run id) and of the confidence its path names, or that a `mode`, `system` or
`confidence` beside it does. With one run none needs to be named; without a confidence, answers are ranked by `llm`. The
loss is abs_norm unless a `loss` beside it says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path as File
from typing import TYPE_CHECKING, Any

from demur.audit.figures import Expected, Printed, flattened
from demur.audit.loops import LOOPS
from demur.audit.loops.confidence import FORMULAS, confidence, is_confidence
from demur.audit.loops.draws import joint_replicates
from demur.audit.loops.rows import LOSSES, by_cluster, forecast_rows, loss_range, losses, selective_rows
from demur.audit.loops.selective import Curve, first_reaching
from demur.audit.reported.audit import Audit, Figure
from demur.audit.reported.intervals import expected_end, expected_error
from demur.audit.reported.measures import measure_of
from demur.audit.reported.names import Asked, asked_for, plain_name
from demur.audit.reported.places import Known
from demur.errors import UserError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from demur.audit.figures import Finding
    from demur.items import Items

_SIDES = (("left", "input_0"), ("right", "input_1"))
_USUAL_CONFIDENCE = "llm"
_UNRANKED = frozenset(("cmax", "risk", "aurc_optimal", "augrc_optimal", "aurc_random", "augrc_random"))
_CALIBRATION = frozenset(name for name in LOOPS if name.startswith(("ece", "brier", "nll")) or name == "auroc")
_SELECTIVE = frozenset(name for name in LOOPS if name in _UNRANKED or "aurc" in name or "augrc" in name) | {
    "risk@C",
    "achievable_gain_pct",
}
RESAMPLES = 2000
_SEED = 20_000
_SHARES = {"low": 0.025, "high": 0.975}
_SHORT = "no flat start: integrated from the first operating point"
_COUNTS: dict[str, Callable[[Items, int], int]] = {
    "participants_total": lambda _, everyone: everyone,
    "participants_included": lambda items, _: len(items.cluster_ids),
    "participants_failed": lambda items, everyone: everyone - len(items.cluster_ids),
    "items_total": lambda items, _: len(items),
    "items_predicted": lambda items, _: int(items.answered.sum()),
    "items_abstained": lambda items, _: len(items) - int(items.answered.sum()),
}


def audited_runs(
    runs: Mapping[str, Items], content: Any, *, calibration: Any = None, resamples: int = RESAMPLES
) -> list[Finding]:
    """Every figure of a reported file, recomputed from runs, by their names, and a calibration file's content."""
    if resamples < 1:
        raise UserError(f"resamples {resamples}, expected 1 or more: intervals are held against draws of our own")
    return OfRuns(runs, content, calibration, resamples).findings()


@dataclass(frozen=True, slots=True)
class View:
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


class OfRuns(Audit[View]):
    """A reported file, and the runs it is about."""

    of_the_data = "run"
    counts = frozenset(_COUNTS)
    settings = frozenset(("seed", "n_resamples", "level"))
    unbounded = frozenset(("aurc_gap_pct", "augrc_gap_pct", "achievable_gain_pct", "nll"))

    def __init__(self, runs: Mapping[str, Items], content: Any, calibration: Any, resamples: int) -> None:
        self._runs, self._calibration, self._resamples = dict(runs), calibration, resamples
        together = set.intersection(*(set(items.cluster_ids) for items in runs.values()))
        self._shared = {name: items.only(together) if together else items for name, items in runs.items()}
        self.confidence = cache(self._confidence)
        self.curve = cache(self._curve)
        self.drawn = cache(self._drawn)
        sides = {"deltas", *(name for side in _SIDES for name in side)} - runs.keys()
        self._paired = len(runs) > 1 and any(not sides.isdisjoint(path) for path, _ in flattened(content))
        reached = [Fraction(int(items.answered.sum()), len(items)) for items in self._shared.values()]
        usual = min(reached) if self._paired else Fraction(1, 2)
        super().__init__(Known(_aliases(runs, content), self._is_confidence, usual_coverage=usual), content)
        counted = [value for path, value in flattened(content) if path[-1:] == ("n_resamples",)]
        self._recorded = next((int(value.value) for value in counted if isinstance(value, Printed)), None)

    def _is_confidence(self, name: str) -> bool:
        return asked_for(name) is None and any(is_confidence(items, name) for items in self._runs.values())

    def _confidence(self, system: str, name: str, *, shared: bool = False) -> list[float] | str:
        """The confidence of each answered unit, or why it cannot be recomputed."""
        items = (self._shared if shared else self._runs)[system]
        if not name:
            return [0.0] * int(items.answered.sum())
        try:
            return confidence(items, name, self._calibration).values
        except UserError as error:
            return str(error)

    def _curve(self, view: View) -> Curve:
        items = (self._shared if view.shared else self._runs)[view.system]
        given = self.confidence(view.system, view.confidence, shared=view.shared)
        answers = [loss for loss in losses(items, view.loss) if loss is not None]
        rows: list[Any] = [*zip(answers, () if isinstance(given, str) else given, strict=True)]
        if view.ties_broken:
            ranked = sorted(rows, key=lambda row: row[1], reverse=True)
            rows = [(loss, -rank) for rank, (loss, _) in enumerate(ranked)]
        abstained = 0 if view.answered_only else len(items) - len(answers)
        failed = len(self._runs[view.system].failed) * len(items.item_names) if view.failed_too else 0
        return Curve([*rows, *[(None, None)] * (abstained + failed)], anchored=view.anchored)

    def value(self, asked: Asked, view: View) -> float | None:
        """What a figure is in a view; None of what a run cannot serve."""
        if view.minus is not None:
            sides = [self.value(asked, replace(view, system=name, minus=None)) for name in (view.system, view.minus)]
            return None if None in sides else float(sides[0] or 0) - float(sides[1] or 0)
        items = (self._shared if view.shared else self._runs)[view.system]
        if asked.figure in _COUNTS:
            everyone = [{*run.cluster_ids, *run.failed} for run in self._runs.values()]
            own = {*self._runs[view.system].cluster_ids, *self._runs[view.system].failed}
            return _COUNTS[asked.figure](items, len(set.intersection(*everyone) if view.shared else own))
        given = self.confidence(view.system, view.confidence, shared=view.shared)
        if isinstance(given, str) or view.loss not in LOSSES or (view.loss == "abs_norm" and not items.instrument):
            return None
        if asked.figure in _CALIBRATION:
            rows = forecast_rows(items, given)
            binned = {"bins": asked.depth} if asked.figure == "ece" else {}
            value = LOOPS[asked.figure](rows, **binned)
        else:
            value = self._selective(asked, self.curve(view))
        return None if value is None else float(value)

    @staticmethod
    def _selective(asked: Asked, curve: Curve) -> Any:
        if not asked.achieved:
            return LOOPS[asked.figure](curve, *([asked.number] if "@" in asked.figure else []))
        if asked.figure == "risk@C":
            point = first_reaching(curve, asked.number)
            return None if point is None else point.coverage
        return min(asked.number, LOOPS["cmax"](curve) or Fraction(0))

    def expected(self, asked: Asked, view: View) -> Expected:
        """What the data give for a figure; what is made of draws may be off by their Monte-Carlo error."""
        if view.draws is None:
            return super().expected(asked, view)
        values = [value for value in self.drawn(replace(view, draws=None))[asked] if value is not None]
        if 2 * len(values) < self._resamples:  # of so few replicates nothing is said
            return Expected(None)
        if view.draws == "error":
            return expected_error(values, self._recorded)
        return expected_end(values, _SHARES[view.draws], self._recorded)

    def _drawn(self, view: View) -> dict[Asked, list[float | None]]:
        """Every figure that is reported with draws of a view, in each replicate of our own."""
        placed = [(figure, figure.place.asked) for figure in self.figures if figure.place.draws]
        wanted = [asked for figure, asked in placed if asked and not self.why_not(figure, asked)]
        sides = [self._clusters(replace(view, system=name)) for name in (view.system, view.minus) if name is not None]

        def numbers(*rows: Any) -> dict[Asked, float | None]:
            curves = [*map(Curve, rows)]
            found = {asked: [self._selective(asked, curve) for curve in curves] for asked in wanted}
            return {asked: None if None in each else float(each[0] - sum(each[1:])) for asked, each in found.items()}

        replicates = joint_replicates(sides, numbers, _SEED, self._resamples)
        return {asked: [one[asked] for one in replicates] for asked in wanted}

    def _clusters(self, view: View) -> list[list[Any]]:
        items = (self._shared if view.shared else self._runs)[view.system]
        given = self.confidence(view.system, view.confidence, shared=view.shared)
        rows = selective_rows(items, [] if isinstance(given, str) else given, view.loss)
        return [[row] for row in rows] if view.single_units else by_cluster(items, rows)

    def last_resort(self, asked: Asked, view: View, reported: Any) -> str | None:
        """Whether an interval was made of single units."""
        if view.draws is None or not self.expected(asked, replace(view, single_units=True)).agrees(reported):
            return None
        return "items resampled, not participants"

    def why_not(self, figure: Figure, asked: Asked) -> str | None:
        """Why a figure cannot be recomputed, or None."""
        place = figure.place
        if asked.figure not in _SELECTIVE | _CALIBRATION | self.counts:
            return f"{asked} is a figure of rankings: give a per-query table as --data"
        if place.stranger is not None:
            there = ", ".join(map(shown, self._runs))
            return f"no run and no confidence of the data is called {shown(place.stranger)} (runs: {there})"
        if place.spread or place.averaging or place.population or place.group:
            return "a run is not averaged over folds, criteria or queries"
        if place.draws is not None and (reason := self._undrawn(asked, place.draws)):
            return reason
        if self._system(figure, asked) is None:
            return f"it does not say which run it is of: {', '.join(map(shown, self._runs))}; name one or give --mode"
        return self._unserved(asked, self.view(figure, asked))

    def _undrawn(self, asked: Asked, draws: str) -> str | None:
        """Why something made of draws cannot be recomputed."""
        if asked.figure not in _SELECTIVE or asked.achieved:
            return f"no draws are made of {asked}"
        if draws == "interval":
            return "it does not say which end of the interval it is"
        common = self._paired and "@" in asked.figure and asked.number == self.known.usual_coverage
        return "the common coverage is another in every draw, which is not repeated here" if common else None

    def _unserved(self, asked: Asked, view: View) -> str | None:
        """Why a figure of a run that is named cannot be recomputed."""
        if asked.figure in self.counts:
            return None
        if view.loss not in LOSSES:
            return f"no loss is called {shown(view.loss)}: there are {', '.join(LOSSES)}"
        given = self.confidence(view.system, view.confidence)
        if isinstance(given, str):
            return given
        outside = asked.figure in _CALIBRATION - {"auroc"} and not all(0 <= value <= 1 for value in given)
        return f"{shown(view.confidence)} is not a probability" if outside else None

    def _system(self, figure: Figure, asked: Asked) -> str | None:
        """The run a figure is of: named by its path or beside it, or the first of runs that agree on it."""
        if figure.place.difference:
            return [*self._runs][-1] if len(self._runs) == len(_SIDES) else None
        named = figure.place.system or self.holders.nearest(figure.path, "system", self._named_system)
        if named is not None:
            return named
        views = [self._view_of(system, figure, asked) for system in self._runs]
        return views[0].system if len({self.value(asked, view) for view in views}) == 1 else None

    def _named_system(self, name: str, value: Any) -> str | None:
        named = plain_name(name) in ("mode", "system", "run", "run_id") and isinstance(value, str)
        return self.known.system(value) if named else None

    def view(self, figure: Figure, asked: Asked) -> View:
        """The run, the confidence and the loss a figure is of."""
        return self._view_of(self._system(figure, asked) or next(iter(self._runs)), figure, asked)

    def _view_of(self, system: str, figure: Figure, asked: Asked) -> View:
        named = figure.place.confidence or self.holders.nearest(figure.path, "confidence", _named_confidence)
        usual = "" if asked.figure in _UNRANKED else self._usual_confidence(system)
        minus = next(iter(self._runs)) if figure.place.difference else None
        loss = self.holders.nearest(figure.path, "loss", _named_loss) or "abs_norm"
        return View(system, named or usual, loss, shared=self._paired, minus=minus, draws=figure.place.draws)

    def _usual_confidence(self, system: str) -> str:
        served = (name for name in FORMULAS if not isinstance(self.confidence(system, name), str))
        return next(served, _USUAL_CONFIDENCE)

    def other_ways(self, asked: Asked, view: View) -> Iterator[tuple[str, float | None]]:
        """What known other ways would give, by what they are, the likelier first."""
        if view.draws is not None:
            return
        if view.minus is not None:
            yield "the other way round", self.value(asked, replace(view, system=view.minus, minus=view.system))
        for way, other in (*self._other_counts(view), *self._other_losses(view)):
            yield way, self.value(asked, other)
        for system in self._runs:
            if view.minus is None and system != view.system:
                yield f"it is the figure of {shown(system)}", self.value(asked, replace(view, system=system))
        yield from ((way, self.value(*other)) for way, other in self._other_figures(asked, view))
        if asked.figure == "ece":
            given = self.confidence(view.system, view.confidence, shared=view.shared)
            items = (self._shared if view.shared else self._runs)[view.system]
            rows = [] if isinstance(given, str) else forecast_rows(items, given)
            yield from ((way, loop(rows)) for way, loop in measure_of(asked).otherwise.items())

    def _other_figures(self, asked: Asked, view: View) -> Iterator[tuple[str, tuple[Asked, View]]]:
        if asked.figure in _COUNTS:
            others = (figure for figure in _COUNTS if figure != asked.figure)
            yield from ((f"it is the count {figure}", (Asked(figure), view)) for figure in others)
            return
        for name in FORMULAS:
            if asked.figure not in _UNRANKED and name != view.confidence:
                yield f"ranked by {name}, not {shown(view.confidence)}", (asked, replace(view, confidence=name))
        if asked.figure in _SELECTIVE:
            yield from ((f"it is {other}", (other, view)) for other in _neighbours(asked))

    def _other_counts(self, view: View) -> Iterator[tuple[str, View]]:
        yield "abstentions left out of the denominator", replace(view, answered_only=True)
        yield _SHORT, replace(view, anchored=False)
        yield "ties broken: each unit an operating point", replace(view, ties_broken=True)
        yield f"ties broken, {_SHORT}", replace(view, ties_broken=True, anchored=False)
        if self._runs[view.system].failed:
            yield "failed participants counted in", replace(view, failed_too=True)
        if len(self._runs) > 1:
            everyone = "all participants of its own run, not only those in every run"
            shared = "only the participants in every run"
            yield everyone if view.shared else shared, replace(view, shared=not view.shared)

    def _other_losses(self, view: View) -> Iterator[tuple[str, View]]:
        items = self._runs[view.system]
        for loss in LOSSES:
            if (loss, view.loss) == ("abs", "abs_norm") and items.instrument is not None:
                way = f"× {loss_range(items)}: loss not normalised (abs, not abs_norm)"
            else:
                way = f"loss {loss}, not {view.loss}"
            if loss != view.loss:
                yield way, replace(view, loss=loss)


def _neighbours(asked: Asked) -> Iterator[Asked]:
    """The figures one is mistaken for: at another coverage, the nearest first, or of another quantity."""
    if asked.figure.endswith("@C"):
        tenths = sorted((Fraction(n, 10) for n in range(1, 11)), key=lambda at: abs(at - asked.number))
        yield from (asked.at(at) for at in tenths if at != asked.number)
    plain = ("risk", "cmax", "aurc", "augrc", "naurc", "naugrc", "eaurc", "eaugrc", "aurc_optimal", "augrc_optimal")
    yield from (Asked(figure) for figure in plain if figure != asked.figure)


def _aliases(runs: Mapping[str, Items], content: Any) -> dict[str, str]:
    """Everything a run can be called by: its name, what no other run shares with it, and its side of a comparison."""
    called: dict[str, set[str]] = {name: {name} for name in runs}
    for name, items in runs.items():
        source = items.source
        if source is not None:
            for alias in (source.mode, source.run_id, source.path, File(source.path).name, File(source.path).stem):
                called.setdefault(alias or name, set()).add(name)
    aliases = {alias: names.pop() for alias, names in called.items() if len(names) == 1}
    inputs = content.get("inputs") if isinstance(content, Mapping) else None
    modes = [one.get("mode") for one in inputs if isinstance(one, Mapping)] if isinstance(inputs, list) else []
    order = [aliases[mode] for mode in modes if isinstance(mode, str) and mode in aliases]
    for names, run in zip(_SIDES, order if len(order) == len(runs) else runs, strict=False):
        aliases |= {side: run for side in names if side not in aliases}
    return aliases


def _named_loss(name: str, value: Any) -> str | None:
    named = value.get("name") if isinstance(value, Mapping) else value
    return named if plain_name(name) == "loss" and isinstance(named, str) else None


def _named_confidence(name: str, value: Any) -> str | None:
    is_named = plain_name(name) in ("confidence", "confidence_variant", "variant")
    return value if is_named and isinstance(value, str) else None
