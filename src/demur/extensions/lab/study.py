"""Coverage study: how often intervals contain the true value, on simulated data whose truth is known.

    demur study intervals --design sizes --participants 41 --datasets 1000 --seed 1

For planning: enter the number of participants you can afford, and see how well intervals cover and how wide they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from demur.extensions.lab.designs import COMMON_NUMBERS, LEFT, DataSet, Design
from demur.extensions.lab.population import TruePopulation
from demur.extensions.lab.runs import check_count
from demur.facts.frames import Record, TableOf
from demur.inference.bands import BandEnds, RiskColumns, bands_of
from demur.inference.estimates import Estimate
from demur.inference.key import Key, Pattern
from demur.inference.rows import contrasts_with
from demur.inference.uncertainty import Headline, estimated
from demur.inference.views import CurveView
from demur.inference.warnings import ResultWarning, about_counts, about_view
from demur.quantities import Measure
from demur.results.curves import curve_rows, warnings_of
from demur.sampling.draws import checked_seed
from demur.sampling.resample import Ask, Plan
from demur.sampling.sample import Sample
from demur.workers import Progress, hired

METHODS = ("recommended", "percentile")
BANDS = ("selective_risk", "generalized_risk")
FAMILY = "all Δ at once"
NOMINAL = 0.95
OF_A_CURVE = ("heavy_tailed_loss",)  # warnings about every number of a curve, and about its bands
_SLACK = 1e-12
_AT_ONCE = 10  # data sets that a process is given: a fraction of a second, which is how long an interrupt waits


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one data set for one number: whether each interval contains the true value, None without one.

    `warned` is set by any warning that bears on the number, `doubted` by one about this very number or by the lack of
    an interval.
    """

    held: Mapping[str, bool | None]
    width: float
    warned: bool = False
    doubted: bool = False


@dataclass
class Tally(Record):
    """Counts, over data sets, of how often the intervals of one number contain its true value."""

    number: str
    truth: float
    datasets: int = 0
    warned: int = 0
    doubted: int = 0
    undoubted: int = 0
    held_undoubted: int = 0
    width: float = 0.0
    made: dict[str, int] = field(default_factory=lambda: dict.fromkeys(METHODS, 0))
    held: dict[str, int] = field(default_factory=lambda: dict.fromkeys(METHODS, 0))

    def add(self, outcome: Outcome) -> None:
        """Count one more data set; one without an interval is counted separately, not as a miss."""
        self.datasets += 1
        self.warned += outcome.warned
        self.doubted += outcome.doubted
        for method, held in outcome.held.items():
            self.made[method] += held is not None
            self.held[method] += bool(held)
        recommended = outcome.held["recommended"]
        if recommended is not None:
            self.width += outcome.width
            self.undoubted += not outcome.doubted
            self.held_undoubted += recommended and not outcome.doubted

    def share(self, method: str = "recommended") -> float:
        """Share of the data sets with such an interval in which it contains the true value."""
        return _share(self.held[method], self.made[method])

    def to_row(self) -> dict[str, Any]:
        """The row of a table: the number, the counts, and the share of intervals that contain the true value."""
        counts = {"number": self.number, "truth": self.truth, "datasets": self.datasets, "warned": self.warned}
        shares = {method: self.share(method) for method in METHODS}
        return counts | shares | {"undoubted": self.share_undoubted, "mean_width": self.mean_width}

    @property
    def share_undoubted(self) -> float:
        """Share of recommended intervals with the true value, over data sets without a warning about this number."""
        return _share(self.held_undoubted, self.undoubted)

    @property
    def mean_width(self) -> float:
        """Mean width of the recommended interval."""
        return _share(self.width, self.made["recommended"])


def _share(part: float, whole: int) -> float:
    return part / whole if whole else math.nan


def monte_carlo_error(datasets: int) -> float:
    """The standard error of a share of so many data sets, if the true share is 95 %."""
    return math.sqrt(NOMINAL * (1 - NOMINAL) / datasets) if datasets else math.nan


