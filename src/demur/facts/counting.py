"""How units were counted, where facts are counts of units that are alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Counting:
    """The number of `parts` that were counted, the confidences whose signals were kept, and what was rounded.

    `bins` has the width of the bins of each signal whose values were put in bins. If losses were rounded,
    `loss_digits` is to how many decimals.
    """

    parts: int
    confidence: str | Sequence[str]
    lower_is_surer: tuple[str, ...]
    bins: Mapping[str, float]
    loss_digits: int | None
