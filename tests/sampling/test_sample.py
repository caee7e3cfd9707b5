"""A block of replicates against the exact curve of each replicate's units."""

import math

import numpy as np
import pytest

from demur import Coverage, Measure, Table
from demur.quantities import default_measures
from demur.quantities.operating import augrc_at, aurc_at
from demur.sampling.draws import weights
from demur.sampling.exact import ExactSample
from demur.sampling.numbers import Number
from demur.sampling.sample import Sample
from parametrized import parametrize_few
from seeds import seeds
from tables import Units

EDGES = ("0.01", "0.2", "0.8", "1")
ALL = [
    *default_measures(),
    *(Measure.of(f"{name}@{c}") for name in ("aurc", "augrc", "risk", "matched_risk") for c in EDGES),
]
ALL += [Measure.of(f"coverage@risk={limit}") for limit in ("0", "0.25", "0.5", "1", "1/3", "2")]


@parametrize_few("seed", seeds(20, 60), 6)
def test_every_quantity_of_a_replicate_is_that_of_its_units(seed):
    units = Units.random(seed)
    drawn = weights(seed, np.arange(6), units.clusters)
    replicates, curves = Sample.drawn(Table.of(units.graded()), drawn), [*map(units.curve_of, drawn)]
    for measure in ALL:
        for value, curve in zip(measure(replicates).value, curves, strict=True):
            expected = measure(curve)
            if math.isnan(expected):
                assert math.isnan(value), measure
            elif "_pct" not in str(measure) or units.loss.dtype.kind == "i":
                assert value == pytest.approx(expected, rel=1e-11, abs=1e-12), measure


def shared_confidences(times):
    """Eight clusters, each with two confidences of its own that `times` units share: no cell of the table holds one."""
    rng = np.random.default_rng(times)
    owner = np.repeat(np.arange(8), 2 * times)
    return Units(
        owner,
        rng.normal(size=16 * times),
        np.repeat(rng.permutation(16).astype(float), times),
        np.ones(16 * times, bool),
        8,
    )


@pytest.mark.parametrize("times", [2, 3])
def test_units_of_one_cluster_may_share_a_confidence(times):
    units = shared_confidences(times)
    table, drawn = Table.of(units.graded()), weights(1, np.arange(9), 8)
    assert not table.plateaus.dense
    for name in ("aurc", "augrc", "cmax"):
        found = Measure.of(name)(Sample.drawn(table, drawn)).value
        assert found == pytest.approx([Measure.of(name)(units.curve_of(row)) for row in drawn], rel=1e-12)


def test_areas_may_be_cut_at_another_place_in_each_replicate():
    units = Units.random(5, most=8, whole=True)
    drawn = weights(1, np.arange(20), units.clusters)
    sample = Sample.drawn(Table.of(units.graded()), drawn)
    cut = np.floor(sample.answered.value / 2)
    areas = (area(sample, Number(cut)).value for area in (aurc_at, augrc_at))
    for row, count, selective, generalized in zip(drawn, cut, *areas):
        curve = units.curve_of(row)
        if count:
            coverage = Coverage.of(f"{int(count)}/{curve.units}")
            assert selective == pytest.approx(aurc_at(curve, coverage), rel=1e-12)
            assert generalized == pytest.approx(augrc_at(curve, coverage), rel=1e-12)
        else:
            assert selective == generalized == 0


def test_whole_losses_take_the_same_value_by_matrix_product_and_by_running_sum():
    units = Units.random(9, most=8, whole=True, tied=True)
    drawn = weights(2, np.arange(30), units.clusters)
    table = Table.of(units.graded())
    for one, other in zip(
        table.plateaus.running_sums(drawn.T, whole=True), table.plateaus.running_sums(drawn.T, whole=False)
    ):
        assert (one == other).all()


def test_a_sum_over_clusters_is_that_of_each_replicate_and_exact_of_the_data():
    units = Units.random(4, most=8, whole=True)
    table, drawn = Table.of(units.graded()), weights(3, np.arange(7), units.clusters)
    by_cluster = np.arange(units.clusters) ** 2.0
    total = Sample.drawn(table, drawn).total(by_cluster)
    assert total.value.tolist() == [sum(row * by_cluster) for row in drawn]
    assert (total.influence == by_cluster[:, None]).all()
    assert ExactSample.of(table).total(by_cluster).value == [sum(by_cluster)]
