"""Evaluation: from the facts of one run, or of two on the same clusters, to every number with its uncertainty.

Units are graded under each confidence variant, clusters are drawn once for all variants and both runs, and nothing is
computed twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from demur.cautions import Caution, about_comparisons, about_resamples
from demur.comparison import COMMON, COMMON_AREAS, Comparison, Pair, refuse_unpaired
from demur.confidences import can_serve, chosen
from demur.coverage import Coverage
from demur.errors import UserError, literal
from demur.estimates import System
from demur.graded import grade
from demur.intervals import METHODS
from demur.losses import loss as loss_named
from demur.metrics import Scores
from demur.pairing import Pairing, paired
from demur.resample import Plan, bootstrap_each, leave_one_out
from demur.variants import VARIANTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from demur.curve import Curve
    from demur.estimates import Estimate, Estimates
    from demur.graded import Graded
    from demur.items import Items
    from demur.variants import Calibration, Confidence

TENTHS = tuple(Coverage.of(f"0.{tenth}") for tenth in range(1, 10))
BOOTSTRAPPED = ("cmax", "aurc", "augrc", "naurc", "naugrc", "eaurc", "eaugrc")
POINTS = (
    *("aurc_optimal", "augrc_optimal", "aurc_achievable", "aurc_random", "augrc_random"),
    *("aurc_gap_pct", "augrc_gap_pct", "achievable_gain_pct", "mae"),
)
HALF = Coverage.of("0.5")
_NEED_ERRORS = ("studentised", "analytic", "analytic_log", "jackknife", "bca")
_ABOUT_EVERYONE = ("one_cluster", "few_clusters", "unequal_clusters")


@dataclass(frozen=True, slots=True)
class Settings:
    """What to compute. Without `area_coverage` areas are cut at 0.5, and at the common coverage of two runs.

    `level` and `interval` ask for one more interval of every number, beside those at 95 %.
    """

    loss: str = "abs_norm"
    confidence: str = "default"
    grid: Sequence[Coverage | str | float] = TENTHS
    area_coverage: Coverage | str | float | None = None
    level: float | None = None
    interval: str | None = None

    def __post_init__(self) -> None:
        loss_named(self.loss)
        object.__setattr__(self, "grid", tuple(map(Coverage.of, self.grid)))
        if self.area_coverage is not None:
            object.__setattr__(self, "area_coverage", Coverage.of(self.area_coverage))
        values = [target.value for target in self.targets]
        if len(set(values)) < len(values):
            raise UserError("the coverage grid has a coverage twice")
        if self.interval is not None and self.interval not in (*METHODS, "recommended"):
            raise UserError(f"interval {literal(self.interval)}, expected recommended or one of {', '.join(METHODS)}")
        if self.level is not None and not (isinstance(self.level, float) and 0 < self.level < 1):
            raise UserError(f"level {literal(self.level)}, expected a number between 0 and 1, such as 0.95")

    @property
    def asks(self) -> bool:
        """Whether one more interval is asked for."""
        return self.level is not None or self.interval is not None

    @property
    def targets(self) -> tuple[Coverage, ...]:
        """The coverages the risk is reported at."""
        return tuple(map(Coverage.of, self.grid))

    @property
    def area(self) -> Coverage | None:
        """Where areas are cut, if it was asked for."""
        return None if self.area_coverage is None else Coverage.of(self.area_coverage)

    @property
    def thorough(self) -> bool:
        """Whether the interval asked for needs more than the bootstrap values."""
        return self.interval in _NEED_ERRORS

    def measures(self, area: Coverage | None) -> list[str]:
        """The names of the numbers that get intervals."""
        cuts = [] if area is None else [f"aurc@{area.text}", f"augrc@{area.text}"]
        return [*BOOTSTRAPPED, *cuts, *(f"mae@{target.text}" for target in self.targets)]


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """One run under one confidence variant.

    `areas` are the two areas cut at a coverage: `area_coverage`, or the common one, `used`, if none was asked for.
    """

    graded: Graded
    curve: Curve
    scores: Scores
    estimates: Estimates
    areas: Mapping[str, Estimate]
    used: float

    @property
    def confidence(self) -> Confidence:
        """The confidence that ranks the answers."""
        assert self.graded.made_of is not None  # noqa: S101  (evaluations grade by a named confidence)
        return self.graded.made_of

    @property
    def defined(self) -> bool:
        """Whether anything is answered: what is not is never ranked."""
        return self.curve.defined

    @property
    def probability(self) -> bool:
        """Whether the confidence can be read as the chance of being right."""
        known = VARIANTS.get(self.confidence.name)
        combined = self.confidence.name.startswith("secondary:")  # with a count, say, which is no probability
        calibrated = self.confidence.calibration is not None and not combined
        return calibrated or (known is not None and known.is_probability)


@dataclass(frozen=True, slots=True, eq=False)
class EvaluatedPair:
    """Two runs under one confidence variant, and their differences."""

    left: Evaluated
    right: Evaluated
    comparison: Comparison

    @property
    def same_cmax(self) -> bool:
        """Whether the full areas cover the same ground, so that they may be compared."""
        return self.left.curve.coverage_reached == self.right.curve.coverage_reached

    @property
    def both_answer(self) -> bool:
        """Whether both sides have anything to compare."""
        return self.left.defined and self.right.defined


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evaluation:
    """Every number of one run or two, by variant; what was left out; what to be careful about."""

    settings: Settings
    plan: Plan
    runs: tuple[Items, ...]
    variants: Mapping[str, Evaluated | EvaluatedPair]
    skipped: Mapping[str, str]
    warnings: tuple[Caution, ...]
    pairing: Pairing | None = None
    given: tuple[Items, ...] = field(default=())

    def __repr__(self) -> str:
        sides = " and ".join(repr(items) for items in self.runs)
        return f"Evaluation({', '.join(self.variants)}; {sides}; {len(self.warnings)} warnings)"


def evaluate(
    *runs: Items,
    settings: Settings,
    plan: Plan,
    calibration: Calibration | None = None,
    intersection_only: bool = False,
) -> Evaluation:
    """Evaluate one run, or two on the clusters both hold."""
    if settings.asks and not plan.n_resamples:
        raise UserError("an interval needs resamples: leave out level and interval, or resample")
    if intersection_only and len(runs) == 1:
        raise UserError("one run has nothing to intersect with: intersection-only is for two")
    if len(runs) == 1:
        return _one(runs[0], settings, plan, calibration)
    if len(runs) != 2:  # noqa: PLR2004
        raise UserError(f"{len(runs)} runs, expected one, or two to compare")
    return _two(paired(*runs, intersection_only=intersection_only), runs, settings, plan, calibration)


def _one(items: Items, settings: Settings, plan: Plan, calibration: Calibration | None) -> Evaluation:
    confidences, skipped = _chosen(items, settings.confidence, calibration)
    _refuse_unused(calibration, confidences)
    area = settings.area or HALF
    graded = {name: grade(items, loss=settings.loss, confidence=one) for name, one in confidences.items()}
    systems = {name: _system(one, settings, area) for name, one in graded.items()}
    values = bootstrap_each({name: (one.numbers, (one.table,)) for name, one in systems.items()}, plan=plan)
    found = {}
    for name, system in systems.items():
        alone = leave_one_out(system.numbers, system.table, plan=plan) if settings.thorough else {}
        estimates = system.estimates(values[name], alone, plan)
        found[name] = _cut(graded[name], system, estimates, area)
    warned = _gathered({name: one.estimates.warnings for name, one in found.items()}, plan)
    return Evaluation(settings, plan, (items,), found, skipped, warned, given=(items,))


def _two(
    pairing: Pairing, given: tuple[Items, ...], settings: Settings, plan: Plan, calibration: Calibration | None
) -> Evaluation:
    sides = [_chosen(items, settings.confidence, calibration) for items in (pairing.left, pairing.right)]
    (left, skipped_left), (right, skipped_right) = sides
    shared = [name for name in left if name in right]
    if not shared:
        raise UserError(f"no variant is served on both sides: left {', '.join(left)}; right {', '.join(right)}")
    _refuse_unused(calibration, {name: left[name] for name in shared})
    graded = {
        name: tuple(
            grade(items, loss=settings.loss, confidence=one[name])
            for items, one in ((pairing.left, left), (pairing.right, right))
        )
        for name in shared
    }
    pairs = {name: _pair(one, other, settings) for name, (one, other) in graded.items()}
    jobs = {name: (pair.numbers, (pair.left.table, pair.right.table)) for name, pair in pairs.items()}
    values = bootstrap_each(jobs, plan=plan)
    found = {}
    for name, pair in pairs.items():
        alone = leave_one_out(pair.numbers, pair.left.table, pair.right.table, plan=plan) if settings.thorough else {}
        comparison = pair.comparison(values[name], alone, plan)
        found[name] = EvaluatedPair(
            _side(0, graded[name][0], pair.left, comparison, settings.area),
            _side(1, graded[name][1], pair.right, comparison, settings.area),
            comparison,
        )
    warned = _gathered({name: one.comparison.warnings for name, one in found.items()}, plan)
    warned += tuple(about_comparisons(sum(_tested(one.comparison, settings) for one in found.values())))
    skipped = _skipped_on_either(skipped_left, skipped_right)
    return Evaluation(settings, plan, (pairing.left, pairing.right), found, skipped, warned, pairing, given)


def _chosen(items: Items, names: str, calibration: Calibration | None) -> tuple[dict[str, Confidence], dict[str, str]]:
    """The confidences of one run; what is wrong with them is said with the file they come from."""
    try:
        found, skipped = chosen(items, names, calibration)
        _refuse_none(items, found, skipped)
    except UserError as error:
        raise (error.in_file(items.source.path) if items.source else error) from None
    return found, skipped


def _refuse_none(items: Items, found: Mapping[str, Confidence], skipped: Mapping[str, str]) -> None:
    if not found:
        raise UserError(f"no confidence variant can be served: {next(iter(skipped.values()))}; {can_serve(items, ())}")


def _refuse_unused(calibration: Calibration | None, confidences: Mapping[str, Confidence]) -> None:
    if calibration is not None and all(one.calibration is None for one in confidences.values()):
        name = f"calibrated:{calibration.variant}" if calibration.variant else "calibrated"
        raise UserError(f"the calibration is used by none of {', '.join(confidences)}: ask for {name}, or for all")


def _tested(comparison: Comparison, settings: Settings) -> int:
    """How many differences are shown with an interval."""
    hidden = () if settings.area is None else COMMON_AREAS
    return sum(one.recommended is not None for name, one in comparison.deltas.items() if name not in hidden)


def _pair(left: Graded, right: Graded, settings: Settings) -> Pair:
    refuse_unpaired(left, right)
    sides = ((left, "left"), (right, "right"))
    return Pair(*(replace(_system(one, settings, settings.area), side=side) for one, side in sides))


def _system(graded: Graded, settings: Settings, area: Coverage | None) -> System:
    return replace(System.of(graded, settings.measures(area), thorough=settings.thorough), with_bands=True)


def _side(place: int, graded: Graded, system: System, comparison: Comparison, area: Coverage | None) -> Evaluated:
    estimates = (comparison.left, comparison.right)[place]
    if area is not None:
        return _cut(graded, system, estimates, area)
    areas = {key: comparison.common[f"{key}@{COMMON}"][place] for key in ("aurc", "augrc")}
    return Evaluated(graded, system.curve, _scores(system), estimates, areas, comparison.common_coverage)


def _cut(graded: Graded, system: System, estimates: Estimates, area: Coverage) -> Evaluated:
    areas = {key: estimates[f"{key}@{area.text}"] for key in ("aurc", "augrc")}
    used = float(min(area.value, system.curve.coverage_reached))
    return Evaluated(graded, system.curve, _scores(system), estimates, areas, used)


def _scores(system: System) -> Scores:
    return Scores(system.curve, [*BOOTSTRAPPED, *POINTS])


def _skipped_on_either(left: Mapping[str, str], right: Mapping[str, str]) -> dict[str, str]:
    reasons: dict[str, Any] = {}
    for side, skipped in (("left", left), ("right", right)):
        for name, reason in skipped.items():
            reasons.setdefault(name, f"{side}: {reason}")
    return reasons


def _gathered(by_variant: Mapping[str, tuple[Caution, ...]], plan: Plan) -> tuple[Caution, ...]:
    """Warnings with the variant they are about; what is true of the clusters themselves is said once."""
    found: dict[Caution, None] = dict.fromkeys(about_resamples(plan.n_resamples))
    for name, warned in by_variant.items():
        for one in warned:
            if one.code == "many_comparisons":  # counted over all variants, once
                continue
            everyone = one.code in _ABOUT_EVERYONE
            where = one.where.split()[-1] if everyone else f"{name}: {one.where}"
            found.setdefault(Caution(one.code, one.message, where))
    return tuple(found)
