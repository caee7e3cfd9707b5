"""Any number of systems on the clusters that succeeded in all of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from awkward import IDS, NAMES
from demur import UserError, read_table
from demur.facts.alignment import aligned


def items(answers, failed=(), truth=None):
    """Two units per cluster, of a free table; a failed cluster has one row that counts for nothing."""
    rows = [(who, item, truth or 1, answer, True) for who, answer in answers.items() for item in ("q", "q/1")] + [
        (who, "q", 1, 1, False) for who in failed
    ]
    columns = zip(("cluster", "item", "truth", "prediction", "success"), zip(*rows, strict=True), strict=True)
    return read_table({name: list(values) for name, values in columns}, instrument=None)


def test_a_system_by_itself_stays_as_it_is():
    alone = items({1: 1, 2: None}, failed=[3])
    found = aligned({"a": alone})
    assert found.systems["a"] is alone
    assert (found.included, found.overlap, dict(found.only), dict(found.failed)) == (2, 3, {"a": 0}, {"a": 1})


def test_two_systems_are_cut_down_to_what_succeeded_in_both():
    left, right = items({1: 1, 2: 2, 3: 3}, failed=[4]), items({1: 5, 3: 6, 4: 7}, failed=[2])
    found = aligned({"b": left, "a": right})
    assert [*found.systems] == ["b", "a"]
    assert [system.cluster_ids for system in found.systems.values()] == [(1, 3), (1, 3)]
    assert [system.answer.tolist() for system in found.systems.values()] == [[1, 1, 3, 3], [5, 5, 6, 6]]
    assert (found.included, found.overlap, dict(found.failed)) == (2, 4, {"b": 1, "a": 1})


def test_three_systems_share_what_all_of_them_hold():
    systems = {"a": items({1: 1, 2: 1, 3: 1, 4: 1}), "b": items({1: 1, 2: 1, 3: 1}), "c": items({1: 1, 5: 1}, [2])}
    message = (
        r"the 3 inputs hold different clusters; not in all of them: 2 of a \(3, …\), 1 of b \(3, …\), 1 of c \(5, …\); "
        r"Settings\(intersection_only=True\) compares the 2 they share"
    )
    with pytest.raises(UserError, match=message):
        aligned(systems)
    found = aligned(systems, intersection_only=True)
    assert {system.cluster_ids for system in found.systems.values()} == {(1,)}
    assert (found.overlap, found.included) == (2, 1)
    assert (dict(found.only), dict(found.failed)) == ({"a": 2, "b": 1, "c": 1}, {"a": 0, "b": 0, "c": 1})


def test_nothing_that_succeeded_in_all_of_them_is_an_error():
    systems = {"a": items({1: 1}, [2, 3]), "b": items({2: 1}, [1, 3]), "c": items({3: 1}, [1, 2])}
    with pytest.raises(UserError, match=r"no cluster succeeded in all systems \(3 are in all of them\)"):
        aligned(systems)
    with pytest.raises(UserError, match="there are no systems"):
        aligned({})


def test_another_truth_in_any_of_them_is_told_with_its_system():
    systems = {"a": items({1: 1}), "b c": items({1: 1}), "d/e": items({1: 1}, truth=2)}
    with pytest.raises(UserError, match=r"cluster 1, q: ground truth 1 in a, 2 in d/e \(and 1 more\)"):
        aligned(systems)


def test_other_units_of_a_cluster_are_not_paired():
    left = read_table({"cluster": [1, 1], "item": ["q", "r"], "truth": [1, 1], "prediction": [1, 1]}, instrument=None)
    right = read_table({"cluster": [1], "item": ["q"], "truth": [1], "prediction": [1]}, instrument=None)
    with pytest.raises(UserError, match="cluster 1 holds 2 units in a and 1 in b: not paired"):
        aligned({"a": left, "b": right})
    other = read_table({"cluster": [1, 1], "item": ["q", "s"], "truth": [1, 1], "prediction": [1, 1]}, instrument=None)
    with pytest.raises(UserError, match="a and b hold different items"):
        aligned({"a": left, "b": other})


@given(st.lists(st.tuples(NAMES, st.sets(IDS, min_size=1)), min_size=2, max_size=4, unique_by=lambda pair: pair[0]))
@pytest.mark.slow
def test_names_and_ids_of_any_spelling_are_told_apart(given_systems):
    systems = {name: items(dict.fromkeys(sorted(who), 1)) for name, who in given_systems}
    shared = set.intersection(*(who for _, who in given_systems))
    if not shared:
        with pytest.raises(UserError, match="nothing to compare"):
            aligned(systems, intersection_only=True)
        return
    found = aligned(systems, intersection_only=True)
    assert [*found.systems] == [name for name, _ in given_systems]
    assert all({*system.cluster_ids} == shared for system in found.systems.values())
    assert dict(found.only) == {name: len(who - shared) for name, who in given_systems}
