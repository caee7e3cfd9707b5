"""Random units for the tests: ties, abstentions, few and many, sure and unsure."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from demur import Curve, Graded
from reference.selective import Unit

TARGETS = ("0.1", "0.25", "0.3", "0.5", "0.77", "0.9", "1")


def random_units(rng: random.Random, most: int = 40) -> list[Unit]:
    """Integer losses over a divisor, confidences with or without ties, abstentions from none to all."""
    size = rng.randint(1, most)
    abstains = rng.choice([0, 0, 0.2, 0.6, 1])
    divisor = rng.choice([1, 1, 3])
    top_loss = rng.choice([1, 3, 3, 27])
    levels = rng.choice([1, 2, 4, 1000, None])
    units = []
    for _ in range(size):
        loss = None if rng.random() < abstains else Fraction(rng.randint(0, top_loss), divisor)
        confidence = rng.random() if levels is None else float(rng.randint(0, levels - 1))
        units.append(Unit(loss, confidence))
    return units


def curve_of(units, divisor: int = 3) -> Curve:
    """demur's curve of the same units: losses as integers over `divisor`."""
    return Curve.of(graded_of(units, divisor))


def graded_of(units, divisor: int = 3) -> Graded:
    """The same units as demur grades them: losses as integers over `divisor`."""
    them = [unit for unit in units if unit.loss is not None]
    losses = np.array([int(unit.loss * divisor) for unit in them], dtype=np.int64)
    return Graded(len(units), losses, np.array([u.confidence for u in them], dtype=float), divisor)


losses = st.one_of(st.none(), st.integers(0, 3).map(Fraction), st.integers(0, 9).map(lambda n: Fraction(n, 3)))
confidences = st.one_of(st.integers(0, 3).map(float), st.floats(0, 1, allow_subnormal=False))
units_lists = st.lists(st.builds(Unit, losses, confidences), min_size=1, max_size=24)
answered_lists = st.lists(st.builds(Unit, st.integers(0, 3).map(Fraction), confidences), min_size=1, max_size=24)
