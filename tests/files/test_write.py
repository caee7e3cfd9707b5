"""A whole file or none."""

import json
import os
import platform
import stat
import subprocess
from pathlib import Path

import pytest

from demur import UserError
from demur.files.strict_json import fingerprint, shown_path
from demur.files.write import json_text, write_all, write_whole


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


def test_an_input_is_known_by_its_bytes_wherever_it_is(tmp_path):
    (tmp_path / "elsewhere.json").write_text("run")
    with pytest.raises(UserError, match="elsewhere.json: holds the bytes of an input, and an output never replaces"):
        write_whole(tmp_path / "elsewhere.json", "new", hashes={fingerprint(b"run")})
    assert (tmp_path / "elsewhere.json").read_text() == "run"


def test_a_path_that_is_no_text_is_recorded_so_that_it_is_found_again(tmp_path):
    odd = tmp_path / os.fsdecode(b"r\xff.json")
    odd.write_text("run")
    assert shown_path(odd) == f"{tmp_path}/r\\xff.json"
    with pytest.raises(UserError, match="is an input"):
        write_whole(odd, "new", inputs=[shown_path(odd)])


def test_a_replaced_file_keeps_its_mode_and_is_never_more_open_than_it(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    path.write_text("old")
    seen = []
    monkeypatch.setattr(os, "fsync", lambda file: seen.append(stat.S_IMODE(os.fstat(file).st_mode)))
    for mode in (0o600, 0o640, 0o666, 0o444):
        path.chmod(mode)
        write_whole(path, "new")
        assert stat.S_IMODE(path.stat().st_mode) == mode
        assert seen.pop() & ~mode == 0


@pytest.mark.parametrize("before", [{}, {"a": "old a"}, {"b": "old b"}, {"a": "old a", "b": "old b"}])
@pytest.mark.parametrize("failing", [1, 2])
@pytest.mark.parametrize("error", [OSError(1, "Operation not permitted"), KeyboardInterrupt()])
def test_two_files_are_moved_or_none(tmp_path, monkeypatch, before, failing, error):
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    calls = []

    def replace(self, target, plain=Path.replace):
        calls.append(target)
        if len(calls) == failing:
            raise error
        return plain(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises((UserError, KeyboardInterrupt)):
        write_all({tmp_path / "a": "new a", tmp_path / "b": "new b"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before


def test_what_the_dead_left_behind_is_removed_and_what_the_living_write_is_not(tmp_path):
    ended = subprocess.Popen(["true"])
    ended.wait()
    here, dead = f".demur-{platform.node()}", ended.pid
    kept = [f"{here}-{os.getpid()}-00.tmp", f".demur-another-host-{dead}-00.tmp", f"{here}-x-00.tmp", ".demur-mine.tmp"]
    for name in (f"{here}-{dead}-00.tmp", *kept):
        (tmp_path / name).write_text("half")
    write_whole(tmp_path / "a.json", "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["a.json", *kept])


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
    with pytest.raises(UserError, match="pipe: is not a regular file, and will not be replaced by one"):
        write_whole(tmp_path / "pipe", "new")
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(UserError, match="a: cannot be written"):
        write_whole(tmp_path / "a", "new")
    with pytest.raises(UserError, match="cannot be written"):
        write_whole("nul\0", "new")


@pytest.mark.parametrize("value", ["\ud800", "a\udcff", ["x", "\udfff"], {"\udc80": 1}])
def test_what_no_file_can_hold_is_refused_not_written_as_something_nobody_can_read(value):
    with pytest.raises(UserError, match=r"not UTF-8 text, so no file can hold it; write it in UTF-8"):
        json_text({"run_id": value})


def test_utf8_that_a_locale_did_not_know_is_text_again():
    assert json_text({"run_id": "ü".encode().decode("ascii", "surrogateescape")}) == '{\n  "run_id": "ü"\n}\n'


def test_json_is_strict():
    assert json_text({"ü": [1.5, None], "a": {}}) == '{\n  "ü": [1.5, null],\n  "a": {}\n}\n'
    assert json.loads(json_text([[{"a": [[], {}]}]])) == [[{"a": [[], {}]}]]
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text({"a": float("nan")})
