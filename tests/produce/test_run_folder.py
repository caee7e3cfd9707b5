"""A run is written into a folder of its own: nothing of others is replaced, nothing is written through links or run."""

import io
import json
import os
import shutil
import stat
import zlib

import numpy as np
import pytest

from commands import demur
from faults import Fault
from parametrized import parametrize_few
from producing import interviews, serving

FILES = ("lock", "config.json", "journal.jsonl", "references.npz", "failures.json", "usage.json", "run.json")
THEIRS = "something of somebody else\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return interviews(tmp_path_factory.mktemp("folders") / "interviews")


@pytest.fixture(scope="module")
def endpoint(folder):
    with serving(folder) as running:
        yield running


def produce(folder, endpoint, run, *words):
    options = ("--run-folder", run, "--limit", 1, "--include-text", "--quiet")
    return demur(folder, "produce", "--config", "produce.toml", "--base-url", endpoint.base_url, *options, *words)


@pytest.fixture(scope="module")
def finished(folder, endpoint, tmp_path_factory):
    run = tmp_path_factory.mktemp("finished") / "run"
    assert produce(folder, endpoint, run).returncode == 0
    return run


@pytest.fixture
def begun(finished, tmp_path):
    """The folder of a run that somebody passed on."""
    return shutil.copytree(finished, tmp_path / "run")


def tree(folder):
    """Everything in a folder, with its content or where it leads."""
    return {
        path.relative_to(folder): path.readlink() if path.is_symlink() else path.is_file() and path.read_bytes()
        for path in folder.rglob("*")
    }


def check_refused(told, run, before):
    assert (told.returncode, told.stdout, told.stderr.count("\n")) == (2, "", 1)
    assert told.stderr.startswith(f"demur: {run}")
    assert tree(run.parent) == before


@pytest.mark.parametrize("name", [*FILES, "notes.txt", ".hidden", "text", "config.json.bak"])
def test_a_folder_with_files_of_others_is_refused_and_left_alone(folder, endpoint, tmp_path, name):
    run = tmp_path / "run"
    (run / "text").mkdir(parents=True)
    if name != "text":
        (run / name).write_text(THEIRS)
    before = tree(tmp_path)
    check_refused(produce(folder, endpoint, run), run, before)


CONFIGS = ("{}", '{"v": 1}', "[]", "null", "", '{"v": 1, "settings": 3}', '{"v": 1, "run_id": "x", "settings": {}}')


@pytest.mark.parametrize("text", CONFIGS)
def test_a_configuration_that_is_not_of_demur_is_none(folder, endpoint, tmp_path, text):
    run = tmp_path / "run"
    run.mkdir()
    (run / "config.json").write_text(text)
    before = tree(tmp_path)
    check_refused(produce(folder, endpoint, run), run, before)


@pytest.mark.parametrize("how", [os.symlink, os.link])
@parametrize_few("name", [*FILES, "text/evidence/304.json"], 3)
def test_nothing_is_written_through_a_link(folder, endpoint, begun, tmp_path, name, how):
    """Neither in a new folder, nor in one that somebody passed on with a configuration of demur."""
    victim = tmp_path / "victim"
    for run in (tmp_path / "new", begun):
        path = run / name
        path.parent.mkdir(parents=True, exist_ok=True)
        victim.write_bytes(path.read_bytes() if path.exists() else THEIRS.encode())
        path.unlink(missing_ok=True)
        how(victim, path)
        before = tree(tmp_path)
        check_refused(produce(folder, endpoint, run), run, before)


@pytest.mark.parametrize("name", ["text", "text/evidence"])
def test_a_link_to_a_folder_is_not_followed(folder, endpoint, begun, tmp_path, name):
    victim = tmp_path / "victim"
    (begun / name).rename(victim)
    (begun / name).symlink_to(victim)
    before = tree(tmp_path)
    check_refused(produce(folder, endpoint, begun), begun, before)


