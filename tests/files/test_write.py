"""A whole file or none."""

import json
import os
import stat

import pytest

from demur import UserError
from demur.files.write import json_text, write_whole


def test_it_replaces_what_was_there_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "a.json"
    for text in ("old\n", "new\n"):
        assert write_whole(path, text) == path
        assert path.read_text() == text
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    path.write_text("old")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match=r"a.json: cannot be written \(No space left on device\)"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]


def test_an_interrupt_in_the_middle_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    path.write_text("old")

    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]


def test_an_input_is_never_replaced_under_any_name(tmp_path):
    given = tmp_path / "run.json"
    given.write_text("run")
    (tmp_path / "link.json").symlink_to(given)
    (tmp_path / "hard.json").hardlink_to(given)
    for name in ("run.json", "link.json", "hard.json", "./x/../run.json"):
        (tmp_path / "x").mkdir(exist_ok=True)
        with pytest.raises(UserError, match="is an input, and an output never replaces one"):
            write_whole(tmp_path / name, "new", inputs=[given])
    assert given.read_text() == "run"


def test_a_link_is_followed_not_replaced(tmp_path):
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    write_whole(tmp_path / "link.json", "new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() == "new"


@pytest.mark.parametrize("name", ["n" * 300, "字" * 90])
def test_a_name_that_is_too_long(tmp_path, name):
    with pytest.raises(UserError, match=r"cannot be written \(File name too long\)"):
        write_whole(tmp_path / name, "new")
    assert list(tmp_path.iterdir()) == []


def test_a_long_name_that_is_allowed(tmp_path):
    assert write_whole(tmp_path / ("字" * 80), "new").read_text() == "new"


def test_what_is_no_file_is_not_replaced_by_one(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="pipe: is no regular file, and will not be replaced by one"):
        write_whole(tmp_path / "pipe", "new")
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(UserError, match="a: cannot be written"):
        write_whole(tmp_path / "a", "new")
    with pytest.raises(UserError, match="cannot be written"):
        write_whole("nul\0", "new")


def test_half_a_character_is_written_as_an_escape(tmp_path):
    path = write_whole(tmp_path / "a.json", json_text({"run_id": "\ud800", "ü": "ü"}))
    assert path.read_text(encoding="utf-8") == '{\n  "run_id": "\\ud800",\n  "ü": "ü"\n}\n'


def test_json_is_strict():
    assert json_text({"ü": [1.5, None], "a": {}}) == '{\n  "ü": [1.5, null],\n  "a": {}\n}\n'
    assert json.loads(json_text([[{"a": [[], {}]}]])) == [[{"a": [[], {}]}]]
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text({"a": float("nan")})
