"""Signals from raw model output, by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur import UserError
from demur.confidences.model_output import consistency_signals, token_energy, token_msp, token_pe, token_signals
from demur.facts.signals import SIGNALS

HALF, QUARTER = math.log(0.5), math.log(0.25)


def token(logprob, *top):
    return {"token": "x", "logprob": logprob, "top_logprobs": [{"token": "y", "logprob": value} for value in top]}


def test_tokens_by_hand():
    found = token_signals([token(0.0, 0.0), token(HALF, HALF, QUARTER)])
    assert found["token_msp"] == 0.75
    two_to_one = math.log(3) - 2 / 3 * math.log(2)
    assert found["token_pe"] == pytest.approx(two_to_one / 2, rel=1e-15)
    assert found["token_energy"] == pytest.approx(math.log(0.75) / 2, rel=1e-15)
    for name, value in found.items():
        assert SIGNALS[name].low <= value <= SIGNALS[name].high


def test_alternatives_may_be_objects_numbers_or_a_mapping():
    ways = [[HALF, QUARTER], [{"logprob": HALF}, {"logprob": QUARTER}], {"a": HALF, "b": QUARTER}]
    assert len({token_pe([way]) for way in ways}) == 1
    assert len({token_energy([way]) for way in ways}) == 1


def test_certainty_is_exact_and_single_precision_may_overshoot():
    assert token_signals([token(0.0, 0.0)]) == {"token_msp": 1.0, "token_pe": 0.0, "token_energy": 0.0}
    assert token_msp([5e-7]) == 1.0
    assert math.copysign(1, token_pe([[0.0]])) == 1, "no entropy, and not a negative one"
    assert token_energy([[-9999.0]]) == -9999.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: token_msp([]),
        lambda: token_pe([]),
        lambda: token_signals([]),
        lambda: token_msp("abc"),
        lambda: token_msp([0.1]),
        lambda: token_msp([-1, math.nan]),
        lambda: token_msp([-math.inf]),
        lambda: token_msp([True]),
        lambda: token_msp([None]),
        lambda: token_pe([[]]),
        lambda: token_pe([None]),
        lambda: token_pe(["ab"]),
        lambda: token_energy([[HALF], [HALF, "x"]]),
        lambda: token_energy([[{"token": "a"}]]),
        lambda: token_energy([[HALF, HALF, HALF]]),
        lambda: token_signals([{"logprob": -1}]),
        lambda: token_signals([-1.0]),
    ],
)
def test_malformed_output_is_one_line(call, message):
    with pytest.raises(UserError) as refused:
        call()
    message(refused.value)


@given(st.lists(st.lists(st.floats(0.01, 1), min_size=1, max_size=6), min_size=1, max_size=5))
def test_entropy_is_that_of_the_renormalised_alternatives(weights):
    tops = [np.log(np.array(row) / sum(row) * 0.9).tolist() for row in weights]
    shares = [np.array(row) / sum(row) for row in weights]
    assert token_pe(tops) == pytest.approx(np.mean([-(p * np.log(p)).sum() for p in shares]), abs=1e-12)
    assert token_energy(tops) == pytest.approx(math.log(0.9), abs=1e-12)


@pytest.mark.parametrize(
    ("samples", "score", "share", "std", "absent"),
    [
        ([2], 2, 1, 0, 0),
        ([None], None, 1, 0, 1),
        ([2, 2, 1, None], 2, 1 / 2, math.sqrt(2 / 9), 1 / 4),
        ([3, 1, 3, 1], 1, 1 / 2, 1, 0),
        ([3, None, 3, None], None, 1 / 2, 0, 1 / 2),
        ([0, 1, 2, 3], 0, 1 / 4, math.sqrt(5 / 4), 0),
        ([0, None], None, 1 / 2, 0, 1 / 2),
        ([1, 1, 1], 1, 1, 0, 0),
    ],
)
def test_consistency_by_hand(samples, score, share, std, absent):
    assert consistency_signals(samples) == {
        "consistency_modal_score": score,
        "consistency_modal_confidence": share,
        "consistency_score_std": std,
        "consistency_na_rate": absent,
    }


@given(st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=1, max_size=9), st.randoms())
def test_the_order_of_samples_does_not_matter(samples, random):
    shuffled = samples.copy()
    random.shuffle(shuffled)
    found = consistency_signals(samples)
    assert found == consistency_signals(shuffled)
    numbers = [sample for sample in samples if sample is not None]
    assert found["consistency_score_std"] == pytest.approx(np.std(numbers) if len(numbers) > 1 else 0, abs=1e-15)


@pytest.mark.parametrize(
    "samples",
    [
        [],
        [1, 2.0],
        [True],
        ["N/A"],
        3,
    ],
)
def test_samples_that_are_none(samples, message):
    with pytest.raises(UserError) as refused:
        consistency_signals(samples)
    message(refused.value)
