"""Selective prediction: the evaluation of any number of systems on the same clusters.

Units are graded under each confidence, and clusters are drawn once for all confidences and systems.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from demur.confidences.grading import grade
from demur.confidences.serving import can_serve, chosen
from demur.confidences.variants import Confidence
from demur.errors import UserError, literal, shown, unknown
from demur.facts.alignment import aligned
from demur.facts.items import Items
from demur.inference.bands import RiskColumns, bands_of
from demur.inference.estimates import Estimate, Estimates
from demur.inference.key import Key
from demur.inference.rows import Contrast, Row, all_pairs, baseline_of, contrasts_with
from demur.inference.uncertainty import Headline, estimated
from demur.inference.views import CurveView
from demur.inference.warnings import ResultWarning, about_comparisons, about_counts, about_resamples, about_units
from demur.options import as_option
from demur.quantities import Measure
from demur.quantities.losses import loss_of
from demur.results.curves import about_numbers, curve_record, curve_rows
from demur.results.features import Additions, FeatureOptions, additions, asked_names
from demur.results.leaderboard import rows_to_rank
from demur.results.settings import Settings
from demur.results.study import AREA
from demur.results.study_of_answers import Evaluation, by_item, input_of, selective_study
from demur.results.table import Results, provenance, system_names
from demur.sampling.graded import Graded
from demur.sampling.resample import Ask, Plan
from demur.types import Json

NEED_UNITS = ("by_item", "cases.confident_errors", "cases.needless_abstentions")

if TYPE_CHECKING:  # large, and most evaluations have none
    from demur.confidences.calibration import AnyCalibration


def evaluate(
    *runs: Items | Mapping[str, Items],
    settings: Settings,
    plan: Plan,
    command: str | None = None,
    also_read: Iterable[str | Path] = (),
    features: Sequence[FeatureOptions] = (),
) -> Results:
    """Evaluate one system, or several on the clusters all of them hold.

    Systems come as the `Items` of a reader, called by their labels, modes, run ids or files, or as a mapping by name.
    Files that were `also_read`, such as a calibration, are recorded and never overwritten. `features` are what is asked
    of them.
    """
    if settings.request and not plan.resamples:
        raise UserError("an interval needs resamples: leave out level and interval, or resample")
    systems = _without_excluded(_named(runs), settings.exclude)
    if settings.intersection_only and len(systems) == 1:
        raise UserError("one run has nothing to intersect with: intersection-only is for several")
    baseline = baseline_of(systems, settings.baseline)
    alignment = aligned(systems, intersection_only=settings.intersection_only)
    settings = replace(settings, loss=loss_of(next(iter(systems.values())), settings.loss))
    confidences, skipped = _confidences(alignment.systems, settings, _fitted(settings.calibration))
    served = [*confidences[baseline]]
    if settings.primary is not None:
        if settings.primary not in served:
            raise unknown("confidence served here", settings.primary, served)
        served.sort(key=lambda name: name != settings.primary)
    _check_bins(alignment.systems, confidences)
    views = {
        name: {
            system: CurveView.of(_graded(items, settings.loss, confidences[system].pop(name)))
            for system, items in alignment.systems.items()
        }
        for name in served
    }
    _check_counts(alignment.systems, features)
    plan = plan.settled(len(alignment.systems[baseline]))
    evaluation = Evaluation(settings, systems, alignment, baseline, views, skipped)
    origin = provenance(plan, settings.created_at, command, also_read)
    origin["execution"] |= _by_summaries(systems)
    return _results(evaluation, plan, origin, features)


def _fitted(calibration: AnyCalibration | str | Path | None) -> AnyCalibration | None:
    if not isinstance(calibration, (str, Path)):
        return calibration
    from demur.confidences.calibration import load_calibration  # noqa: PLC0415  (most evaluations have none)

    return load_calibration(calibration)


def _graded(items: Items, loss: str | None, confidence: Confidence) -> Graded:
    """Units graded under a confidence. For a summary, which may have tens of millions of entries, values are shared."""
    graded = grade(items, loss=loss, confidence=confidence)
    if graded.count is None:
        return graded
    return replace(graded, made_of=replace(confidence, values=graded.confidence))


def _check_counts(systems: Mapping[str, Items], features: Sequence[FeatureOptions]) -> None:
    """Refuse options that need single units if a system is a summary."""
    if any(items.count is not None for items in systems.values()):
        for name in (name for options in features for name in options.needs_units):
            raise UserError(f"{name} need single units, and a summary holds counts: give the data themselves")


def _by_summaries(systems: Mapping[str, Items]) -> Json:
    """The record of summaries: the number of parts and the outputs that need single units; else empty."""
    parts = sum(items.counting.parts for items in systems.values() if items.counting)
    return {"shards": parts, "route": "summaries", "left_out": NEED_UNITS} if parts else {}


def _check_bins(systems: Mapping[str, Items], confidences: Mapping[str, Mapping[str, Confidence]]) -> None:
    """Check that a binned signal is used as it is, and in the direction it was binned for."""
    for system, items in systems.items():
        binned = items.counting.bins if items.counting else {}
        for name, confidence in confidences[system].items():
            if binned and name not in (*binned, *items.signals):
                made_of = ", ".join(map(shown, binned))
                more = as_option("bins")
                raise UserError(
                    f"{shown(name)} is made of signals, and {made_of} is in bins: summarize with more {more}"
                )
            if name in binned and (name in items.lower_is_surer) != confidence.lower_is_surer:
                lower = as_option("lower_is_surer")
                raise UserError(f"{shown(name)} is in bins for the other direction: summarize it {lower}, or not")


@dataclass(frozen=True, eq=False)
class _Request:
    """The numbers of systems to estimate, rows, contrasts and ranked pairs, and what features add to them."""

    rows: Sequence[Row]
    contrasts: Sequence[Contrast]
    headline: Headline
    added: Sequence[Additions]

    @classmethod
    def of(cls, evaluation: Evaluation, added: Sequence[Additions]) -> _Request:
        settings, views, systems = evaluation.settings, evaluation.views, len(evaluation.given)
        measures = settings.measures(systems)
        rows = [row for name, by_system in views.items() for row in curve_rows(name, by_system, measures)]
        rows += [row for each in added for row in each.rows]
        contrasts = [*contrasts_with(rows, evaluation.baseline)]
        number = Key("", f"{AREA}@{settings.cut(systems)}", next(iter(views)))
        headline = Headline(number, all_pairs(rows_to_rank(rows, number), contrasts))
        return cls(rows, contrasts, headline, added)

    def estimated(
        self, evaluation: Evaluation, plan: Plan, asks: Sequence[Ask]
    ) -> tuple[list[Estimate], list[Estimate], Sequence[Any]]:
        """One pass over the draws: the estimates, those that come last in the table, and answers to `asks`."""
        estimates, answers = estimated(
            [*self.rows, *self.of_added("further_rows")],
            [*self.contrasts, *self.of_added("contrasts")],
            plan=plan,
            request=evaluation.settings.request,
            asks=asks,
            headline=self.headline,
        )
        finished, by_key = estimates, {row.key: row for row in estimates}
        for each in self.added:
            finished = each.finished(finished, self.contrasts)
        last = [row for each in self.added for row in each.last(by_key)]
        return finished, last, answers

    def of_added(self, kind: Literal["further_rows", "contrasts", "counted"]) -> list[Any]:
        """What all features have of a kind."""
        return [entry for each in self.added for entry in getattr(each, kind)]


def _results(evaluation: Evaluation, plan: Plan, origin: Json, features: Sequence[FeatureOptions]) -> Results:
    """Estimate everything in one pass over the draws, and assemble the results."""
    views, names, added = evaluation.views, asked_names(features), additions(features, evaluation, plan)
    strata = (each.strata for each in added)
    plan = replace(plan, strata=next((known for known in strata if known is not None), None))
    request = _Request.of(evaluation, added)
    drawn = {(system, name): view for name, by_system in views.items() for system, view in by_system.items()}
    asks = [Ask(view.table, RiskColumns.of(view.curve)) for view in drawn.values()]
    estimates, last, risks = request.estimated(evaluation, plan, asks)
    for view in drawn.values():
        view.forget_sample()
    curves = {
        key: curve_record(
            view, plan, bands_of(view, risk) if risk and view.varies else None, _curve_members(added, view), names
        )
        for (key, view), risk in zip(drawn.items(), risks, strict=True)
    }
    items = [row for system, view in views[next(iter(views))].items() for row in by_item(system, view.graded)]
    for each in added:
        origin |= each.record(estimates)
    study = selective_study(evaluation, origin, names)
    warnings = _warnings(evaluation, plan, request, Estimates(estimates))
    libraries = (items.source.library for items in evaluation.given.values() if items.source)
    library = next(filter(None, libraries), "")
    curves = {key: record.of_library(library) for key, record in curves.items()}
    return Results([*estimates, *items, *last], study, curves, warnings, library)


def _curve_members(added: Sequence[Additions], view: CurveView) -> Json:
    """The members of a curve that features add."""
    return {name: member for each in added for name, member in each.curve(view).items()}


def _named(runs: Sequence[Any]) -> dict[str, Items]:
    if len(runs) == 1 and isinstance(runs[0], Mapping):
        for name in runs[0]:
            if not isinstance(name, str) or not name:
                raise UserError(f"a system is called {literal(name)}, expected a name")
        return dict(runs[0])
    if not runs:
        raise UserError("0 runs, expected one, or several to compare")
    return dict(zip(system_names([input_of(items) for items in runs]), runs, strict=True))


def _without_excluded(systems: dict[str, Items], exclude: Sequence[str]) -> dict[str, Items]:
    """The systems that are not excluded by name."""
    for name in exclude:
        if name not in systems:
            raise unknown("system", name, systems)
    remaining = {name: items for name, items in systems.items() if name not in exclude}
    if systems and not remaining:
        raise UserError("every system is excluded: there is nothing to evaluate")
    return remaining


def _confidences(
    systems: Mapping[str, Items], settings: Settings, calibration: AnyCalibration | None
) -> tuple[dict[str, dict[str, Confidence]], list[Json]]:
    """The confidences that all systems support, by system, and those that are skipped with the reason."""
    served = {system: _served(items, settings, calibration) for system, items in systems.items()}
    first = next(iter(served.values()))[0]
    shared = [name for name in first if all(name in confidences for confidences, _ in served.values())]
    if not shared:
        sides = "; ".join(f"{system} {', '.join(confidences)}" for system, (confidences, _) in served.items())
        raise UserError(f"no variant is served by every system: {sides}")
    if calibration is not None and all(first[name].calibration is None for name in shared):
        name = f"calibrated:{calibration.variant}" if calibration.variant else "calibrated"
        raise UserError(f"the calibration is used by none of {', '.join(shared)}: ask for {name}, or for all")
    skipped: Json = {}
    for system, (_, reasons) in served.items():
        for name, reason in reasons.items():
            owner = system if len(systems) > 1 else None
            skipped.setdefault(name, {"name": name, "reason": reason, "system": owner})
    shared_only = {system: {name: confidences[name] for name in shared} for system, (confidences, _) in served.items()}
    return shared_only, [*skipped.values()]


def _served(
    items: Items, settings: Settings, calibration: AnyCalibration | None
) -> tuple[dict[str, Confidence], dict[str, str]]:
    """The confidences of one system, and those skipped; an error names the file it comes from."""
    try:
        confidences, skipped = chosen(items, settings.confidence, calibration)
        for name in settings.lower_is_surer:
            if name not in confidences:
                raise unknown("requested confidence", name, confidences)
        for name in {*settings.lower_is_surer, *items.lower_is_surer} & confidences.keys():
            confidences[name] = confidences[name].turned()
        if not confidences:
            reason = next(iter(skipped.values()))
            raise UserError(f"no confidence variant can be served: {reason}; {can_serve(items, ())}")  # noqa: TRY301
    except UserError as error:
        raise (error.in_file(items.source.path) if items.source and items.source.path else error) from None
    return confidences, skipped


def _warnings(evaluation: Evaluation, plan: Plan, request: _Request, estimates: Estimates) -> list[ResultWarning]:
    """All warnings; one about the clusters themselves appears once, the others with system and confidence."""
    facts = [about for system, items in evaluation.given.items() for about in about_units(items, system)]
    general = [*about_resamples(plan.resamples), *facts]
    general += [warning for each in request.added for warning in each.warnings(estimates)]
    contrasts = request.contrasts
    counted: list[Row | Contrast] = [*request.rows, *contrasts, *request.of_added("counted"), *request.headline.pairs]
    warned = [*general, *about_numbers(evaluation.views, estimates), *about_counts(counted)]
    first = {warning.code: warning for warning in reversed(warned)}
    distinct = [warning for warning in warned if not warning.of_sample or warning is first[warning.code]]
    differences = [row for row in estimates if row.key.minus and row.recommended is not None]
    tested = sum(Measure.of(row.key.quantity).quantity.better != "neither" for row in differences)
    return [*distinct, *about_comparisons(tested)]
