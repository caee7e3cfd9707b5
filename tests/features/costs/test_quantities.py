"""Costs: the envelope of operating points is exact, and equal to a plain look at every one of them."""

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import units_lists
from demur import Curve, Graded, Measure, Plan, Table, UserError, cost_optimal, estimate, grade_units, measure
from demur.features.costs.envelope import CostEnvelope
from demur.features.costs.prices import price_of, price_text
from demur.quantities import quantities
from demur.sampling.draws import weights
from demur.sampling.graded import Clusters
from demur.sampling.sample import Sample
from parametrized import parametrize_few
from reference import number
from reference.selective import PlainCurve, Unit
from seeds import seeds
from tables import Units

T1 = [Unit(F(0), 0.9), Unit(F(1), 0.9), Unit(F(0), 0.8), Unit(F(0), 0.7), Unit(F(1), 0.7), Unit(F(0), 0.6)]
T1 += [Unit(None, 0.0), Unit(None, 0.0)]
T2 = [Unit(F(loss), confidence) for loss, confidence in zip((0, 0, 1, 0, 1), (0.9, 0.8, 0.7, 0.6, 0.5))]
prices = st.fractions(0, 1, max_denominator=60)


def curve_of(units, largest=3, divisor=3):
    """The curve of units whose loss is at most `largest`, as integers over a divisor."""
    them = [unit for unit in units if unit.loss is not None]
    losses = np.array([int(unit.loss * divisor) for unit in them], dtype=np.int64)
    confidences = np.array([unit.confidence for unit in them], dtype=float)
    return Curve.of(Graded(len(units), losses, confidences, divisor, largest_loss=largest * divisor))


def every_point(units, largest):
    """(coverage, generalized risk in largest losses, threshold) of every operating point, and of declining all."""
    points = PlainCurve(units).points
    return [(F(0), F(0), None), *((p.coverage, p.generalized / largest, p.threshold) for p in points)]


def cheapest(units, price, largest=3):
    """By looking at every operating point; of equals the one that answers most."""
    return min((lost + price * (1 - c), -c, t) for c, lost, t in every_point(units, largest))


def test_the_envelope_of_an_order_with_two_mistakes():
    envelope = CostEnvelope.of(curve_of(T2, 1))
    vertices = [(point.coverage, point.lost) for point in envelope.points]
    assert vertices == [(0, 0), (F(2, 5), 0), (F(4, 5), F(1, 5)), (1, F(2, 5))]
    assert envelope.switches == (0, F(1, 2), 1)
    costs = {F(1, 10): F(3, 50), F(1, 4): F(3, 20), F(1, 2): F(3, 10), F(3, 4): F(7, 20), F(1): F(2, 5)}
    assert {price: envelope.cost(price) for price in costs} == costs
    assert (envelope.best(F(1, 2)).coverage, envelope.best(F(1)).coverage) == (F(4, 5), 1)
    assert envelope.area == F(1, 4)
    assert envelope.saving(F(1, 2)) == F(1, 10)


def test_a_confidence_that_is_worth_nothing_at_any_price():
    envelope = CostEnvelope.of(curve_of(T1, 1))
    assert [(point.coverage, point.lost) for point in envelope.points] == [(0, 0), (F(3, 4), F(1, 4))]
    assert envelope.switches == (F(1, 3),)
    assert (envelope.cost(F(1, 4)), envelope.cost(F(1, 2)), envelope.area) == (F(1, 4), F(3, 8), F(1, 3))
    assert {envelope.saving(F(n, 60)) for n in range(61)} == {0}


def test_the_cheapest_point_says_where_to_put_the_threshold():
    best = cost_optimal(curve_of(T2, 1), "1:10")
    assert (best.price, best.threshold, best.coverage, best.risk, best.cost) == (F(1, 10), 0.8, F(2, 5), 0, F(3, 50))
    declined = cost_optimal(curve_of(T1, 1), "0.25")
    assert (declined.threshold, declined.coverage, declined.risk, declined.cost) == (None, 0, None, F(1, 4))
    risky = cost_optimal(curve_of(T1, 1), "0.5")
    assert (risky.threshold, risky.risk) == (0.6, F(1, 3))


def test_a_loss_in_score_points_costs_its_share_of_the_largest_and_keeps_its_risk():
    """The same answers with losses of 0 and 3, of at most 3, cost the same."""
    tripled = [Unit(unit.loss and 3 * unit.loss, unit.confidence) for unit in T1]
    best, same = cost_optimal(curve_of(T1, 1), "0.5"), cost_optimal(curve_of(tripled, 3), "0.5")
    assert (best.cost, best.risk, same.cost, same.risk) == (F(3, 8), F(1, 3), F(3, 8), 1)


