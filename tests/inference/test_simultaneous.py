"""Intervals of several differences at once: max-t over the replicates, Bonferroni below twenty clusters."""

import numpy as np
import pytest
from scipy import stats

from demur.inference.evidence import Evidence
from demur.inference.rules import Counted
from demur.inference.simultaneous import at_once

RNG = np.random.default_rng(3)
FREE = Counted()


def evidence(clusters=40, point=0.1, scale=1.0, influence=True):
    u = RNG.normal(size=clusters) * 0.01 * scale
    values = point + RNG.normal(size=500) * 0.06 * scale
    errors = RNG.uniform(0.05, 0.07, 500) * scale if influence else None
    return Evidence(point, values, clusters, influence=u - u.mean() if influence else None, replicate_std_error=errors)


def test_the_critical_value_holds_the_largest_deviation_of_all():
    one, other, plain = evidence(), evidence(point=-2.0, scale=5), evidence(influence=False)
    found = at_once({"a": (one, FREE), "b": (other, FREE), "c": (plain, FREE)})
    deviations = [
        np.abs(one.values - one.point) / one.replicate_std_error,
        np.abs(other.values - other.point) / other.replicate_std_error,
        np.abs(plain.values - plain.point) / plain.values.std(ddof=1),
    ]
    critical = np.quantile(np.max(deviations, axis=0), 0.95)
    for name, each, error in (
        ("a", one, one.std_error),
        ("b", other, other.std_error),
        ("c", plain, plain.values.std(ddof=1)),
    ):
        assert (found[name].low, found[name].high) == pytest.approx(
            (each.point - critical * error, each.point + critical * error)
        )
        assert (found[name].method, found[name].count) == ("simultaneous", 3)


def test_few_clusters_share_the_level_between_them():
    family = {name: (evidence(clusters=12, influence=name != "c"), FREE) for name in "abc"}
    found = at_once(family)
    for name, (each, _) in family.items():
        degrees = each.degrees if each.influence is not None else 11
        error = each.std_error if each.influence is not None else each.bootstrap_std_error
        reach = stats.t.ppf(1 - 0.05 / 6, degrees) * error
        assert (found[name].low, found[name].high) == pytest.approx((each.point - reach, each.point + reach))


def test_a_difference_of_nothing_stays_nothing_and_counts_for_nothing():
    still = Evidence(0.0, np.zeros(500), 40, influence=np.zeros(40), replicate_std_error=np.zeros(500))
    other = evidence()
    found = at_once({"still": (still, FREE), "other": (other, FREE)})
    assert (found["still"].low, found["still"].high) == (0.0, 0.0)
    assert found["other"].count == 1
    assert found["other"] == at_once({"other": (other, FREE)})["other"]


def test_a_replicate_without_a_number_or_an_error_counts_0():
    some = evidence()
    values, errors = some.values.copy(), some.replicate_std_error.copy()
    values[:100], errors[100:200] = np.nan, 0.0
    partly = Evidence(some.point, values, 40, influence=some.influence, replicate_std_error=errors)
    away = np.concatenate([np.zeros(200), np.abs(values[200:] - some.point) / errors[200:]])
    reach = np.quantile(away, 0.95) * some.std_error
    assert at_once({"a": (partly, FREE)})["a"].high == pytest.approx(some.point + reach)
