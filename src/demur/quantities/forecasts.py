"""Forecasts: probabilities and what came of them, the only table a calibration metric sees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.errors import UserError, and_more, literal
from demur.facts.columns import Column, plain_values
from demur.sampling.sample import Sample
from demur.types import Floats, Indices

BINS = 10
_MOST_BINS = 10_000


@dataclass(frozen=True, eq=False)
class Forecasts:
    """Distinct probabilities in ascending order (a row each), and what came of them in each sample (a column each).

    `count` says how often a probability was given, `outcome` is the sum of what came true then, and `squares` the sum
    of the squared outcomes over all of them, which is the same as of the outcomes where those are 0 or 1.
    """

    probability: Floats
    count: Floats
    outcome: Floats
    squares: Floats
    n_bins: int = BINS
    binary: bool = True

    def __post_init__(self) -> None:
        if type(self.n_bins) is not int or not 1 <= self.n_bins <= _MOST_BINS:
            raise UserError(f"n_bins {literal(self.n_bins)}, expected an integer from 1 to {_MOST_BINS}")

    @classmethod
    def of(cls, probability: Any, outcome: Any, n_bins: int = BINS) -> Forecasts:
        """From one probability and one outcome (0 to 1) per unit."""
        given, came = checked_shares("probability", probability), checked_outcomes(outcome)
        if len(given) != len(came):
            raise UserError(f"{len(given)} probabilities and {len(came)} outcomes do not go together")
        if not len(given):
            raise UserError("there are no forecasts: nothing can be said about their calibration")
        order = np.lexsort((came, given))  # sums must not depend on the order of the rows
        values, first = np.unique(given[order], return_index=True)
        return cls(
            probability=values,
            count=np.diff(np.append(first, len(given))).astype(np.float64)[:, None],
            outcome=np.add.reduceat(came[order], first)[:, None],
            squares=np.sum(np.sort(came) ** 2, keepdims=True),
            n_bins=n_bins,
            binary=bool(np.isin(came, (0, 1)).all()),
        )

    @classmethod
    def drawn(cls, sample: Sample, n_bins: int = BINS) -> Forecasts:
        """From bootstrap replicates of units whose confidence is the probability and whose loss is the outcome."""
        table = sample.table
        (count, outcome), (of_level, _) = sample.curve.sums, sample.oracle.sums
        levels = table.level_loss / table.divisor
        return cls(
            probability=table.threshold[::-1],
            count=np.diff(count, axis=0)[::-1],
            outcome=(np.diff(outcome, axis=0) / table.divisor)[::-1],
            squares=levels**2 @ np.diff(of_level, axis=0),
            n_bins=n_bins,
            binary=bool(np.isin(levels, (0, 1)).all()),
        )

    @cached_property
    def total(self) -> Floats:
        """How many forecasts there are."""
        return np.asarray(self.count.sum(axis=0))

    @cached_property
    def came_true(self) -> Floats:
        """The sum of all outcomes."""
        return np.asarray(self.outcome.sum(axis=0))

    def mean(self, total: Floats) -> Floats:
        """A sum per forecast; nan in a sample that holds none."""
        return over(total, self.total)

    @cached_property
    def bin_of(self) -> Indices:
        """The bin of each probability, over [0, 1] in equal widths; 1 is in the last one.

        An edge is the double nearest to k/n, which is what the decimal 0.3 is too; 0.1·3 is not.
        """
        edges = np.arange(1, self.n_bins) / self.n_bins
        return np.searchsorted(edges, self.probability, side="right")

    def in_bins(self, values: Floats, bin_of: Indices | None = None) -> Floats:
        """Sums of the rows in each bin that holds any probability."""
        starts = np.flatnonzero(np.diff(self.bin_of if bin_of is None else bin_of, prepend=-1))
        return np.add.reduceat(values, starts, axis=0)

    @cached_property
    def given(self) -> Floats:
        """The probabilities as often as they were given."""
        return self.probability[:, None] * self.count

    @cached_property
    def bins(self) -> tuple[Floats, Floats, Floats]:
        """Of each bin that holds any: how many forecasts, the sum of the probabilities, the sum of the outcomes."""
        return self.in_bins(self.count), self.in_bins(self.given), self.in_bins(self.outcome)


def checked_shares(name: str, values: Any) -> Floats:
    """A column of numbers from 0 to 1, each of them there."""
    column = Column.from_sequence(values)
    bad = ~column.usable() | (column.values < 0) | (column.values > 1)
    if bad.any():
        first = int(np.argmax(bad))
        text = f"{name} {literal(column.cell(first))} at position {first}, expected a number from 0 to 1"
        raise UserError(and_more(text, int(bad.sum())))
    return column.values


def checked_outcomes(values: Any) -> Floats:
    """A column of outcomes: true and false are 1 and 0."""
    plain = plain_values(values)
    if isinstance(plain, list):
        plain = [float(value) if isinstance(value, bool) else value for value in plain]
    return checked_shares("outcome", plain)


def over(part: NDArray[Any], whole: NDArray[Any], otherwise: float = np.nan) -> Floats:
    """One array over another; something else where there is nothing to divide by."""
    out = np.full(np.broadcast(part, whole).shape, otherwise)
    np.divide(part, whole, out=out, where=whole != 0)
    return out