def test_nothing_answered_costs_the_price_and_no_error_is_answered_at_any_price():
    silent, right = curve_of([Unit(None, 0.0)] * 3), curve_of([Unit(F(0), float(c)) for c in range(4)])
    assert cost_optimal(silent, "0.3").cost == F(3, 10)
    assert cost_optimal(silent, "0.3").threshold is None
    assert CostEnvelope.of(silent).area == CostEnvelope.of_oracle(silent).area == F(1, 2)
    assert {cost_optimal(right, F(n, 10)).coverage for n in range(11)} == {1}
    assert CostEnvelope.of(right).area == 0


def test_the_reward_for_effective_reliability_has_the_same_optimum():
    """Right +1, declined 0, wrong −1: the best of T2 is 2/5, and 1 − cost/a at a = 1/2."""
    assert 1 - CostEnvelope.of(curve_of(T2, 1)).cost(F(1, 2)) / F(1, 2) == F(2, 5)


right_or_wrong = st.lists(
    st.builds(Unit, st.sampled_from([None, F(0), F(1)]), st.integers(0, 4).map(float)), min_size=1
)


@given(right_or_wrong, st.fractions(0, 9, max_denominator=12))
def test_the_best_reward_is_1_less_the_cost_in_prices(units, penalty):
    """Right +1, declined 0, wrong −λ, at the best threshold: 1 − E(a)/a with a = 1/(1 + λ)."""
    best = max(reached - (1 + penalty) * lost for reached, lost, _ in every_point(units, 1))
    price = 1 / (1 + penalty)
    assert best == 1 - CostEnvelope.of(curve_of(units, 1)).cost(price) / price


@given(units_lists, prices)
def test_the_cheapest_is_the_cheapest_of_all_points(units, price):
    cost, minus_coverage, threshold = cheapest(units, price)
    best = cost_optimal(curve_of(units), price)
    assert (best.cost, best.coverage, best.threshold) == (cost, -minus_coverage, threshold)


@given(units_lists)
def test_the_vertices_are_the_points_that_are_cheapest_alone_at_some_price(units):
    """Between two switches, and beyond the last, one point is cheaper than every other."""
    envelope, points = CostEnvelope.of(curve_of(units)), every_point(units, 3)
    ends = [*envelope.switches, envelope.switches[-1] + 1] if envelope.switches else []
    for vertex, low, high in zip(envelope.points[1:], ends, ends[1:]):
        between = (low + high) / 2
        costs = sorted(lost + between * (1 - coverage) for coverage, lost, _ in points)
        assert costs[:1] == [vertex.cost(between)]
        assert len(costs) == 1 or costs[0] < costs[1]
    assert list(envelope.switches) == sorted({*envelope.switches})
    assert all(switch <= 1 for switch in envelope.switches)


@given(units_lists, prices, prices)
@pytest.mark.slow
def test_the_lowest_cost_is_concave_rises_with_the_price_and_is_below_both_references(units, one, other):
    curve = curve_of(units)
    envelope, oracle, random = CostEnvelope.of(curve), CostEnvelope.of_oracle(curve), CostEnvelope.of_random(curve)
    low, high = sorted((one, other))
    assert envelope.cost(low) <= envelope.cost(high)
    assert envelope.cost((low + high) / 2) * 2 >= envelope.cost(low) + envelope.cost(high)
    assert oracle.cost(low) <= envelope.cost(low) <= random.cost(low) <= low
    assert random.cost(low) == min(low, envelope.points[-1].cost(low))
    assert envelope.saving(low) == random.cost(low) - envelope.cost(low) >= 0
    assert oracle.area <= envelope.area <= random.area


@given(units_lists)
def test_the_area_is_that_of_a_fine_sum_over_prices(units):
    """Trapezoids of a concave function are below it, by little if they are many."""
    envelope, steps = CostEnvelope.of(curve_of(units)), 64
    heights = [envelope.cost(F(n, steps)) for n in range(steps + 1)]
    trapezoids = (sum(heights) - (heights[0] + heights[-1]) / 2) / steps
    assert 0 <= envelope.area - trapezoids <= F(1, steps**2)


@pytest.mark.parametrize(
    "given_as", ["0.1", ".1", "0.10", "1:10", "2:20", "1/10", 0.1, np.float64(0.1), F(1, 10), Decimal("0.1")]
)
def test_a_price_is_what_was_typed(given_as):
    assert price_of(given_as) == F(1, 10)


