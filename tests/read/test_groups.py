"""Labels of groups from files of units, from tables of labels, and how several systems keep them."""

import json

import pytest

from demur import TableOptions, UserError, read_systems, read_table, with_groups
from demur.facts.alignment import aligned
from runs import written


def units_file(folder, groups):
    header = {"demur_units": 1, "source": {}, "mapping": {}}
    unit = {"cluster": "d", "repeat": 1, "loss": 0, "status": "ok", "signals": {"sure": 0.5}}
    units = [unit | {"item": f"q{place}", "groups": labels} for place, labels in enumerate(groups)]
    return written(folder, "\n".join(map(json.dumps, [header, *units])) + "\n", "units.jsonl")


def test_the_groups_of_a_file_of_units_are_kept(tmp_path):
    items = read_table(units_file(tmp_path, [{"lang": "fr"}, {"lang": None}, {}, {"lang": "de", "level": 3}]))
    assert {name: grouping.levels for name, grouping in items.groups.items()} == {
        "lang": ("de", "fr", "(none)"),
        "level": ("3", "(none)"),
    }
    assert [*items.signals] == ["sure"]
    assert items.groups["lang"].column.name == "lang"


def test_a_group_that_a_file_of_units_lacks_is_refused(tmp_path):
    with pytest.raises(UserError, match="no group of this file is called topic; there are: lang"):
        read_table(units_file(tmp_path, [{"lang": "fr"}]), options=TableOptions(group={"topic": "topic"}))


def test_labels_of_units_that_are_no_object_are_refused(tmp_path):
    with pytest.raises(UserError, match="line 2: groups 'fr', expected an object"):
        read_table(units_file(tmp_path, ["fr"]))


TABLE = {"cluster": [1, 1, 2], "item": ["q", "r", "q"], "loss": [0, 1, 0]}


def test_labels_may_be_of_clusters_or_of_units():
    items = read_table(TABLE)
    by_cluster = with_groups(items, {"cluster": [1, 2, 9], "site": ["x", "y", "z"]})
    assert by_cluster.groups["site"].levels == ("x", "y")
    by_unit = with_groups(items, {"cluster": [1, 2], "item": ["r", "q"], "topic": ["law", "law"]})
    topic = by_unit.groups["topic"]
    assert [topic.levels[place] for place in topic.index] == ["(none)", "law", "law"]
    cut = with_groups(items, {"cluster": [1, 2], "age": [20.5, 50]}, {"by age": "age:18,40,65"})
    assert cut.groups["by age"].levels == ("[18,40)", "[40,65)")


@pytest.mark.parametrize(
    ("labels", "columns"),
    [
        ({"cluster": [1, 1], "site": ["x", "y"]}, None),
        ({"site": ["x"]}, None),
        ({"cluster": [1]}, None),
        ({"cluster": [7], "site": ["x"]}, None),
        ({"cluster": [1, 2], "age": [1.5, 2.5]}, None),
        ({"cluster": [1], "site": ["x"]}, {"site": "sight"}),
    ],
)
def test_labels_that_cannot_be_used_are_told(labels, columns, message):
    with pytest.raises(UserError) as refused:
        with_groups(read_table(TABLE), labels, columns)
    message(refused.value)


def test_whole_numbers_and_bools_are_labels_in_the_order_of_their_size():
    table = TABLE | {"code": [10, 2, None], "flag": [True, False, True]}
    items = read_table(table, options=TableOptions(group={"code": "code", "flag": "flag"}))
    assert items.groups["code"].levels == ("2", "10", "(none)")
    assert items.groups["flag"].levels == ("false", "true")
    assert [*items.signals] == []


def test_every_system_of_a_table_keeps_its_groups_when_they_are_compared():
    table = {name: column * 2 for name, column in TABLE.items()} | {"system": ["a"] * 3 + ["b"] * 3, "g": [*"xyzxyz"]}
    systems = aligned(read_systems(table, options=TableOptions(group={"g": "g"}))).systems
    assert {items.groups["g"].levels for items in systems.values()} == {("x", "y", "z")}
    kept = systems["a"].only([2])
    assert (kept.groups["g"].levels, kept.groups["g"].index.tolist()) == (("z",), [0])


def test_labels_of_a_csv_are_as_they_are_written(tmp_path):
    text = "cluster;loss;zip;size\n1;0;01;1,5\n2;1;1;2\n3;0;NaN;\n"
    options = TableOptions(group={"zip": "zip", "size": "size:0,2,9"})
    items = read_table(written(tmp_path, text, "t.csv"), options=options)
    assert items.groups["zip"].levels == ("01", "1", "(none)")
    assert items.groups["size"].levels == ("[0,2)", "[2,9)", "(none)")
    labels = written(tmp_path, "cluster;item;topic\n1;01;law\n", "g.csv")
    items = read_table({"cluster": [1], "item": ["01"], "loss": [0]})
    assert with_groups(items, labels).groups["topic"].levels == ("law",)
