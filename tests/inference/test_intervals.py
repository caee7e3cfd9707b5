"""Each interval method against its formula, or against scipy where scipy has it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from demur import Interval, UserError
from demur.inference.evidence import Evidence
from demur.inference.intervals import METHODS, NO_VARIATION, interval, quantiles

RNG = np.random.default_rng(8)
VALUES = RNG.gamma(4, 0.05, 2_000)
ERRORS = RNG.uniform(0.02, 0.06, 2_000)
LEFT_OUT = RNG.normal(0.2, 0.01, 15)
INFLUENCE = np.array([*range(-7, 8)]) / 1000
ERROR = math.sqrt(15 / 14 * 280) / 1000
FULL = Evidence(0.2, VALUES, 15, influence=INFLUENCE, replicate_std_error=ERRORS, left_out=LEFT_OUT)
LOPSIDED = np.array([0.014, *[-0.001] * 14])


def ends(name, evidence=FULL, level=0.95):
    found = interval(name, evidence, level)
    assert found.method == name
    return found.low, found.high


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_percentile(level):
    assert ends("percentile", level=level) == tuple(np.percentile(VALUES, [50 - 50 * level, 50 + 50 * level]))


@given(
    st.lists(st.floats(-1e6, 1e6) | st.sampled_from([0.25, 0.5]) | st.just(math.nan), min_size=1, max_size=60),
    st.lists(st.floats(0, 1) | st.sampled_from([0.025, 0.5, 0.975, 1.0]), min_size=1, max_size=3),
)
def test_quantiles_are_numpys_to_the_last_bit(values, shares):
    reached = Evidence(0.0, np.array(values), 5).reached
    expected = [float(np.nanquantile(values, share)) for share in shares] if len(reached) else [math.nan] * len(shares)
    assert repr(quantiles(reached, *shares)) == repr(expected)


@pytest.mark.parametrize("size", [2_001, 2_002, 10_000])
def test_quantiles_of_many_values_are_numpys_too(size):
    """Whatever a sample of them says: ties, values in order, and outliers that come at regular distances."""
    values = np.random.default_rng(size).normal(size=size)
    outliers, endless = values + 100 * (np.arange(size) % 8 == 0), np.where(values > 1, np.inf, values)
    for each in (values, values.round(1) + 0.0, np.sort(values), np.zeros(size), outliers, endless):
        shares = (0.0, 0.0001, 0.025, 0.3, 0.5, 0.975, 0.9999, 1.0)
        finite = [share for share in shares if share <= 0.5 or np.isfinite(each).all()]
        assert repr(quantiles(each, *finite)) == repr([float(np.quantile(each, share)) for share in finite])


def test_expanded_percentile():
    tail = stats.norm.cdf(-math.sqrt(15 / 14) * stats.t.ppf(0.975, 14))
    assert ends("expanded_percentile") == pytest.approx(tuple(np.quantile(VALUES, [tail, 1 - tail])), rel=1e-9)


def test_t_interval():
    reach = stats.t.ppf(0.975, 14) * VALUES.std(ddof=1)
    assert ends("t_interval") == pytest.approx((0.2 - reach, 0.2 + reach))


def test_studentised():
    low, high = np.quantile((VALUES - 0.2) / ERRORS, [0.025, 0.975])
    assert ends("studentised") == pytest.approx((0.2 - ERROR * high, 0.2 - ERROR * low))
    assert interval("studentised", FULL).skipped == 0


def test_studentised_skips_replicates_without_an_error_and_says_how_many():
    for nothing in (0.0, 1e-18):
        errors = np.concatenate([ERRORS[:-500], np.full(500, nothing)])
        some = interval("studentised", Evidence(0.2, VALUES, 15, influence=INFLUENCE, replicate_std_error=errors))
        fewer = Evidence(0.2, VALUES[:-500], 15, influence=INFLUENCE, replicate_std_error=ERRORS[:-500])
        assert (some.low, some.high) == ends("studentised", fewer)
        assert some.skipped == 1 / 4


def test_the_standard_error_of_an_influence_function():
    assert FULL.std_error == pytest.approx(ERROR, rel=1e-12)


def test_degrees_of_freedom_are_fewer_where_one_cluster_moves_most():
    assert FULL.degrees == 14
    lopsided = Evidence(0.2, VALUES, 15, influence=LOPSIDED)
    squares, fourths = 14**2 + 14, 14**4 + 14
    assert lopsided.degrees == pytest.approx(2 * squares**2 / (fourths - squares**2 / 15), rel=1e-12)
    assert 2 < lopsided.degrees < 3


def test_degrees_of_freedom_are_the_same_to_the_last_bit_with_the_sides_swapped():
    for seed in range(200):
        influence = np.random.default_rng(seed).normal(size=41) / 1000
        one, other = (Evidence(0.0, VALUES, 41, influence=sign * influence).degrees for sign in (1, -1))
        assert one == other


def test_a_share_that_no_cluster_moves_is_the_number_and_says_so():
    found = interval("logit", Evidence(0.75, VALUES, 15, influence=np.zeros(15), largest=1.0))
    assert (found.low, found.high, found.note) == (0.75, 0.75, NO_VARIATION)
    assert interval("logit", Evidence(1.0, VALUES, 15, influence=np.zeros(15), largest=1.0)).method == "cluster_bound"


def test_influences_of_equal_size_leave_all_degrees_of_freedom():
    """The spread of their squares is 0, which nothing can be divided by."""
    assert Evidence(0.2, VALUES, 4, influence=np.array([0.5, -0.5, 0.5, -0.5])).degrees == 3


def test_analytic_plain_and_on_the_log_scale():
    evidence = Evidence(0.2, VALUES, 15, influence=LOPSIDED)
    reach = stats.t.ppf(0.975, evidence.degrees) * evidence.std_error
    assert ends("analytic", evidence) == pytest.approx((0.2 - reach, 0.2 + reach))
    expected = 0.2 * math.exp(-reach / 0.2), 0.2 * math.exp(reach / 0.2)
    assert ends("analytic_log", evidence) == pytest.approx(expected)
    assert interval("analytic_log", Evidence(0.0, VALUES, 15, influence=LOPSIDED)) is None
    assert interval("analytic", evidence).degrees == evidence.degrees


def test_the_log_scale_of_the_bootstrap_error():
    factor = math.exp(stats.t.ppf(0.975, 14) * VALUES.std(ddof=1) / 0.2)
    assert ends("bootstrap_log") == pytest.approx((0.2 / factor, 0.2 * factor))
    assert interval("bootstrap_log", Evidence(0.0, VALUES, 15)) is None


@pytest.mark.parametrize(("name", "degrees"), [("logit", 14), ("analytic_logit", None)])
def test_the_logit_scale(name, degrees):
    evidence = Evidence(0.2, VALUES, 15, influence=LOPSIDED)
    reach = stats.t.ppf(0.975, degrees or evidence.degrees) * evidence.std_error / (0.2 * 0.8)
    expected = [1 / (1 + math.exp(-(math.log(0.25) + sign * reach))) for sign in (-1, 1)]
    assert ends(name, evidence) == pytest.approx(expected)
    assert interval(name, Evidence(1.0, VALUES, 15, influence=LOPSIDED)) is None


@pytest.mark.parametrize(("level", "largest"), [(0.95, 1.0), (0.9, 2.5), (0.999, 9.0)])
def test_a_share_of_0_or_1_is_bounded_by_the_clusters_that_were_not_seen(level, largest):
    rare = min(1, (1 - (1 - level) ** (1 / 15)) * largest)
    for point, expected in ((1.0, (1 - rare, 1.0)), (0.0, (0.0, rare))):
        found = interval("logit", Evidence(point, VALUES, 15, influence=np.zeros(15), largest=largest), level)
        assert (found.method, found.low, found.high) == ("cluster_bound", *expected)


@pytest.mark.parametrize(
    "name", [name for name, method in METHODS.items() if "influence" in method.needs and name != "logit"]
)
def test_a_number_no_cluster_moves_is_its_own_interval(name):
    still = Evidence(0.2, np.full(9, 0.2), 15, influence=np.zeros(15), replicate_std_error=np.zeros(9))
    assert interval(name, still) == Interval(name, 0.2, 0.2, note=NO_VARIATION)


def test_an_interval_is_cut_off_at_what_the_number_can_be_and_remembers_its_ends():
    cut = Interval("analytic", -0.1, 1.2).within(0, 1)
    assert (cut.low, cut.high, cut.clipped, cut.unclipped) == (0, 1, ("low", "high"), (-0.1, 1.2))
    whole = Interval("analytic", 0.1, 0.2).within(0, 1)
    assert (whole.clipped, whole.unclipped) == ((), None)


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
    full = {"influence": INFLUENCE, "replicate_std_error": ERRORS, "left_out": LEFT_OUT}
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
    for name in (name for name, method in METHODS.items() if method.needs):
        with pytest.raises(UserError, match="needs"):
            interval(name, bare)
    with pytest.raises(UserError, match="no interval method is called percentil; did you mean percentile?"):
        interval("percentil", FULL)


def test_bca_gives_nothing_when_every_replicate_is_on_one_side():
    assert interval("bca", Evidence(9.0, VALUES, 15, left_out=LEFT_OUT)) is None