@pytest.mark.parametrize(
    "wrong", ["", "-0.1", "1.1", "11:10", "1:0", "nan", "1e-3", True, None, float("nan"), "0.1 ", 2]
)
def test_what_is_no_price_is_refused_in_one_line(wrong):
    with pytest.raises(UserError, match=r"^price of an abstention .*, expected a number 0 to 1, as 0\.1 or 1:10$"):
        price_of(wrong)


def test_without_a_largest_loss_there_is_no_cost_and_the_way_out_is_said():
    curve = Curve.of(Graded(2, np.array([0, 7]), np.array([1.0, 0.5])))
    with pytest.raises(UserError, match=r"the largest loss is not known.*loss_max=…"):
        cost_optimal(curve, "0.1")


COSTS = [
    Measure.of(entry.name.replace("@A", f"@{price}"))
    for entry in quantities("costs")
    for price in (("0", "0.1", "1/3", "1") if entry.parameter else ("",))
]


@given(units_lists)
def test_every_cost_is_that_of_the_plain_loops(units):
    curve = curve_of(units)
    for one in COSTS:
        assert one(curve) == float(number(str(one), units, largest=3)), one


@parametrize_few("seed", seeds(7, 20), 3)
def test_every_cost_of_a_replicate_is_that_of_its_units(seed):
    units = Units.random(seed)
    largest = float(np.abs(units.loss).max(initial=0)) + 1
    drawn = weights(seed, np.arange(6), units.clusters)
    table = Table.of(replace(units.graded(), largest_loss=largest))
    for one in COSTS:
        of_data = one.quantity.name == "cost_at_threshold@A"  # the threshold is that of the data, not of the draw
        values = one(Sample.drawn(table, drawn if not of_data else np.ones((1, units.clusters))))
        curves = map(units.curve_of, drawn) if not of_data else [units.curve_of(np.ones(units.clusters))]
        expected = [one(replace(curve, largest_loss=largest)) for curve in curves]
        assert values.value == pytest.approx(expected, rel=1e-11, abs=1e-12), one


@pytest.mark.parametrize("price", ["0", "0.1", "0.5", "1"])
def test_a_fixed_threshold_is_that_of_the_data_in_every_draw_and_its_influences_are_derivatives(price):
    rng = np.random.default_rng(3)
    owner, loss, confidence = np.repeat(np.arange(8), 5), rng.integers(0, 2, 40), rng.integers(0, 6, 40).astype(float)
    table = Table.of(Graded(40, loss, confidence, clusters=Clusters.of(owner.tolist(), loss >= 0), largest_loss=1))
    name, rows = f"cost_at_threshold@{price}", [*zip(loss.tolist(), confidence.tolist())]
    measure, drawn = Measure.of(name), weights(1, np.arange(5), 8)
    for value, weight in zip(measure(Sample.drawn(table, drawn)).value, drawn):
        sample = [row for row, who in zip(rows, owner) for _ in range(int(weight[who]))]
        assert value == pytest.approx(float(number(name, sample, of=rows)), rel=1e-12)
    influence = measure(Sample.data(table)).influence[:, 0]
    for cluster, found in enumerate(influence):
        step = np.eye(8)[[cluster]] * 1e-4
        up, down = (measure(Sample.drawn(table, 1 + sign * step)).value[0] for sign in (1, -1))
        assert found == pytest.approx((up - down) / 2e-4, abs=1e-7)
    assert influence.sum() == pytest.approx(0, abs=1e-12)


def test_costs_are_measured_and_estimated_by_name_and_undefined_without_a_largest_loss():
    answers = {"truth": [1] * 5, "prediction": [1, 1, 0, 1, 0], "loss": "zero_one"}
    graded = grade_units([9, 8, 7, 6, 5], clusters=[*"abcde"], **answers)
    assert measure([9, 8, 7, 6, 5], metrics=["cost@1:10", "cost_area"], **answers).to_dict() == {
        "cost@1:10": 0.06,
        "cost_area": 0.25,
    }
    found = estimate(graded, ["cost@0.1", "saving@0.5"], plan=Plan(200, seed=3))
    assert found["cost@0.1"].recommended.method == "expanded_percentile"
    assert found["saving@0.5"].value == 0.1
    unknown = measure([2, 1], loss=[0, 7], metrics="cost@0.1")
    assert math.isnan(unknown["cost@0.1"])
    assert unknown.reasons["cost@0.1"] == "the largest loss is not known"
    assert not any(name.startswith("cost") for name in measure([2, 1], loss=[0, 7]))


def test_a_price_is_written_as_it_is_typed():
    texts = ("0", "1", "0.1", "0.05", "0.125", "1/3")
    assert [price_text(price_of(text)) for text in texts] == [*texts]
    assert str(Measure.of("cost@1:10")) == "cost@1:10"
