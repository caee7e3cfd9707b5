"""The file of messages: one line each, and none that no test provokes."""

import pytest

from demur import UserError
from installation import needs_all
from messages import Check, parsed, provoked, recorded, written

LONGEST = 500


def test_every_message_is_one_line_that_a_terminal_can_show():
    for (test, case), text in recorded().items():
        assert text, (test, case)
        assert len(text) <= LONGEST, (test, case)
        assert "\n" not in text, (test, case)
        assert "Traceback" not in text, (test, case)


@needs_all
def test_every_recorded_message_is_provoked_by_a_test(request):
    config = request.config
    if config.args != config.getini("testpaths"):
        pytest.skip("only a part of the tests was collected")
    assert recorded().keys() <= provoked, "run `make messages`"


def test_the_file_is_written_as_it_is_read():
    messages = {("a.py::test_b", "--x 1"): "one", ("a.py::test_b", "c"): "two", ("d.py::test_e", "- f"): "three"}
    assert parsed(written(messages)) == messages


def test_another_message_than_the_recorded_one_fails(tmp_path):
    (test, case), text = next(iter(recorded().items()))
    Check((test, case), tmp_path)(text)
    with pytest.raises(AssertionError, match="see `make messages`"):
        Check((test, case), tmp_path)(UserError(f"{text}!"))
    with pytest.raises(AssertionError, match="see `make messages`"):
        Check((test, f"{case}?"), tmp_path)(text)


def test_folders_and_what_other_libraries_say_are_left_out(tmp_path):
    (tmp_path / "of_a_test").mkdir()
    check = Check(("x", "y"), tmp_path)
    said = f"{tmp_path}/of_a_test/i.toml: not valid TOML: Expected '=' (at end of document)"
    assert check.anywhere(said) == "FOLDER/i.toml: not valid TOML: …"
