"""Bands of the curve against a naive loop over the draws, what they promise, and where there are none."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from artifacts import golden_with_bands
from demur import Curve, Graded, Plan, Table, UserError, bootstrap
from demur.extensions.lab.runs import FEW_SHOT, ZERO_SHOT, make_people, run_system
from demur.inference.bands import MOST_POINTS, RiskColumns, bands_of, points_kept
from demur.inference.student import normal_quantile, t_quantile
from demur.inference.views import CurveView
from demur.results.load import results_of
from demur.sampling.draws import weights
from demur.sampling.resample import Ask, resampled
from demur.sampling.sample import Sample
from tables import Units

RISKS = ("selective_risk", "generalized_risk")
GOLDEN = Path(__file__).parents[1] / "golden"


def simulated(confidence="token_msp", participants=41, loss="abs", system=ZERO_SHOT):
    return run_system(make_people(participants, seed=1), system, seed=1).graded(loss, confidence)


def bands(graded, plan=Plan(400, seed=2)):  # noqa: B008
    view = CurveView.of(graded)
    if not view.varies or not view.curve.defined:
        return None
    (risks,) = resampled([Ask(view.table, RiskColumns.of(view.curve))], plan)
    return bands_of(view, risks) if risks else None


def loop_over_draws(units, graded, plan):
    """The risks at each coverage of the curve in each replicate, from the replicate's own units; None where none."""
    coverages = [Fraction(int(k), graded.units) for k in Curve.of(graded).points.count]
    rows = []
    for row in weights(plan.seed, np.arange(plan.resamples), units.clusters):
        curve = units.curve_of(row)
        risks = []
        for coverage in coverages:
            needed = math.ceil(coverage * curve.units)
            place = next((j for j, k in enumerate(curve.points.count) if k >= needed), None)
            risks.append(None if place is None else (curve.selective_risk[place], curve.generalized_risk[place]))
        rows.append(risks)
    return coverages, rows


def naive_band(risk, columns, clusters, shown, limits):
    """Ends from lists of the replicates that reach each coverage (None where one does not)."""
    expanded = math.sqrt(clusters / (clusters - 1)) * t_quantile(0.975, clusters - 1)
    tail = math.erfc(expanded / math.sqrt(2)) / 2
    reached = [[value for value in column if value is not None] for column in columns]
    spread = [float(np.std(values, ddof=1)) if max(values) > min(values) else 0.0 for values in reached]
    largest = []
    for draw in zip(*columns):
        away = [abs(v - r) / s for v, r, s, ok in zip(draw, risk, spread, shown) if v is not None and s > 0 and ok]
        largest.append(max(away, default=0.0))
    times = float(np.quantile(largest, 0.95)) * expanded / normal_quantile(0.975)
    low, high = ([float(np.quantile(values, share)) for values in reached] for share in (tail, 1 - tail))
    lower = [max(min(r - times * s, end), limits[0]) for r, s, end in zip(risk, spread, low)]
    upper = [min(max(r + times * s, end), limits[1]) for r, s, end in zip(risk, spread, high)]
    return {
        "low": low,
        "high": high,
        "low_simultaneous": [end if ok else math.nan for end, ok in zip(lower, shown)],
        "high_simultaneous": [end if ok else math.nan for end, ok in zip(upper, shown)],
    }


def clusters_with_a_loss(units, confidence):
    """Clusters that hold a loss among the answers of at least this confidence."""
    held = units.answered & (units.confidence >= confidence) & (units.loss != 0)
    return len(set(units.owner[held].tolist()))


@pytest.mark.slow
def test_bands_are_those_of_a_loop_over_the_draws():
    dropped = compared = banded = 0
    for seed in range(60):
        units, plan = Units.random(seed), Plan(8, seed=seed)
        graded = units.graded()
        if units.clusters == 1 or not graded.answered or not graded.loss.any():
            continue
        coverages, rows = loop_over_draws(units, graded, plan)
        kept = [j for j in range(len(coverages)) if sum(row[j] is None for row in rows) <= 4]
        dropped += len(coverages) - len(kept)
        found, curve = bands(graded, plan), Curve.of(graded)
        if not kept:
            assert found is None
            continue
        compared += 1
        assert found.coverage.tolist() == [float(coverages[j]) for j in kept]
        limits = (-math.inf if (graded.loss < 0).any() else 0.0, 1.0)
        shown = [clusters_with_a_loss(units, curve.threshold[j]) >= 5 for j in kept]
        banded += sum(shown)
        for place, name in enumerate(RISKS):
            columns = [[None if row[j] is None else row[j][place] for row in rows] for j in kept]
            expected = naive_band(getattr(curve, name)[kept], columns, units.clusters, shown, limits)
            for end, values in expected.items():
                ends = getattr(getattr(found, name), end)
                assert ends == pytest.approx(values, rel=1e-9, abs=1e-12, nan_ok=True)
    assert compared > 20
    assert dropped > 5
    assert banded > 50


