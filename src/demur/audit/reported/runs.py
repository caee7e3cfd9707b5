"""Figures of selective prediction, held against the runs they were computed from.

A figure is of the system (the mode or the run id) and of the confidence its path names, or that a `mode`, `system` or
`confidence` beside it does. With one run none needs to be named; without a confidence, answers are ranked by `llm`. The
loss is abs_norm unless a `loss` beside it says otherwise.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path as File
from typing import Any

from demur.audit.figures import Expected, Finding, Printed, flattened
from demur.audit.loops.confidence import FORMULAS
from demur.audit.loops.rows import LOSSES, forecast_rows, loss_range
from demur.audit.reported.audit import Audit, Figure
from demur.audit.reported.contexts import Known
from demur.audit.reported.intervals import expected_end, expected_error
from demur.audit.reported.measures import measure_of
from demur.audit.reported.names import ReportedQuantity, plain_name, quantity_named
from demur.audit.reported.run_views import CALIBRATION, COUNTS, SELECTIVE, UNRANKED, Runs, RunView
from demur.errors import UserError, shown
from demur.items import Items

RESAMPLES = 2000
_SIDES = (("left", "input_0"), ("right", "input_1"))
_SHARES = {"low": 0.025, "high": 0.975}
_SHORT = "no flat start: integrated from the first operating point"
_NEIGHBOURS = ("risk", "cmax", "aurc", "augrc", "naurc", "naugrc", "eaurc", "eaugrc", "aurc_optimal", "augrc_optimal")


def audited_runs(
    runs: Mapping[str, Items], content: Any, *, calibration: Any = None, resamples: int = RESAMPLES
) -> list[Finding]:
    """Every figure of a reported file, recomputed from runs, by their names, and a calibration file's content."""
    if resamples < 1:
        raise UserError(f"resamples {resamples}, expected 1 or more: intervals are held against draws of our own")
    return OfRuns(Runs(runs, calibration, resamples), content).findings()