def coverage(  # noqa: PLR0913  (one parameter for each option of the command)
    design: Design,
    participants: int,
    *,
    datasets: int,
    seed: int,
    resamples: int = 1_000,
    threads: int | None = 1,
    progress: Progress | None = None,
) -> TableOf[Tally]:
    """Draw many data sets of one design and count which intervals contain the numbers of the population.

    More than one of the `threads` are processes that are started anew, each with some of the data sets; None means one
    per processor for large work. The counts are the same with any number of them.
    """
    checked_seed(seed)
    for name, value in (("participants", participants), ("datasets", datasets), ("resamples", resamples)):
        check_count(name, value)
    plan = Plan(resamples, seed=seed, threads=threads)
    processes = min(plan.settled(participants * datasets * len(design.numbers)).threads or 1, datasets)
    trials = Trials(TruePopulation(design, seed), participants, replace(plan, threads=1) if processes > 1 else plan)
    size = 1 if processes == 1 else min(_AT_ONCE, -(-datasets // processes))
    tasks = [range(start, min(start + size, datasets)) for start in range(0, datasets, size)]
    if processes > 1:  # the population is drawn once, and its numbers are known to all
        trials.outcomes(range(1))
    report_progress = progress and (lambda done, _: progress(min(done * size, datasets), datasets))
    tallies = dict[str, Tally]()
    with hired(processes, trials) as workers:
        for name, truth, outcome in chain.from_iterable(workers.each(Trials.outcomes, tasks, report_progress)):
            tallies.setdefault(name, Tally(name, truth)).add(outcome)
    return TableOf(tallies.values())


@dataclass(frozen=True, slots=True, eq=False)
class Trials:
    """The data sets of a study; the index of a data set seeds how it is drawn and resampled."""

    population: TruePopulation
    participants: int
    plan: Plan

    def outcomes(self, numbers: Iterable[int]) -> list[tuple[str, float, Outcome]]:
        """The outcomes of all quantities in the data sets with these indices, in order."""
        design, outcomes = self.population.design, list[tuple[str, float, Outcome]]()
        for number in numbers:
            data = design.data(self.participants, self.population.seed, number)
            outcomes += Trial(design, self.population, data, replace(self.plan, seed=number)).outcomes()
        return outcomes


@dataclass(frozen=True, eq=False)
class Trial:
    """One data set, evaluated like the data of a user, and compared with its population."""

    design: Design
    population: TruePopulation
    data: DataSet
    plan: Plan

    def outcomes(self) -> Iterator[tuple[str, float, Outcome]]:
        """Name, true value and outcome of every number."""
        views = {
            confidence: {system: CurveView.of(graded) for system, graded in systems.items()}
            for confidence, systems in self.data.items()
        }
        paired, alone = len(next(iter(views.values()))) > 1, not self.design.differences_only
        measures = [Measure.of(name) for name in (*self.design.numbers, *(COMMON_NUMBERS if paired else ()))]
        confidence, first = next((name, systems[LEFT]) for name, systems in views.items())
        rows_of = partial(curve_rows, measures=measures, resample_all=True, counts=self.counts)
        rows = [row for name, systems in views.items() for row in rows_of(name, systems)]
        contrasts = [*contrasts_with(rows, LEFT)]
        asks = [Ask(first.table, RiskColumns.of(first.curve))] if alone else []
        together = bool(self.design.no_difference)
        every = Headline(Key("", "")) if together else None  # of no difference: all of them are judged at once
        estimates, risks = estimated(rows, contrasts, plan=self.plan, asks=asks, headline=every)
        warnings = [*about_counts([*rows, *contrasts]), *_about(views, estimates)]
        for row in (row for row in estimates if row.key.confidence == confidence):
            truth = self.truth(row.key) if row.key.minus or self.counts(row.key) else math.nan
            if not math.isnan(truth):
                yield f"{'Δ' if row.key.minus else ''}{row.key.quantity}", truth, _outcome(row, truth, warnings)
        if together:
            yield FAMILY, 0.0, _family([row for row in estimates if row.simultaneous])
        about_first = Pattern(system=LEFT, confidence=confidence)
        tailed = any(warning.code in OF_A_CURVE and warning.about == about_first for warning in warnings)
        for drawn in risks:
            bands = bands_of(first, drawn) if drawn and first.varies else None
            for risk in BANDS:
                name = f"band of the {risk.replace('_', ' ')}"
                yield name, math.nan, _band(bands, risk, self.population.curves[confidence, LEFT], warned=tailed)

    def counts(self, key: Key) -> bool:
        """Whether a number of a system is studied: only the first system's, and none if only differences are."""
        return not self.design.differences_only and key.system == LEFT and key.quantity in self.design.numbers

    def truth(self, key: Key) -> float:
        """The value in the population; a difference that is 0 by design is exactly 0."""
        of = partial(self.population.number, key.quantity, key.confidence)
        if key.minus is None:
            return of(key.system)
        none = self.design.no_difference
        if none == "all" or (none == "cut" and Measure.of(key.quantity).value is not None):
            return 0.0
        return of(key.system) - of(LEFT)


def _about(views: Mapping[str, Mapping[str, CurveView]], estimates: Sequence[Estimate]) -> Iterator[ResultWarning]:
    """The warnings of an evaluation about its clusters and about each number."""
    for confidence, systems in views.items():
        for system, view in systems.items():
            yield from about_view(view, Pattern(system=system, confidence=confidence))
            own = [row for row in estimates if row.key.system == system and row.key.confidence == confidence]
            yield from warnings_of((row for row in own if not row.key.minus), view)
    yield from warnings_of(row for row in estimates if row.key.minus)


def _outcome(row: Estimate, truth: float, warnings: Iterable[ResultWarning]) -> Outcome:
    intervals = {"recommended": row.recommended, "percentile": row.percentile}
    held = {name: None if ends is None else ends.low <= truth <= ends.high for name, ends in intervals.items()}
    bearing = [warning for warning in warnings if warning.about.matches(row.key)]
    own = any(warning.about.quantity or warning.about.minus or warning.code in OF_A_CURVE for warning in bearing)
    width = row.recommended.high - row.recommended.low if row.recommended else 0.0
    return Outcome(held, width, bool(bearing) or not row.recommended, own or not row.recommended)


def _family(rows: Sequence[Estimate]) -> Outcome:
    """Whether no interval of any difference excludes 0, where nothing differs."""
    if not rows:
        return Outcome(dict.fromkeys(METHODS), 0.0, doubted=True)
    held = {
        "recommended": all(row.simultaneous.low <= 0 <= row.simultaneous.high for row in rows if row.simultaneous),
        "percentile": all(row.percentile.low <= 0 <= row.percentile.high for row in rows if row.percentile),
    }
    return Outcome(held, 0.0)


def _band(bands: BandEnds | None, risk: str, population: Sample, *, warned: bool = False) -> Outcome:
    """Whether the curve of the population lies inside the bands, at once and at each coverage, wherever it reaches."""
    if bands is None:
        return Outcome(dict.fromkeys(METHODS), 0.0, doubted=True)
    units, (count, loss_sum) = population.units.value, population.table.points
    index = np.searchsorted(count, np.ceil(bands.coverage * units * (1 - _SLACK)))
    reached = index < len(count)
    index = index[reached]
    truth = loss_sum[index] / (population.table.divisor * (count[index] if risk == BANDS[0] else units))
    ends = getattr(bands, risk)
    low, high = ends.low_simultaneous[reached], ends.high_simultaneous[reached]
    defined = ~np.isnan(low)
    inside = ((low <= truth) & (truth <= high))[defined]
    pointwise = (ends.low[reached] <= truth) & (truth <= ends.high[reached])
    if not defined.any():
        return Outcome({"recommended": None, "percentile": bool(pointwise.all())}, 0.0, doubted=True)
    width = float(np.mean((high - low)[defined]))
    held = {"recommended": bool(inside.all()), "percentile": bool(pointwise.all())}
    return Outcome(held, width, warned, warned)


def report(design: Design, participants: int, tallies: Sequence[Tally], settings: str = "") -> str:
    """The shares as a table with an explanation; `settings` says how to reproduce it."""
    datasets = tallies[0].datasets
    error = monte_carlo_error(datasets)
    heads = ("truth", *METHODS, "unwarned", "data sets", "none", "warned", "mean width")
    lines = [
        f"{design.name}, {participants} participants: {design.words}",
        f"{datasets} data sets{settings}; nominal 95 %, Monte-Carlo error ± {error:.1%} where all data sets count",
        f"{'':30}" + "".join(f"{head:>12}" for head in heads),
    ]
    for tally in tallies:
        shares = [_percent(tally.share(method)) for method in METHODS]
        truth = "" if math.isnan(tally.truth) else f"{tally.truth:.4g}"
        width = f"{tally.mean_width:.4g}" if tally.width else ""
        without = str(datasets - tally.made["recommended"] or "")
        quiet = _percent(tally.share_undoubted), str(tally.undoubted)
        cells = (truth, *shares, *quiet, without, _percent(tally.doubted / datasets), width)
        lines.append(f"{tally.number:30}" + "".join(f"{cell:>12}" for cell in cells))
    return "\n".join([*lines, "", *EXPLANATION])


EXPLANATION = (
    "recommended, percentile: share of the intervals that hold the true value. unwarned: the same of the recommended",
    "intervals of so many data sets without a warning about this number. none: data sets without an interval; they are",
    "not misses. warned: share with a warning about this number, or no interval. A band holds if all of it does; all Δ",
    "at once if no simultaneous interval (percentile: no interval at all) leaves out 0, where nothing differs.",
)


def _percent(share: float) -> str:
    return "" if math.isnan(share) else f"{share:.1%}"
