"""Imitation of a run: a design whose data sets resemble it, to study intervals on data like one's own.

A data set has as many units per participant as the run's participants have, as large a share answered, the run's losses
and confidences with their ties, and participants whose abstentions, losses and confidences are as much alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from demur.errors import UserError
from demur.extensions.lab.designs import LEFT, DataSet, Design, Units
from demur.inference.student import normal_quantile
from demur.sampling.graded import Graded
from demur.types import Flags, Floats, Indices, Integers

_MOST_ALIKE = 0.99
_PAIRS, _HALVINGS = 20_000, 12
_UNITS_AT_LARGE, _UNITS_AT_ONCE = 800_000, 40_000
_GRID, _TABLE = 2**12, 2**13


@dataclass(frozen=True, slots=True, eq=False)
class Imitated:
    """The properties of a run that are imitated: its answers, by loss and then confidence, and three correlations.

    `start` and `size` are those of the level of loss an answer is in; `alone` says which confidences occur once.
    """

    sizes: Integers
    answered: float
    loss: Floats
    confidence: Floats
    start: Indices
    size: Indices
    alone: Flags
    alike: tuple[float, float, float]
    divisor: int
    largest_loss: float | None

    @classmethod
    def of(cls, graded: Graded) -> Imitated:
        """Measure the properties of a run; correlations are those of the underlying normal variables."""
        if graded.clusters is None or not graded.answered:
            raise UserError("nothing is answered: there is nothing to imitate")
        order = np.lexsort((graded.confidence, graded.loss))
        loss, confidence = graded.loss[order].astype(np.float64), graded.confidence[order]
        _, start, level, size = np.unique(loss, return_index=True, return_inverse=True, return_counts=True)
        _, value_index, times = np.unique(confidence, return_inverse=True, return_counts=True)
        sizes, person = graded.clusters.units, graded.clusters.of_answer[order]
        share = graded.answered / graded.units
        everybody = np.repeat(np.arange(len(sizes)), sizes)
        reached = np.cumsum(sizes) - sizes + np.bincount(person, minlength=len(sizes))
        given = np.arange(graded.units) < np.repeat(reached, sizes)  # which of them are answered makes no difference
        rank = (np.arange(len(loss)) - start[level] + 0.5) / size[level]
        alike = (
            _latent_correlation(within(given.astype(np.float64), everybody), lambda z: z <= _quantile(share)),
            _latent_correlation(within(loss, person), lambda z: loss[_index(z, len(loss))]),
            _latent_correlation(within(rank, person), _below),
        )
        facts = (sizes, share, loss, confidence, start[level], size[level], times[value_index] == 1, alike)
        return cls(*facts, graded.divisor, graded.largest_loss)

    def draw(self, rng: np.random.Generator, participants: int) -> DataSet:
        """Draw a data set of participants like those of the run."""
        units = Units(rng, rng.choice(self.sizes, participants))
        by_answer, by_loss, by_confidence = (Units(rng, units.sizes, alike).latent() for alike in self.alike)
        chosen = _index(by_loss, len(self.loss))
        within_level = _below(by_confidence) * self.size[chosen]
        index = self.start[chosen] + within_level.astype(np.intp)
        following = np.minimum(index + 1, self.start[chosen] + self.size[chosen] - 1)
        # A confidence that occurs once stands for all values up to the next, so that no ties arise that the run lacks.
        further = np.where(self.alone[index], within_level % 1, 0.0)
        confidence = self.confidence[index] + further * (self.confidence[following] - self.confidence[index])
        answered = by_answer <= _quantile(self.answered)
        facts = {"divisor": self.divisor, "largest_loss": self.largest_loss}
        return {"": {LEFT: units.graded(confidence, self.loss[chosen], answered, **facts)}}


def imitation(graded: Graded, name: str) -> Design:
    """The design whose data sets resemble those of one system."""
    run = Imitated.of(graded)
    mean = float(run.sizes.mean())
    reach = float(np.ptp(run.confidence)) if run.alone.any() else 0.0
    shares = zip(("abstentions", "losses", "confidences"), run.alike, strict=True)
    words = ", ".join(f"{what} {share:.2f}" for what, share in shares)
    return Design(
        name=name,
        words=f"like {name}: {len(run.sizes)} participants with {mean:.3g} units each, {run.answered:.0%} answered, "
        f"{np.mean(run.loss != 0):.0%} of those with a loss; within a participant alike: {words}",
        draw=run.draw,
        participants=(len(run.sizes),),
        at_large=max(int(_UNITS_AT_LARGE / mean), 1),
        chunk=max(int(_UNITS_AT_ONCE / mean), 1),
        grain=reach / _GRID,
    )


def within(values: Floats, person: Indices) -> float:
    """The correlation of two units of one participant; 0 if no participant has two, or nothing varies.

    >>> within(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 1]))
    1.0
    """
    away = values - values.mean()
    pairs = np.bincount(person, away) ** 2 - np.bincount(person, away**2)
    size = np.bincount(person)
    number, variance = float(np.sum(size * (size - 1))), float(np.mean(away**2))
    return float(pairs.sum()) / number / variance if number and variance else 0.0


def _latent_correlation(target: float, observed: Callable[[Floats], Floats | Flags]) -> float:
    """The correlation, at least 0, of normal numbers whose transforms by `observed` have the target correlation."""
    rng = np.random.default_rng(0)
    shared, first, second = rng.normal(size=(3, _PAIRS))
    low, high = 0.0, _MOST_ALIKE
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        parts = [np.sqrt(middle) * shared + np.sqrt(1 - middle) * own for own in (first, second)]
        pair = [observed(part).astype(np.float64) for part in parts]
        away = [values - np.mean(pair) for values in pair]
        spread = np.mean([np.mean(values**2) for values in away])
        correlation = np.mean(away[0] * away[1]) / spread if spread else 0.0
        low, high = (middle, high) if correlation < target else (low, middle)
    return low


@cache
def _normal_table() -> tuple[Floats, Floats]:
    numbers = np.linspace(-8.5, 8.5, _TABLE)
    return numbers, np.array([math.erfc(-number / math.sqrt(2)) / 2 for number in numbers.tolist()])


def _below(normal: Floats) -> Floats:
    """The share of normal numbers below each of these, short of 1: from a table, which is much faster."""
    return np.minimum(np.interp(normal, *_normal_table()), np.nextafter(1.0, 0.0))


def _index(normal: Floats, length: int) -> Indices:
    return (_below(normal) * length).astype(np.intp)


def _quantile(share: float) -> float:
    return normal_quantile(share) if share < 1 else np.inf
