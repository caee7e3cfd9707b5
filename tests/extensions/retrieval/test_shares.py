"""A share is one division: the double nearest to the exact fraction, whatever it is a share of."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from demur import Measure
from demur.extensions.retrieval.quantities.evidence import EvidenceDecision
from demur.quantities import quantities
from demur.quantities.forecasts import Forecasts

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
def test_shares_of_positives_without_a_false_alarm(pairs):
    forecasts = Forecasts.of([p / 9 for p, _ in pairs], [float(y) for _, y in pairs])
    positive, negative = ([p for p, y in pairs if y is right] for right in (True, False))
    if positive and negative:
        within = max(sum(p > line for p in positive) for line in range(-1, 10) if not any(p > line for p in negative))
        assert Measure.of("tpr@fpr=0")(forecasts)[0] == share(within, len(positive))
