"""Clusters through the array API, and the example that ships."""

import pandas as pd
import pytest

from demur import Plan, Table, UserError, estimate, grade_units

LOSS, SURE, WHO = [0, 2, 0, None, 1], [2, 2, 1, 0, 3], ["b", "b", "a", "a", "c"]


def test_clusters_are_sorted_and_count_abstentions():
    graded = grade_units(SURE, loss=LOSS, clusters=WHO)
    assert graded.clusters.ids == ("a", "b", "c")
    assert graded.clusters.units.tolist() == [2, 2, 1]
    assert graded.clusters.of_answer.tolist() == [1, 1, 0, 2]


def test_clusters_by_name_from_a_frame():
    frame = pd.DataFrame({"loss": LOSS, "sure": SURE, "who": WHO})
    found = estimate(grade_units("sure", loss="loss", clusters="who", data=frame), ["aurc"], plan=Plan(20, seed=1))
    assert found["aurc"].evidence.clusters == 3


def test_without_clusters_every_unit_was_sampled_by_itself():
    assert Table.of(grade_units(SURE, loss=LOSS)).clusters == 5


def test_bad_clusters_are_one_line():
    with pytest.raises(UserError, match="the columns are of different lengths: units 5, confidence 5, clusters 2"):
        grade_units(SURE, loss=LOSS, clusters=["a", "b"])
    with pytest.raises(UserError, match="cluster id null, expected an integer or a text without spaces"):
        grade_units(SURE, loss=LOSS, clusters=[None] * 5)
    with pytest.raises(UserError, match="cluster id 1.5, expected"):
        grade_units(SURE, loss=LOSS, clusters=[1.5] * 5)
