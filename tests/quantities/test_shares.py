"""A share is one division: the double nearest to the exact fraction, whatever it is a share of."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from demur import Minus, Plan, compare, grade_units
from demur.quantities import quantities
from demur.quantities.evidence import EvidenceDecision
from demur.quantities.forecasts import Forecasts
from parametrized import parametrize_few

counts = st.integers(0, 200)


def share(part, whole):
    return float(Fraction(int(part), int(whole))) if whole else None


@given(counts, counts, counts, counts)
def test_shares_of_the_empty_decision(right, wrongly_empty, missed, others):
    empty, without = right + wrongly_empty, right + missed
    decision = EvidenceDecision(*(np.array([float(n)]) for n in (right, empty, without, empty + missed + others)))
    found = {entry.name: float(entry.function(decision)[0]) for entry in quantities("decision")}
    expected = {
        "empty_precision": share(right, empty),
        "empty_recall": share(right, without),
        "false_evidence_rate": share(missed, without),
        "empty_f1": share(2 * right, empty + without),
    }
    assert {name: None if np.isnan(value) else value for name, value in found.items()} == expected


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=60))
def test_shares_of_forecasts(pairs):
    forecasts = Forecasts.of([p / 9 for p, _ in pairs], [float(y) for _, y in pairs])
    positive, negative = ([p for p, y in pairs if y is right] for right in (True, False))
    ranked = sum(2 * (a > b) + (a == b) for a in positive for b in negative)
    pairs_of = 2 * len(positive) * len(negative)
    found = {entry.stem: entry.function for entry in quantities("forecasts", "detection")}
    if pairs_of:
        assert found["auroc"](forecasts)[0] == share(ranked, pairs_of)
        within = max(sum(p > line for p in positive) for line in range(-1, 10) if not any(p > line for p in negative))
        assert found["tpr"](forecasts, 0.0)[0] == share(within, len(positive))


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
