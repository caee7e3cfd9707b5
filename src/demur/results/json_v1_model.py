"""The nested file as models: every invariant is checked before a byte is written, and on reading.

The members that hold numbers are those the registry declares.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal

from demur.feature import features
from demur.files.strict_model import EMPTY, SPARSE, Count, Declared, Part, Share, Time, Tool, WordedWarning, part_named
from demur.quantities import Quantity, quantities
from demur.quantities.registry import CUT
from demur.results import file_models
from demur.results.feature_files import with_members
from demur.results.file_models import Cause, CurveRecord, Many, Name, Number, Pair
from demur.results.json_table import EstimateColumns
from demur.results.json_v1_cells import Ends

_ROUNDING = 1e-12


class AreaAt(Part):
    """An area up to a coverage; `requested` is null if the common coverage of two runs was the default."""

    requested: Share | None
    used: Share
    value: float


class RiskAt(Part):
    """A number at the first operating point that reaches a coverage."""

    requested: Annotated[float, Declared(gt=0, le=1)]
    achieved: Share
    value: float


class _Requested(file_models.RequestedInterval):
    """The requested interval, and why some numbers have none."""

    undefined: Mapping[str, str]


def _checked_requested(ci: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Check the requested interval, and the intervals by the keys of their numbers beside it."""
    from demur.files.strict_reading import reader  # noqa: PLC0415  (pydantic is large, and only reading needs it)

    if ci is None:
        return None
    _Requested.model_validate({name: ci[name] for name in _Requested.model_fields if name in ci})
    ends = {name: value for name, value in ci.items() if name not in _Requested.model_fields}
    checked = reader(Mapping[str, Ends | Mapping[str, Ends | None] | None]).validate_python(ends)
    for mistake in _misnested("ci", checked):
        raise ValueError(mistake)
    return ci


def _misnested(name: str, members: Mapping[str, Any]) -> Iterator[str]:
    """Yield a mistake unless exactly the quantities at a coverage hold a number per coverage."""
    at_coverage = {entry.key for entry in _reported() if entry.parameter not in (None, CUT)}
    for key, value in members.items():
        if isinstance(value, Mapping) != (key in at_coverage):
            yield f"{name}.{key}: only {', '.join(at_coverage)} holds a number for each coverage"


class RunBootstrap(file_models.Bootstrap):
    """The uncertainty of one run's numbers by key, and below it by coverage where there are several."""

    ci95: Mapping[str, Pair | Mapping[str, Pair | None] | None]
    ci95_recommended: Mapping[str, Ends | Mapping[str, Ends | None] | None]
    std_error: Mapping[str, Number | Mapping[str, Number]]
    upper_bound95: Mapping[str, float]
    drop_rate: Mapping[str, Mapping[str, Share]]
    no_interval: Mapping[str, str | Mapping[str, str]] = EMPTY
    short_domain_rate: Share
    ci: Annotated[Mapping[str, Any] | None, Declared(checked=_checked_requested)]

    def _mistakes(self) -> Iterator[str]:
        for name, value in self.ci95.items():
            nested = value.values() if isinstance(value, Mapping) else [value]
            if any(ends is not None and ends[0] > ends[1] for ends in nested):
                yield f"ci95.{name}: the low end lies above the high end"
        for name in ("ci95", "ci95_recommended", "std_error", "no_interval"):
            yield from _misnested(name, getattr(self, name))


class ByItem(Part):
    """One item over all participants: how often it is answered, how wrong the answers are, and which way."""

    n: Count
    answered: Count
    coverage: Share
    risk: Number
    bias: Number


class _RunNumbers(Part):
    """Every number of one run under one confidence."""

    def _mistakes(self) -> Iterator[str]:
        members: Any = self
        record = CurveRecord.within(self)
        if record.cmax != members.cmax:
            yield f"the curve ends at {record.cmax}, not at cmax {members.cmax}"


class DeltaNumbers(Part):
    """A paired difference, right − left."""

    delta: Number
    ci95: Pair | None
    ci95_recommended: Ends | None
    std_error: Number
    ci95_simultaneous: Ends | None = None
    no_interval: str | None = None
    ci: Ends | None
    drop_rate: Share | None
    p_value: Share | None
    favours_left: Share | None
    favours_right: Share | None


class Sides(Part):
    """A count of the left and of the right run."""

    left: Count
    right: Count


class SideShares(Part):
    """A share of the left and of the right run."""

    left: Share
    right: Share


class MaybeSides(Part):
    """A count of the left and of the right run, where there is one."""

    left: Count | None
    right: Count | None


class SideCauses(Part):
    """Causes of failure of the units of the left and of the right run, if known."""

    left: Many[Cause] | None
    right: Many[Cause] | None