class OfRuns(Audit[RunView]):
    """A reported file, and the runs it is about."""

    of_the_data = "run"
    counts = frozenset(COUNTS)
    settings = frozenset(("seed", "n_resamples", "level"))
    unbounded = frozenset(("aurc_gap_pct", "augrc_gap_pct", "achievable_gain_pct", "nll"))

    def __init__(self, runs: Runs, content: Any) -> None:
        self._runs, self._sides = runs, _sides(runs.own, content)
        leaves = [*flattened(content)]
        words = {"deltas", *(name for side in _SIDES for name in side)} - runs.own.keys()
        self._paired = len(runs.own) > 1 and any(not words.isdisjoint(path) for path, _ in leaves)
        if self._paired and not runs.together:
            raise UserError("nothing to audit: no participant succeeded in both runs")
        usual = runs.common_coverage if self._paired else Fraction(1, 2)
        known = Known(_aliases(runs.own, self._sides), self._is_confidence, usual_coverage=usual)
        super().__init__(known, content)
        recorded = [value.value for path, value in leaves if path[-1] == "n_resamples" and isinstance(value, Printed)]
        self._recorded = int(recorded[0]) if recorded else None

    def _is_confidence(self, name: str) -> bool:
        return quantity_named(name) is None and self._runs.is_confidence(name)

    def value(self, quantity: ReportedQuantity, view: RunView) -> float | None:
        """What a figure is in a view."""
        return self._runs.value(quantity, view)

    def expected(self, quantity: ReportedQuantity, view: RunView) -> Expected:
        """What the data give for a figure; what is made of draws may be off by their Monte-Carlo error."""
        if view.draws is None:
            return super().expected(quantity, view)
        drawn = [(figure, figure.context.quantity) for figure in self.figures if figure.context.draws]
        wanted = frozenset(other for figure, other in drawn if other and not self.why_not(figure, other))
        replicates = self._runs.drawn(replace(view, draws=None), wanted)[quantity]
        values = [value for value in replicates if value is not None]
        if view.draws == "error":
            return expected_error(values, self._recorded)
        if 2 * len(values) < self._runs.resamples:  # what is left says nothing about the whole
            return Expected(None)
        return expected_end(values, _SHARES[view.draws], self._recorded)

    def last_resort(self, quantity: ReportedQuantity, view: RunView, reported: Any) -> str | None:
        """Whether an interval was made of single units."""
        if view.draws is None or not self.expected(quantity, replace(view, single_units=True)).agrees(reported):
            return None
        return "items resampled, not participants"

    def why_not(self, figure: Figure, quantity: ReportedQuantity) -> str | None:
        """Why a figure cannot be recomputed, or None."""
        context, runs = figure.context, ", ".join(map(shown, self._runs.own))
        if quantity.name not in SELECTIVE | CALIBRATION | self.counts:
            return f"{quantity} is a figure of rankings: give a per-query table as --data"
        if context.stranger is not None:
            return f"no run and no confidence of the data is called {shown(context.stranger)} (runs: {runs})"
        if context.spread or context.averaging or context.population or context.group:
            return "a run is not averaged over folds, criteria or queries"
        if context.draws is not None and (reason := self._undrawn(quantity, context.draws)):
            return reason
        if self._system(figure, quantity) is None:
            return f"it does not say which run it is of: {runs}; name one or give --mode"
        return self._unserved(quantity, self.view(figure, quantity))

    def _undrawn(self, quantity: ReportedQuantity, draws: str) -> str | None:
        """Why something made of draws cannot be recomputed."""
        if quantity.name not in SELECTIVE or quantity.achieved:
            return f"no draws are made of {quantity}"
        if draws == "interval":
            return "it does not say which end of the interval it is"
        common = self._paired and "@" in quantity.name and quantity.number == self.known.usual_coverage
        return "the common coverage is another in every draw, which is not repeated here" if common else None

    def _unserved(self, quantity: ReportedQuantity, view: RunView) -> str | None:
        """Why a figure of a run that is named cannot be recomputed."""
        given = self._runs.confidence(view)
        if quantity.name in self.counts:
            return None
        if view.loss not in LOSSES:
            return f"no loss is called {shown(view.loss)}: there are {', '.join(LOSSES)}"
        if view.loss == "abs_norm" and self._runs.items(view).instrument is None:
            return "the loss abs_norm divides by the score range: give the instrument"
        if isinstance(given, str):
            return given
        outside = quantity.name in CALIBRATION - {"auroc", "auprc"} and not all(0 <= value <= 1 for value in given)
        return f"{shown(view.confidence)} is not a probability" if outside else None

    def _system(self, figure: Figure, quantity: ReportedQuantity) -> str | None:
        """The run a figure is of: named by its path or beside it, or the first of runs that agree on it."""
        if figure.context.difference:
            return self._sides[1] if len(self._sides) == len(_SIDES) else None
        named = figure.context.system or self.holders.nearest(figure.path, "system", self._named_system)
        if named is not None:
            return named
        views = [self._view_of(system, figure, quantity) for system in self._runs.own]
        return views[0].system if len({self.value(quantity, view) for view in views}) == 1 else None

    def _named_system(self, name: str, value: Any) -> str | None:
        named = plain_name(name) in ("mode", "system", "run", "run_id") and isinstance(value, str)
        return self.known.system(value) if named else None

    def view(self, figure: Figure, quantity: ReportedQuantity) -> RunView:
        """The run, the confidence and the loss a figure is of."""
        return self._view_of(self._system(figure, quantity) or self._sides[0], figure, quantity)

    def _view_of(self, system: str, figure: Figure, quantity: ReportedQuantity) -> RunView:
        named = figure.context.confidence or self.holders.nearest(figure.path, "confidence", _named_confidence)
        usual = "" if quantity.name in UNRANKED else self._runs.usual_confidence(system)
        minus = self._sides[0] if figure.context.difference else None
        loss = self.holders.nearest(figure.path, "loss", _named_loss) or "abs_norm"
        return RunView(system, named or usual, loss, shared=self._paired, minus=minus, draws=figure.context.draws)

    def other_ways(self, quantity: ReportedQuantity, view: RunView) -> Iterator[tuple[str, float | None]]:
        """What known other ways would give, by what they are, the likelier first."""
        if view.draws is not None:
            return
        if view.minus is not None:
            yield "the other way round", self.value(quantity, replace(view, system=view.minus, minus=view.system))
        for way, other in (*self._other_counts(view), *self._other_losses(view)):
            yield way, self.value(quantity, other)
        for system in self._runs.own:
            if view.minus is None and system != view.system:
                yield f"it is the figure of {shown(system)}", self.value(quantity, replace(view, system=system))
        yield from ((way, self.value(*other)) for way, other in self._other_figures(quantity, view))
        if quantity.name == "ece":
            given = self._runs.confidence(view)
            rows = [] if isinstance(given, str) else forecast_rows(self._runs.items(view), given)
            yield from ((way, loop(rows)) for way, loop in measure_of(quantity).otherwise.items())

    def _other_figures(
        self, quantity: ReportedQuantity, view: RunView
    ) -> Iterator[tuple[str, tuple[ReportedQuantity, RunView]]]:
        if quantity.name in COUNTS:
            others = (figure for figure in COUNTS if figure != quantity.name)
            yield from ((f"it is the count {figure}", (ReportedQuantity(figure), view)) for figure in others)
            return
        for name in FORMULAS:
            if quantity.name not in UNRANKED and name != view.confidence:
                yield f"ranked by {name}, not {shown(view.confidence)}", (quantity, replace(view, confidence=name))
        if quantity.name in SELECTIVE and not quantity.achieved:
            yield from ((f"it is {other}", (other, view)) for other in _neighbours(quantity))

    def _other_counts(self, view: RunView) -> Iterator[tuple[str, RunView]]:
        yield "abstentions left out of the denominator", replace(view, answered_only=True)
        yield _SHORT, replace(view, anchored=False)
        yield "ties broken: each unit an operating point", replace(view, ties_broken=True)
        yield f"ties broken, {_SHORT}", replace(view, ties_broken=True, anchored=False)
        if self._runs.own[view.system].failed:
            yield "failed participants counted in", replace(view, failed_too=True)
        if len(self._runs.own) > 1:
            everyone = "all participants of its own run, not only those in every run"
            shared = "only the participants in every run"
            yield everyone if view.shared else shared, replace(view, shared=not view.shared)

    def _other_losses(self, view: RunView) -> Iterator[tuple[str, RunView]]:
        items = self._runs.own[view.system]
        for loss in LOSSES:
            if (loss, view.loss) == ("abs", "abs_norm") and items.instrument is not None:
                way = f"× {loss_range(items)}: loss not normalised (abs, not abs_norm)"
            else:
                way = f"loss {loss}, not {view.loss}"
            if loss != view.loss:
                yield way, replace(view, loss=loss)


