"""The options of groups in Python: as columns with cut points, and what is refused."""

import pytest

from demur import Groups, UserError, evaluate

TABLE = {
    "cluster": ["a", "a", "b", "b", "c", "d", "d", "e"],
    "loss": [1.0, 0.5, 0.0, None, 1.0, 0.25, 0.75, 1.0],
    "sure": [0.9, 0.7, 0.8, 0.1, 0.8, 0.2, 0.3, 0.6],
    "Age": [20, 20, 30, 30, 41, 50, 50, 64],
    "Age:18,40": ["old"] * 8,
}
HOW = {"confidence": "sure", "resamples": 20}


def levels(**groups):
    (grouping,) = evaluate(TABLE, Groups(**groups, min_clusters=2), **HOW).study.groups.groupings
    return grouping.levels


def test_cut_points_stay_with_their_column():
    assert levels(age=("Age", [18, 40, 65])) == ("[18,40)", "[40,65)")
    assert levels(age=("Age", [18, 40])) == ("[18,40)", "(other)")  # not the column of this name
    for cuts in ([40, 18], [18], 18, ["x", 3]):
        with pytest.raises(UserError, match="expected COLUMN, or COLUMN:18,40,65 with ascending numbers"):
            Groups(age=("Age", cuts))


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: evaluate(TABLE, Groups(g="x"), **HOW), "no column x for the group g"),
        (
            lambda: evaluate(TABLE, Groups("item"), **HOW),
            "groups by item need a column of items: map one, columns={'item': 'COLUMN'}",
        ),
        (lambda: Groups(threshold=0.5), "threshold is for groups: name some, Groups(sex='Gender')"),
        (lambda: Groups(min_clusters=1), "min_clusters 1, expected an integer, 2 or more"),
        (lambda: Groups(["site", None]), "group ['site', None], expected names with their columns, {'sex': 'Gender'}"),
        (lambda: Groups("site", threshold="0.5"), "threshold '0.5', expected a number"),
    ],
)
def test_a_mistake_is_one_line_that_speaks_of_arguments(made, message):
    with pytest.raises(UserError) as told:
        made()
    assert str(told.value).startswith(message)
