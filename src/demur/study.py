"""Coverage study: how often intervals hold the truth, on made-up data whose truth is known.

    demur study --participants 41 --datasets 1000 --seed 1

For planning: put in the number of participants you can afford and see what an interval will be worth, and how wide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from demur.comparison import compare
from demur.draws import checked_seed
from demur.errors import UserError, literal
from demur.estimates import estimate
from demur.resample import Plan
from demur.simulate import FEW_SHOT, ZERO_SHOT, System, make_people, population, run_system

if TYPE_CHECKING:
    from collections.abc import Iterator

    from demur.comparison import Comparison
    from demur.estimates import Estimate
    from demur.graded import Graded
    from demur.resample import Progress

ONE = ("aurc", "augrc", "cmax", "mae@0.3")
PAIRED = ("aurc", "augrc", "augrc@C_common")


@dataclass(frozen=True, slots=True)
class Design:
    """A study: how many participants, which two systems, which loss and confidence."""

    participants: int = 41
    left: System = ZERO_SHOT
    right: System = FEW_SHOT
    loss: str = "abs_norm"
    confidence: str = "llm_evidence_count"


@dataclass
class Tally:
    """How often the intervals of one number held its true value."""

    truth: float
    held: dict[str, int] = field(default_factory=dict)
    width: float = 0.0
    datasets: int = 0

    def add(self, found: Estimate, unclustered: Estimate | None) -> None:
        """Count one more data set; an interval that does not exist has not held anything."""
        self.datasets += 1
        intervals = {"recommended": found.recommended, "percentile": found.percentile}
        if unclustered is not None:
            intervals["item-level"] = unclustered.percentile
        for name, ends in intervals.items():
            inside = ends is not None and ends.low <= self.truth <= ends.high
            self.held[name] = self.held.get(name, 0) + inside
        if found.recommended is not None:
            self.width += found.recommended.high - found.recommended.low

    def share(self, interval: str) -> float:
        """Share of the data sets in which the interval held the truth."""
        return self.held.get(interval, 0) / self.datasets


def coverage(
    design: Design, *, datasets: int, seed: int, n_resamples: int = 1_000, progress: Progress | None = None
) -> dict[str, Tally]:
    """Simulate many data sets of one design and count which intervals hold the population's numbers."""
    checked_seed(seed)
    if type(datasets) is not int or datasets < 1:
        raise UserError(f"datasets {literal(datasets)}, expected an integer, 1 or more")
    tallies = {name: Tally(truth) for name, truth in _truths(design, seed).items()}
    for number in range(datasets):
        left, right = _data_set(design, seed + 1 + number)
        plan = Plan(n_resamples, seed=number)
        pair = compare(left, right, ONE, plan=plan)
        items = estimate(replace(left, clusters=None), ONE, plan=plan)
        for name, found in _found(pair):
            tallies[name].add(found, items[name] if name in ONE else None)
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
        kinds = ("recommended", "percentile", "item-level")
        one, two, three = (f"{tally.share(kind):.1%}" if kind in tally.held else "" for kind in kinds)
        lines.append(f"{name:16}{tally.truth:10.4f}{one:>13}{two:>12}{three:>12}{tally.width / datasets:12.4f}")
    return "\n".join(lines)


def _truths(design: Design, seed: int) -> dict[str, float]:
    left, right = _at_large(design, design.left, ONE, seed), _at_large(design, design.right, ONE, seed)
    common = f"augrc@{min(left['cmax'], right['cmax']):.9f}"
    cut = [_at_large(design, system, (common,), seed)[common] for system in (design.left, design.right)]
    deltas = {"Δaurc": right["aurc"] - left["aurc"], "Δaugrc": right["augrc"] - left["augrc"]}
    return left | deltas | {"Δaugrc@C_common": cut[1] - cut[0]}


def _at_large(design: Design, system: System, measures: tuple[str, ...], seed: int) -> dict[str, float]:
    return population(system, measures, loss=design.loss, confidence=design.confidence, seed=seed)


def _data_set(design: Design, seed: int) -> tuple[Graded, Graded]:
    people = make_people(design.participants, seed=seed)
    runs = (run_system(people, system, seed=seed + place) for place, system in enumerate((design.left, design.right)))
    left, right = (run.graded(design.loss, design.confidence) for run in runs)
    return left, right


def _found(pair: Comparison) -> Iterator[tuple[str, Estimate]]:
    yield from pair.left.items()
    for name in PAIRED:
        yield f"Δ{name}", pair.deltas[name]
