"""Numbers of other tools: every value of the worked tables, plain loops, laws, and the range over orders of ties."""

import itertools
import math
from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conventions import (
    FD_SHIFTS,
    FD_SHIFTS_ABSTENTIONS,
    OURS,
    RANGES,
    SORTED,
    TABLES,
    graded,
    rows_of,
)
from demur import Curve, Measure, UserError
from demur.features.conventions.emulations import EMULATIONS, Answers, checked_conventions, closed_form
from demur.quantities.excess import aurc_optimal
from reference.conventions import TOOLS, number
from reference.registry import parsed
from reference.selective import PlainCurve, Unit


def emulated(convention, name, rows):
    return EMULATIONS[convention].emulated(name, Answers(graded(rows)))


def close(value, expected):
    return pytest.approx(float(expected), rel=1e-12, abs=1e-12, nan_ok=True) == value


@pytest.mark.parametrize("table", TABLES)
def test_our_own_numbers_are_those_of_the_table(table):
    curve = Curve.of(graded(rows_of(table)))
    assert {name: Measure.of(name)(curve) for name in OURS[table]} == {
        name: float(value) for name, value in OURS[table].items()
    }


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", FD_SHIFTS["T1"])
@pytest.mark.parametrize("flipped", [False, True])
def test_fd_shifts_is_as_the_package_computes_it(table, name, flipped):
    found = emulated("fd-shifts", name, rows_of(table, flipped))
    assert close(found.value, FD_SHIFTS[table][name])
    assert found.over_ties is None


@pytest.mark.parametrize(("table", "loss"), FD_SHIFTS_ABSTENTIONS)
def test_fd_shifts_with_abstentions_as_answers(table, loss):
    rows = [(loss, -1) if sure is None else (wrong, sure) for wrong, sure in rows_of(table)]
    for name, value in FD_SHIFTS_ABSTENTIONS[table, loss].items():
        assert close(emulated("fd-shifts", name, rows).value, value)


CELLS = [(*key, table, flipped) for key, values in SORTED.items() for table in values for flipped in (0, 1)]


@pytest.mark.parametrize(("convention", "name", "table", "flipped"), CELLS)
def test_a_tool_that_sorts_is_as_the_package_computes_it(convention, name, table, flipped):
    expected = SORTED[convention, name][table][flipped]
    if expected is not None:
        found = emulated(convention, name, rows_of(table, bool(flipped)))
        assert close(found.value, expected)
        assert bool(found.undefined) == math.isnan(expected)


@pytest.mark.parametrize(("table", "convention", "name"), RANGES)
def test_the_range_over_tie_orders_is_that_of_the_table(table, convention, name):
    found = emulated(convention, name, rows_of(table))
    assert all(map(close, found.over_ties, RANGES[table, convention, name]))


def test_without_ties_the_range_is_the_value():
    for convention in EMULATIONS.values():
        for name in convention.names(["0.5"]):
            found = convention.emulated(name, Answers(graded(rows_of("T2"))))
            assert found.over_ties in (None, (found.value, found.value))


def test_all_wrong_gives_what_the_formulas_give():
    rows = [(1, 3), (1, 2), (1, 1)]
    assert close(emulated("geifman", "aurc", rows).value, F(13, 18))
    assert close(emulated("torch-uncertainty", "augrc", rows).value, F(2, 3))
    assert emulated("fd-shifts", "aurc_optimal", rows).value == 1000
    assert emulated("geifman", "eaurc", rows).undefined


def test_what_a_tool_cannot_take_is_undefined_with_the_reason():
    assert emulated("torch-uncertainty", "aurc", rows_of("T3")).undefined == "torch-uncertainty has 0/1 errors only"
    assert emulated("torch-uncertainty", "aurc", [(0, 1)]).undefined == "an area there takes two answers"
    assert emulated("fd-shifts", "aurc", [(None, 1)]).undefined == "nothing is answered"
    assert "0/1 losses" in emulated("geifman", "eaurc", rows_of("T3")).remark
    low = emulated("torch-uncertainty", "coverage@risk=0.05", rows_of("T1", reversed_rows=True))
    assert (math.isnan(low.value), low.over_ties) == (True, (None, 1 / 6))


