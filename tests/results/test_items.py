"""Numbers by item: only where items are something to compare, and a bias only where answers are amounts."""

import math

import pytest

from commands import demur
from demur import PHQ8, load, read_table, report_html
from parametrized import parametrize_few
from results_by_loops import compared, run_recipes
from sections import evaluate


def table(items, units=10, last=10, **more):
    """Rows of so many items, with `units` each, and `last` of the last one."""
    rows = [(unit, item) for item in range(items) for unit in range(last if item == items - 1 else units)]
    truth = [(unit + item) % 4 for unit, item in rows]
    prediction = [right + (unit % 3 == 0) for right, (unit, _) in zip(truth, rows, strict=True)]
    columns = {"cluster": [unit for unit, _ in rows], "item": [f"q{item}" for _, item in rows]}
    return columns | {"truth": truth, "prediction": prediction, "sure": [row % 7 for row in range(len(rows))]} | more


def by_item(data, **options):
    results = evaluate(data, resamples=0, **({"confidence": "sure", "loss": "zero_one"} | options))
    rows = [row for row in results.where(confidence="") if row.key.group and row.key.group.name == "item"]
    return {(row.key.group.level, row.key.quantity): row for row in rows}, results


@parametrize_few(
    ("data", "items"),
    [
        (table(30), 30),
        (table(31), 0),
        (table(3, last=9), 0),
        (table(2, units=400, last=400), 2),
    ],
    2,
    ids=["thirty", "more than thirty", "one of nine units", "two"],
)
def test_few_items_with_enough_units_each_are_compared(data, items):
    rows, results = by_item(data)
    assert len(rows) == 5 * items
    page = report_html(results)
    assert [text in page for text in ("By item, it is most often", 'id="items"')] == [bool(items)] * 2


def test_row_numbers_are_no_items():
    data = {name: cells for name, cells in table(3).items() if name != "item"}
    rows, results = by_item(data)
    assert not rows
    page = report_html(results)
    assert "most often" not in page
    assert "or if up to 30 are named, with at least 10 units each" in page


def scores(answer):
    items = [*PHQ8.items] * 2
    columns = {
        "cluster": [row // 8 for row in range(16)],
        "item": items,
        "truth": [1] * 16,
        "prediction": [answer] * 16,
    }
    return columns | {"sure": [*range(16)]}


@pytest.mark.parametrize(
    ("data", "loss", "bias"),
    [
        (table(3), "zero_one", math.nan),
        (table(3), "abs", 0.4),
        (scores(3), "zero_one", 2),
        (scores(3), "abs_norm", 2),
    ],
    ids=["classes", "amounts", "an instrument", "an instrument's own loss"],
)
def test_only_amounts_have_a_bias(data, loss, bias):
    rows, _ = by_item(data, loss=loss)
    row = rows[data["item"][0], "bias"]
    if math.isnan(bias):
        assert (math.isnan(row.value), row.undefined) == (True, "the answers are no amounts")
    else:
        assert row.value == bias


@parametrize_few("loss", ["zero_one", "abs"], 1)
@pytest.mark.slow
def test_an_audit_knows_the_same_items(tmp_path, loss):
    columns = table(3)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    words = ("--loss", loss, "--bootstrap-resamples", "20", "--seed", "1", "--output", "m.json")
    assert demur(tmp_path, "evaluate", "t.csv", *words).returncode == 0
    assert load(tmp_path / "m.json").to_json()["confidence_variants"]["sure"]["by_item"]["q0"]["n"] == 10
    results = load(tmp_path / "m.json")
    recipes = run_recipes(results, {results.systems[0]: read_table(tmp_path / "t.csv")}, None)
    assert all(number.agrees for number in compared(results, recipes))
    audited = demur(tmp_path, "audit", "--data", "t.csv", "--reported", "m.json")
    assert ", 0 differs, 0 not recognised" in audited.stdout, audited
