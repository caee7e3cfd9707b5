"""Numbers from outside: finite, or none at all."""

import math

import numpy as np
import pytest

from demur.files.numbers import finite_float


@pytest.mark.parametrize(
    ("value", "number"),
    [(2, 2.0), (-0.5, -0.5), (1e308, 1e308), (2**53 + 1, 2.0**53), (np.float64(0.25), 0.25)],
)
def test_a_number_is_a_float(value, number):
    assert finite_float(value) == number
    assert type(finite_float(value)) is float


@pytest.mark.parametrize(
    "value", [None, True, False, "2", "٠", math.nan, math.inf, -math.inf, 10**400, -(10**400), [1], {"a": 1}, 1j]
)
def test_anything_else_is_none(value):
    assert finite_float(value) is None