def test_an_unknown_convention_or_number_is_named():
    with pytest.raises(UserError, match="no convention is called fd_shifts; did you mean fd-shifts"):
        checked_conventions(["fd_shifts"])
    with pytest.raises(UserError, match="ln is asked for twice"):
        checked_conventions(["ln", "ln"])
    with pytest.raises(UserError, match="no number of ln is called augrc"):
        emulated("ln", "augrc", rows_of("T1"))


def test_every_emulation_has_a_plain_loop_of_every_number():
    assert {name: set(each.numbers) for name, each in EMULATIONS.items()} == {
        name: set(tool.numbers) for name, tool in TOOLS.items()
    }
    assert {name: each.keys["ties"] for name, each in EMULATIONS.items()} == {
        name: tool.ties for name, tool in TOOLS.items()
    }


losses = st.integers(0, 3) | st.none()
answers = st.lists(st.tuples(losses, st.integers(0, 4)), min_size=1, max_size=12)
errors = st.lists(st.tuples(st.integers(0, 1) | st.none(), st.integers(0, 4)), min_size=1, max_size=12)


@given(answers | errors)
def test_emulations_are_what_plain_loops_give(rows):
    made = Answers(graded(rows))
    units = [Unit(None if loss is None else F(loss), sure) for loss, sure in rows]
    for convention, emulation in EMULATIONS.items():
        for name in [*emulation.names(["0.5", "0.8"])]:
            registered, at = (name, ()) if name in emulation.numbers else parsed(name)
            value = number(TOOLS[convention], registered, at, units)
            found = emulation.emulated(name, made)
            assert close(found.value, math.nan if value is None else value), (convention, name)


def orders_of(rows):
    """Every order that a sort may leave the answers in, each as units without ties, and the abstentions after them."""
    levels = sorted({sure for loss, sure in rows if loss is not None}, reverse=True)
    plateaus = [[loss for loss, sure in rows if sure == level and loss is not None] for level in levels]
    within = [{*itertools.permutations(plateau)} for plateau in plateaus]
    orders = {tuple(itertools.chain(*order)) for order in itertools.product(*within)}
    declined = [Unit(None, sure) for loss, sure in rows if loss is None]
    return [[Unit(F(loss), -rank) for rank, loss in enumerate(order)] + declined for order in orders]


def check_range(emulation, name, rows, orders):
    registered, at = (name, ()) if name in emulation.numbers else parsed(name)
    values = [number(TOOLS[emulation.name], registered, at, order) for order in orders]
    known, found = [float(value) for value in values if value is not None], emulated(emulation.name, name, rows)
    if not known:
        assert found.over_ties is None
        return
    low, high = found.over_ties
    assert high == pytest.approx(max(known), rel=1e-12)
    assert low == (pytest.approx(min(known), rel=1e-12) if len(known) == len(values) else None)


SORTING = [each for each in EMULATIONS.values() if each.keys["ties"] != "plateau"]
EIGHT = [(0, 1), (1, 1), (1, 1), (0, 1), (1, 0), (0, 0), (0, 0), (1, 0)]
GRADED = [(3, 1), (0, 1), (2, 1), (1, 1), (0, 0), (3, 0), (None, 0)]


@pytest.mark.parametrize("rows", [EIGHT, GRADED])
def test_the_range_is_of_all_orders_of_ties_and_both_ends_are_reached(rows):
    orders = orders_of(rows)
    for emulation in SORTING:
        for name in emulation.names(["0.3", "0.5"]):
            check_range(emulation, name, rows, orders)


@given(st.lists(st.tuples(st.integers(0, 1) | st.none(), st.integers(0, 2)), min_size=1, max_size=8))
@pytest.mark.slow
def test_the_range_is_of_all_orders_of_any_eight_answers(rows):
    orders = orders_of(rows)
    for emulation in SORTING:
        for name in emulation.names(["0.5"]):
            check_range(emulation, name, rows, orders)


@given(answers)
def test_fd_shifts_is_ours_over_cmax_times_1000_exactly(rows):
    curve = PlainCurve(rows)
    if curve.losses:
        tool, units = TOOLS["fd-shifts"], curve.rows
        assert number(tool, "aurc", (), units) == 1000 * curve.aurc / curve.cmax
        assert number(tool, "augrc", (), units) == 1000 * curve.augrc / curve.cmax**2


def test_the_closed_form_is_the_limit_of_the_oracle_order():
    curve = Curve.of(graded([(int(rank >= 6000), -rank) for rank in range(10_000)]))
    assert closed_form(0.4) == pytest.approx(aurc_optimal(curve), abs=1e-4)
