import pytest

from demur import PHQ8, PHQ9, Instrument, UserError, instrument
from runs import written

JSON = '{"name": "tiny", "items": ["a", "b"], "min": 1, "max": 5}'
TOML = 'name = "tiny"\nitems = ["a", "b"]\nmin = 1\nmax = 5\n'


def test_phq8_items_in_their_order():
    assert PHQ8.items == (
        "NoInterest",
        "Depressed",
        "Sleep",
        "Tired",
        "Appetite",
        "Failure",
        "Concentrating",
        "Moving",
    )
    assert (PHQ8.minimum, PHQ8.maximum, PHQ8.range, len(PHQ9.items)) == (0, 3, 3, 9)


@pytest.mark.parametrize("name", ["PHQ-8", "phq8", "phq-8"])
def test_an_instrument_by_name(name):
    assert instrument(name) is PHQ8


@pytest.mark.parametrize(("name", "text"), [("i.json", JSON), ("i.toml", TOML)])
def test_an_instrument_from_a_small_file(tmp_path, name, text):
    path = written(tmp_path, text, name)
    assert instrument(path) == instrument(str(path)) == Instrument("tiny", ("a", "b"), 1, 5)


WRONG = {
    "not json": ("i.json", "{"),
    "a member twice": ("i.json", JSON[:-1] + ', "max": 6}'),
    "not toml": ("i.toml", "name"),
    "no max": ("i.json", JSON.replace(', "max": 5', "")),
    "extra": ("i.toml", TOML + "maximum = 5\n"),
    "a list": ("i.json", "[]"),
    "items no list": ("i.json", JSON.replace('["a", "b"]', '"ab"')),
    "item twice": ("i.json", JSON.replace('"b"', '"a"')),
    "no items": ("i.json", JSON.replace('["a", "b"]', "[]")),
    "item a number": ("i.json", JSON.replace('"b"', "2")),
    "min text": ("i.json", JSON.replace("1", '"1"')),
    "max a float": ("i.json", JSON.replace("5", "5.5")),
    "min above max": ("i.json", JSON.replace("1", "7")),
    "no name": ("i.json", JSON.replace('"tiny"', '""')),
}


@pytest.mark.parametrize(("name", "text"), WRONG.values(), ids=WRONG)
def test_a_wrong_instrument_is_one_line_with_its_file(tmp_path, name, text, message):
    path = written(tmp_path, text, name)
    with pytest.raises(UserError) as caught:
        instrument(path)
    message(caught.value)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UserError, match="cannot be read"):
        instrument(tmp_path / "none.json")
