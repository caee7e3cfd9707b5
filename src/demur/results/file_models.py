"""Models of the members of a results file other than estimates: curves, cases, inputs and settings."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

import numpy as np

from demur.facts.frames import Tabular
from demur.files.strict_model import EMPTY, SPARSE, Count, Declared, Part, Share
from demur.types import Floats

T = TypeVar("T")
Many = Annotated[tuple[T, ...], Declared(strict=False)]  # a list, in JSON
Number = float | None
Numbers = Many[float]
Pair = Annotated[tuple[float, float], Declared(strict=False)]
Name = int | str


class Columns(Part):
    """Columns of one length."""

    of: ClassVar[str]

    def _mistakes(self) -> Iterator[str]:
        if len({len(column) for _, column in self}) > 1:
            yield f"the columns of {self.of} have different lengths"


class Vertices(Columns):
    """The vertices of a curve; between two of them the generalized risk is linear."""

    of: ClassVar[str] = "the oracle order"
    coverage: Numbers
    selective_risk: Numbers
    generalized_risk: Numbers

    def _mistakes(self) -> Iterator[str]:
        yield from super()._mistakes()
        if (np.diff(self.coverage, prepend=0) <= 0).any():
            yield f"the coverages of {self.of} are not strictly increasing from 0"
        if max(self.coverage, default=0.0) > 1:
            yield f"a coverage of {self.of} is above 1"


class Points(Vertices):
    """The operating points, the most confident first."""

    of: ClassVar[str] = "the curve"
    threshold: Numbers


class Reference(Part):
    """The reference of a curve: that of the same losses ranked by the oracle."""

    oracle: Vertices


class Band(Columns):
    """Pointwise and simultaneous confidence limits of the risk at each coverage."""

    of: ClassVar[str] = "a band"
    low: Numbers
    high: Numbers
    low_simultaneous: Many[Number]
    high_simultaneous: Many[Number]

    def simultaneous(self) -> tuple[Floats, Floats]:
        """The lower and upper limits of the simultaneous band; nan where too few clusters have a loss."""
        return np.array(self.low_simultaneous, float), np.array(self.high_simultaneous, float)

    def _mistakes(self) -> Iterator[str]:
        yield from super()._mistakes()
        for low, high in ((self.low, self.high), self.simultaneous()):
            if np.greater(low, high).any():
                yield "the low end of a band lies above its high end"
        if (np.isnan(self.simultaneous()[0]) != np.isnan(self.simultaneous()[1])).any():
            yield "a band has one end"


class Bands(Part):
    """Confidence bands of the curve, at all operating points or at some spread evenly."""

    level: Share
    coverage: Annotated[Many[float], Declared(min_length=1)]
    selective_risk: Band
    generalized_risk: Band

    def _mistakes(self) -> Iterator[str]:
        if any(len(band.low) != len(self.coverage) for band in (self.selective_risk, self.generalized_risk)):
            yield "a band has not as many ends as there are coverages"
        if (np.diff(self.coverage) <= 0).any():
            yield "the coverages of the bands are not strictly increasing"


class RiskIntervals(Columns):
    """The 95 % interval of the risk at every operating point, for a threshold fixed in advance."""

    of: ClassVar[str] = "the intervals"
    low: Many[Number]
    high: Many[Number]

    def _mistakes(self) -> Iterator[str]:
        yield from super()._mistakes()
        low, high = np.array(self.low, float), np.array(self.high, float)
        if (low > high).any() or (np.isnan(low) != np.isnan(high)).any():
            yield "an interval has a low end above its high end, or one end"


class Histogram(Part):
    """Numbers of right and wrong answers by confidence, between each edge and the next, and of abstentions."""

    edges: Numbers
    right: Many[Count]
    wrong: Many[Count]
    abstained: Count

    def _mistakes(self) -> Iterator[str]:
        if not len(self.edges) - 1 == len(self.right) == len(self.wrong) > 0:
            yield "a histogram has one edge more than bars, and a bar of right and of wrong answers each"


class ReliabilityBin(Part):
    """Answers with a confidence from low up to high: their number, mean confidence, and share that is right."""

    low: Share
    high: Share
    count: Count
    mean_predicted: Share
    fraction_correct: Share


class EceIfCalibrated(Part):
    """The ECE that a calibrated system with the same clusters would have: its mean, and its 95 % quantile."""

    mean: Share
    high: Share


class ReliabilityTable(Part):
    """How good the confidence is as a probability of being exactly right."""

    ece: Share
    ece_if_calibrated: EceIfCalibrated | None = None
    brier: Share
    nll: Number
    bins: Many[ReliabilityBin]


LowerIsSurer = Annotated[Literal[True] | None, SPARSE]


class BinBounds(Part):
    """Upper bounds on the error of areas, and of their excess over the oracle, due to bins, up to any coverage."""

    aurc: Annotated[float, Declared(ge=0)]
    augrc: Annotated[float, Declared(ge=0)]


class Bins(Part):
    """The rounding in a summary: confidences to bins of a `width`, losses to `loss_digits`; and its error bounds."""

    number: Count
    width: float | None
    loss_digits: Count | None
    bounds: BinBounds


class CurveRecord(Part, Tabular):
    """The curve of one system under one confidence, and what a report draws with it.

    Where `lower_is_surer`, a threshold accepts what is at or below it, and the thresholds increase.
    """

    defined: bool
    nulls_filled: Mapping[str, Count] = EMPTY
    lower_is_surer: LowerIsSurer = None
    curve: Points
    reference: Reference | None = None
    bands: Bands | None = None
    risk_intervals: RiskIntervals | None = None
    histogram: Histogram | None = None
    reliability: ReliabilityTable | None = None
    bins: Annotated[Bins | None, SPARSE] = None

    @classmethod
    def within(cls, part: Part) -> Self:
        """The record whose members are among those of a larger part."""
        return cls(**{name: getattr(part, name) for name in cls.model_fields})

    def to_columns(self) -> dict[str, list[Any]]:
        """The operating points of the curve as columns."""
        return {name: [*column] for name, column in self.curve if column is not None}

    @property
    def cmax(self) -> float:
        """The largest coverage."""
        return self.curve.coverage[-1] if self.curve.coverage else 0.0

    def _mistakes(self) -> Iterator[str]:
        if (np.diff(self.curve.threshold) * (-1 if self.lower_is_surer else 1) >= 0).any():
            yield f"the thresholds of the curve are not strictly {'in' if self.lower_is_surer else 'de'}creasing"
        if self.defined != bool(self.curve.coverage):
            yield "defined and the curve do not agree"
        if self.reference is not None and bool(self.reference.oracle.coverage) != self.defined:
            yield "the oracle order has a vertex where the curve has a point, and none where it has none"
        if self.risk_intervals is not None and len(self.risk_intervals.low) != len(self.curve.coverage):
            yield "there are not as many intervals as operating points"
        if self.bands is None:
            return
        if not set(self.bands.coverage) <= set(self.curve.coverage):
            yield "a coverage of the bands is none of the curve"
        index = np.searchsorted(self.curve.coverage, self.bands.coverage)
        for name in ("selective_risk", "generalized_risk"):
            risk, band = np.array(getattr(self.curve, name))[index], getattr(self.bands, name)
            low, high = band.simultaneous()
            if ((risk < low) | (risk > high)).any():
                yield f"the {name} of the curve leaves its simultaneous band"


class Case(Part):
    """One unit, identified by its names."""

    participant: Name
    item: str


CaseList = Many[Case]


class ConfidentErrors(Part):
    """The most confident wrong answers of a system."""

    system: str
    confidence: str
    cases: CaseList


class Declined(Part):
    """Units that a system declined and another answered right: their number, and the first of them."""

    count: Count
    first: CaseList


class Input(Part):
    """An input file and the run in it; for a table, its columns by role and its instrument."""

    # An unnamed input has no label in a file.
    model_config: ClassVar = {"json_schema_extra": lambda schema: schema["required"].remove("label")}

    path: str | None
    run_id: str | None = None
    git_commit: str | None = None
    mode: str | None = None
    sha256: str | None
    label: str | None = None
    columns: Annotated[Mapping[str, str] | None, SPARSE] = None
    instrument: Annotated[str | None, SPARSE] = None


class AlsoRead(Part):
    """A file that was read in addition to the inputs, such as a calibration or an instrument."""

    path: str
    sha256: str


class Loss(Part):
    """The loss; for losses given by a table also their maximum, and whether their sums are exact."""

    name: str
    definition: str
    raw_multiplier: int
    maximum: Annotated[float | None, SPARSE] = None
    exact: Annotated[bool | None, SPARSE] = None


class Bootstrap(Part):
    """How clusters were resampled."""

    seed: Count
    n_resamples: Annotated[int, Declared(ge=1)]
    kind: Literal["multinomial"] = "multinomial"


class Execution(Part):
    """How the numbers were computed: the engine, the number of threads and shards, and the route.

    None of it changes a number. What the engine does not compute, numpy does. What needs single units, which summaries
    do not hold, is `left_out`.
    """

    engine: Annotated[str, Declared(min_length=1)]
    threads: Annotated[int, Declared(ge=1)]
    shards: Annotated[int, Declared(ge=1)] = 1
    left_out: Annotated[Many[str] | None, SPARSE] = None
    route: Annotated[str, Declared(min_length=1)] = "memory"


class RequestedInterval(Part):
    """The level and method of one more requested interval."""

    level: Annotated[float, Declared(gt=0, lt=1)]
    interval: str


class Cause(Part):
    """A cause of failure, and the number of units that failed by it."""

    cause: str
    units: Count


class Skipped(Part):
    """A confidence that was left out, the reason, and the system if there are several."""

    name: str
    reason: str
    system: str | None = None
