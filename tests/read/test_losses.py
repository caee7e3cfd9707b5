"""Losses, scores and texts in long tables: what is read of them, exactly, and what is refused."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from demur import (
    PHQ8,
    PHQ9,
    Minus,
    Plan,
    Settings,
    TableOptions,
    UserError,
    compare,
    evaluate,
    grade_units,
    measure,
    read_table,
)
from demur.facts.alignment import aligned
from runs import written

LOSSES = {"cluster": ["a", "a", "b", "b", "c"], "loss": [0, 0.5, None, 0.25, 1], "sure": [0.9, 0.4, 0.2, 0.6, 0.1]}


def fractions(items):
    """The loss of each answered unit, as it was written."""
    losses = items.losses
    return [Fraction(int(each), losses.divisor) for each in losses.numerators[items.answered]]


class TestLosses:
    def test_a_column_of_losses_is_enough(self):
        items = read_table(LOSSES)
        assert (items.instrument, items.labels, len(items), int(items.answered.sum())) == (None, None, 5, 4)
        assert fractions(items) == [0, Fraction(1, 2), Fraction(1, 4), 1]
        assert items.losses.exact
        assert (items.losses.definition, items.losses.largest) == ("column loss", None)
        assert items.right.tolist() == [True, False, False, False, False]

    def test_units_without_an_item_are_numbered_within_their_cluster(self):
        items = read_table({**LOSSES, "cluster": ["b", "a", "b", "a", "b"]})
        assert [items.place(unit) for unit in range(5)] == [
            "cluster a, 1",
            "cluster a, 2",
            "cluster b, 1",
            "cluster b, 2",
            "cluster b, 3",
        ]

    def test_the_numbers_are_those_of_the_losses(self):
        numbers = measure("sure", data=read_table(LOSSES), metrics=["cmax", "augrc", "risk@0.4"])
        # Confidence falls along 0, 1/4, 1/2, 1: generalized risks 0, 1/20, 3/20, 7/20 at fifths.
        assert (numbers["cmax"], numbers["risk@0.4"]) == (0.8, 0.125)
        assert numbers["augrc"] == pytest.approx(
            float(Fraction(1, 5) * (Fraction(1, 20) + Fraction(3, 20) + Fraction(7, 40)))
        )

    @pytest.mark.parametrize(
        ("losses", "divisor"),
        [([1, 0], 1), ([0.5, 1], 10), ([0.1, 0.2], 10), ([0.123456789, 3], 10**9), ([1e6, 0.125], 1000)],
    )
    def test_decimals_are_integers_over_a_power_of_ten(self, losses, divisor):
        items = read_table({"cluster": [1, 2], "loss": losses})
        assert (items.losses.divisor, items.losses.exact) == (divisor, True)
        assert fractions(items) == [Fraction(repr(loss)) for loss in losses]

    @pytest.mark.parametrize("loss", [1 / 3, 0.1234567891, 1e300, 1e8 + 1e-8])
    def test_other_numbers_are_doubles(self, loss):
        items = read_table({"cluster": [1, 2], "loss": [loss, 1]})
        assert (items.losses.exact, items.losses.divisor) == (False, 1)
        assert items.losses.numerators.tolist() == [loss, 1.0]

    def test_true_and_false_are_1_and_0(self, tmp_path):
        path = written(tmp_path, "cluster,loss\n1,True\n2,false\n3,\n", "t.csv")
        assert fractions(read_table(path)) == [1, 0]
        assert fractions(read_table({"cluster": [1, 2], "loss": [True, False]})) == [1, 0]

    def test_null_and_nan_abstain_and_are_counted_apart(self):
        items = read_table({"cluster": [1, 2, 3], "loss": [None, float("nan"), 0.5]})
        assert (int(items.answered.sum()), items.abstained_nan) == (1, 1)
        frame = pd.DataFrame({"cluster": [1, 2], "loss": [np.nan, 0.5]})
        assert read_table(frame).abstained_nan == 1

    def test_the_largest_loss_bounds_what_nothing_else_does(self):
        items = read_table(LOSSES, options=TableOptions(loss_max=2.5))
        assert (items.losses.divisor, items.losses.largest) == (100, 250)


class TestScores:
    def test_a_score_of_1_is_no_loss(self):
        items = read_table({"cluster": [1, 2, 3], "score": [1, 0.25, 0]})
        assert fractions(items) == [0, Fraction(3, 4), 1]
        assert (items.losses.definition, items.losses.largest / items.losses.divisor) == ("1 - column score", 1)

    def test_a_range_makes_a_loss_from_0_to_1(self):
        items = read_table(
            {"cluster": [1, 2, 3], "stars": [5, 1, 3.5]}, columns={"score": "stars"}, options=ONE_TO_FIVE
        )
        assert fractions(items) == [0, 1, Fraction(15, 40)]
        assert items.losses.definition == "(5 - column stars) / 4"

    def test_thirds_are_doubles(self):
        items = read_table({"cluster": [1, 2], "score": [1 / 3, 1]})
        assert (items.losses.exact, items.losses.numerators.tolist()) == (False, [1 - 1 / 3, 0])


ONE_TO_FIVE = TableOptions(score_range=(1, 5))


CITIES = {"cluster": ["a", "a", "b"], "truth": ["Paris", "Rome", "Bern"], "prediction": ["Paris", "rome", None]}


class TestTexts:
    def test_texts_are_right_where_they_are_equal(self, tmp_path):
        csv = written(tmp_path, "cluster,truth,prediction\na,Paris,Paris\na,Rome,rome\nb,Bern,\n", "t.csv")
        for table in (CITIES, pd.DataFrame(CITIES), csv):
            items = read_table(table, instrument=None)
            assert items.right.tolist() == [True, False, False]
            assert items.answered.tolist() == [True, True, False]

    def test_a_number_among_texts_is_the_text_it_is_written_as(self, tmp_path):
        items = read_table(
            written(tmp_path, "cluster,truth,prediction\na,1.0,1\na,x,x\nb,7,nan\n", "t.csv"), instrument=None
        )
        assert items.right.tolist() == [False, True, False]
        assert items.abstained_nan == 1

    def test_the_loss_is_zero_one_and_no_other(self):
        items = read_table({**CITIES, "sure": [1, 2, 3]}, instrument=None)
        assert measure("sure", data=items, metrics=["risk@0.6"])["risk@0.6"] == 0.5
        with pytest.raises(
            UserError, match="cluster b, 1: 'Bern' is no number: the loss abs_norm needs one; use zero_one"
        ):
            measure("sure", data=items, loss="abs_norm")

    def test_systems_are_compared_on_the_texts_not_on_their_numbers(self):
        left = read_table(CITIES, instrument=None)
        right = read_table({**CITIES, "prediction": ["Aix", "Rome", "Zug"]}, instrument=None)
        assert left.truth.tolist() != right.truth.tolist()
        aligned({"left": left, "right": right})
        other = read_table({**CITIES, "truth": ["Paris", "Rom", "Bern"]}, instrument=None)
        with pytest.raises(UserError, match="cluster a, 2: ground truth Rome in left, Rom in other"):
            aligned({"left": left, "other": other})
        numbers = read_table({**CITIES, "truth": [1, 2, 3], "prediction": [1, 2, 3]}, instrument=None)
        with pytest.raises(UserError, match="left has texts as truths, numbers has numbers as truths: not paired"):
            aligned({"left": left, "numbers": numbers})


class TestAbstained:
    def test_what_says_who_abstained_decides(self):
        items = read_table({"cluster": [1, 2, 3], "loss": [0.5, 1, None], "abstained": [False, True, 1]})
        assert (items.answered.tolist(), items.ignored_answers) == ([True, False, False], 1)
        scored = {"cluster": [1, 2], "item": [1, 1], "truth": [1, 1], "prediction": [1, 0], "abstained": [0, 1]}
        items = read_table(scored, instrument=None)
        assert (items.answered.tolist(), items.ignored_answers) == ([True, False], 1)

    @pytest.mark.parametrize(
        ("column", "flag"),
        [
            ({"loss": [None, 1]}, False),
            ({"loss": [0, 1]}, "no"),
            ({"loss": [0, 1]}, None),
        ],
    )
    def test_an_answer_without_a_loss_is_an_error(self, column, flag, message):
        with pytest.raises(UserError) as refused:
            read_table({"cluster": [1, 2], **column, "abstained": [flag, False]})
        message(refused.value)

    def test_answers_that_are_not_counted_are_told(self):
        items = read_table({"cluster": [1, 2, 3], "loss": [0, 1, 1], "abstained": [0, 0, 1], "sure": [1, 2, 3]})
        results = evaluate(items, settings=Settings(confidence="sure"), plan=Plan(0, seed=None))
        told = [warning for warning in results.warnings if warning.code == "abstained_with_loss"]
        assert [dict(warning.parameters) for warning in told] == [{"units": 1}]


WRONG = {
    "negative": ({"loss": [-1, 0]}, {}),
    "a text": ({"loss": ["?", 0]}, {}),
    "above the largest": ({"loss": [3, 0]}, {"options": TableOptions(loss_max=2)}),
    "above the range": ({"score": [0, 2]}, {}),
    "below the range": ({"score": [0.5, 5]}, {"options": ONE_TO_FIVE}),
    "two sources": ({"loss": [0, 1], "score": [1, 0]}, {}),
    "loss and truth": ({"loss": [0, 1], "truth": [1, 0], "prediction": [1, 1]}, {}),
    "no source": ({"sure": [1, 0]}, {}),
    "half a source": ({"truth": [1, 0]}, {}),
    "an instrument": ({"loss": [1, 0]}, {"instrument": PHQ9}),
    "the usual instrument": ({"loss": [1, 0]}, {"instrument": "PHQ-8"}),
    "a range of nothing": ({"loss": [1, 0]}, {"options": ONE_TO_FIVE}),
    "a largest loss of nothing": ({"score": [1, 0]}, {"options": TableOptions(loss_max=1)}),
    "a range the wrong way": ({"score": [1, 0]}, {"options": TableOptions(score_range=(5, 1))}),
    "no item of an instrument": ({"truth": [1, 0], "prediction": [1, 0]}, {"instrument": PHQ8}),
    "other items": ({"item": ["x", "y"], "truth": [1, 0], "prediction": [1, 0]}, {"instrument": PHQ8}),
    "a cluster column too": ({"loss": [1, 0]}, {"options": TableOptions(every_row_its_own_cluster=True)}),
}


@pytest.mark.parametrize(("columns", "reading"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_one_line(columns, reading, message):
    with pytest.raises(UserError) as raised:
        read_table({"cluster": [1, 2], **columns}, **reading)
    message(raised.value)
    assert "\n" not in str(raised.value)


def test_what_is_mapped_decides_between_two_sources():
    both = {"cluster": [1, 2], "loss": [0, 1], "score": [0.5, 0.25]}
    items = read_table(both, columns={"score": "score"})
    assert (items.losses.definition, [*items.signals]) == ("1 - column score", ["loss"])


def test_texts_may_stand_beside_losses():
    items = read_table({"cluster": [1, 2], "loss": [0, 1], "truth": ["a", "b"], "prediction": ["a", "c"]})
    assert (items.losses.definition, items.labels) == ("column loss", None)


class TestRowsOfTheirOwn:
    ROWS = TableOptions(every_row_its_own_cluster=True)

    def test_rows_are_clusters_and_the_result_says_so(self):
        items = read_table({"loss": [0, 1, 0.5], "sure": [1, 2, 3]}, options=self.ROWS)
        assert (items.cluster_ids, items.item_names, items.noun) == ((1, 2, 3), ("1",), "row")
        results = evaluate(items, settings=Settings(confidence="sure"), plan=Plan(10, seed=1))
        assert "independent_rows" in [warning.code for warning in results.warnings]

    def test_rows_are_paired_by_their_items(self):
        left = read_table({"item": ["x", "y"], "loss": [0, 1]}, options=self.ROWS)
        right = read_table({"item": ["y", "x"], "loss": [0.5, 0.25]}, options=self.ROWS)
        found = aligned({"left": left, "right": right}).systems
        assert [fractions(items) for items in found.values()] == [[0, 1], [Fraction(1, 4), Fraction(1, 2)]]

    def test_without_being_asked_for_it_is_an_error(self):
        told = r"no column cluster .* if no two rows share anything, ReadingOptions\(every_row_its_own_cluster=True\)$"
        with pytest.raises(UserError, match=told):
            read_table({"loss": [0, 1]})


def test_free_tables_in_another_order_are_paired():
    left = read_table({"cluster": [1, 1, 2, 2], "item": ["x", "y", "x", "y"], "loss": [0, 1, 2, 3]})
    right = read_table({"cluster": [2, 2, 1, 1], "item": ["y", "x", "y", "x"], "loss": [3, 2, 1, 0]})
    found = aligned({"left": left, "right": right}).systems["right"]
    assert (found.item_names, fractions(found)) == (("x", "y"), [0, 1, 2, 3])


class TestComparisons:
    def test_losses_of_different_digits_are_compared(self):
        tables = ({"loss": [0, 1, 1]}, {"loss": [0.25, 0.5, 0]})
        common = {"cluster": [1, 1, 2], "sure": [3, 2, 1]}
        graded = {str(index): grade_units("sure", data=read_table(common | each)) for index, each in enumerate(tables)}
        table = compare(graded, ["risk@1"], plan=Plan(20, seed=1))
        assert table.one(quantity="risk@1", system="1", minus=None).value == 0.25
        assert table.one(quantity="risk@1", minus=Minus("system", "0")).value == 0.25 - 2 / 3

    def test_losses_of_different_columns_are_not(self):
        left, right = read_table({"cluster": [1], "loss": [0]}), read_table({"cluster": [1], "score": [0]})
        with pytest.raises(UserError, match="a has the loss column loss, b has the loss 1 - column score: not paired"):
            aligned({"a": left, "b": right})


@pytest.mark.parametrize("separator", [";", "\t", ","])
def test_what_separates_the_names_separates_the_cells(tmp_path, separator):
    rows = [["cluster", "loss", '"a, b"'], ["x", "0.5", '"1;2"'], ["y", "", "z"]]
    items = read_table(written(tmp_path, "\n".join(map(separator.join, rows)), "t.csv"))
    assert fractions(items) == [Fraction(1, 2)]
    assert items.signals["a, b"].cell(0) == "1;2"


def test_between_semicolons_a_comma_is_a_decimal_point(tmp_path):
    items = read_table(written(tmp_path, "cluster;loss;sure\r\nx;0,5;1,25e1\r\ny;1;0,9\r\n", "t.csv"))
    assert fractions(items) == [Fraction(1, 2), 1]
    assert items.signals["sure"].values.tolist() == [12.5, 0.9]
    plain = read_table(written(tmp_path, 'cluster,loss,sure\nx,0,"0,5"\n', "u.csv"))
    assert plain.signals["sure"].cell(0) == "0,5"


def test_json_lines_hold_losses_too(tmp_path):
    rows = [{"cluster": "a", "loss": 0.5}, {"cluster": "a", "loss": None}]
    items = read_table(written(tmp_path, "\n".join(map(json.dumps, rows)), "t.jsonl"))
    assert (fractions(items), int(items.answered.sum())) == ([Fraction(1, 2)], 1)
