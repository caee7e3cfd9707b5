"""Targets: what a calibrated confidence is to predict of an answer."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from demur.errors import registered
from demur.facts.items import Items
from demur.quantities.losses import LOSSES
from demur.types import Floats, Integers


@dataclass(frozen=True, slots=True)
class Target:
    """A number from 0 to 1 for every answer; `binary` ones are 0 or 1. `expected` says what predicting it gives."""

    name: str
    meaning: str
    expected: str
    values: Callable[[Items], Floats]
    binary: bool = True


def _error(items: Items) -> Integers:
    return np.asarray(np.abs(items.answer - items.truth)[items.answered])


def _within(items: Items, points: int) -> Floats:
    return (_error(items) <= points).astype(np.float64)


def _closeness(items: Items) -> Floats:
    return 1 - _error(items) / LOSSES["abs_norm"].divisor(items.instrument)


_NEAR = "the chance of being right to within a point"
_CLOSE = "an expected closeness, 1 where nothing is wrong"
_ALL = (
    Target("correctness", "1 if pred = gt, else 0", "the chance of being right", lambda items: _within(items, 0)),
    Target("near_correct", "1 if abs(pred - gt) ≤ 1, else 0", _NEAR, lambda items: _within(items, 1)),
    Target("loss", "1 - abs(pred - gt) / range", _CLOSE, _closeness, binary=False),
)
TARGETS = {entry.name: entry for entry in _ALL}


def target(name: str) -> Target:
    """The target of that name.

    >>> target("near_correct").meaning
    '1 if abs(pred - gt) ≤ 1, else 0'
    """
    return registered("target", name, TARGETS)
