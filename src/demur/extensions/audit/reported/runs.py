"""The audit of figures of selective prediction, from the runs they were computed from.

The system (a mode or run id) and the confidence of a figure are those its path names, or a `mode`, `system` or
`confidence` beside it; else the system is the one run that `inputs` names. With one run none needs to be named;
without a confidence, answers are ranked by the one signal there is, or by `llm`. The loss, unless a `loss` beside it
says otherwise, is abs_norm; of a table the one it gives, or zero_one where its items are those of no instrument.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.confidences.grading import grade
from demur.confidences.serving import confidence, unrounded
from demur.confidences.variants import NEED_CALIBRATION, VARIANTS
from demur.errors import UserError, shown
from demur.extensions.audit.figures import (
    Expected,
    Explanation,
    Finding,
    Printed,
    expected_end,
    expected_error,
    expected_share,
    flattened,
)
from demur.extensions.audit.reported import curves, tools
from demur.extensions.audit.reported.audit import Audit
from demur.extensions.audit.reported.contexts import Context, Figure, Known
from demur.extensions.audit.reported.conventions import conventions_of
from demur.extensions.audit.reported.names import SCORES, SELECTIVE, UNKNOWN, ReportedQuantity, quantity_named
from demur.extensions.audit.reported.reading import SIDES, aliases, recorded_runs
from demur.extensions.audit.retrieval_figures import FIGURES
from demur.facts.frames import TableOf
from demur.facts.items import Items
from demur.facts.losses import GIVEN
from demur.quantities import Measure
from demur.quantities.curve import Curve
from demur.quantities.forecasts import Forecasts
from demur.quantities.losses import LOSSES
from demur.sampling.graded import Clusters, Graded
from demur.sampling.resample import Plan, bootstrap
from demur.sampling.table import Table
from demur.types import Floats

if TYPE_CHECKING:
    from demur.confidences.calibration import AnyCalibration

RESAMPLES = 2000
_SHARES = {"low": 0.025, "high": 0.975}
_SEED = 20_000
_SINGLE_UNITS = "items resampled, not participants"
_FAILED = "failed participants counted in"
_UNROUNDED = "composite confidences not rounded to 12 decimals: ties broken that are equal on paper"
_NO_KEYWORDS = "total_evidence without the keyword counts, as an alias of llm"
_OTHER_LOSS = "the table gives losses: it does not say what the loss {} would be"
_NULL_DROPS_ALL = "1 given where the number itself is undefined"


def audited_runs(
    runs: Mapping[str, Items],
    content: Any,
    *,
    calibration: AnyCalibration | None = None,
    resamples: int = RESAMPLES,
    signature: str | None = None,
) -> TableOf[Finding]:
    """Audit every figure of a file from named runs and a calibration, by the convention of a signature if given."""
    if resamples < 1:
        raise UserError(f"resamples {resamples}, expected 1 or more: intervals are held against draws of our own")
    return RunAudit(runs, content, calibration, resamples, signature).findings()


class RunAudit(Audit):
    """The audit of a reported file from its runs; losses, curves and draws are computed once."""

    section_of = "run"
    counts = frozenset(curves.RUN_COUNTS)
    unbounded = frozenset(("aurc_gap_pct", "augrc_gap_pct", "achievable_gain_pct", "nll"))

    def __init__(
        self,
        runs: Mapping[str, Items],
        content: Any,
        calibration: AnyCalibration | None,
        resamples: int,
        signature: str | None,
    ) -> None:
        self._stated = {} if signature is None else tools.stated(signature)
        recorded = recorded_runs(runs, content)
        names = recorded if len(recorded) > 1 else [*runs]
        runs = {name: runs[name].take(runs[name].by_name) for name in names}
        self._runs, self._sides, self._recorded_run = runs, names, recorded[0] if len(recorded) == 1 else None
        in_all = set.intersection(*(set(items.cluster_ids) for items in runs.values()))
        self._shared = {name: items.only(in_all) for name, items in runs.items()} if in_all else self._runs
        self._calibration, self._resamples = calibration, resamples
        self._scores, self._grades = cache(self._confidence), cache(self._graded_by)
        self._curve, self._replicates = cache(self._curve_of), cache(self._drawn)
        members = [*flattened(content)]
        words = {"deltas", *(name for side in SIDES for name in side)} - runs.keys()
        compared = any(value is not None and not words.isdisjoint(path) for path, value in members)
        self._paired = len(runs) > 1 and compared and (("comparison", "enabled"), False) not in members
        if self._paired and not in_all:
            raise UserError("nothing to audit: no participant succeeded in both runs")
        reached = [Fraction(int(items.answered.sum()), len(items)) for items in self._shared.values()]
        usual_coverage = min(reached) if self._paired else Fraction(1, 2)

        def ranks(name: str) -> bool:
            return quantity_named(name) is None and any(_ranks(items, name) for items in runs.values())

        known = Known(
            aliases(runs, self._sides), ranks, usual_coverage=usual_coverage, conventions=frozenset(tools.EMULATED)
        )
        super().__init__(known, content)
        draws = [value.value for path, value in members if path[-1] == "n_resamples" and isinstance(value, Printed)]
        self._recorded = int(draws[0]) if draws else None

    def _items(self, context: Context) -> Items:
        return (self._shared if context.shared else self._runs)[str(context.system)]

    def _confidence(self, system: str, name: str, *, shared: bool = False, rounded: bool = True) -> Floats | str:
        """The confidence of each unit, or why it cannot be recomputed; an empty name ranks nothing."""
        items = (self._shared if shared else self._runs)[system]
        if not name:
            return np.zeros(len(items))
        try:
            return (confidence if rounded else unrounded)(items, name, self._calibration).values
        except UserError as error:
            return str(error)

    def _scores_of(self, context: Context) -> Floats | str:
        rounded = context.convention != _UNROUNDED
        return self._scores(str(context.system), context.confidence or "", shared=context.shared, rounded=rounded)

    def _graded_by(self, context: Context) -> Graded | str:
        items, scores = self._items(context), self._scores_of(context)
        if isinstance(scores, str):
            return scores
        if items.losses is not None and context.loss != GIVEN:
            return _OTHER_LOSS.format(shown(context.loss))
        try:
            return grade(items, loss=None if items.losses is not None else context.loss, confidence=scores)
        except UserError as error:
            return str(error)

    def _graded(self, context: Context) -> Graded | str:
        return self._grades(replace(context, quantity=UNKNOWN, criterion=None, draws=None, minus=None, stem=None))

    def _curve_of(self, context: Context) -> Curve | str:
        graded = self._graded(context)
        if isinstance(graded, str):
            return graded
        if context.convention == _FAILED:
            failed = len(self._runs[str(context.system)].failed) * len(self._items(context).item_names)
            return Curve.of(replace(graded, units=graded.units + failed, clusters=None))
        return curves.CURVES.get(context.convention, Curve.of)(graded)

    def computed(self, context: Context) -> float | None:
        """Compute the value of a figure; None if the run does not have what it needs."""
        if context.minus is not None:
            sides = [self.value(replace(context, system=name, minus=None)) for name in (context.system, context.minus)]
            return None if None in sides else float(sides[0] or 0) - float(sides[1] or 0)
        name, items = context.quantity.name, self._items(context)
        if name in curves.RUN_COUNTS:
            people = {run: {*data.cluster_ids, *data.failed} for run, data in self._runs.items()}
            everyone = set.intersection(*people.values()) if context.shared else people[str(context.system)]
            return curves.RUN_COUNTS[name](items, len(everyone))
        if self._unserved(context) is not None:
            return None
        if name in SCORES:
            return self._score(context)
        if context.convention in tools.KNOWN:
            graded = self._graded(context)
            return None if isinstance(graded, str) else self._of_tool(context, graded).value
        curve = self._curve(replace(context, quantity=UNKNOWN, criterion=None, draws=None))
        return None if isinstance(curve, str) else curves.of_curve(context.quantity, curve)

    def _of_tool(self, context: Context, graded: Graded) -> tools.FigureOfTool:
        return tools.figure_of_tool(context.convention, context.quantity, graded)

    def _score(self, context: Context) -> float | None:
        """The value of a figure of the confidences as probabilities of being exactly right."""
        items, name = self._items(context), context.quantity.name
        graded = self._graded(context if items.losses is not None else replace(context, loss="zero_one"))
        if isinstance(graded, str):
            return None
        outcomes = (graded.loss == 0).astype(int)
        if name in FIGURES:
            loops = conventions_of(context.quantity) if name == "ece" else {"": FIGURES[name]}
            rows = [*zip(graded.confidence.tolist(), outcomes.tolist(), strict=True)]
            value = loops.get(context.convention, loops[""])(rows)
            return None if value is None else float(value)
        score = float(Measure.of(name)(Forecasts.of(graded.confidence, outcomes))[0]) if len(outcomes) else math.nan
        return None if math.isnan(score) else score

    def expected(self, context: Context) -> Expected:
        """The value that the data give for a figure; intervals and errors have a band of Monte-Carlo error."""
        if context.draws is None:
            sorts = context.convention in tools.KNOWN and context.minus is None
            graded = self._graded(context) if sorts else ""
            ends = None if isinstance(graded, str) else self._of_tool(context, graded).over_ties
            return replace(super().expected(context), band=ends, within=tools.OVER_TIES if ends else "")
        drawn = [figure for figure in self.figures if figure.context.draws and figure.context.quantity]
        wanted = frozenset(figure.context.quantity for figure in drawn if not self.why_not(figure))
        view = replace(context, quantity=UNKNOWN, draws=None, stem=None)
        drawn_values = self._replicates(view, wanted)[context.quantity]
        values = drawn_values[~np.isnan(drawn_values)].tolist()
        if context.draws == "drop":
            return expected_share(1 - len(values) / self._resamples, self._resamples, self._recorded)
        if context.draws == "error":
            expected = expected_error(values, self._recorded)
        elif 2 * len(values) < self._resamples:  # too few to estimate an end
            expected = Expected(None)
        else:
            expected = expected_end(values, _SHARES[context.draws], self._recorded)
        return replace(expected, share=context.quantity.name not in self.unbounded)

    def _drawn(self, context: Context, wanted: frozenset[ReportedQuantity]) -> dict[ReportedQuantity, Floats]:
        """The wanted quantities in each replicate that the audit draws; nan where one is undefined."""
        tables = []
        for side in (replace(context, system=name) for name in (context.system, context.minus) if name):
            graded = self._graded(side)
            if isinstance(graded, str):
                return dict.fromkeys(wanted, np.empty(0))
            if context.convention == _SINGLE_UNITS:
                each = np.flatnonzero(self._items(side).answered)
                graded = replace(graded, clusters=Clusters(range(graded.units), np.ones(graded.units, np.int64), each))
            tables.append(Table.of(graded))

        def numbers(*samples: Any) -> dict[str, Any]:
            sides = {quantity: [curves.of_sample(quantity, sample) for sample in samples] for quantity in wanted}
            return {names[quantity]: first - sum(others) for quantity, (first, *others) in sides.items()}

        names = {quantity: f"{number}" for number, quantity in enumerate(wanted)}
        replicates = bootstrap(numbers, *tables, plan=Plan(self._resamples, seed=_SEED))
        return {quantity: replicates[name] for quantity, name in names.items()}

    def last_resort(self, context: Context, reported: Any) -> Explanation | None:
        """A known cause of a difference in an interval, error or drop rate."""
        if context.draws is None:
            return None
        if context.draws == "drop" and reported.value == 1 and self.value(replace(context, draws=None)) is None:
            return Explanation(_NULL_DROPS_ALL)
        drawn = [*self._older_habits(context), (_SINGLE_UNITS, replace(context, convention=_SINGLE_UNITS))]
        return next((Explanation(cause) for cause, other in drawn if self.expected(other).agrees(reported)), None)

    def consistent_with(self, context: Context, reported: Any) -> str:
        """A remark that names the tools whose order of ties may give this value."""
        if context.draws is None and context.minus is None and isinstance(reported, Printed):
            found = tools.within_ties(context, reported, lambda loss: self._graded(replace(context, loss=loss)))
            return found or super().consistent_with(context, reported)
        return super().consistent_with(context, reported)

    def _older_habits(self, context: Context) -> Iterator[tuple[str, Context]]:
        yield _UNROUNDED, replace(context, convention=_UNROUNDED)
        if context.confidence == "total_evidence":
            yield _NO_KEYWORDS, replace(context, confidence="llm")

    def why_not(self, figure: Figure) -> str | None:
        """The reason why a figure cannot be recomputed; None if it can."""
        context, runs = figure.context, ", ".join(map(shown, self._runs))
        if context.quantity.name not in SELECTIVE | SCORES | self.counts:
            return f"{context.quantity} is a figure of rankings: give a per-query table as --data"
        if context.stranger is not None:
            named = context.system is not None and context.confidence is not None
            subject = "nothing known" if named else "no run and no confidence of the data"
            return f"{subject} is called {shown(context.stranger)}{'' if named else f' (runs: {runs})'}"
        if context.spread or context.averaging or context.population or context.group:
            return "a run is not averaged over folds, criteria or queries"
        if context.draws is not None and (reason := self._undrawn(context.quantity, context.draws)):
            return reason
        if self._system(figure) is None:
            return f"it does not say which run it is of: {runs}; name one or give --mode"
        return self._unserved(self.completed(figure))

    def _undrawn(self, quantity: ReportedQuantity, draws: str) -> str | None:
        """Why an interval, error or drop rate cannot be recomputed."""
        if quantity.name not in SELECTIVE or quantity.achieved:
            return f"no draws are made of {quantity}"
        if draws == "interval":
            return "it does not say which end of the interval it is"
        common = self._paired and "@" in quantity.name and quantity.number == self.known.usual_coverage
        return "the common coverage is another in every draw, which is not repeated here" if common else None

    def _unserved(self, context: Context) -> str | None:
        """Why a figure of a named run cannot be recomputed."""
        name, items = context.quantity.name, self._items(context)
        if name in self.counts:
            return None
        if items.losses is not None and context.loss != GIVEN:
            return _OTHER_LOSS.format(shown(context.loss))
        if items.losses is None and context.loss not in LOSSES:
            return f"no loss is called {shown(context.loss)}: there are {', '.join(LOSSES)}"
        if context.loss == "abs_norm" and items.instrument is None:
            return "the loss abs_norm divides by the score range: give the instrument"
        graded = self._graded(context)
        if isinstance(graded, str):
            named = items.instrument is not None or context.confidence != "llm"
            numeric = [] if named else [name for name, column in items.signals.items() if column.usable().any()]
            signals = ", ".join(map(shown, numeric))
            missing = 'it does not say what ranks the answers: write "confidence" beside it, one of'
            return f"{missing} {signals}" if signals else graded
        outside = name in SCORES - {"auroc", "auprc"} and not all(0 <= value <= 1 for value in graded.confidence)
        return f"{shown(context.confidence or '')} is not a probability" if outside else None

    def _system(self, figure: Figure) -> str | None:
        """The run of a figure: named by its path or beside it, or the first if all runs agree on the value."""
        if figure.context.difference:
            return self._sides[1] if len(self._sides) == len(SIDES) else None
        named: str | None = figure.context.system or figure.beside.get("system") or self._recorded_run
        if named is not None:
            return named
        values = {self.value(self._completed(figure, system)) for system in self._runs}
        return next(iter(self._runs)) if len(values) == 1 else None

    def completed(self, figure: Figure) -> Context:
        """The context with the run, the confidence and the loss of the figure filled in."""
        return self._completed(figure, self._system(figure) or self._sides[0])

    def _completed(self, figure: Figure, system: str) -> Context:
        context = figure.context
        ranked_by = context.confidence or figure.beside.get("confidence") or self._stated.get("confidence")
        if ranked_by is None and context.quantity.name not in curves.UNRANKED:
            ranked_by = self._usual_confidence(system)
        loss = _loss_of(self._runs[system], figure.beside.get("loss", self._stated.get("loss")))
        tool = context.convention or self._stated.get("convention", "")
        convention = tool if tool in tools.KNOWN and context.quantity.name in tools.KNOWN[tool].numbers else ""
        minus = self._sides[0] if context.difference else None
        context = replace(context, system=system, minus=minus, confidence=ranked_by, loss=loss)
        return replace(context, convention=convention, shared=self._paired)

    def _usual_confidence(self, system: str) -> str:
        own = [name for name in self._runs[system].signals if not isinstance(self._scores(system, name), str)]
        served = (name for name in VARIANTS if not isinstance(self._scores(system, name), str))
        return next(served, own[0] if len(own) == 1 else "llm")

    def others(self, context: Context) -> Iterator[tuple[Explanation | str, Context]]:
        """Other numbers that a figure may be: another convention, loss, run, confidence or quantity."""
        if context.draws is not None:
            return
        if context.minus is not None:
            yield "sides swapped", replace(context, system=context.minus, minus=context.system)
        if context.convention:
            yield f"our definition, not that of {context.convention}", replace(context, convention="")
        yield from self._older_habits(context)
        yield from tools.by_tools(context, tools.EMULATED, self.value)
        yield from ((description, replace(context, convention=description)) for description in curves.CURVES)
        yield from tools.by_tools(context, tools.ALSO_KNOWN, self.value)
        yield from self._other_units(context)
        for system in self._runs:
            if context.minus is None and system != context.system:
                yield f"it is the figure of {shown(system)}", replace(context, system=system)
        yield from curves.other_figures(context)
        yield from tools.by_tools(context, [*tools.KNOWN], self.value, tools.ERRORS)
        binned = conventions_of(context.quantity) if context.quantity.name == "ece" else ()
        yield from ((description, replace(context, convention=description)) for description in binned if description)

    def _other_units(self, context: Context) -> Iterator[tuple[str, Context]]:
        items = self._runs[str(context.system)]
        if items.failed:
            yield _FAILED, replace(context, convention=_FAILED)
        if len(self._runs) > 1:
            everyone = "all participants of its own run, not only those in every run"
            description = everyone if context.shared else "only the participants in every run"
            yield description, replace(context, shared=not context.shared)
        for loss in (loss for loss in LOSSES if loss != context.loss and items.losses is None):
            description = f"loss {loss}, not {context.loss}"
            if (loss, context.loss) == ("abs", "abs_norm") and items.instrument is not None:
                description = f"× {items.instrument.range}: loss not normalised (abs, not abs_norm)"
            yield description, replace(context, loss=loss)


def _ranks(items: Items, name: str) -> bool:
    known = name in VARIANTS or name in items.signals or name in NEED_CALIBRATION
    return known or name.startswith(("calibrated:", "secondary:"))


def _loss_of(items: Items, stated: str | None) -> str:
    """The loss of a figure: as stated, or else that of the data, which may be the same under another name."""
    if items.losses is None:
        return stated or ("zero_one" if items.instrument is None else "abs_norm")
    are_errors = {*items.losses.numerators.tolist()} <= {0, items.losses.divisor}
    return GIVEN if stated is None or (stated == "zero_one" and are_errors) else stated
