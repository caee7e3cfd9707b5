"""Labels of groups from tables of labels, joined to the units of a run."""

import pytest

from demur import UserError, read_table, with_groups
from runs import written

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


def test_labels_of_a_csv_are_joined_as_they_are_written(tmp_path):
    labels = written(tmp_path, "cluster;item;topic\n1;01;law\n", "g.csv")
    items = read_table({"cluster": [1], "item": ["01"], "loss": [0]})
    assert with_groups(items, labels).groups["topic"].levels == ("law",)
