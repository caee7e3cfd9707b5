"""Derivatives of numbers by the weights of clusters, against central differences and the jackknife."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.special import digamma

from demur import Measure, Table
from demur.inference.views import CurveView, SharedView
from demur.quantities import default_measures
from demur.quantities.calibration import auroc
from demur.quantities.forecasts import Forecasts
from demur.sampling.draws import weights
from demur.sampling.numbers import least
from demur.sampling.resample import StdError
from demur.sampling.sample import Sample
from parametrized import parametrize_few
from seeds import seeds
from tables import Units

WHOLE = ["cmax", "aurc", "augrc", "naurc", "naugrc", "eaurc", "eaugrc", "risk"]
EVERY = [
    *default_measures("curve"),
    *default_measures("costs"),
    *map(Measure.of, ("aurc@1/7", "augrc@0.77", "coverage@threshold=1.5", "risk@threshold=0.5", "coverage@risk=0.5")),
]
# Those that jump, or whose vertices are chosen anew in every sample, have none.
WITHOUT = {"aurc_achievable", "achievable_gain_pct", "aurc_harmonic", "aurc_sele", "risk@C", "coverage@risk=R"}
WITHOUT |= {"cost@A", "saving@A", "cost_area", "cost_area_random", "cost_area_optimal"}


def ones(view):
    return np.ones(len(view.ids))


def standard_errors(name, sample):
    number = Measure.of(name)(sample)
    return StdError(number, sample.table.clusters).of_squares(sample.weights.squares([number])[0])


def area(points, start, end):
    """Under straight lines from (0, start) through the points, up to an end; flat after the last."""
    total, (x, y) = 0.0, (0.0, start)
    for right, height in points:
        if right >= end:
            there = y + (height - y) * (end - x) / (right - x) if right > x else y
            return total + (end - x) * (y + there) / 2
        total, x, y = total + (right - x) * (y + height) / 2, right, height
    return total + (end - x) * y


def in_order(entries, weight, steps, divisor):
    """Weighted counts and losses up to each step."""
    count, loss = np.zeros(steps), np.zeros(steps)
    np.add.at(count, entries.step - 1, entries.count * weight[entries.cluster])
    np.add.at(loss, entries.step - 1, entries.loss * weight[entries.cluster] / divisor)
    return np.cumsum(count), np.cumsum(loss)


def oracle(table, weight, units):
    """The AURC of the oracle order, its harmonic numbers continued between whole counts."""
    count, loss = in_order(table.levels, weight, len(table.level_loss), table.divisor)
    total, before, summed = 0.0, 0.0, 0.0
    for level, here, up_to in zip(table.level_loss / table.divisor, count, loss):
        total += level * (here - before) + (summed - level * before) * (digamma(here + 1) - digamma(before + 1))
        before, summed = here, up_to
    lowest = table.level_loss[np.argmax(count > 0)] / table.divisor
    return (total + (lowest - summed / before) / 2) / units


def plain(name, table, weight, end=None):
    """A number of clusters that count as often as their weight says, whole or not."""
    units = float(weight @ table.cluster_units)
    count, loss = in_order(table.plateaus, weight, len(table.threshold), table.divisor)
    held = count > 0
    count, loss = count[held], loss[held]
    reached = count[-1] / units
    if name == "cmax":
        return reached
    if name == "risk":
        return loss[-1] / count[-1]
    generalized = "augrc" in name
    heights = loss / units if generalized else loss / count
    start = 0.0 if generalized else heights[0]
    value = area(zip(count / units, heights), start, reached if end is None else min(end, reached))
    if name.startswith("n"):
        return value / reached
    if name == "eaugrc":
        levels, losses = in_order(table.levels, weight, len(table.level_loss), table.divisor)
        return value - area(zip(levels / units, losses / units), 0.0, reached)
    return value - oracle(table, weight, units) if name == "eaurc" else value


def derivative(number, weight, step=1e-5):
    """By the weight of each cluster that is there, with the number of clusters held: central differences."""
    slopes = np.zeros(len(weight))
    for cluster in np.flatnonzero(weight):
        nudge = step * (np.arange(len(weight)) == cluster)
        slopes[cluster] = (number(weight + nudge) - number(weight - nudge)) / (2 * step)
    return np.where(weight > 0, slopes - weight @ slopes / len(weight), 0)


def case(seed):
    """Some units with abstentions, sometimes tied; weights of the data as they are, and of two replicates."""
    units = Units.random(100 + seed, most=6)
    units = Units(units.owner, units.loss, units.confidence, np.arange(len(units.owner)) % 3 > 0, units.clusters)
    drawn = np.vstack([np.ones(units.clusters), weights(seed, np.arange(2), units.clusters)])
    view = CurveView.of(units.graded())
    answered = Sample.drawn(view.table, drawn).answered.value
    return view, drawn[answered > 0]


@pytest.mark.parametrize("measure", EVERY, ids=str)
@pytest.mark.parametrize("seed", seeds(4, 20))
def test_the_derivatives_of_every_quantity_add_up_to_0_over_the_clusters_of_a_sample(measure, seed):
    view, drawn = case(seed)
    number = measure(Sample.drawn(view.table, drawn))
    assert (number.slope is None) == (measure.quantity.name in WITHOUT)
    if number.slope is not None:
        total = (drawn.T * number.influence).sum(axis=0)[~np.isnan(number.value)]
        assert total == pytest.approx(0, abs=1e-10 if "pct" in str(measure) else 1e-12)


@pytest.mark.parametrize("measure", [each for each in EVERY if each.quantity.name not in WITHOUT], ids=str)
@pytest.mark.parametrize("seed", seeds(4, 20))
def test_they_are_central_differences_of_the_quantity_itself(measure, seed):
    """Harmonic numbers are of whole counts: the oracle order is differenced in a plain loop, below."""
    if "aurc_optimal" in str(measure) or "eaurc" in str(measure) or "aurc_gap" in str(measure):
        pytest.skip("of whole counts")
    view, drawn = case(seed)

    def number(weight):
        sample = Sample.drawn(view.table, weight[None])
        if measure.coverage is None:
            return float(measure(sample).value[0])
        end = least(sample.units * float(measure.coverage), sample.answered)  # of any number of units, whole or not
        return float(measure.quantity.function(sample, end).value[0])

    found = measure(Sample.drawn(view.table, drawn))
    for weight, value, column in zip(drawn, found.value, found.influence.T):
        if not math.isnan(value):
            expected, scale = derivative(number, weight, 1e-6), max(1.0, abs(value))
            assert np.where(weight > 0, column, 0) == pytest.approx(expected, abs=1e-6 * scale)


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("seed", seeds(6, 20))
def test_influences_are_derivatives_by_the_weights_of_clusters(name, seed):
    view, drawn = case(seed)
    found = Measure.of(name)(Sample.drawn(view.table, drawn)).influence
    for weight, column in zip(drawn, found.T):
        expected = derivative(lambda w: plain(name, view.table, w), weight)
        assert np.where(weight > 0, column, 0) == pytest.approx(expected, abs=1e-8)
        assert weight @ column == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", ["aurc", "augrc"])
@pytest.mark.parametrize("seed", seeds(6, 20))
def test_a_cut_area_moves_as_its_points_do_also_when_cut_on_one(name, seed):
    view, _ = case(seed)
    for text in ("0.3", "1/7", "0.77", *(f"{count}/{view.curve.units}" for count in view.curve.points.count)):
        measure = Measure.of(f"{name}@{text}")
        found = measure(view.sample).influence[:, 0]
        number = partial(plain, name, view.table, end=float(measure.coverage))
        expected = derivative(number, ones(view), 1e-7)
        assert found == pytest.approx(expected, abs=5e-8)


@pytest.mark.parametrize("name", ["aurc", "augrc"])
@pytest.mark.parametrize("seed", seeds(6, 20))
@pytest.mark.parametrize("fewer", [0, 1, 2])
def test_an_area_up_to_the_common_coverage_moves_with_the_coverage(name, seed, fewer):
    """The other system answers as many units, or fewer: then C_common is its Cmax."""
    view, _ = case(seed)
    kept = max(view.graded.answered - fewer, 1)
    clusters = replace(view.graded.clusters, of_answer=view.graded.clusters.of_answer[:kept])
    loss, confidence = view.graded.loss[:kept], view.graded.confidence[:kept]
    rival = CurveView.of(replace(view.graded, loss=loss, confidence=confidence, clusters=clusters))

    def number(weight):
        return plain(name, view.table, weight, min(plain("cmax", one.table, weight) for one in (view, rival)))

    found = Measure.of(f"{name}@C_common")(SharedView((view, rival), 0).sample).influence[:, 0]
    assert found == pytest.approx(derivative(number, ones(view), 1e-7), abs=5e-8)


@parametrize_few("name", ["aurc@0.4", "augrc@0.4", "augrc", "eaurc"], 2)
def test_influences_in_a_replicate_are_those_of_its_units(name):
    """A replicate that holds clusters several times over is a data set of its own."""
    for seed in range(30):
        units = Units.random(seed, most=8, whole=True)
        drawn = weights(seed, np.arange(4), units.clusters)
        table = Table.of(units.graded())
        sample = Sample.drawn(table, drawn)
        errors = standard_errors(name, sample)
        for row, error, answered in zip(drawn, errors, sample.answered.value):
            if answered and units.clusters > 1:
                copies = CurveView.of(units.repeated(row).graded())
                assert error == pytest.approx(float(standard_errors(name, copies.sample)[0]), abs=1e-12)


def test_analytic_errors_are_those_of_the_jackknife_with_many_clusters():
    rng = np.random.default_rng(5)
    clusters, size = 300, 6
    owner, ability = np.repeat(np.arange(clusters), size), np.repeat(rng.normal(size=clusters), size)
    confidence = rng.normal(size=clusters * size)
    loss = (rng.normal(size=clusters * size) + ability > 1 + confidence).astype(int)
    units = Units(owner, loss, confidence, confidence > -1.2, clusters, 1)
    view = CurveView.of(units.graded())
    without = Sample.drawn(view.table, 1.0 - np.eye(clusters))
    for name in (*WHOLE, "aurc@0.5", "augrc@0.5", "augrc@0.9"):
        values = Measure.of(name)(without).value
        jackknife = math.sqrt((clusters - 1) / clusters * float(((values - values.mean()) ** 2).sum()))
        found = standard_errors(name, view.sample)[0]
        assert found == pytest.approx(jackknife, rel=0.02), name


def test_the_influence_on_an_auroc_is_its_derivative():
    rng = np.random.default_rng(3)
    step, cluster = rng.integers(0, 5, 40), rng.integers(0, 7, 40)
    positive = (rng.random(40) < 0.2 + step / 8).astype(float)
    influence = Measure.of("auroc").quantity.influence(step, cluster, positive, 1 - positive, 7)

    def number(weight):
        count, came = (np.bincount(step, weight[cluster] * column)[:, None] for column in (np.ones(40), positive))
        return float(auroc(Forecasts(np.arange(5) / 4, count, came, came.sum(axis=0)))[0])

    assert influence == pytest.approx(derivative(number, np.ones(7)), abs=1e-8)
