"""Keys: the identity of a number, the same in memory and in JSON, whatever systems and groups are called."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from awkward import IDS, NAMES
from demur import Group, Key, Minus, UserError
from demur.inference.key import KEY_COLUMNS, Pattern

QUANTITIES = st.sampled_from(["aurc", "aurc@C_common", "aurc@0.5", "risk@0.3", "ndcg@10", "tpr@fpr=0.05", "units"])
GROUPS = st.builds(Group, NAMES, st.none() | IDS)
MINUS = st.one_of(
    st.builds(Minus, st.just("system"), NAMES),
    st.builds(Minus, st.just("confidence"), NAMES),
    st.builds(Minus, st.just("group"), GROUPS),
)
KEYS = st.builds(
    Key,
    system=NAMES | st.just(""),
    quantity=QUANTITIES,
    confidence=NAMES | st.just(""),
    among=st.sampled_from(["all", "with_gold"]),
    group=st.none() | GROUPS,
    minus=st.none() | MINUS,
    convention=NAMES | st.just(""),
)
PATTERNS = st.builds(
    Pattern,
    system=st.none() | NAMES,
    quantity=st.none() | QUANTITIES,
    confidence=st.none() | NAMES,
    among=st.none() | st.sampled_from(["all", "with_gold"]),
    group=st.none() | GROUPS,
    minus=st.none() | MINUS,
    convention=st.none() | NAMES,
)


def through_json(value):
    return json.loads(json.dumps(value))


@given(KEYS)
def test_a_key_is_the_same_after_a_journey_through_json(key):
    assert Key.from_json(through_json(key.to_json())) == key
    assert [*key.to_json()] == [*KEY_COLUMNS]


@given(PATTERNS)
def test_so_is_a_pattern(pattern):
    assert Pattern.from_json(through_json(pattern.to_json())) == pattern


@given(KEYS)
def test_a_key_prints_as_it_is_typed(key):
    assert eval(repr(key)) == key  # noqa: S307  (our own text)


@given(KEYS, KEYS)
def test_two_keys_share_their_json_only_if_they_are_one(key, other):
    assert (key == other) == (key.to_json() == other.to_json())
    assert (key == other) == (json.dumps(key.to_json()) == json.dumps(other.to_json()))
    assert key != other or hash(key) == hash(other)


@given(KEYS)
def test_a_pattern_of_a_key_is_about_it_and_about_no_key_that_differs_in_a_column_it_fixes(key):
    exact = Pattern(**{name: getattr(key, name) for name in KEY_COLUMNS})
    assert exact.matches(key)
    assert Pattern().matches(key)
    for name in ("system", "quantity", "confidence", "among", "convention"):
        assert not Pattern(**{name: f"{getattr(key, name)}/"}).matches(key)


def every_kind():
    """A key of every kind there is: of a system, a part of the units, a mean over parts, a difference, a convention."""
    groups = (None, Group("item", "Sleep"), Group("sex", "F"), Group("criterion", "A1"), Group("criterion"))
    minus = (None, Minus("system", "zero_shot"), Minus("confidence", "llm"), Minus("group", Group("sex", "rest")))
    for group, subtracted, convention in itertools.product(groups, minus, ("", "fd-shifts")):
        for system in ("bge", "bge/large", "bge@10", "bge minus zero_shot"):
            yield Key(system, "ndcg@10", "prob", "with_gold", group, subtracted, convention)


def test_no_two_kinds_of_key_collide():
    keys = [*every_kind()]
    assert len({*keys}) == len(keys)
    assert len({json.dumps(key.to_json()) for key in keys}) == len(keys)
    assert [Key.from_json(through_json(key.to_json())) for key in keys] == keys


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Group("a=b", "c"), Group("a", "b=c")),
        (Group("a"), Group("a", "None")),
        (Group("a", ""), Group("a")),
    ],
)
def test_groups_that_look_alike_in_one_string_are_told_apart(one, other):
    assert Key("s", "q", group=one) != Key("s", "q", group=other)
    assert Key("s", "q", group=one).to_json() != Key("s", "q", group=other).to_json()


@pytest.mark.parametrize(
    "columns",
    [
        {"quantity": "aurc"},
        {"system": None, "quantity": "aurc"},
        {"system": "a"},
        {"system": 1, "quantity": "aurc"},
        {"system": "a", "quantity": "aurc", "sytem": "b"},
        {"system": "a", "quantity": "aurc", "group": "sex"},
        {"system": "a", "quantity": "aurc", "group": ["sex"]},
        {"system": "a", "quantity": "aurc", "group": ["sex", 1]},
        {"system": "a", "quantity": "aurc", "group": [None, "F"]},
        {"system": "a", "quantity": "aurc", "minus": "b"},
        {"system": "a", "quantity": "aurc", "minus": {}},
        {"system": "a", "quantity": "aurc", "minus": {"system": "b", "group": ["a", "b"]}},
        {"system": "a", "quantity": "aurc", "minus": {"system": ["a", "b"]}},
        {"system": "a", "quantity": "aurc", "minus": {"group": "b"}},
        {"system": "a", "quantity": "aurc", "minus": {"quantity": "b"}},
    ],
)
def test_columns_that_make_no_key_are_one_line(columns, message):
    with pytest.raises(UserError) as caught:
        Key.from_json(columns)
    message(caught.value)
    assert "\n" not in str(caught.value)


def test_a_pattern_from_columns_that_are_none_is_refused_alike():
    for columns in ({"nope": 1}, {"group": 3}, {"minus": {"among": "all"}}, {"system": 3}):
        with pytest.raises(UserError):
            Key.from_json({"system": "s", "quantity": "q"} | columns)
        with pytest.raises(UserError):
            Pattern.from_json(columns)


def test_a_difference_subtracts_what_it_says():
    with pytest.raises(UserError, match="a difference subtracts a group, not 'b'"):
        Key("a", "aurc", minus=Minus("group", "b"))
    with pytest.raises(UserError, match="a difference subtracts a system, not"):
        Key("a", "aurc", minus=Minus("system", Group("a", "b")))
