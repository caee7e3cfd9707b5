"""Parts of files: made of what is at hand, written as declared, and checked member by member where they are read."""

from typing import Annotated, Literal

import pytest
from pydantic import ValidationError

from demur import UserError
from demur.files.strict_model import EMPTY, SPARSE, CheckedPart, Count, Declared, Part, Share
from demur.files.strict_reading import one_line


class Ring(Part):
    """A ring of a tree."""

    year: Count
    width: Share = 0.5


class Tree(Part):
    """A tree."""

    rings: Annotated[tuple[Ring, ...], Declared(strict=False, min_length=1)]
    height: float
    kind: Literal["oak", "elm"] = "oak"
    labels: dict[str, Ring | str | None] = EMPTY
    note: Annotated[str | None, SPARSE] = None

    def _mistakes(self):
        if self.height < len(self.rings):
            yield "too many rings"


class Grown(CheckedPart):
    """A part that checks its members itself."""

    tree: Tree
    age: Count


CONTENT = {"rings": [{"year": 1}], "height": 3, "labels": {"a": {"year": 2}, "b": "c", "d": None}}
DUMPED = {
    "rings": [{"year": 1, "width": 0.5}],
    "height": 3.0,
    "kind": "oak",
    "labels": {"a": {"year": 2, "width": 0.5}, "b": "c", "d": None},
}


def test_a_part_is_the_same_whether_it_is_made_or_read():
    made, read = Tree.made(CONTENT), Tree.model_validate(CONTENT)
    assert made == read == Tree.made(made)
    assert made.model_dump() == read.model_dump() == DUMPED
    assert [*made.model_dump()] == [*DUMPED]
    assert type(made.height) is float
    assert made.labels["a"] == Ring(year=2)


def test_a_member_that_says_nothing_is_not_written():
    assert Tree.made(CONTENT | {"note": "tall"}).model_dump() == DUMPED | {"note": "tall"}


def test_a_default_is_shared_by_nobody():
    first, second = (Tree(rings=(), height=1.0) for _ in range(2))
    assert first.labels == {}
    assert first.labels is not second.labels


@pytest.mark.parametrize("members", [{"height": 1.0}, {"height": 1.0, "rings": (), "age": 3}])
def test_members_that_lack_or_are_unknown_are_refused_by_name(members):
    with pytest.raises(TypeError, match="Tree (lacks rings|has no age)"):
        Tree(**members)


def test_a_part_cannot_be_changed_and_a_copy_is_checked():
    tree = Tree.made(CONTENT)
    with pytest.raises(AttributeError, match="model_copy makes another"):
        tree.height = 4.0
    assert tree.model_copy(update={"height": 4.0}).height == 4
    with pytest.raises(UserError, match="too many rings"):
        tree.model_copy(update={"height": 0.0})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"height": "3"}, "height: Input should be a valid number, not '3'"),
        ({"rings": []}, "rings: Tuple should have at least 1 item after validation, not 0"),
        ({"rings": [{"year": -1}]}, "rings.0.year: Input should be greater than or equal to 0, not -1"),
        ({"kind": "fir"}, "kind: Input should be 'oak' or 'elm', not 'fir'"),
        ({"height": 0.5}, "too many rings"),
        ({"leaves": 3}, "leaves: Extra inputs are not permitted"),
    ],
)
def test_what_is_read_is_checked_member_by_member(change, told):
    with pytest.raises(ValidationError) as raised:
        Tree.model_validate(CONTENT | change)
    assert told in one_line(raised.value)
    with pytest.raises(ValidationError) as raised:
        Grown(tree=CONTENT | change, age=3)
    assert f"tree{'' if told.startswith('too') else '.'}" in one_line(raised.value)


def test_a_checked_part_takes_parts_and_checks_them_again():
    assert Grown(tree=Tree.made(CONTENT), age=3) == Grown.model_validate({"tree": CONTENT, "age": 3})
    with pytest.raises(ValidationError, match="year"):
        Grown(tree=Tree(rings=(Ring(year=-1),), height=3.0), age=3)
