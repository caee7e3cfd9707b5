"""Coverage study: how often intervals contain the true value, on made-up data whose truth is known.

For planning: enter the number of participants you can afford, and see how well intervals cover and how wide they are.
"""

import math
from collections import Counter
from dataclasses import dataclass, field, replace

from demur.facts.instruments import PHQ8, Instrument
from demur.inference.draws import checked_seed
from demur.inference.estimates import Estimate
from demur.inference.key import Minus
from demur.inference.resample import Plan, Progress
from demur.quantities import Measure
from demur.quantities.curve import Curve
from demur.quantities.graded import Graded
from demur.quantities.losses import loss as loss_named
from demur.results.selective import compare, estimate
from demur.simulate.runs import FEW_SHOT, ZERO_SHOT, System, check_count, check_people, make_people, run_system

SINGLE = ("aurc", "augrc", "cmax", "risk@0.3")
PAIRED = ("aurc", "augrc", "augrc@C_common")
_INTERVALS = ("recommended", "percentile", "item-level")
_AT_LARGE = 200_000


@dataclass(frozen=True, slots=True)
class Design:
    """A study: how many participants, which two systems, which loss and confidence."""

    participants: int = 41
    left: System = ZERO_SHOT
    right: System = FEW_SHOT
    loss: str = "abs_norm"
    confidence: str = "llm_evidence_count"
    correlation: float = 0.6
    instrument: Instrument = PHQ8

    def __post_init__(self) -> None:
        check_people(self.participants, self.correlation)
        loss_named(self.loss)

    def graded(self, participants: int, seed: int, *seeds: int) -> dict[str, Graded]:
        """What the two systems, each with a seed of its own, make of so many made-up participants."""
        people = make_people(participants, seed=seed, instrument=self.instrument, correlation=self.correlation)
        sides = zip(("left", "right"), (self.left, self.right), seeds, strict=True)
        return {
            side: run_system(people, system, seed=own).graded(self.loss, self.confidence) for side, system, own in sides
        }


@dataclass
class Tally:
    """How often the intervals of one number contain its true value."""

    truth: float
    held: Counter[str] = field(default_factory=Counter)
    widths: list[float] = field(default_factory=list)
    datasets: int = 0

    def add(self, estimate: Estimate, unclustered: Estimate | None) -> None:
        """Count one more data set; an interval that does not exist does not cover."""
        self.datasets += 1
        intervals = {"recommended": estimate.recommended, "percentile": estimate.percentile}
        if unclustered is not None:
            intervals["item-level"] = unclustered.percentile
        for name, interval in intervals.items():
            self.held[name] += interval is not None and interval.low <= self.truth <= interval.high
        if estimate.recommended is not None:
            self.widths.append(estimate.recommended.high - estimate.recommended.low)

    def share(self, interval: str) -> float:
        """Share of the data sets in which the interval contains the true value."""
        return self.held[interval] / self.datasets


def coverage(
    design: Design, *, datasets: int, seed: int, n_resamples: int = 1_000, progress: Progress | None = None
) -> dict[str, Tally]:
    """Simulate many data sets of one design and count which intervals contain the numbers of the population."""
    checked_seed(seed)
    check_count("datasets", datasets)
    check_count("n_resamples", n_resamples)
    tallies = {name: Tally(truth) for name, truth in _truths(design, seed).items()}
    for number in range(datasets):
        plan, own = Plan(n_resamples, seed=number), seed + 1 + number
        systems = design.graded(design.participants, own, 2 * own, 2 * own + 1)  # no two runs share a seed
        table = compare(systems, SINGLE, plan=plan)
        unclustered = estimate(replace(systems["left"], clusters=None), SINGLE, plan=plan)
        for name in SINGLE:
            tallies[name].add(table.one(system="left", quantity=name), unclustered[name])
        for name in PAIRED:
            difference = table.one(system="right", quantity=name, minus=Minus("system", "left"))
            tallies[f"Δ{name}"].add(difference, None)
        if progress:
            progress(number + 1, datasets)
    return tallies


def report(design: Design, tallies: dict[str, Tally]) -> str:
    """The shares as a table, with the Monte-Carlo error of each."""
    datasets = next(iter(tallies.values())).datasets
    error = math.sqrt(0.95 * 0.05 / datasets)
    lines = [
        f"{design.participants} participants, {datasets} data sets; nominal 95 %, Monte-Carlo error ± {error:.1%}",
        f"{'':16}{'truth':>10}{'recommended':>13}{'percentile':>12}{'item-level':>12}{'mean width':>12}",
    ]
    for name, tally in tallies.items():
        shares = [f"{tally.share(kind):.1%}" if kind in tally.held else "" for kind in _INTERVALS]
        cells = "{:>13}{:>12}{:>12}".format(*shares)
        width = math.fsum(tally.widths) / len(tally.widths) if tally.widths else math.nan
        lines.append(f"{name:16}{tally.truth:10.4f}{cells}{width:12.4f}")
    return "\n".join(lines)


def _truths(design: Design, seed: int) -> dict[str, float]:
    left, right = map(Curve.of, design.graded(_AT_LARGE, seed, 2 * seed, 2 * seed).values())
    truths = {name: float(Measure.of(name)(left)) for name in SINGLE}
    for name in PAIRED:
        shared = f"augrc@{min(left.cmax, right.cmax):.9f}" if name == "augrc@C_common" else name
        truths[f"Δ{name}"] = float(Measure.of(shared)(right)) - float(Measure.of(shared)(left))
    return truths