def _neighbours(quantity: ReportedQuantity) -> Iterator[ReportedQuantity]:
    """The figures one is mistaken for: at another coverage, the nearest first, or of another quantity."""
    if quantity.name.endswith("@C"):
        tenths = sorted((Fraction(n, 10) for n in range(1, 11)), key=lambda at: abs(at - quantity.number))
        yield from (quantity.at(at) for at in tenths if at != quantity.number)
    yield from (ReportedQuantity(figure) for figure in _NEIGHBOURS if figure != quantity.name)


def _sides(runs: Mapping[str, Items], content: Any) -> list[str]:
    """The runs in the order of the sides of a comparison: as the modes that a file records, or else as given."""
    inputs = content.get("inputs") if isinstance(content, Mapping) else None
    recorded = [entry.get("mode") for entry in inputs if isinstance(entry, Mapping)] if isinstance(inputs, list) else []
    by_mode = {items.source.mode: name for name, items in runs.items() if items.source is not None}
    order = [by_mode[mode] for mode in recorded if isinstance(mode, str) and mode in by_mode]
    return order if sorted(order) == sorted(runs) else [*runs]


def _aliases(runs: Mapping[str, Items], sides: list[str]) -> dict[str, str]:
    """Everything a run can be called by: its name, what no other run shares with it, and its side of a comparison."""
    called: dict[str, set[str]] = {}
    for name, items in runs.items():
        source = items.source
        if source is not None:
            for alias in (source.mode, source.run_id, source.path, File(source.path).name, File(source.path).stem):
                called.setdefault(alias or name, set()).add(name)
    for names, run in zip(_SIDES, sides, strict=False):
        for name in names:
            called.setdefault(name, {run})
    return {alias: names.pop() for alias, names in called.items() if len(names) == 1} | {name: name for name in runs}


def _named_loss(name: str, value: Any) -> str | None:
    named = value.get("name") if isinstance(value, Mapping) else value
    return named if plain_name(name) == "loss" and isinstance(named, str) else None


def _named_confidence(name: str, value: Any) -> str | None:
    is_named = plain_name(name) in ("confidence", "confidence_variant", "variant")
    return value if is_named and isinstance(value, str) else None
