"""Selective prediction: from the facts of systems on the same clusters to every number with its uncertainty.

Units are graded under each confidence, clusters are drawn once for all confidences and systems, and nothing is computed
twice.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from demur.bands import BandEnds, bands_of, drawn_risks
from demur.calibration import Calibration
from demur.confidences import can_serve, chosen
from demur.coverage import Coverage
from demur.errors import UserError, literal, unknown
from demur.graded import Graded
from demur.grading import grade
from demur.inference.estimates import Estimate, Estimates, Request, WarnedEstimates, estimated
from demur.inference.key import Key, Pattern
from demur.inference.rows import Contrast, Row, contrasts_with
from demur.inference.views import CurveView, SharedView
from demur.inference.warnings import ResultWarning, about_comparisons, about_estimate, about_resamples, about_view
from demur.items import Items
from demur.losses import loss as loss_named
from demur.pairing import Alignment, aligned
from demur.quantities import Measure, Quantity, quantities
from demur.quantities.registry import COMMON, CUT
from demur.resample import Ask, Plan, resampled
from demur.results.curves import curve_record
from demur.results.items import by_item
from demur.results.record import input_of, selective_study
from demur.results.table import Results, system_names
from demur.strict_model import checked_time
from demur.variants import Confidence

Views = Mapping[str, Mapping[str, CurveView]]

TENTHS = tuple(Coverage.of(f"0.{tenth}") for tenth in range(1, 10))
HALF = Coverage.of("0.5")


@dataclass(frozen=True, slots=True)
class Settings:
    """What to compute. Without `area_coverage` areas are cut at 0.5, and at the common coverage of several systems.

    `level` and `interval` ask for one more interval of every number, beside those at 95 %. Systems are compared with
    the `baseline`, the first if none is named.
    """

    loss: str = "abs_norm"
    confidence: str = "default"
    grid: Sequence[Coverage | str | float] = TENTHS
    area_coverage: Coverage | str | float | None = None
    level: float | None = None
    interval: str | None = None
    baseline: str | None = None

    def __post_init__(self) -> None:
        loss_named(self.loss)
        object.__setattr__(self, "grid", tuple(Coverage.of(target).plain for target in self.grid))
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
    def area(self) -> Coverage | None:
        """Where areas are cut, if it was asked for."""
        return None if self.area_coverage is None else Coverage.of(self.area_coverage)

    @property
    def request(self) -> Request | None:
        """One more interval, if it was asked for."""
        return Request.of(self.interval, self.level)

    def cut(self, systems: int) -> str:
        """Where areas are cut, as the name of a quantity says it."""
        return self.area.text if self.area else HALF.text if systems == 1 else COMMON

    def measures(self, systems: int) -> list[Measure]:
        """Every quantity that is reported, in the order of the registry."""
        reported = (entry for entry in quantities("curve") if entry.reported)
        return [measure for entry in reported for measure in self._measures(entry, systems)]

    def _measures(self, entry: Quantity, systems: int) -> Iterator[Measure]:
        if entry.parameter is None:
            yield Measure(entry)
        elif entry.parameter is CUT:
            yield Measure.of(f"{entry.stem}@{self.cut(systems)}")
        else:
            yield from (Measure(entry, target, target.text) for target in self.targets)


def evaluate(
    *runs: Items | Mapping[str, Items],
    settings: Settings,
    plan: Plan,
    calibration: Calibration | None = None,
    intersection_only: bool = False,
    created_at: str | None = None,
    command: str | None = None,
) -> Results:
    """Evaluate one system, or several on the clusters all of them hold.

    Systems come as the `Items` of a reader, called by their labels, modes, run ids or files, or as a mapping by name.
    """
    checked_time(created_at)
    if settings.request and not plan.n_resamples:
        raise UserError("an interval needs resamples: leave out level and interval, or resample")
    systems = _named(runs)
    if intersection_only and len(systems) == 1:
        raise UserError("one run has nothing to intersect with: intersection-only is for several")
    if settings.baseline is not None and settings.baseline not in systems:
        raise unknown("system", settings.baseline, systems)
    alignment = aligned(systems, intersection_only=intersection_only)
    return Evaluation(settings, plan, systems, alignment, calibration, created_at, command).results()


def _named(runs: Sequence[Any]) -> dict[str, Items]:
    if len(runs) == 1 and isinstance(runs[0], Mapping):
        for name in runs[0]:
            if not isinstance(name, str) or not name:
                raise UserError(f"a system is called {literal(name)}, expected a name")
        return dict(runs[0])
    if not runs:
        raise UserError("0 runs, expected one, or several to compare")
    return dict(zip(system_names([input_of(items) for items in runs]), runs, strict=True))


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One evaluation on its way from facts to results."""

    settings: Settings
    plan: Plan
    given: Mapping[str, Items]
    alignment: Alignment
    calibration: Calibration | None
    created_at: str | None
    command: str | None

    @property
    def systems(self) -> Mapping[str, Items]:
        """The systems, on the clusters that succeeded in all of them."""
        return self.alignment.systems

    @property
    def baseline(self) -> str:
        """The system the others are compared with."""
        return self.settings.baseline or next(iter(self.systems))

    def results(self) -> Results:
        """Views, one pass over the draws, and what follows."""
        confidences, skipped = self._confidences()
        views = {
            name: {system: self._view(items, confidences[system][name]) for system, items in self.systems.items()}
            for name in next(iter(confidences.values()))
        }
        measures = self.settings.measures(len(self.systems))
        rows = [row for name, by_system in views.items() for row in curve_rows(name, by_system, measures)]
        contrasts = [*contrasts_with(rows, self.baseline)]
        drawn = {(system, name): view for name, by_system in views.items() for system, view in by_system.items()}
        asks = [_risks(view) for view in drawn.values()]
        estimates, risks = estimated(rows, contrasts, plan=self.plan, request=self.settings.request, asks=asks)
        curves = {
            key: curve_record(view, _bands(view, risk)) for (key, view), risk in zip(drawn.items(), risks, strict=True)
        }
        study = selective_study(self, views, skipped)
        warnings = self._warnings(views, Estimates(estimates))
        return Results([*estimates, *self._by_item(views)], study, curves, warnings)

    def _confidences(self) -> tuple[dict[str, dict[str, Confidence]], list[tuple[str, str, str]]]:
        """The confidences all systems can serve, by system, and those that were left out with the reason."""
        wanted = self.settings.confidence
        served = {system: _served(items, wanted, self.calibration) for system, items in self.systems.items()}
        first = next(iter(served.values()))[0]
        shared = [name for name in first if all(name in made for made, _ in served.values())]
        if not shared:
            sides = "; ".join(f"{system} {', '.join(made)}" for system, (made, _) in served.items())
            raise UserError(f"no variant is served by every system: {sides}")
        _check_calibration_is_used(self.calibration, {name: first[name] for name in shared})
        skipped: dict[str, tuple[str, str, str]] = {}
        for system, (_, reasons) in served.items():
            for name, reason in reasons.items():
                skipped.setdefault(name, (system, name, reason))
        kept = {system: {name: made[name] for name in shared} for system, (made, _) in served.items()}
        return kept, [*skipped.values()]

    def _view(self, items: Items, confidence: Confidence) -> CurveView:
        return CurveView.of(grade(items, loss=self.settings.loss, confidence=confidence))

    def _warnings(self, views: Views, estimates: Estimates) -> list[ResultWarning]:
        """What is true of the clusters themselves is said once, the rest with its system and confidence."""
        warned: list[ResultWarning] = [*about_resamples(self.plan.n_resamples)]
        for name, by_system in views.items():
            for system, view in by_system.items():
                warned += about_view(view, Pattern(system=system, confidence=name))
                warned += warnings_of(estimates.where(system=system, confidence=name, minus=None), view)
            warned += warnings_of(row for row in estimates.where(confidence=name) if row.key.minus)
        first = {warning.code: warning for warning in reversed(warned)}
        kept = [warning for warning in warned if not warning.of_sample or warning is first[warning.code]]
        tested = sum(row.recommended is not None for row in estimates if row.key.minus)
        return [*kept, *about_comparisons(tested)]

    def _by_item(self, views: Views) -> Iterator[Estimate]:
        for system, view in next(iter(views.values())).items():
            yield from by_item(system, view.graded)


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
        key = row.key
        about = Pattern(system=key.system, quantity=key.quantity, confidence=key.confidence, minus=key.minus)
        yield from about_estimate(row, about, _plateau_share(view, row))


