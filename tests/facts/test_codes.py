"""Columns of names, and columns of cells of every kind: the same as a list of them, whatever is done."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from demur.facts.codes import Codes
from demur.facts.columns import MISSING, Column, State

CELLS = st.lists(
    st.one_of(
        st.sampled_from(["a", "b", "", 1, 1.0, True, False, 0, None, MISSING, 2**53 + 1, math.nan, math.inf]),
        st.integers(-3, 3),
        st.text(max_size=2),
        st.lists(st.integers(0, 1), max_size=1),
    ),
    max_size=12,
)


def same(cells):
    """Cells that can be compared: with their types, and NaN equal to itself."""
    return [(type(cell), str(cell)) for cell in cells]


def told(column):
    """What a column holds, one cell after the other."""
    return same(column.cell(unit) for unit in range(len(column)))


@given(CELLS, st.data())
def test_codes_are_the_list_they_were_made_of(cells, data):
    codes = Codes.of(cells)
    assert same(codes) == same(cells)
    first_seen = dict.fromkeys(codes.numbers.tolist())
    assert [*first_seen] == [*range(len(codes.values))], "numbered as they turn up"
    units = data.draw(st.lists(st.integers(0, len(cells) - 1), max_size=8) if cells else st.just([]))
    taken = codes.take(np.array(units, dtype=np.intp))
    assert same(taken) == same(cells[unit] for unit in units)
    assert len(taken.values) == len({*taken.numbers.tolist()}), "no value that no unit has"
    assert same(codes.mapped(str)) == same(map(str, cells))
    assert len(codes.mapped(str).values) == len({*map(str, cells)})
    assert codes.where(lambda cell: cell is None).tolist() == [cell is None for cell in cells]
    assert codes.first(lambda cell: cell is None) == next((i for i, cell in enumerate(cells) if cell is None), None)


def test_numbers_of_three_types_are_three_values_and_lists_are_like_no_other():
    assert Codes.of([1, 1.0, True, 1]).numbers.tolist() == [0, 1, 2, 0]
    assert Codes.of([[1], [1], math.nan, float("nan")]).numbers.tolist() == [0, 1, 2, 2]


PAIRS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), max_size=10)


@given(PAIRS, PAIRS)
def test_pairs_are_those_of_the_two_columns(units, wanted):
    letters, numbers = Codes.of([unit[0] for unit in units]), Codes.of([unit[1] for unit in units])
    assert [*letters.paired(numbers)] == units
    assert letters.is_pair(numbers, wanted).tolist() == [unit in wanted for unit in units]


@given(CELLS, CELLS)
def test_columns_joined_spread_and_taken_hold_the_same_cells(left, right):
    together = Column.of([*left, *right])
    joined = Column.joined([Column.of(left), Column.of(right)])
    assert told(joined) == told(together) == told(Column.of_codes(Codes.of([*left, *right])))
    backwards = np.arange(len(together))[::-1]
    assert told(together.take(backwards)) == told(together)[::-1]
    assert joined.is_other(lambda _: True).tolist() == (joined.state == State.OTHER).tolist()


def test_a_column_changed_keeps_its_numbers():
    column = Column.of([0.5, True, "x", None, False]).changed(lambda cell: int(cell) if type(cell) is bool else cell)
    assert [column.cell(unit) for unit in range(5)] == [0.5, 1, "x", None, 0]
    assert column.is_other(lambda _: True).tolist() == [False, False, True, False, False]
