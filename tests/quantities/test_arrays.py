"""The array API: what it accepts, what it refuses, and what its results look like."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from demur import Measure, Scores, UserError, grade_units, measure, read_table, risk_coverage

LOSS = [0, 2, 0, None]
SURE = [2, 2, 1, 0]

SAME_COLUMN = {
    "list": list,
    "tuple": tuple,
    "object array": lambda values: np.array(values, dtype=object),
    "float array": lambda values: np.array(values, dtype=float),
    "masked array": lambda values: np.ma.array([v or 0 for v in values], mask=[v is None for v in values]),
    "numpy scalars": lambda values: [None if v is None else np.float64(v) for v in values],
    "pandas": pd.Series,
    "pandas nullable": lambda values: pd.Series(values, dtype="Int64"),
    "polars": pl.Series,
    "pyarrow": pa.array,
    "generator": iter,
}


@pytest.mark.parametrize("made", SAME_COLUMN.values(), ids=SAME_COLUMN)
def test_any_column_type_gives_the_same_numbers(made):
    found = measure(made(SURE), loss=made(LOSS))
    assert found["aurc"] == 17 / 24
    assert found["cmax"] == 3 / 4


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_by_name_from_any_frame(frame):
    data = frame({"gt": [2, 1, 1, 0], "pred": [2, 3, 1, None], "sure": SURE, "loss": LOSS})
    assert measure("sure", data=data, truth="gt", prediction="pred", loss="abs")["aurc"] == 17 / 24
    assert measure("sure", data=data, loss="loss")["aurc"] == 17 / 24
    with pytest.raises(UserError, match="no column of data is called pre; did you mean pred?"):
        measure("sure", data=data, truth="gt", prediction="pre")


def test_null_and_nan_are_counted_apart():
    found = measure(range(5), loss=[1, None, math.nan, math.nan, 0])
    assert repr(found).splitlines()[0] == "5 units, 2 answered, 3 abstained (1 null, 2 NaN); loss: as given"


def test_right_or_wrong_as_a_bool_is_a_loss():
    assert measure([2, 1], loss=np.array([True, False]))["mae"] == 1 / 2
    assert measure([2, 1, 0], loss=[True, False, None])["mae"] == 1 / 2


def test_labels_of_any_kind_for_zero_one():
    found = measure([3, 2, 1, 0], truth=["a", "b", "c", "d"], prediction=["a", "x", "c", None], loss="zero_one")
    assert (found["mae"], found["cmax"]) == (1 / 3, 3 / 4)
    with pytest.raises(UserError, match="labels are of different types"):
        measure([1, 0], truth=["1", "2"], prediction=[1, 2], loss="zero_one")


DIGITS = {"truth": [3, 8, 0, 5], "prediction": [3, 1, 0, 5]}
GRADERS = {"measure": measure, "risk_coverage": risk_coverage, "grade_units": grade_units}


@pytest.mark.parametrize("graded", GRADERS.values(), ids=GRADERS)
@pytest.mark.parametrize(
    "answers",
    [
        DIGITS,
        {name: np.array(column) for name, column in DIGITS.items()},
        {"truth": [1.5, 2, 2, 2], "prediction": [1, 2, None, math.nan]},
        {"data": read_table({"cluster": [1, 1, 2, 2], **DIGITS}, instrument=None)},
        {"truth": ["a", "b", "c", "c"], "prediction": ["a", "c", None, "c"]},
        {"truth": [1, 2, 3, 4], "prediction": [1, 2, 3, "n/a"]},
        {"truth": ["a"] * 4, "prediction": ["b"] * 4, "loss": "abs"},
        {"truth": ["1"] * 4, "prediction": ["2"] * 4, "loss": "abs"},
    ],
)
def test_labels_are_not_taken_for_amounts(graded, answers, message):
    with pytest.raises(UserError) as refused:
        graded([4, 3, 2, 1], **answers)
    message(refused.value)


@pytest.mark.parametrize("kind", [int, bool, float])
def test_zero_and_one_are_right_or_wrong_as_in_evaluate(kind):
    found = measure([3, 2, 1], truth=[*map(kind, [0, 1, 1])], prediction=[kind(0), kind(0), None], metrics="risk")
    assert (found["risk"], "loss: zero_one" in repr(found)) == (1 / 2, True)


def test_scores_that_are_not_whole_are_fine_without_an_instrument():
    assert measure([1], truth=[1.25], prediction=[0.5], loss="abs")["mae"] == 0.75


WRONG = {
    "nan confidence": {"confidence": [1, math.nan]},
    "inf confidence": {"confidence": [1, -math.inf]},
    "null confidence": {"confidence": [1, None]},
    "text confidence": {"confidence": [1, "high"]},
    "bool confidence": {"confidence": [True, True]},
    "infinite loss": {"loss": [math.inf, 1]},
    "text loss": {"loss": ["0", 1]},
    "lengths": {"loss": [1]},
    "a number": {"loss": 3},
    "two dimensions": {"loss": np.ones((2, 2))},
    "loss by name alone": {"loss": "abs"},
    "half": {"loss": "abs", "truth": [1, 1]},
    "both": {"truth": [1, 1], "prediction": [1, 1]},
    "typo": {"loss": "zero-one", "truth": [1, 1], "prediction": [1, 1]},
    "no range": {"loss": "abs_norm", "truth": [1, 1], "prediction": [1, 1]},
    "out of range": {"loss": "abs", "truth": [1, 1], "prediction": [1, 7], "instrument": "PHQ-8"},
    "not whole": {"loss": "abs", "truth": [1, 1.5], "prediction": [1, None], "instrument": "PHQ-8"},
    "bool score": {"loss": "abs", "truth": [1, 1], "prediction": [1, True]},
    "no truth": {"loss": "abs", "truth": [1, None], "prediction": [1, 1]},
    "unknown instrument": {"loss": "abs", "truth": [1, 1], "prediction": [1, 1], "instrument": "PHQ8x"},
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_wrong_columns_are_one_line(change, message):
    given = {"confidence": [1, 2], "loss": [0, 1]} | change
    with pytest.raises(UserError) as refused:
        risk_coverage(given.pop("confidence"), **given)
    message(refused.value)


def test_clusters_may_be_numpy_integers():
    graded = grade_units([3, 2, 1], loss=[0, 1, 0], clusters=np.array([7, 7, 2]))
    assert graded.clusters.ids == (2, 7)
    rows = {"cluster": np.array([2, 1]), "item": ["a", "a"], "truth": np.array([0, 1]), "prediction": np.array([0, 1])}
    assert read_table(rows, instrument=None).cluster_ids == (1, 2)


def test_items_of_a_reader_go_in_by_signal_name():
    table = {"cluster": [1, 1, 2], "item": ["a", "b", "a"], "truth": [2, 0, 1], "prediction": [1, None, 1]}
    items = read_table(table | {"sure": [0.9, None, 0.1]}, instrument=None)
    found = measure("sure", data=items, loss="abs", metrics="mae")
    assert found.to_dict() == {"risk": 1 / 2}
    assert found["mae"] == found["risk"], "the former name"
    assert measure([3, math.nan, 2], data=items, loss="abs", metrics="mae")["mae"] == 1 / 2
    with pytest.raises(UserError, match="no confidence variant or signal is called shure; did you mean sure?"):
        measure("shure", data=items, loss="abs")
    with pytest.raises(UserError, match="2 confidences, expected one for each of 3 units"):
        measure([1, 2], data=items, loss="abs")
    with pytest.raises(UserError, match="cluster 2, a: confidence 'x', expected a finite number"):
        measure([1, "y", "x"], data=items, loss="abs")
    with pytest.raises(UserError, match="items bring their own truth"):
        measure("sure", data=items, truth=[1])


def test_pandas_columns_in_different_orders_are_refused():
    loss, sure = pd.Series([0, 1, 2]), pd.Series([3, 2, 1])
    with pytest.raises(UserError, match="different indexes"):
        measure(sure.sort_values(), loss=loss)
    assert measure(sure.sort_values().to_numpy(), loss=loss)["mae"] == 1


def test_a_system_that_answered_nothing_says_so():
    found = measure([1], loss=[None])
    assert not found.defined
    assert "areas are 0 by convention and rank nothing" in repr(found)
    with pytest.raises(UserError, match="the columns are empty: there is nothing to evaluate"):
        measure([], loss=[])


def test_huge_whole_losses_do_not_overflow():
    found = measure([2, 1], loss=[2**60, 2**60])
    assert found["aurc"] == 2.0**60
    assert found["augrc"] == 2.0**59


def test_scores_give_numbers_reasons_and_json():
    found = measure(SURE, loss=LOSS, metrics=["aurc", "risk@0.9", Measure.of("cmax")])
    assert list(found) == ["aurc", "risk@0.9", "cmax"]
    assert found.to_dict() == {"aurc": 17 / 24, "risk@0.9": None, "cmax": 0.75}
    assert found.reasons == {"risk@0.9": "no operating point reaches this coverage"}


def test_results_show_themselves_in_a_notebook():
    curve = risk_coverage(SURE, loss=LOSS)
    assert "<svg" in curve._repr_html_()
    assert "<td>0.6667</td>" in curve._repr_html_()
    assert "<tr><td>aurc</td><td>0.708333</td></tr>" in Scores(curve)._repr_html_()
    assert "<svg" not in risk_coverage([1], loss=[None])._repr_html_()
    long = risk_coverage(range(1000), loss=[1] * 1000)._repr_html_()
    assert long.count("<tr>") == 1 + 12 + 1
    assert len(long) < 20_000


@pytest.mark.parametrize("name", ["aurc", "aurc@0.5", "augrc@0.25", "risk@0.3", "cmax", "risk@1/3"])
def test_a_name_prints_as_it_parses(name):
    assert str(Measure.of(name)) == name
    assert Measure.of(str(Measure.of(name))) == Measure.of(name)


@pytest.mark.parametrize(
    "name",
    [
        "arc",
        "cmax@0.5",
        "risk@0",
        "risk@",
        "aurc@2",
        "aurc_full",
        3,
    ],
)
def test_a_wrong_name_is_one_line(name, message):
    with pytest.raises(UserError) as refused:
        Measure.of(name)
    message(refused.value)


def test_capitals_make_no_other_name():
    found = measure(SURE, loss=LOSS, metrics=["AUGRC", "Risk@0.3"])
    assert ([*found], found["AUGRC"]) == (["augrc", "risk@0.3"], measure(SURE, loss=LOSS)["augrc"])
    for name in ("auroc", "AUROC"):
        with pytest.raises(UserError, match="no quantity is called auroc here: reliability computes it"):
            measure(SURE, loss=LOSS, metrics=[name])