def _plateau_share(view: CurveView | None, row: Estimate) -> float:
    """How much of all units the operating point of a number adds at once."""
    coverage = Measure.of(row.key.quantity).coverage
    if view is None or row.other_threshold_rate is None or coverage is None:
        return 0.0
    index = int(np.searchsorted(view.curve.points.count, coverage.units_needed(view.curve.units)))
    return float(np.diff(view.curve.points.count, prepend=0)[index : index + 1].sum() / view.curve.units)


def _risks(view: CurveView) -> Ask:
    return Ask(view, lambda sample: drawn_risks(view.curve, sample) if view.curve.defined else {})


def _bands(view: CurveView, risks: Mapping[str, Any]) -> BandEnds | None:
    return bands_of(view.curve, view.table, risks) if risks and view.varies else None


def curve_bands(graded: Graded, *, plan: Plan) -> BandEnds | None:
    """How far the whole risk–coverage curve may be off; None where nothing varies."""
    view = CurveView.of(graded)
    return _bands(view, resampled([_risks(view)], plan)[0])


def _served(items: Items, names: str, calibration: Calibration | None) -> tuple[dict[str, Confidence], dict[str, str]]:
    """The confidences of one system; what is wrong with them is told of the file they come from."""
    try:
        made, skipped = chosen(items, names, calibration)
    except UserError as error:
        raise _in_its_file(error, items) from None
    if not made:
        reason = next(iter(skipped.values()))
        problem = UserError(f"no confidence variant can be served: {reason}; {can_serve(items, ())}")
        raise _in_its_file(problem, items)
    return made, skipped