@pytest.mark.slow
def test_a_link_in_place_of_the_folder_is_refused(folder, endpoint, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "elsewhere")
    told = produce(folder, endpoint, tmp_path / "run")
    assert (told.returncode, "is a link; name the folder that it leads to" in told.stderr) == (2, True)
    assert [*(tmp_path / "elsewhere").iterdir()] == []
    assert produce(folder, endpoint, tmp_path / "elsewhere").returncode == 0


@parametrize_few("name", FILES, 2)
def test_a_pipe_in_place_of_a_file_blocks_nothing(folder, endpoint, begun, name):
    (begun / name).unlink()
    os.mkfifo(begun / name)
    told = produce(folder, endpoint, begun)
    assert (told.returncode, told.stderr.count("\n")) == (2, 1)
    assert stat.S_ISFIFO((begun / name).lstat().st_mode)


@pytest.mark.slow
def test_a_run_whose_endpoint_could_not_be_used_goes_on_with_another(folder, endpoint, tmp_path):
    run = tmp_path / "run"
    with serving(folder, [Fault("prose", step="probe", times=None)]) as broken:
        assert produce(folder, broken, run).returncode == 5
    assert not (run / "config.json").exists()
    assert produce(folder, endpoint, run).returncode == 0


def test_other_files_in_the_folder_of_a_run_stay(folder, endpoint, begun):
    (begun / "notes.txt").write_text(THEIRS)
    (begun / "latest").symlink_to("run.json")
    assert produce(folder, endpoint, begun).returncode == 0
    assert (begun / "notes.txt").read_text() == THEIRS


JOURNALS = (b'{"v": 1', b'{"v": 1, "kind": "done"', b'{"v": 1, "kind": "done", "key": 3', b"{" + b'"a": [' * 5000)


@pytest.mark.parametrize("text", [*JOURNALS, b'{"v": 1, "kind": "request", "key": ["", "", "", 0], "attempt": 1'])
def test_a_record_that_demur_did_not_write_is_told_in_one_line(folder, endpoint, begun, text):
    journal = begun / "journal.jsonl"
    odd = text + b', "crc": %d}\n' % zlib.crc32(text)
    journal.write_bytes(odd + journal.read_bytes())
    told = produce(folder, endpoint, begun)
    assert (told.returncode, told.stderr.count("\n")) == (2, 1)
    assert told.stderr.startswith(f"demur: {journal}: line 1: ")


def test_no_program_of_the_configurations_folder_is_run(tmp_path, monkeypatch):
    """A repository can name programs that git runs, and a folder that is passed on can be one."""
    made = interviews(tmp_path / "interviews")
    traps = tmp_path / "traps"
    traps.mkdir()
    (traps / "git").write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    (traps / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{traps}{os.pathsep}{os.environ['PATH']}")
    with serving(made) as own:
        assert produce(made, own, tmp_path / "run").returncode == 0
    assert not (tmp_path / "ran").exists()
    metadata = json.loads((tmp_path / "run" / "run.json").read_text())["run_metadata"]
    assert metadata["git_commit"] is None
    assert len(metadata["run_id"]) == 16


@pytest.mark.slow
def test_embeddings_that_demur_did_not_write_are_asked_for_again(folder, endpoint, begun):
    first = (begun / "run.json").read_bytes()
    for content in odd_arrays(begun / "references.npz"):
        (begun / "references.npz").write_bytes(content)
        (begun / "journal.jsonl").unlink()
        assert produce(folder, endpoint, begun).returncode == 0
        assert (begun / "run.json").read_bytes() == first


def odd_arrays(path):
    """The file of embeddings with other arrays in it."""
    with np.load(path) as content:
        keys, vectors = content["keys"], content["vectors"]
    yield b""
    for save, odd in (
        (np.savez_compressed, vectors * 2),
        (np.savez, vectors.astype(str)),
        (np.savez, vectors * np.nan),
        (np.savez, vectors[:, :, None]),
        (np.savez, vectors[0, 0]),
    ):
        buffer = io.BytesIO()
        save(buffer, keys=keys, vectors=odd)
        yield buffer.getvalue()
