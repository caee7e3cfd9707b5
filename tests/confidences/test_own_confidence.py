"""A confidence of one's own: one registration, and it is served, combined, checked and calibrated."""

import numpy as np
import pytest

from demur import VARIANTS, Need, UserError, calibrate, confidence, variant
from demur.confidences.serving import chosen
from runs import items_of


def values(name, *units):
    return confidence(items_of(*units), name).values.tolist()


@pytest.fixture(autouse=True)
def _keep_the_registry():
    before = VARIANTS.copy()
    yield
    VARIANTS.clear()
    VARIANTS.update(before)


def test_one_of_your_own_is_one_registration():
    @variant("careful", Need("token_msp", null=0.0), "llm_evidence_count", bounds=(0, 9))
    def careful(msp, count):
        """Probability times evidence."""
        return msp * count

    units = [{"token_msp": 0.5, "llm_evidence_count": 3}, {"token_msp": None, "llm_evidence_count": 3}]
    assert values("careful", *units) == [1.5, 0]
    assert confidence(items_of(*units), "careful").nulls_filled == {"token_msp": 1}
    assert "careful" in chosen(items_of(*units), "all")[0]
    assert values("secondary:careful+llm:average", *units) == [2.25, 1.5]


def test_one_of_your_own_that_is_surer_the_lower_it_is():
    variant("doubt", "own", higher_is_more_confident=False)(lambda own: own)
    assert values("doubt", {"own": 2.0}, {"own": 0.5}) == [-2.0, -0.5]


def test_one_of_your_own_out_of_its_bounds_is_an_error():
    variant("share", "own", bounds=(0, 1))(lambda own: own)
    with pytest.raises(UserError, match=r"share: cluster 2, q: 1.5, declared from 0 to 1"):
        values("share", {"own": 1.0}, {"own": 1.5})
    with pytest.raises(UserError, match=r"share: cluster 1, q: -0.5, declared from 0 to 1"):
        values("share", {"own": -0.5})


def test_one_of_your_own_that_gives_no_numbers():
    variant("odd", "own")(lambda own: own * np.nan)
    with pytest.raises(UserError, match="^cluster 1, q: odd nan, expected a finite number$"):
        values("odd", {"own": 1.0})
    variant("short", "own")(lambda own: own[:1])
    with pytest.raises(UserError, match="short: 1 values, expected one for each of 2 answered units"):
        values("short", {"own": 1.0}, {"own": 1.0})


def test_the_bounds_of_one_are_those_of_the_rounded_value():
    variant("sum", "own", bounds=(0, 1), composite=True)(lambda a: 0.05 * a + 0.55 * a + 0.3 * a + 0.1 * a)
    assert values("sum", {"own": 1.0}) == [1.0]


def test_one_of_your_own_of_doubt_is_no_probability_but_can_be_calibrated():
    variant("doubt", "token_msp", bounds=(0, 1), higher_is_more_confident=False)(lambda msp: 1 - msp)
    units = [{"token_msp": place / 10, "prediction": int(place in (1, 2, 6))} for place in range(10)]
    found = calibrate(items_of(*units), method="platt", variant="doubt")
    assert found.validation.as_given is None
    assert [w.code for w in found.warnings] == []


@pytest.mark.parametrize("name", ["", "a\x1b", 3, "llm", "all", "default", "calibrated", "a:b", "a+b", "a,b", " "])
def test_one_of_your_own_cannot_take_a_name_that_means_something(name):
    with pytest.raises(UserError, match="no variant can be called"):
        variant(name, "own")
