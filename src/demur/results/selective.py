"""Selective prediction: from the facts of systems on the same clusters to every number with its uncertainty.

Units are graded under each confidence, clusters are drawn once for all confidences and systems, and nothing is computed
twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.confidences.grading import grade
from demur.confidences.serving import can_serve, chosen
from demur.confidences.variants import Confidence
from demur.errors import UserError, check_kind, literal, repeated, shown, unknown
from demur.facts.alignment import aligned
from demur.facts.items import Items
from demur.facts.losses import GIVEN
from demur.files.strict_model import checked_time
from demur.inference.bands import bands_of, drawn_risks
from demur.inference.estimates import Estimate, Estimates
from demur.inference.groups import GroupRows
from demur.inference.held_out import FOLDS
from demur.inference.key import Key, Pattern
from demur.inference.resample import Ask, Plan
from demur.inference.rows import Contrast, Row, all_pairs, baseline_of, contrasts_with
from demur.inference.uncertainty import Headline, Request, estimated
from demur.inference.views import CurveView, SharedView
from demur.inference.warnings import (
    ResultWarning,
    about_comparisons,
    about_counts,
    about_estimate,
    about_resamples,
    about_units,
    about_view,
)
from demur.quantities import Measure, quantities
from demur.quantities.coverage import Coverage
from demur.quantities.graded import Graded
from demur.quantities.losses import check_loss, loss_of
from demur.quantities.registry import COMMON, CUT
from demur.results.beside import Beside, Others
from demur.results.costs import checked_prices, cost_rows, switches, with_bands, with_thresholds
from demur.results.curves import curve_record
from demur.results.groups import GroupSettings, about_groups, group_record, grouped, overall_rows, strata_of
from demur.results.leaderboard import rows_to_rank
from demur.results.record import Evaluation, by_item, input_of, selective_study
from demur.results.study import AREA, reported
from demur.results.table import Results, provenance, system_names
from demur.types import Json

if TYPE_CHECKING:  # pydantic models of a file that most evaluations have none of
    from demur.confidences.calibration import AnyCalibration

TENTHS = tuple(Coverage.of(f"0.{tenth}") for tenth in range(1, 10))
HALF = Coverage.of("0.5")
_HOW_TO_GRADE = "grade(items, …) or grade_units(confidence, loss=…) makes it; evaluate(data, …) takes data as they are"


@dataclass(frozen=True, slots=True)
class Settings:
    """What to compute. Without a `loss` it is the one a table gives, zero_one of texts, and abs_norm of scores.

    Without `area_coverage` areas are cut at 0.5, and at the common coverage of several systems.

    `level` and `interval` ask for one more interval of every number, beside those at 95 %. Systems are compared with
    the `baseline`, the first if none is named, and the verdict is on the `primary` confidence, the first if none is
    named. A signal in `lower_is_surer` ranks its lowest values first. Systems to `exclude` are left out by name, as if
    they had not been given. `groups` are names of groupings that the facts hold, or `item`, or `GroupSettings`, which
    say more. `abstention_costs` are prices of an abstention, as shares of the largest loss ("0.1" or "1:10"), to report
    the lowest cost at, cross-fitted over so many folds of clusters.
    """

    loss: str | None = None
    confidence: str = "default"
    grid: Sequence[Coverage | str | float] = TENTHS
    area_coverage: Coverage | str | float | None = None
    level: float | None = None
    interval: str | None = None
    baseline: str | None = None
    primary: str | None = None
    lower_is_surer: Sequence[str] = ()
    exclude: Sequence[str] = ()
    groups: GroupSettings | Sequence[str] = ()
    abstention_costs: Sequence[str | float | Fraction] = ()
    cross_fit: int = FOLDS

    def __post_init__(self) -> None:
        check_loss(self.loss)
        object.__setattr__(self, "groups", self.by_group)
        object.__setattr__(self, "abstention_costs", checked_prices(self.abstention_costs))
        if type(self.cross_fit) is not int or self.cross_fit < 2:  # noqa: PLR2004
            raise UserError(f"cross-fit {literal(self.cross_fit)}, expected a number of folds, 2 or more")
        if self.cross_fit != FOLDS and not self.abstention_costs:
            raise UserError("cross-fitting is of costs: give the price of an abstention, or leave it out (--cross-fit)")
        object.__setattr__(self, "grid", tuple(Coverage.of(target).plain for target in self.grid))
        if twice := repeated(self.lower_is_surer):
            raise UserError(f"{shown(twice[0])} is turned twice: say once that lower is surer")
        if self.area_coverage is not None:
            object.__setattr__(self, "area_coverage", Coverage.of(self.area_coverage).plain)
        values = [target.value for target in self.targets]
        if len(set(values)) < len(values):
            raise UserError("the coverage grid has a coverage twice")
        Request.of(self.interval, self.level)

    @property
    def targets(self) -> tuple[Coverage, ...]:
        """The coverages the risk is reported at."""
        return tuple(map(Coverage.of, self.grid))

    @property
    def by_group(self) -> GroupSettings:
        """What is asked about groups."""
        return self.groups if isinstance(self.groups, GroupSettings) else GroupSettings(self.groups)

    @property
    def prices(self) -> tuple[str, ...]:
        """The prices of an abstention, as names of quantities have them."""
        return tuple(map(str, self.abstention_costs))

    @property
    def request(self) -> Request | None:
        """One more interval, if it was asked for."""
        return Request.of(self.interval, self.level)

    def cut(self, systems: int) -> str:
        """Where areas are cut, as the name of a quantity says it."""
        if self.area_coverage is None:
            return HALF.text if systems == 1 else COMMON
        return Coverage.of(self.area_coverage).text

    def measures(self, systems: int) -> list[Measure]:
        """Every quantity that is reported, in the order of the registry."""
        coverages = [target.text for target in self.targets]
        return [Measure.of(name, "curve") for _, name, _ in reported(self.cut(systems), coverages)]


def evaluate(  # noqa: PLR0913  (what to evaluate and how, then what to record of it)
    *runs: Items | Mapping[str, Items],
    settings: Settings,
    plan: Plan,
    calibration: AnyCalibration | None = None,
    intersection_only: bool = False,
    created_at: str | None = None,
    command: str | None = None,
    also_read: Iterable[str | Path] = (),
    beside: Beside | None = None,
) -> Results:
    """Evaluate one system, or several on the clusters all of them hold.

    Systems come as the `Items` of a reader, called by their labels, modes, run ids or files, or as a mapping by name.
    Files that were `also_read`, such as a calibration, are recorded, and nothing is written over them. `beside` the
    systems may stand raters of the same units and published points.
    """
    checked_time(created_at)
    if settings.request and not plan.n_resamples:
        raise UserError("an interval needs resamples: leave out level and interval, or resample")
    systems = _kept(_named(runs), settings.exclude)
    if intersection_only and len(systems) == 1:
        raise UserError("one run has nothing to intersect with: intersection-only is for several")
    baseline = baseline_of(systems, settings.baseline)
    alignment = aligned(systems, intersection_only=intersection_only)
    settings = replace(settings, loss=loss_of(next(iter(systems.values())), settings.loss))
    confidences, skipped = _confidences(alignment.systems, settings, calibration)
    served = [*confidences[baseline]]
    if settings.primary is not None:
        if settings.primary not in served:
            raise unknown("confidence served here", settings.primary, served)
        served.sort(key=lambda name: name != settings.primary)
    views = {
        name: {
            system: CurveView.of(grade(items, loss=settings.loss, confidence=confidences[system][name]))
            for system, items in alignment.systems.items()
        }
        for name in served
    }
    others = Others.of(beside or Beside(), alignment, views, settings.loss, {*systems})
    evaluation = Evaluation(settings, systems, alignment, baseline, views, skipped, others)
    return _results(evaluation, plan, provenance(plan, created_at, command, also_read))


@dataclass(frozen=True, eq=False)
class _Asked:
    """What is asked of the draws: numbers of the systems, differences, the pairs that are ranked, and the groups."""

    rows: Sequence[Row]
    contrasts: Sequence[Contrast]
    headline: Headline
    groups: Sequence[GroupRows]
    others: Others

    @classmethod
    def of(cls, evaluation: Evaluation, plan: Plan) -> _Asked:
        settings, views, systems = evaluation.settings, evaluation.views, len(evaluation.given)
        measures = settings.measures(systems)
        rows = [row for name, by_system in views.items() for row in curve_rows(name, by_system, measures)]
        rows += cost_rows(views, settings.prices, plan, settings.cross_fit)
        contrasts = [*contrasts_with(rows, evaluation.baseline)]
        number = Key("", f"{AREA}@{settings.cut(systems)}", next(iter(views)))
        headline = Headline(number, all_pairs(rows_to_rank(rows, number), contrasts))
        return cls(rows, contrasts, headline, grouped(evaluation), evaluation.others)

    def estimated(self, evaluation: Evaluation, plan: Plan, asks: Sequence[Ask]) -> tuple[list[Estimate], list[Any]]:
        """Every estimate, those of groups last, and the answers to what else is asked."""
        views, groups = evaluation.views, self.groups
        rows = [*self.rows, *overall_rows(groups, views), *self.others.rows]
        rows += [row for each in groups for row in (*each.rows, *each.rests)]
        contrasts = [*self.contrasts, *self.others.contrasts, *(row for each in groups for row in each.contrasts)]
        request, headline = evaluation.settings.request, self.headline
        made, answers = estimated(rows, contrasts, plan=plan, request=request, asks=asks, headline=headline)
        of_groups = [row for each in groups for row in each.finished({row.key: row for row in made})]
        served = {row.key for each in groups for row in (*each.rows, *each.rests)}
        served |= {row.key for each in groups for row in each.contrasts}
        others = with_thresholds([row for row in made if row.key not in served], views)
        return [*self.others.finished(with_bands([*others], self.contrasts)), *of_groups], answers


def _results(evaluation: Evaluation, plan: Plan, origin: Json) -> Results:
    """One pass over the draws of every view, and what follows."""
    views, plan = evaluation.views, replace(plan, strata=strata_of(evaluation))
    asked = _Asked.of(evaluation, plan)
    drawn = {(system, name): view for name, by_system in views.items() for system, view in by_system.items()}
    asks = [Ask(view, partial(drawn_risks, view.curve)) for view in drawn.values()]
    estimates, risks = asked.estimated(evaluation, plan, asks)
    curves = {
        key: curve_record(view, plan, bands_of(view, risk) if risk and view.varies else None, _beside(evaluation, view))
        for (key, view), risk in zip(drawn.items(), risks, strict=True)
    }
    items = [row for system, view in views[next(iter(views))].items() for row in by_item(system, view.graded)]
    study = selective_study(evaluation, origin | asked.others.record(estimates), group_record(evaluation, asked.groups))
    return Results([*estimates, *items], study, curves, _warnings(evaluation, plan, asked, Estimates(estimates)))


def _beside(evaluation: Evaluation, view: CurveView) -> Json:
    """What a curve has besides its points: where the cheapest threshold moves, and what goes to a rater."""
    priced = evaluation.settings.prices
    return {"switches": switches(view.curve) if priced else None, "handover": evaluation.others.handover(view)}


def _named(runs: Sequence[Any]) -> dict[str, Items]:
    if len(runs) == 1 and isinstance(runs[0], Mapping):
        for name in runs[0]:
            if not isinstance(name, str) or not name:
                raise UserError(f"a system is called {literal(name)}, expected a name")
        return dict(runs[0])
    if not runs:
        raise UserError("0 runs, expected one, or several to compare")
    return dict(zip(system_names([input_of(items) for items in runs]), runs, strict=True))


def _kept(systems: dict[str, Items], exclude: Sequence[str]) -> dict[str, Items]:
    """The systems but those that are excluded by name."""
    for name in exclude:
        if name not in systems:
            raise unknown("system", name, systems)
    kept = {name: items for name, items in systems.items() if name not in exclude}
    if systems and not kept:
        raise UserError("every system is excluded: there is nothing to evaluate")
    return kept


def _confidences(
    systems: Mapping[str, Items], settings: Settings, calibration: AnyCalibration | None
) -> tuple[dict[str, dict[str, Confidence]], list[Json]]:
    """The confidences all systems can serve, by system, and those that were left out with the reason."""
    served = {system: _served(items, settings, calibration) for system, items in systems.items()}
    first = next(iter(served.values()))[0]
    shared = [name for name in first if all(name in made for made, _ in served.values())]
    if not shared:
        sides = "; ".join(f"{system} {', '.join(made)}" for system, (made, _) in served.items())
        raise UserError(f"no variant is served by every system: {sides}")
    if calibration is not None and all(first[name].calibration is None for name in shared):
        name = f"calibrated:{calibration.variant}" if calibration.variant else "calibrated"
        raise UserError(f"the calibration is used by none of {', '.join(shared)}: ask for {name}, or for all")
    skipped: Json = {}
    for system, (_, reasons) in served.items():
        for name, reason in reasons.items():
            own = system if len(systems) > 1 else None
            skipped.setdefault(name, {"name": name, "reason": reason, "system": own})
    kept = {system: {name: made[name] for name in shared} for system, (made, _) in served.items()}
    return kept, [*skipped.values()]


def _served(
    items: Items, settings: Settings, calibration: AnyCalibration | None
) -> tuple[dict[str, Confidence], dict[str, str]]:
    """The confidences of one system; what is wrong with them is told of the file they come from."""
    try:
        made, skipped = chosen(items, settings.confidence, calibration)
        for name in settings.lower_is_surer:
            if name not in made:
                raise unknown("confidence asked for here", name, made)
            made[name] = made[name].turned()
        if not made:
            reason = next(iter(skipped.values()))
            raise UserError(f"no confidence variant can be served: {reason}; {can_serve(items, ())}")  # noqa: TRY301
    except UserError as error:
        raise (error.in_file(items.source.path) if items.source else error) from None
    return made, skipped


def _warnings(evaluation: Evaluation, plan: Plan, asked: _Asked, estimates: Estimates) -> list[ResultWarning]:
    """What is true of the clusters themselves is said once, the rest with its system and confidence."""
    facts = [about for system, given in evaluation.given.items() for about in about_units(given, system)]
    told = [*about_resamples(plan.n_resamples), *facts, *about_groups(asked.groups)]
    numbers = Estimates([row for row in estimates if row.key.group is None])
    counted: list[Row | Contrast] = [*asked.rows, *asked.contrasts, *asked.others.contrasts, *asked.headline.pairs]
    warned = [*told, *_about_numbers(evaluation.views, numbers), *about_counts(counted)]
    first = {warning.code: warning for warning in reversed(warned)}
    kept = [warning for warning in warned if not warning.of_sample or warning is first[warning.code]]
    tested = sum(row.recommended is not None for row in numbers if row.key.minus)
    return [*kept, *about_comparisons(tested)]


def _about_numbers(views: Mapping[Any, Mapping[str, CurveView]], estimates: Estimates) -> Iterator[ResultWarning]:
    """What to be careful about in each view and in its numbers, and in the differences of each confidence."""
    for confidence, by_system in views.items():
        rows = estimates.where(confidence=confidence or "")
        for system, view in by_system.items():
            yield from about_view(view, Pattern(system=system, confidence=confidence))
            yield from warnings_of(rows.where(system=system, minus=None), view)
        yield from warnings_of(row for row in rows if row.key.minus)


def curve_rows(
    confidence: str, views: Mapping[str, CurveView], measures: Sequence[Measure], *, resample_all: bool = False
) -> Iterator[Row]:
    """The rows of several systems under one confidence; what is cut where all of them still answer looks at all.

    A quantity that is usually reported as a point alone is resampled where it is asked for by name.
    """
    for index, (system, view) in enumerate(views.items()):
        shared = SharedView(tuple(views.values()), index)
        for measure in measures:
            of = shared if measure.value == COMMON else view
            key = Key(system, str(measure), confidence)
            yield Row.of_curve(key, of, measure, resampled=resample_all or not measure.quantity.point_only)


def warnings_of(rows: Iterable[Estimate], view: CurveView | None = None) -> Iterator[ResultWarning]:
    """What to be careful about in each of these numbers, of one view or, without a view, of differences."""
    for row in rows:
        key, added = row.key, 0.0  # how much of all units the operating point adds at once
        coverage = Measure.of(key.quantity).coverage
        if view is not None and row.other_threshold_rate is not None and coverage is not None:
            count, units = view.curve.points.count, view.curve.units
            index = int(np.searchsorted(count, coverage.units_needed(units)))
            added = float(np.diff(count, prepend=0)[index : index + 1].sum() / units)
        about = Pattern(system=key.system, quantity=key.quantity, confidence=key.confidence, minus=key.minus)
        yield from about_estimate(row, about, added)


def estimate(
    graded: Graded,
    measures: str | Iterable[str | Measure] | None = None,
    *,
    plan: Plan,
    interval: str | Sequence[str] | None = None,
    level: float | None = None,
    system: str = "",
) -> Estimates:
    """Every number of one system with its uncertainty, and by another method or at another level where asked.

    Of several methods the first is `requested`; `Estimate.interval` gives the others, whatever they need.

    >>> from demur import Plan, grade_units
    >>> units = grade_units([2, 2, 1, 0], loss=[0, 2, 0, None], clusters=["a", "a", "b", "c"])
    >>> estimate(units, "augrc", plan=Plan(100, seed=1))["augrc"].value
    0.25
    """
    check_kind("estimate", graded, Graded, _HOW_TO_GRADE)
    request = Request.of(interval, level)
    return _estimates({system: graded}, _measures(measures, cut=HALF), system, plan, request)


def compare(
    systems: Mapping[str, Graded],
    measures: str | Iterable[str | Measure] | None = None,
    *,
    plan: Plan,
    baseline: str | None = None,
    interval: str | Sequence[str] | None = None,
    level: float | None = None,
) -> Estimates:
    """Several systems on the same clusters, and the difference of each from the baseline, the first if none is named.

    Areas cut at C_common, the smallest Cmax among them, are always there; C_common is found anew in every replicate.
    """
    check_kind("compare", systems, Mapping, "compare({name: graded, …}, plan=…), or evaluate(data, …) for everything")
    for graded in systems.values():
        check_kind("compare", graded, Graded, _HOW_TO_GRADE)
    if len(systems) < 2:  # noqa: PLR2004
        raise UserError(f"{len(systems)} system{'s' if not systems else ''}, expected at least two to compare")
    check_paired(systems)
    baseline = baseline_of(systems, baseline)
    request, chosen = Request.of(interval, level), _measures(measures, cut=None)
    common = [Measure.of(f"{entry.stem}@{COMMON}") for entry in quantities("curve") if entry.parameter is CUT]
    return _estimates(systems, [*dict.fromkeys([*chosen, *common])], baseline, plan, request)


def _estimates(
    systems: Mapping[str, Graded], measures: Sequence[Measure], baseline: str, plan: Plan, request: Request | None
) -> Estimates:
    views = {name: CurveView.of(graded) for name, graded in systems.items()}
    rows = [*curve_rows("", views, measures, resample_all=True)]
    contrasts = [*contrasts_with(rows, baseline)]
    table = Estimates(estimated(rows, contrasts, plan=plan, request=request)[0])
    counted = about_counts([*rows, *contrasts])
    return Estimates(table, (*_about_numbers({None: views}, table), *counted, *about_comparisons(len(contrasts))))


def _measures(names: str | Iterable[str | Measure] | None, cut: Coverage | None) -> list[Measure]:
    """The quantities that are named, or every reported one that has intervals, with areas cut where asked."""
    if names is not None:
        named = [names] if isinstance(names, str) else names
        return [*dict.fromkeys(Measure.of(name, "curve", "costs") for name in named)]
    reported = Settings(area_coverage=cut).measures(systems=2)
    return [measure for measure in reported if not measure.quantity.point_only]


def check_paired(systems: Mapping[str, Graded]) -> None:
    """The same clusters with the same units, truths and loss everywhere, or a difference means nothing."""
    (first, left), *others = systems.items()
    for name, right in others:
        if left.clusters is None or right.clusters is None:
            raise UserError("a comparison needs to know whose each unit is: give clusters on both sides")
        if left.loss_name != right.loss_name or (left.divisor != right.divisor and left.loss_name != GIVEN):
            losses = f"{left.loss_name} / {left.divisor} and {right.loss_name} / {right.divisor}"
            raise UserError(f"{first} and {name} have different losses ({losses})")
        if left.clusters.ids != right.clusters.ids:
            stray = sorted(set(left.clusters.ids) ^ set(right.clusters.ids), key=str)
            raise UserError(f"{first} and {name} hold different clusters ({len(stray)} are in one only: {stray[0]} …)")
        different = np.flatnonzero(left.clusters.units != right.clusters.units)
        if different.size:
            sizes = f"{left.clusters.units[different[0]]} units and {right.clusters.units[different[0]]}"
            who = left.clusters.ids[different[0]]
            raise UserError(f"cluster {who} holds {sizes} in {first} and {name}: not paired")
        if left.items is not None and right.items is not None:
            aligned({first: left.items, name: right.items})