def test_two_people_by_paper_and_pencil():
    """One is right once and wrong once, the other right once and abstains: 1/4 of the draws hold one of them twice."""
    units = Units(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 0]), np.array([2.0, 1, 2, 1]), np.arange(4) < 3, 2, 1)
    every = np.array([[1.0, 1], [2, 0], [0, 2]])
    graded = units.graded()
    drawn = RiskColumns.of(Curve.of(graded))(Sample.drawn(Table.of(graded), every))
    assert Curve.of(graded).coverage.tolist() == [2 / 4, 3 / 4]
    assert drawn["selective"][0].tolist() == [0, 1 / 3]
    assert drawn["selective"][1].tolist() == [0, 1 / 2]
    assert drawn["generalized"][1].tolist() == [0, 1 / 2]
    assert drawn["selective"][2, 0] == 0
    assert math.isnan(drawn["selective"][2, 1]), "whoever abstains, drawn twice, reaches one half only"
    assert math.isnan(drawn["generalized"][2, 1])


@pytest.mark.parametrize("confidence", ["llm", "token_msp"])
def test_the_simultaneous_band_holds_the_curve_and_is_the_wider_one_on_average(confidence):
    graded = simulated(confidence)
    found, curve = bands(graded), Curve.of(graded)
    places = np.searchsorted(curve.coverage, found.coverage)
    for name in RISKS:
        risk, band = getattr(curve, name)[places], getattr(found, name)
        shown = ~np.isnan(band.low_simultaneous)
        low, high = band.low_simultaneous[shown], band.high_simultaneous[shown]
        assert (low <= band.low[shown]).all()
        assert (band.high[shown] <= high).all()
        assert (low <= risk[shown]).all()
        assert (risk[shown] <= high).all()
        assert np.mean(high - low) > 1.2 * np.mean(band.high[shown] - band.low[shown])
        assert (low >= 0).all()
        assert (high <= 3).all()


def test_where_few_clusters_have_shown_a_loss_there_is_no_simultaneous_band():
    """Four of them among the most confident answers, a fifth later: the band begins there."""
    losses = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0])
    confidence, owner = np.array([5.0] * 9 + [4, 3, 2]), np.array([*range(9), 9, 9, 9])
    graded = Units(owner, losses, confidence, owner >= 0, 10, 1).graded()
    band = bands(graded, Plan(300, seed=1)).selective_risk
    assert np.isnan(band.low_simultaneous).tolist() == [True, True, False, False]
    assert not np.isnan(band.low).any()


def test_few_operating_points_all_get_a_band_and_many_are_thinned_evenly():
    few, many = simulated("llm"), simulated("token_msp")
    assert set(Curve.of(few).coverage) - set(bands(few).coverage) <= {Curve.of(few).cmax}
    kept = points_kept(len(Curve.of(many)))
    assert len(Curve.of(many)) > 2 * MOST_POINTS
    assert (len(kept), kept[0], kept[-1]) == (MOST_POINTS, 0, len(Curve.of(many)) - 1)
    assert np.ptp(np.diff(kept)) <= 1
    assert set(bands(many).coverage) <= set(Curve.of(many).coverage[kept])
    assert bands(many).coverage[0] == Curve.of(many).coverage[0]


def test_thinning_repeats_no_point():
    assert all((np.diff(points_kept(points)) > 0).all() for points in range(1, 300))


def test_the_band_of_the_raw_loss_is_that_of_the_normalised_one_times_the_range():
    raw, normalised = (bands(simulated(loss=loss)) for loss in ("abs", "abs_norm"))
    for name in RISKS:
        for end in ("low", "high", "low_simultaneous", "high_simultaneous"):
            ours, theirs = getattr(getattr(raw, name), end), getattr(getattr(normalised, name), end)
            assert ours == pytest.approx(3 * theirs, rel=1e-9, abs=1e-12, nan_ok=True)


