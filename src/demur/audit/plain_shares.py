"""Shares of the replicates of a difference: its p-value, and how many of them speak for either side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from demur.audit.figures import Expected
from demur.audit.plain_intervals import rate

if TYPE_CHECKING:
    from demur.audit.plain_intervals import Evidence

_NO_DIFFERENCE = 1e-12


def p_value(evidence: Evidence, *, sums_of_floats: bool) -> Expected:
    """Twice the smaller share of replicates on the far side of 0, the observed sample counted among them.

    A difference of sums of floats may miss the 0 it is by its last bits, so that a replicate falls on either side.
    """
    below, above, level = _signs(evidence, sums_of_floats=sums_of_floats)
    total = len(evidence.reached)
    value = min(1.0, 2 * (min(below, above) + level + 1) / (total + 1))
    if not evidence.draws.repeated:
        least = min(below, above) / total if sums_of_floats else (min(below, above) + level) / total
        low, _ = evidence.reaching.between(min(least, 0.5))
        _, high = evidence.reaching.between(min((min(below, above) + level) / total, 0.5))
        return Expected(value, band=(2 * low, min(2 * high, 1.0)))
    if not (sums_of_floats and level):
        return Expected(value)
    return Expected(value, band=(min(1.0, 2 * (min(below, above) + 1) / (total + 1)), value))


def favours(evidence: Evidence, *, below_zero: bool, sums_of_floats: bool) -> Expected:
    """The share of replicates on one side of 0."""
    below, above, level = _signs(evidence, sums_of_floats=sums_of_floats)
    total = len(evidence.reached)
    one, other = (below, above) if below_zero else (above, below)
    share = rate(one / total, evidence.reaching, {"the share of the other side": other / total})
    if not (sums_of_floats and level):
        return share
    if evidence.draws.repeated:
        return replace(share, band=(one / total, (one + level) / total))
    low, high = (evidence.reaching.between(count / total) for count in (one, one + level))
    return replace(share, band=(low[0], high[1]))


def _signs(evidence: Evidence, *, sums_of_floats: bool) -> tuple[int, int, int]:
    """How many replicates lie below 0, above it, and on it."""
    nothing = _NO_DIFFERENCE if sums_of_floats else 0.0
    below, above = int(np.sum(evidence.reached < -nothing)), int(np.sum(evidence.reached > nothing))
    return below, above, len(evidence.reached) - below - above
