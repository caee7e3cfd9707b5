"""JSON a piece at a time: the same values wherever the pieces end, and limits on what is held and read."""

import json

import pytest

from demur import UserError
from demur.extensions.importers.json_cursor import JsonCursor

CONTENT = {"a": [1, -2.5e3, True, None, 'é\n"\\', {"b": []}, 123456], "c": {"d": {}, "e": [[], [0]]}, "f": 12}
TEXTS = [json.dumps(CONTENT), json.dumps(CONTENT, indent=3), json.dumps(CONTENT, ensure_ascii=False)]


def in_pieces(text, size):
    parts = iter([text[start : start + size] for start in range(0, len(text), size)])
    return JsonCursor(lambda _: next(parts, ""))


@pytest.mark.parametrize("text", TEXTS)
def test_it_does_not_matter_where_the_pieces_end(text):
    for size in range(1, len(text) + 1):
        cursor = in_pieces(text, size)
        found = {name: [*cursor.values()] if name == "a" else cursor.value() for name in cursor.members()}
        cursor.finish()
        assert found == CONTENT


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_what_is_passed_over_is_not_judged(size):
    cursor = in_pieces('{"x": [NaN, {"a": 1, "a": 2}], "y": 3}', size)
    assert [name if name == "y" and cursor.value() == 3 else cursor.skip() for name in cursor.members()] == [None, "y"]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": NaN}',
        '{"a": 1, "a": 2}',
        '{"a" 1}',
        '{"a": 1',
        '{"a": [1, 2',
        '{"a": 1} x',
        "{1: 2}",
        '{"a": ' + "[" * 100_000,
        '{"a": ' + "1" * 5000 + "}",
    ],
)
def test_a_mistake_is_one_line(text, message):
    for size in (1 << 10, 1 << 20):
        cursor = in_pieces(text, size)
        with pytest.raises(UserError) as error:
            [cursor.value() for _ in cursor.members()] + [cursor.finish()]
        message(error.value)


@pytest.mark.parametrize("variable", ["DEMUR_MAX_MEMBER", "DEMUR_MAX_FILE"])
def test_no_more_is_held_or_read_than_is_allowed(monkeypatch, variable):
    monkeypatch.setenv(variable, "1K")
    cursor = in_pieces(json.dumps({"a": "x" * 5000}), 100)
    with pytest.raises(UserError, match=f"is larger than 1K; to allow it, set {variable} to more"):
        [cursor.value() for _ in cursor.members()]
