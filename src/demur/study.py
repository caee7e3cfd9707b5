"""Coverage study: how often intervals contain the true value, on made-up data whose truth is known.

    demur study intervals --participants 41 --datasets 1000 --seed 1

For planning: enter the number of participants you can afford, and see how well intervals cover and how wide they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from demur.curve import Curve
from demur.draws import checked_seed
from demur.errors import UserError, literal
from demur.inference.key import Key, Minus
from demur.instruments import PHQ8, Instrument
from demur.quantities import Measure
from demur.resample import Plan
from demur.results.selective import compare, estimate
from demur.simulate import FEW_SHOT, ZERO_SHOT, People, System, make_people, run_system

if TYPE_CHECKING:
    from collections.abc import Iterator

    from demur.graded import Graded
    from demur.inference.estimates import Estimate, Estimates
    from demur.resample import Progress

SINGLE = ("aurc", "augrc", "cmax", "risk@0.3")
PAIRED = ("aurc", "augrc", "augrc@C_common")
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

    def people(self, participants: int, seed: int) -> People:
        """So many made-up participants of this design."""
        return make_people(participants, seed=seed, instrument=self.instrument, correlation=self.correlation)


@dataclass
class Tally:
    """How often the intervals of one number contain its true value."""

    truth: float
    covered: dict[str, int] = field(default_factory=dict)
    widths: list[float] = field(default_factory=list)
    datasets: int = 0

    def add(self, estimate: Estimate, unclustered: Estimate | None) -> None:
        """Count one more data set; an interval that does not exist does not cover."""
        self.datasets += 1
        intervals = {"recommended": estimate.recommended, "percentile": estimate.percentile}
        if unclustered is not None:
            intervals["item-level"] = unclustered.percentile
        for name, ends in intervals.items():
            inside = ends is not None and ends.low <= self.truth <= ends.high
            self.covered[name] = self.covered.get(name, 0) + inside
        if estimate.recommended is not None:
            self.widths.append(estimate.recommended.high - estimate.recommended.low)

    def share(self, interval: str) -> float:
        """Share of the data sets in which the interval contains the true value."""
        return self.covered.get(interval, 0) / self.datasets


def coverage(
    design: Design, *, datasets: int, seed: int, n_resamples: int = 1_000, progress: Progress | None = None
) -> dict[str, Tally]:
    """Simulate many data sets of one design and count which intervals contain the numbers of the population."""
    checked_seed(seed)
    for name, value in (("datasets", datasets), ("n_resamples", n_resamples)):
        if type(value) is not int or value < 1:
            raise UserError(f"{name} {literal(value)}, expected an integer, 1 or more")
    tallies = {name: Tally(truth) for name, truth in _truths(design, seed).items()}
    for index in range(datasets):
        left, right = _data_set(design, seed + 1 + index)
        plan = Plan(n_resamples, seed=index)
        pair = compare({"left": left, "right": right}, SINGLE, plan=plan)
        unclustered = estimate(replace(left, clusters=None), SINGLE, plan=plan)
        for name, number in _numbers(pair):
            tallies[name].add(number, unclustered[name] if name in SINGLE else None)
        if progress:
            progress(index + 1, datasets)
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
        kinds = ("recommended", "percentile", "item-level")
        shares = (f"{tally.share(kind):.1%}" if kind in tally.covered else "" for kind in kinds)
        recommended, percentile, items = shares
        cells = f"{tally.truth:10.4f}{recommended:>13}{percentile:>12}{items:>12}{_mean(tally.widths):12.4f}"
        lines.append(f"{name:16}{cells}")
    return "\n".join(lines)


def _truths(design: Design, seed: int) -> dict[str, float]:
    people = design.people(_AT_LARGE, seed)
    left, right = (
        Curve.of(run_system(people, system, seed=2 * seed).graded(design.loss, design.confidence))
        for system in (design.left, design.right)
    )
    common = f"augrc@{min(left.cmax, right.cmax):.9f}"
    deltas = {f"Δ{name}": _taken(name, right) - _taken(name, left) for name in ("aurc", "augrc")}
    at_common = {"Δaugrc@C_common": _taken(common, right) - _taken(common, left)}
    return {name: _taken(name, left) for name in SINGLE} | deltas | at_common


def _taken(name: str, curve: Curve) -> float:
    return float(Measure.of(name)(curve))


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def _data_set(design: Design, seed: int) -> tuple[Graded, Graded]:
    people = design.people(design.participants, seed)
    sides = enumerate((design.left, design.right))
    runs = (run_system(people, system, seed=2 * seed + side) for side, system in sides)  # no two runs share a seed
    left, right = (run.graded(design.loss, design.confidence) for run in runs)
    return left, right


def _numbers(pair: Estimates) -> Iterator[tuple[str, Estimate]]:
    for name in SINGLE:
        yield name, pair[Key("left", name)]
    for name in PAIRED:
        yield f"Δ{name}", pair[Key("right", name, minus=Minus("system", "left"))]
