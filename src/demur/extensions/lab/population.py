"""Populations: the true values of a design, from so many participants that the sampling error is negligible.

Only sums over units of equal confidence, and of equal loss, are stored: a population takes little memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from demur.extensions.lab.designs import Design
from demur.quantities import Measure
from demur.quantities.registry import COMMON
from demur.sampling.graded import Graded
from demur.sampling.numbers import Number
from demur.sampling.plateaus import Points
from demur.sampling.sample import Cut, Sample
from demur.sampling.table import Table
from demur.types import Floats

_STREAM = 2**31  # of random numbers, which data sets do not use


@dataclass(frozen=True, eq=False)
class TruePopulation:
    """The population of a design, drawn when one of its numbers is first needed."""

    design: Design
    seed: int
    known: dict[tuple[str, str, str], float] = field(default_factory=dict)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        """A worker gets the numbers that are known, not the curves, which are large and hold functions."""
        return type(self), (self.design, self.seed, self.known)

    @cached_property
    def curves(self) -> Mapping[tuple[str, str], Sample]:
        """The samples of the population by confidence and system, summed over chunks of participants."""
        design, cells = self.design, dict[tuple[str, str], CellSums]()
        for start in range(0, design.at_large, design.chunk):
            participants = min(design.chunk, design.at_large - start)
            for confidence, systems in design.draw(design.random(self.seed, _STREAM, start), participants).items():
                for system, graded in systems.items():
                    cells.setdefault((confidence, system), CellSums(graded)).add(graded, design.grain)
        return {name: sums.curve() for name, sums in cells.items()}

    def number(self, name: str, confidence: str, system: str) -> float:
        """The true value of a number of one system; the common coverage is that of the population."""
        key = name, confidence, system
        if key not in self.known:
            measure, own = Measure.of(name), self.curves[confidence, system]
            others = [curve for (of, _), curve in self.curves.items() if of == confidence]
            sample = Cut.at_common_coverage(own, others) if measure.value == COMMON else own
            number: Number = measure(sample)
            self.known[key] = float(number.value[0])
        return self.known[key]


class CellSums:
    """Sums over units: number and summed loss by confidence, and number by loss."""

    def __init__(self, like: Graded) -> None:
        self.units, self.divisor = 0, like.divisor
        self.by_confidence, self.by_loss = np.zeros((3, 0)), np.zeros((3, 0))

    def add(self, graded: Graded, grain: float) -> None:
        """Add units, with confidences rounded to multiples of `grain`."""
        self.units += graded.units
        confidence = np.rint(graded.confidence / grain) * grain if grain else graded.confidence
        self.by_confidence = _summed(self.by_confidence, -confidence, graded.loss)
        self.by_loss = _summed(self.by_loss, graded.loss, graded.loss)

    def curve(self) -> Sample:
        """The units as a sample of one cluster."""
        plateaus, levels = (Points(*np.cumsum(sums[1:], axis=1)) for sums in (self.by_confidence, self.by_loss))
        facts = {"threshold": -self.by_confidence[0], "level_loss": self.by_loss[0]}
        return Sample.data(Table.pooled(self.units, plateaus, levels, **facts, divisor=self.divisor, whole=True))


def _summed(sums: Floats, key: Floats, loss: Floats) -> Floats:
    keys, index = np.unique(np.concatenate([sums[0], key]), return_inverse=True)
    count = np.bincount(index, np.concatenate([sums[1], np.ones(len(key))]))
    return np.stack([keys, count, np.bincount(index, np.concatenate([sums[2], loss]))])
