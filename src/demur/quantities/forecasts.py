"""Forecasts: probabilities and their outcomes in each sample, the input of every calibration quantity."""

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
    """Distinct probabilities in ascending order (rows), with their counts and outcomes in each sample (columns).

    `count` is the number of forecasts of a probability, `outcome` the sum of their outcomes, and `squares` the sum of
    all squared outcomes, which equals that of the outcomes where those are 0 or 1.
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
        """Build forecasts from one probability and one outcome (0 to 1) per unit."""
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
        """Build forecasts of bootstrap replicates, with the confidence as probability and the loss as outcome."""
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
        """The number of forecasts in each sample."""
        return np.asarray(self.count.sum(axis=0))

    @cached_property
    def came_true(self) -> Floats:
        """The sum of all outcomes in each sample."""
        return np.asarray(self.outcome.sum(axis=0))

    def mean(self, total: Floats) -> Floats:
        """A total divided by the number of forecasts in each sample; nan where there are none."""
        return over(total, self.total)

    @cached_property
    def bin_of(self) -> Indices:
        """The index of the bin of each probability, of `n_bins` bins of equal width over [0, 1]; the last includes 1.

        An edge is the double nearest to k/n, which is what the decimal 0.3 is too; 0.1·3 is not.
        """
        edges = np.arange(1, self.n_bins) / self.n_bins
        return np.searchsorted(edges, self.probability, side="right")

    def in_bins(self, values: Floats, bin_of: Indices | None = None) -> Floats:
        """Sum rows over each bin that has any probability."""
        starts = np.flatnonzero(np.diff(self.bin_of if bin_of is None else bin_of, prepend=-1))
        return np.add.reduceat(values, starts, axis=0)

    @cached_property
    def given(self) -> Floats:
        """Each probability times its number of forecasts, in each sample."""
        return self.probability[:, None] * self.count

    @cached_property
    def bins(self) -> tuple[Floats, Floats, Floats]:
        """For each bin that is not empty: number of forecasts, sum of probabilities and sum of outcomes."""
        return self.in_bins(self.count), self.in_bins(self.given), self.in_bins(self.outcome)


def checked_shares(name: str, values: Any) -> Floats:
    """Return a column as doubles; raise an error if a value is missing or outside 0 to 1."""
    column = Column.from_sequence(values)
    bad = ~column.usable() | (column.values < 0) | (column.values > 1)
    if bad.any():
        first = int(np.argmax(bad))
        text = f"{name} {literal(column.cell(first))} at position {first}, expected a number from 0 to 1"
        raise UserError(and_more(text, int(bad.sum())))
    return column.values


def checked_outcomes(values: Any) -> Floats:
    """Return a column of outcomes from 0 to 1 as doubles; true and false become 1 and 0."""
    plain = plain_values(values)
    if isinstance(plain, list):
        plain = [float(value) if isinstance(value, bool) else value for value in plain]
    return checked_shares("outcome", plain)


def over(part: NDArray[Any], whole: NDArray[Any], otherwise: float = np.nan) -> Floats:
    """Divide two arrays elementwise, with `otherwise` where the divisor is 0."""
    out = np.full(np.broadcast(part, whole).shape, otherwise)
    np.divide(part, whole, out=out, where=whole != 0)
    return out
