"""Intervals that are asked for beside the recommended one."""

import pytest

from demur import Plan, UserError, estimate
from demur.extensions.lab.runs import ZERO_SHOT, make_people, run_system
from demur.inference.intervals import METHODS
from demur.inference.uncertainty import Request

GRADED = run_system(make_people(9, seed=2), ZERO_SHOT, seed=2).graded("abs", "llm")
PLAN = Plan(80, seed=4)


def ends(interval):
    return interval.low, interval.high


@pytest.mark.parametrize("method", METHODS)
def test_a_method_asked_for_among_others_gives_what_it_gives_alone(method):
    together = estimate(GRADED, ["aurc", "cmax"], plan=PLAN, interval=tuple(METHODS))
    alone = estimate(GRADED, ["aurc", "cmax"], plan=PLAN, interval=method)
    for name in ("aurc", "cmax"):
        assert ends(together[name].interval(method)) == ends(alone[name].requested)


def test_of_several_methods_the_first_is_the_one_requested():
    table = estimate(GRADED, ["aurc"], plan=PLAN, interval=("bca", "jackknife"), level=0.9)
    assert table["aurc"].requested == table["aurc"].interval("bca", 0.9)


def test_every_name_is_checked():
    with pytest.raises(UserError, match="interval 'bac', expected recommended or one of"):
        Request.of(("bca", "bac"), None)


def test_nothing_is_requested_where_nothing_is_asked_for():
    assert Request.of(None, None) is None
    assert Request.of((), 0.9) == Request("recommended", 0.9)