def _in_its_file(error: UserError, items: Items) -> UserError:
    return error.in_file(items.source.path) if items.source else error


def _check_calibration_is_used(calibration: Calibration | None, confidences: Mapping[str, Confidence]) -> None:
    if calibration is not None and all(confidence.calibration is None for confidence in confidences.values()):
        name = f"calibrated:{calibration.variant}" if calibration.variant else "calibrated"
        raise UserError(f"the calibration is used by none of {', '.join(confidences)}: ask for {name}, or for all")


def estimate(
    graded: Graded,
    measures: str | Iterable[str | Measure] | None = None,
    *,
    plan: Plan,
    interval: str | Sequence[str] | None = None,
    level: float | None = None,
    system: str = "",
) -> WarnedEstimates:
    """Every number of one system with its uncertainty, and by another method or at another level where asked.

    Of several methods the first is `requested`; `Estimate.interval` gives the others, whatever they need.

    >>> from demur import Plan, grade_units
    >>> units = grade_units([2, 2, 1, 0], loss=[0, 2, 0, None], clusters=["a", "a", "b", "c"])
    >>> estimate(units, "augrc", plan=Plan(100, seed=1))["augrc"].value
    0.25
    """
    request, chosen = Request.of(interval, level), _measures(measures, cut=HALF)
    views = {system: CurveView.of(graded)}
    rows = [*curve_rows("", views, chosen, resample_all=True)]
    return _with_warnings(rows, [], views, plan, request)


