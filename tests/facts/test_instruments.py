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
    "not json": ("i.json", "{", "not valid JSON"),
    "a member twice": ("i.json", JSON[:-1] + ', "max": 6}', "the member max appears twice"),
    "not toml": ("i.toml", "name", "not valid TOML"),
    "no max": ("i.json", JSON.replace(', "max": 5', ""), "exactly these members: name, items"),
    "extra": ("i.toml", TOML + "maximum = 5\n", "exactly these members: name, items"),
    "a list": ("i.json", "[]", "exactly these members"),
    "items no list": ("i.json", JSON.replace('["a", "b"]', '"ab"'), "exactly these members"),
    "item twice": ("i.json", JSON.replace('"b"', '"a"'), "items must be distinct, non-empty names"),
    "no items": ("i.json", JSON.replace('["a", "b"]', "[]"), "items must be distinct, non-empty names"),
    "item a number": ("i.json", JSON.replace('"b"', "2"), "items must be distinct, non-empty names"),
    "min text": ("i.json", JSON.replace("1", '"1"'), "min is '1', expected an integer"),
    "max a float": ("i.json", JSON.replace("5", "5.5"), "max is 5.5, expected an integer"),
    "min above max": ("i.json", JSON.replace("1", "7"), "min 7 must be below max 5"),
    "no name": ("i.json", JSON.replace('"tiny"', '""'), "instrument name: '', expected text"),
}


@pytest.mark.parametrize(("name", "text", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_instrument_is_one_line_with_its_file(tmp_path, name, text, message):
    path = written(tmp_path, text, name)
    with pytest.raises(UserError, match=message) as caught:
        instrument(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UserError, match="cannot be read"):
        instrument(tmp_path / "none.json")
