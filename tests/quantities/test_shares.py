"""A share is one division: the double nearest to the exact fraction, whatever it is a share of."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from demur import Measure, Minus, Plan, compare, grade_units
from demur.quantities.forecasts import Forecasts
from parametrized import parametrize_few


def share(part, whole):
    return float(Fraction(int(part), int(whole))) if whole else None


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=60))
def test_shares_of_forecasts(pairs):
    forecasts = Forecasts.of([p / 9 for p, _ in pairs], [float(y) for _, y in pairs])
    positive, negative = ([p for p, y in pairs if y is right] for right in (True, False))
    ranked = sum(2 * (a > b) + (a == b) for a in positive for b in negative)
    pairs_of = 2 * len(positive) * len(negative)
    if pairs_of:
        assert Measure.of("auroc")(forecasts)[0] == share(ranked, pairs_of)


@parametrize_few("seed", range(5), 2)
def test_shares_of_the_draws(seed):
    """Of draws above and below 0, of those without the number, with another threshold, and of a shorter curve."""
    rng = np.random.default_rng(seed)
    people = np.repeat(np.arange(12), 4).tolist()

    def graded():
        loss = np.where(rng.random(48) < 0.4, np.nan, rng.integers(0, 3, 48))
        return grade_units(rng.integers(0, 4, 48), loss=loss, clusters=people)

    names = ["augrc", "cmax", "risk@0.5", "risk@0.6", "aurc@0.6", "coverage@risk=0.5"]
    table = compare({"a": graded(), "b": graded()}, names, plan=Plan(83, seed=seed))
    deltas = [row for row in table if row.key.minus == Minus("system", "a")]
    assert len(deltas) == 8
    for row in deltas:
        reached = row.evidence.values[~np.isnan(row.evidence.values)]
        assert row.above == share(sum(reached > 1e-12), len(reached))
        assert row.below == share(sum(reached < -1e-12), len(reached))
    for row in table:
        assert row.drop_rate == share(sum(np.isnan(row.evidence.values)), 83)
        for rate, most in ((row.short_domain_rate, 83), (row.other_threshold_rate, 83)):
            assert rate is None or any(rate == share(part, n) for n in range(1, most + 1) for part in range(n + 1))