def compare(
    systems: Mapping[str, Graded],
    measures: str | Iterable[str | Measure] | None = None,
    *,
    plan: Plan,
    baseline: str | None = None,
    interval: str | Sequence[str] | None = None,
    level: float | None = None,
) -> WarnedEstimates:
    """Several systems on the same clusters, and the difference of each from the baseline, the first if none is named.

    Areas cut at C_common, the smallest Cmax among them, are always there; C_common is found anew in every replicate.
    """
    if len(systems) < 2:  # noqa: PLR2004
        raise UserError(f"{len(systems)} system{'s' if not systems else ''}, expected at least two to compare")
    check_paired(systems)
    if baseline is not None and baseline not in systems:
        raise unknown("system", baseline, systems)
    request, chosen = Request.of(interval, level), _measures(measures, cut=None)
    common = [Measure.of(f"{entry.stem}@{COMMON}") for entry in quantities("curve") if entry.parameter is CUT]
    chosen += [measure for measure in common if measure not in chosen]
    views = {name: CurveView.of(graded) for name, graded in systems.items()}
    rows = [*curve_rows("", views, chosen, resample_all=True)]
    contrasts = [*contrasts_with(rows, next(iter(systems)) if baseline is None else baseline)]
    return _with_warnings(rows, contrasts, views, plan, request)


def _with_warnings(
    rows: list[Row], contrasts: list[Contrast], views: Mapping[str, CurveView], plan: Plan, request: Request | None
) -> WarnedEstimates:
    table = Estimates(estimated(rows, contrasts, plan=plan, request=request)[0])
    warned: list[ResultWarning] = []
    for system, view in views.items():
        warned += about_view(view, Pattern(system=system))
        warned += warnings_of(table.where(system=system, minus=None), view)
    warned += warnings_of(row for row in table if row.key.minus)
    return WarnedEstimates(table, (*warned, *about_comparisons(len(contrasts))))


def _measures(names: str | Iterable[str | Measure] | None, cut: Coverage | None) -> list[Measure]:
    """The quantities that are named, or every reported one that has intervals, with areas cut where asked."""
    if names is not None:
        named = [names] if isinstance(names, str) else names
        return [*dict.fromkeys(Measure.of(name, "curve") for name in named)]
    reported = Settings(area_coverage=cut).measures(systems=2)
    return [measure for measure in reported if not measure.quantity.point_only]


def check_paired(systems: Mapping[str, Graded]) -> None:
    """The same clusters with the same units, truths and loss everywhere, or a difference means nothing."""
    (first, left), *others = systems.items()
    for name, right in others:
        _check_pair((first, left), (name, right))


def _check_pair(baseline: tuple[str, Graded], other: tuple[str, Graded]) -> None:
    (first, left), (name, right) = baseline, other
    if left.clusters is None or right.clusters is None:
        raise UserError("a comparison needs to know whose each unit is: give clusters on both sides")
    if (left.loss_name, left.divisor) != (right.loss_name, right.divisor):
        losses = f"{left.loss_name} / {left.divisor} and {right.loss_name} / {right.divisor}"
        raise UserError(f"{first} and {name} have different losses ({losses})")
    if left.clusters.ids != right.clusters.ids:
        stray = sorted(set(left.clusters.ids) ^ set(right.clusters.ids), key=str)
        raise UserError(f"{first} and {name} hold different clusters ({len(stray)} are in one only: {stray[0]} …)")
    different = np.flatnonzero(left.clusters.units != right.clusters.units)
    if different.size:
        sizes = f"{left.clusters.units[different[0]]} units and {right.clusters.units[different[0]]}"
        raise UserError(f"cluster {left.clusters.ids[different[0]]} holds {sizes} in {first} and {name}: not paired")
    if left.items is not None and right.items is not None:
        aligned({first: left.items, name: right.items})