def test_blocks_and_threads_change_nothing():
    whole, parts = (bands(simulated(), Plan(60, seed=3, block=block, threads=n)) for block, n in ((60, 1), (7, 2)))
    assert whole.to_json() == parts.to_json()


def test_one_cluster_collapses_onto_the_curve():
    graded = simulated("llm", participants=1, system=FEW_SHOT)
    found = bands(graded, Plan(5, seed=1))
    for end in ("low", "high"):
        assert getattr(found.selective_risk, end).tolist() == Curve.of(graded).selective_risk.tolist()
    assert np.isnan(found.selective_risk.low_simultaneous).all()


def test_a_risk_that_never_varies_has_no_part_in_the_band():
    """All losses are one third: the selective risk is known, whatever rounding makes of its mean."""
    owner = np.repeat(np.arange(8), 3)
    graded = Units(owner, np.ones(24, int), np.arange(24.0) % 5, owner >= 0, 8).graded()
    band = bands(graded, Plan(1000, seed=1)).selective_risk
    for end in ("low", "high", "low_simultaneous", "high_simultaneous"):
        assert {value for value in getattr(band, end).tolist() if not math.isnan(value)} == {1 / 3}


def test_rounding_is_no_variation():
    """The most confident answers all lose 0.3, whose sums round either way: only the others make the band wide."""
    rng = np.random.default_rng(1)
    owner, first = np.repeat(np.arange(30), 6), np.tile(np.arange(6) < 3, 30)
    units = Units(owner, np.where(first, 0.3, rng.random(180)), first * 1.0, owner >= 0, 30, divisor=1)
    graded, plan = units.graded(), Plan(400, seed=1)
    curve = Curve.of(graded)
    drawn = bootstrap(RiskColumns.of(curve), Table.of(graded), plan=plan)["selective"]
    assert 0 < np.ptp(drawn[:, 0]) < 1e-15
    away = np.abs(drawn[:, 1] - curve.selective_risk[1])
    found = bands(graded, plan).selective_risk
    reach = np.quantile(away, 0.95) * math.sqrt(30 / 29) * t_quantile(0.975, 29) / normal_quantile(0.975)
    assert found.high_simultaneous - curve.selective_risk == pytest.approx([0, reach])


@pytest.mark.parametrize(
    ("losses", "resamples"),
    [([1, 0, 2], 0), ([1, 0, 2], 1), ([0, 0, 0], 50), ([], 50)],
    ids=["no resamples", "one resample", "no answer has a loss", "nothing is answered"],
)
def test_where_there_is_no_band(losses, resamples):
    graded = Graded(3, np.array(losses, dtype=np.int64), np.arange(len(losses), dtype=float))
    assert bands(graded, Plan(resamples, seed=1)) is None


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("coverage", [0.125]),
        ("coverage", [0.2, 0.1, 0.3]),
        ("coverage", [0.11, 0.12, 0.13]),
        ("level", 95),
        ("coverage", []),
        ("selective_risk.low", [0.0]),
        ("selective_risk.low", [9.0, 9.0, 9.0]),
        ("generalized_risk.high_simultaneous", [-1.0, -1.0, -1.0]),
        ("generalized_risk.low_simultaneous", [0.0, 0.05, 0.0]),
    ],
)
def test_bands_that_do_not_hold_together_are_refused(path, value, message):
    content = golden_with_bands()
    place = content["confidence_variants"]["llm"]["bands"]
    *rest, last = path.split(".")
    for name in rest:
        place = place[name]
    place[last] = value
    with pytest.raises(UserError) as refused:
        results_of(content)
    message(refused.value)


def test_a_band_has_both_ends_or_none():
    content = json.loads((GOLDEN / "one.json").read_text(encoding="utf-8"))
    band = content["confidence_variants"]["llm"]["bands"]["selective_risk"]
    assert set(band["low_simultaneous"]) == {None}, "three participants show too few losses"
    band["low_simultaneous"][-1] = 0.0
    with pytest.raises(UserError, match="a band has one end"):
        results_of(content)


def test_bands_at_some_of_the_operating_points_are_fine():
    content = golden_with_bands()
    place = content["confidence_variants"]["llm"]["bands"]
    place["coverage"].pop()
    for name in RISKS:
        for ends in place[name].values():
            ends.pop()
    assert len(next(iter(results_of(content).curves.values())).bands.coverage) == 2
