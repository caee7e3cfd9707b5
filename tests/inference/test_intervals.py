"""Each interval method against its formula, or against scipy where scipy has it."""

import math

import numpy as np
import pytest
from scipy import stats

from demur import UserError
from demur.inference.intervals import METHODS, Evidence, interval, t_quantile

RNG = np.random.default_rng(8)
VALUES = RNG.gamma(4, 0.05, 2_000)
ERRORS = RNG.uniform(0.02, 0.06, 2_000)
LEFT_OUT = RNG.normal(0.2, 0.01, 15)
FULL = Evidence(0.2, VALUES, 15, std_error=0.04, replicate_std_error=ERRORS, left_out=LEFT_OUT)


def ends(name, evidence=FULL, level=0.95):
    found = interval(name, evidence, level)
    assert found.method == name
    return found.low, found.high


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 9, 14, 40, 198, 199])
@pytest.mark.parametrize("probability", [0.75, 0.95, 0.975, 0.995])
def test_students_quantiles_are_scipys(degrees, probability):
    assert t_quantile(probability, degrees) == pytest.approx(stats.t.ppf(probability, degrees), rel=1e-10)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_percentile(level):
    assert ends("percentile", level=level) == tuple(np.percentile(VALUES, [50 - 50 * level, 50 + 50 * level]))


def test_expanded_percentile():
    tail = stats.norm.cdf(-math.sqrt(15 / 14) * stats.t.ppf(0.975, 14))
    assert ends("expanded_percentile") == pytest.approx(tuple(np.quantile(VALUES, [tail, 1 - tail])), rel=1e-9)


def test_t_interval():
    reach = stats.t.ppf(0.975, 14) * VALUES.std(ddof=1)
    assert ends("t_interval") == pytest.approx((0.2 - reach, 0.2 + reach))


def test_studentised():
    low, high = np.quantile((VALUES - 0.2) / ERRORS, [0.025, 0.975])
    assert ends("studentised") == pytest.approx((0.2 - 0.04 * high, 0.2 - 0.04 * low))


def test_studentised_falls_back_to_the_log_scale_when_a_replicate_has_no_error():
    for nothing in (0.0, 1e-18):
        broken = Evidence(0.2, VALUES, 15, std_error=0.04, replicate_std_error=np.append(ERRORS[1:], nothing))
        assert interval("studentised", broken) == interval("analytic_log", broken)
        assert interval("studentised", broken).method == "analytic_log"


def test_analytic_plain_and_on_the_log_scale():
    reach = stats.t.ppf(0.975, 14) * 0.04
    assert ends("analytic") == pytest.approx((0.2 - reach, 0.2 + reach))
    assert ends("analytic_log") == pytest.approx((0.2 * math.exp(-reach / 0.2), 0.2 * math.exp(reach / 0.2)))
    assert interval("analytic_log", Evidence(0.0, VALUES, 15, std_error=0.04)) is None


def test_jackknife():
    error = math.sqrt(14 / 15 * ((LEFT_OUT - LEFT_OUT.mean()) ** 2).sum())
    assert ends("jackknife") == pytest.approx(
        (0.2 - stats.t.ppf(0.975, 14) * error, 0.2 + stats.t.ppf(0.975, 14) * error)
    )


def test_bca_is_scipys():
    """Scipy's own draws and its own leave-one-out values, through our formula."""
    data = RNG.gamma(2, 1, 25)
    theirs = stats.bootstrap((data,), np.mean, n_resamples=999, method="BCa", rng=np.random.default_rng(4))
    left_out = (data.sum() - data) / 24
    ours = Evidence(data.mean(), theirs.bootstrap_distribution, 25, left_out=left_out)
    assert ends("bca", ours) == pytest.approx(tuple(theirs.confidence_interval), rel=1e-3)


def test_bca_counts_ties_with_the_number_by_half():
    symmetric = np.repeat([-1.0, 0.0, 1.0], [30, 40, 30])
    even = Evidence(0.0, symmetric, 15, left_out=np.array([-1.0, 0.0, 1.0]))
    assert ends("bca", even, 0.5) == ends("percentile", even, 0.5) == (-1.0, 1.0)
    assert ends("bca", even, 0.2) == (0.0, 0.0)


def test_bca_takes_a_replicate_that_is_the_number_but_for_rounding_for_the_number():
    noisy = np.repeat([-1.0, -1e-17, 1.0], [30, 40, 30])
    assert ends("bca", Evidence(0.0, noisy, 15, left_out=np.array([-1.0, 0.0, 1.0])), 0.5) == (-1.0, 1.0)


@pytest.mark.parametrize("name", METHODS)
def test_one_cluster_leaves_the_number_itself(name):
    assert ends(name, Evidence(0.3, np.full(10, 0.3), 1)) == (0.3, 0.3)


@pytest.mark.parametrize("name", METHODS)
def test_no_interval_where_the_number_or_most_replicates_lack(name):
    mostly = np.where(np.arange(len(VALUES)) % 5 < 3, np.nan, VALUES)
    full = {"std_error": 0.1, "replicate_std_error": ERRORS, "left_out": LEFT_OUT}
    assert interval(name, Evidence(0.2, mostly, 15, **full)) is None
    assert interval(name, Evidence(math.nan, VALUES, 15, **full)) is None
    assert interval(name, Evidence(0.2, np.zeros(0), 15, **full)) is None
    assert interval(name, Evidence(0.0, np.zeros(9), 15, **full, two_sided=False)) is None


def test_replicates_without_a_number_are_left_out_of_the_percentiles():
    some = np.append(VALUES, [np.nan] * 100)
    assert ends("percentile", Evidence(0.2, some, 15)) == ends("percentile")
    assert Evidence(0.2, some, 15).drop_rate == 100 / 2100
    assert Evidence(0.2, some, 15).bootstrap_std_error == VALUES.std(ddof=1)


def test_exactly_half_the_replicates_are_enough_and_two_have_a_spread():
    half = np.append(VALUES, np.full(len(VALUES), np.nan))
    assert ends("percentile", Evidence(0.2, half, 15)) == ends("percentile")
    assert Evidence(0.2, np.array([1.0, 3.0]), 15).bootstrap_std_error == math.sqrt(2)
    assert math.isnan(Evidence(0.2, np.array([1.0]), 15).bootstrap_std_error)


@pytest.mark.parametrize("level", [0.0, 1.0, 95, -0.1, math.nan, "0.95"])
def test_a_level_is_between_0_and_1(level):
    with pytest.raises(UserError, match="expected a number between 0 and 1"):
        interval("percentile", FULL, level)


def test_methods_that_lack_what_they_need_say_so():
    bare = Evidence(0.2, VALUES, 15)
    for name in ("studentised", "analytic", "analytic_log", "jackknife", "bca"):
        with pytest.raises(UserError, match="needs"):
            interval(name, bare)
    with pytest.raises(UserError, match="no interval method is called percentil; did you mean percentile?"):
        interval("percentil", FULL)


def test_bca_gives_nothing_when_every_replicate_is_on_one_side():
    assert interval("bca", Evidence(9.0, VALUES, 15, left_out=LEFT_OUT)) is None