class Population(Part):
    """The participants, and the share of the items that is predicted. Of two runs: those that are in both.

    `noun` is what they are called, where they are not participants. Units that failed are left out (`drop`) or are
    abstentions (`abstain`). Systems that were given and left out by name are `excluded`.
    """

    participants_total: Count
    participants_included: Count
    participants_failed: Count
    items_total: Count
    items_predicted: Count | Sides
    cmax: Share | SideShares | None = None
    noun: Annotated[str | None, SPARSE] = None
    units_failed: Annotated[Count | MaybeSides | None, SPARSE] = None
    failed_units: Annotated[Literal["drop", "abstain"] | None, SPARSE] = None
    excluded: Annotated[Many[str] | None, SPARSE] = None
    failed_by_cause: Annotated[Many[Cause] | SideCauses | None, SPARSE] = None
    repeats: Annotated[Literal["units", "first", "vote"] | None, SPARSE] = None
    rows: Annotated[Count | MaybeSides | None, SPARSE] = None
    rows_failed: Annotated[Count | MaybeSides | None, SPARSE] = None

    def _mistakes(self) -> Iterator[str]:
        if self.participants_total != self.participants_included + self.participants_failed:
            yield "participants_total is not participants_included + participants_failed"
        answered, cmax = self.items_predicted, self.cmax
        predicted = [answered] if isinstance(answered, int) else [answered.left, answered.right]
        if max(predicted) > self.items_total:
            yield "more items are predicted than there are"
        reached = [cmax.left, cmax.right] if isinstance(cmax, SideShares) else [cmax]
        if cmax is not None and reached != [count / max(self.items_total, 1) for count in predicted]:
            yield "cmax is not items_predicted / items_total"


class Convention(Part):
    """The conventions of the numbers, in words."""

    ties: str
    denominator: str
    anchor_at_zero: str
    integration: str
    signature: str


class Compared(Part):
    """Whether two runs are compared, on which participants, and their differences."""

    enabled: bool
    intersection_only: bool | None = None
    participants_left_only: Count | None = None
    participants_right_only: Count | None = None
    participants_overlap_total: Count | None = None
    participants_overlap_included: Count | None = None
    participants_failed_left: Count | None = None
    participants_failed_right: Count | None = None
    deltas: Mapping[str, Mapping[str, DeltaNumbers | Mapping[str, DeltaNumbers]]] | None = None

    def _mistakes(self) -> Iterator[str]:
        if any((value is None) == self.enabled for name, value in self if name != "enabled"):
            yield "a comparison has all of its members, and no comparison has none"


class SkippedVariant(Part):
    """A confidence that was left out, and the reason."""

    name: str
    reason: str


class Needless(Part):
    """The units that each of two runs declined and the other answered right."""

    left: file_models.Declined
    right: file_models.Declined


class Cases(Part):
    """Failed participants, the most confident answers that are wrong, and needless abstentions of two runs."""

    failed: Many[Name]
    confident_errors: Mapping[str, file_models.CaseList]
    needless_abstentions: Needless | None = None


class NestedFile(Part):
    """The whole file."""

    schema_version: Literal["1"] = "1"
    created_at: Time
    tool: Tool
    execution: Annotated[file_models.Execution | None, SPARSE] = None
    inputs: Annotated[Many[file_models.Input], Declared(min_length=1, max_length=2)]
    also_read: Many[file_models.AlsoRead] = ()
    population: Population
    probabilities: Annotated[Many[str] | None, SPARSE] = None
    loss: file_models.Loss
    convention: Convention
    confidence_variants: Mapping[str, Any]
    skipped_variants: Many[SkippedVariant]
    comparison: Compared
    warnings: Many[WordedWarning]
    cases: Cases
    estimates: Annotated[EstimateColumns | None, SPARSE] = None

    def _mistakes(self) -> Iterator[str]:
        enabled, variants = self.comparison.enabled, self.confidence_variants
        if len(self.inputs) != (2 if enabled else 1):
            yield f"{len(self.inputs)} inputs do not go with comparison.enabled {enabled}"
        if any(hasattr(entry, "left") != enabled for entry in variants.values()):
            yield "the variants of a comparison have a left and a right, and others have not"
        runs = [
            (name, run)
            for name, entry in variants.items()
            for run in ((entry.left, entry.right) if enabled else (entry,))
        ]
        items, included = self.population.items_total, self.comparison.participants_overlap_included
        for name, run in runs:
            if run.by_item and sum(item.n for item in run.by_item.values()) != items:
                yield f"items_total is not the number of items of {name}"
            if any(abs(c * items - round(c * items)) > _ROUNDING * items for c in run.curve.coverage):
                yield f"{name}: a coverage of the curve is not a number of the {items} items"
        if included is not None and included != self.population.participants_included:
            yield "participants_overlap_included is not population.participants_included"
        yield from _mistakes_of_differences(self.comparison.deltas, variants)
        yield from _unlike([run for _, run in runs])


