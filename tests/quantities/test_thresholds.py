"""Thresholds as they are typed: nothing shorter accepts the same answers."""

from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from demur import risk_coverage
from demur.quantities.thresholds import typed_threshold

numbers = st.floats(-1e6, 1e6, allow_nan=False) | st.integers(-50, 50).map(lambda n: n / 10)


@given(numbers, numbers)
def test_it_accepts_the_point_and_nothing_below_and_no_shorter_decimal_does(one, other):
    lower, threshold = sorted((one + 0.0, other + 0.0))
    if lower == threshold:
        return
    typed = typed_threshold(threshold, lower)
    assert lower < float(typed) <= threshold
    digits = len(Decimal(typed).normalize().as_tuple().digits)
    exponent = Decimal(repr(threshold)).adjusted()
    for fewer in range(1, digits):
        step = Fraction(10) ** (exponent - fewer + 1)
        below = (Fraction(repr(threshold)) // step) * step
        assert float(below) <= lower


def test_the_limit_is_kept_to_exactly_and_the_curve_need_not_be_monotone():
    curve = risk_coverage([6, 5, 4, 3, 2, 1], loss=[0, 1, 1, 0, 0, 1])
    assert curve.last_within(Fraction(2, 5), "selective") == 4
    assert curve.last_within(Fraction(2, 5) - Fraction(1, 10**30), "selective") == 0
    assert curve.last_within(Fraction(1, 3), "generalized") == 4
    assert curve.last_within(Fraction(1, 3) - Fraction(1, 10**30), "generalized") == 1
    assert risk_coverage([2, 1], loss=[1, 0]).last_within(Fraction(1, 10), "selective") is None
