"""`estimate` and `compare`: numbers of graded units, of one system or of several on the same clusters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from demur.errors import UserError, check_kind
from demur.facts.alignment import aligned
from demur.facts.losses import GIVEN
from demur.inference.estimates import Estimates
from demur.inference.rows import baseline_of, contrasts_with
from demur.inference.uncertainty import Request, estimated
from demur.inference.views import CurveView
from demur.inference.warnings import about_comparisons, about_counts
from demur.quantities import Measure, quantities
from demur.quantities.registry import COMMON, CUT
from demur.results.curves import about_numbers, curve_rows
from demur.results.settings import HALF, Settings
from demur.sampling.coverage import Coverage
from demur.sampling.graded import Graded
from demur.sampling.resample import Plan

_HOW_TO_GRADE = "grade(items, …) or grade_units(confidence, loss=…) makes it; evaluate(data, …) takes data as they are"


def estimate(
    graded: Graded,
    measures: str | Iterable[str | Measure] | None = None,
    *,
    plan: Plan,
    interval: str | Sequence[str] | None = None,
    level: float | None = None,
    system: str = "",
) -> Estimates:
    """Estimate the numbers of one system with intervals, by another method or at another level if requested.

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
    """Estimate several systems on the same clusters, and their differences from the baseline (default: the first).

    Areas cut at C_common, the smallest Cmax, are always included; C_common is recomputed in every replicate.
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
    library = next((graded.library for graded in systems.values() if graded.library), "")
    tested = sum(contrast.row.measure.quantity.better != "neither" for contrast in contrasts)
    warned = (*about_numbers({None: views}, table), *counted, *about_comparisons(tested))
    return Estimates(table, warned, library)


def _measures(names: str | Iterable[str | Measure] | None, cut: Coverage | None) -> list[Measure]:
    """The named quantities, or every reported one with an interval, areas being cut at `cut`."""
    if names is not None:
        named = [names] if isinstance(names, str) else names
        return [*dict.fromkeys(Measure.of(name, "curve") for name in named)]
    reported = Settings(area_coverage=cut).measures(systems=2)
    return [measure for measure in reported if not measure.quantity.point_only]


def check_paired(systems: Mapping[str, Graded]) -> None:
    """Check that all systems have the same clusters, units, truths and loss: only then is a difference paired."""
    (first, left), *others = systems.items()
    for name, right in others:
        if left.clusters is None or right.clusters is None:
            raise UserError("a comparison needs the cluster of each unit: give clusters on both sides")
        if left.loss_name != right.loss_name or (left.divisor != right.divisor and left.loss_name != GIVEN):
            losses = f"{left.loss_name} / {left.divisor} and {right.loss_name} / {right.divisor}"
            raise UserError(f"{first} and {name} have different losses ({losses})")
        if left.clusters.ids != right.clusters.ids:
            stray = sorted(set(left.clusters.ids) ^ set(right.clusters.ids), key=str)
            raise UserError(f"{first} and {name} hold different clusters ({len(stray)} are in one only: {stray[0]} …)")
        different = np.flatnonzero(left.clusters.units != right.clusters.units)
        if different.size:
            sizes = f"{left.clusters.units[different[0]]} units and {right.clusters.units[different[0]]}"
            cluster = left.clusters.ids[different[0]]
            raise UserError(f"cluster {cluster} holds {sizes} in {first} and {name}: not paired")
        if left.items is not None and right.items is not None:
            aligned({first: left.items, name: right.items})
