"""A whole file or none."""

import json
import os
import stat

import pytest

from demur import UserError
from demur.write import json_text, write_whole


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


def test_json_is_strict():
    assert json_text({"ü": [1.5, None], "a": {}}) == '{\n  "ü": [1.5, null],\n  "a": {}\n}\n'
    assert json.loads(json_text([[{"a": [[], {}]}]])) == [[{"a": [[], {}]}]]
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text({"a": float("nan")})