def _mistakes_of_differences(deltas: Mapping[str, Any] | None, variants: Mapping[str, Any]) -> Iterator[str]:
    """Yield a mistake unless the differences match the variants, their numbers with intervals and their coverages."""
    if deltas is not None and set(deltas) != set(variants):
        yield "the differences are not of the variants"
    for name, differences in (deltas or {}).items():
        for key in (entry.key for entry in _reported() if not entry.point_only):
            numbers, delta = getattr(variants[name].left, key), differences.get(key)
            if isinstance(numbers, Mapping) and (not isinstance(delta, Mapping) or set(delta) != set(numbers)):
                yield f"the differences of {name} are not at the coverages of its risks"
            if not isinstance(numbers, Mapping) and not isinstance(delta, DeltaNumbers):
                yield f"the differences of {name} lack {key}"


def _unlike(runs: Sequence[Any]) -> Iterator[str]:
    """Yield a mistake unless all runs have the same coverages, cut, seed and number of resamples."""
    for entry in _reported():
        members = [getattr(run, entry.key) for run in runs if entry.parameter is not None]
        requested = [[*member] if isinstance(member, Mapping) else member.requested for member in members]
        if any(coverages != requested[0] for coverages in requested):
            yield f"{entry.key} is not at the same coverages under every confidence, and on both sides"
    if len({run.bootstrap and (run.bootstrap.seed, run.bootstrap.n_resamples) for run in runs}) > 1:
        yield "seed and n_resamples are not the same under every confidence, and on both sides"


def _reported() -> list[Quantity]:
    """The quantities that have a member in the file."""
    return [entry for entry in quantities("curve") if entry.reported]


def metrics_model(names: Iterable[str] | None = None) -> type[Part]:
    """The model of the file, with a member for every registered quantity, and those of these features, or of all."""
    return _model(tuple(_reported()), tuple(features() if names is None else names))


@cache
def _model(reported: tuple[Quantity, ...], names: tuple[str, ...]) -> type[Part]:
    run: Any = with_members(part_named("RunNumbers", _RunNumbers, _run_fields(reported)), "run", names)
    sides = {"left": (run, ...), "right": (run, ...)}
    pair: Any = part_named("PairedNumbers", Part, sides, "Both runs under one confidence.")
    variant: Any = Annotated[run | pair, Declared(tag=_run_or_pair, tags=("run", "pair"))]
    variants: Any = Annotated[Mapping[str, variant], Declared(min_length=1)]
    file = with_members(NestedFile, "nested", names)
    return part_named("Metrics", file, {"confidence_variants": (variants, ...)})


def _run_or_pair(entry: Any) -> str:
    """Which of the two models an entry is meant for, so that an error is reported for that model only."""
    return "pair" if hasattr(entry, "left") or (isinstance(entry, dict) and "left" in entry) else "run"


def _run_fields(reported: Sequence[Quantity]) -> dict[str, Any]:
    """The members of a run: each quantity in the order of the registry, then what a report draws."""
    plain = [entry for entry in reported if entry.parameter is None]
    fields: dict[str, Any] = {"defined": (bool, ...)}
    for entry in plain:
        if not entry.under:
            fields[entry.key] = (Share if entry.key == "cmax" else Number if entry.undefined else float, ...)
    for heading in dict.fromkeys(entry.under for entry in plain if entry.under):
        members: Any = {entry.key: (Number, ...) for entry in plain if entry.under == heading}
        doc = "The excesses as percentages."
        fields[heading] = (part_named(heading.capitalize(), Part, members, doc), ...)
    for entry in reported:
        if entry.parameter is CUT:
            fields[entry.key] = (AreaAt, ...)
        elif entry.parameter is not None:
            fields[entry.key] = (Mapping[str, RiskAt | None], ...)
    return fields | {
        "bootstrap": (RunBootstrap | None, ...),
        "nulls_filled": (Mapping[str, Count], ...),
        "lower_is_surer": (file_models.LowerIsSurer, None),
        "bins": (Annotated[file_models.Bins | None, SPARSE], None),
        "curve": (file_models.Points, ...),
        "reference": (file_models.Reference | None, None),
        "bands": (file_models.Bands | None, None),
        "risk_intervals": (file_models.RiskIntervals | None, None),
        "by_item": (Mapping[str, ByItem], ...),
        "histogram": (file_models.Histogram | None, ...),
        "reliability": (file_models.ReliabilityTable | None, ...),
    }
