"""Disks that are full, processes that are killed, streams that are closed: old files or new ones, and an exit code.

Nothing here waits for a time: a process that is to be killed or interrupted says when it is where it should be.
"""

import contextlib
import os
import resource
import signal
import subprocess
import sys

import pytest

from commands import DEMUR, demur, real_demur
from demur import load
from demur.extensions.lab.runs import simulated_run
from parametrized import parametrize_few
from runs import written

CALL = ("evaluate", "--seed", "1", "--bootstrap-resamples", "20", "--input", "run.json", "--mode", "few_shot")
CALL += ("--created-at", "2026-01-31T12:00:00Z")
OLD = {"m.json": "old file", "m.html": "old page"}


@pytest.fixture(autouse=True)
def _interrupts_are_heard():
    """Also where the tests run in the background: who is deaf to interrupts there starts processes that are deaf."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def folder(tmp_path):
    written(tmp_path, simulated_run(6, seed=1), "run.json")
    return tmp_path


def put(folder, names=OLD):
    for name in names:
        (folder / name).write_text(OLD[name])


def found(folder):
    """All files of a folder but the run, those that are written beside included."""
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file() and path.name != "run.json"}


@pytest.fixture
def small_disk(folder):
    """A disk too small for what is written, which only root may make."""
    disk = folder / "disk"
    disk.mkdir()
    call = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", disk]
    mounted = subprocess.run(call, check=False, capture_output=True)
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted here: {mounted.stderr.decode().strip()}")
    yield disk
    subprocess.run(["umount", disk], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("before", [OLD, []])
def test_a_full_disk_leaves_what_was_there(folder, small_disk, before):
    put(small_disk, before)
    done = real_demur(folder, *CALL, "--output", "disk/m.json", "--report", "disk/m.html")
    message = "demur: disk/m.json: cannot be written (No space left on device)\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)
    assert found(small_disk) == {name: OLD[name] for name in before}


@pytest.mark.parametrize("state", ["read-only", "full"])
@pytest.mark.parametrize("inside", ["m.json", "m.html"])
@pytest.mark.slow
def test_a_file_and_its_page_are_both_written_or_neither(folder, small_disk, state, inside):
    put(folder)
    put(small_disk)
    if state == "read-only":
        subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    paths = {name: f"disk/{name}" if name == inside else name for name in OLD}
    done = real_demur(folder, *CALL, "--output", paths["m.json"], "--report", paths["m.html"])
    reason = "No space left on device" if state == "full" else "Read-only file system"
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"demur: disk/{inside}: cannot be written ({reason})\n"
    assert found(folder) == found(small_disk) == OLD


@pytest.mark.slow
def test_a_limit_on_the_size_of_files_leaves_the_old_file(folder):
    put(folder)
    quiet = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # or half-written compiled modules would be left
    done = real_demur(
        folder,
        *(*CALL, "--output", "m.json"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)),
        env=quiet,
    )
    assert (done.returncode, done.stderr) == (2, "demur: m.json: cannot be written (File too large)\n")
    assert found(folder) == OLD


HELD = """
import os, pathlib, sys
import demur.sampling.resample
from demur.cli import main

def held(plain, number):
    def call(*arguments, **options):
        nonlocal number
        number -= 1
        if number == 0:
            print("held", flush=True)
            sys.stdin.read()
        return plain(*arguments, **options)
    return call

{place} = held({place}, {number})
main(sys.argv[1:])
"""


@contextlib.contextmanager
def holding(folder, place, number, *words):
    """A command that waits just before the n-th call of a function, until its standard input is closed."""
    arguments = [sys.executable, "-c", HELD.format(place=place, number=number), *words]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(arguments, cwd=folder, **pipes) as running:
        assert running.stdout.readline() == b"held\n", running.stderr.read()
        yield running


BOTH = (*CALL, "--quiet", "--output", "m.json", "--report", "m.html")
# Bytes are put on disk for the new and the old of each file; then the file is moved, then the page.
PLACES = [*(("os.fsync", number) for number in (1, 2, 3, 4)), ("pathlib.Path.replace", 1), ("pathlib.Path.replace", 2)]


@pytest.mark.parametrize(("place", "number"), PLACES)
@pytest.mark.slow
def test_a_process_that_is_killed_leaves_whole_files_and_the_next_one_cleans_up(folder, place, number):
    put(folder)
    with holding(folder, place, number, *BOTH) as running:
        running.kill()
    assert running.returncode == -signal.SIGKILL
    assert (folder / "m.html").read_text() == OLD["m.html"]
    if number == 2 and "replace" in place:
        assert len(load(folder / "m.json")) > 0, "the file itself had been moved, and whole"
    else:
        assert (folder / "m.json").read_text() == OLD["m.json"]
    assert [*folder.glob(".demur-*.tmp")] != []
    assert real_demur(folder, *BOTH).returncode == 0
    assert found(folder).keys() == OLD.keys()
    assert len(load(folder / "m.json")) > 0


@pytest.mark.slow
def test_two_commands_at_once_leave_each_other_alone(folder):
    with holding(folder, "os.fsync", 1, *BOTH) as running:
        half_written = [*folder.glob(".demur-*.tmp")]
        assert real_demur(folder, *CALL, "--quiet", "--output", "other.json").returncode == 0
        assert [*folder.glob(".demur-*.tmp")] == half_written
        running.stdin.close()
        assert running.wait() == 0
    assert found(folder).keys() == {*OLD, "other.json"}


def interrupted(folder, place, *words):
    with holding(folder, place, 1, *words) as running:
        running.send_signal(signal.SIGINT)
        return running.wait(), running.stderr.read()


@pytest.mark.slow
@pytest.mark.parametrize("place", ["pathlib.Path.replace", "os.fsync"])
def test_control_c_while_writing_leaves_the_old_files(folder, place):
    put(folder)
    code, told = interrupted(folder, place, *BOTH)
    assert (code, told) == (130, b"")
    assert found(folder) == OLD


@pytest.mark.slow
def test_control_c_while_resampling_writes_nothing_and_shows_no_traceback(folder):
    code, told = interrupted(folder, "demur.sampling.resample._sample", *BOTH)
    assert (code, told, found(folder)) == (130, b"", {})


@parametrize_few("module", ["ast", "typer", "numpy"], 1)
def test_control_c_during_imports_is_an_exit_code_and_no_traceback(folder, module):
    """A module that interrupts when it is imported stands in for a hand that is quicker than the imports."""
    (folder / "first").mkdir()
    (folder / "first" / f"{module}.py").write_text("import os, signal; os.kill(os.getpid(), signal.SIGINT)")
    paths = os.pathsep.join([str(folder / "first"), os.environ.get("PYTHONPATH", "")])
    done = real_demur(folder, *CALL, env={**os.environ, "PYTHONPATH": paths})
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


CLOSED = {
    "schema run >&-": (2, "demur: the output cannot be written (Bad file descriptor)\n"),
    "schema run >/dev/full": (2, "demur: the output cannot be written (No space left on device)\n"),
    "--help >&-": (2, "demur: the output cannot be written (Bad file descriptor)\n"),
    "evaluate --nope 2>/dev/full": (2, ""),
    "evaluate nope.json --seed 1 2>/dev/full": (2, ""),
    "evaluate nope.json --seed 1 2>&-": (2, ""),
    "schema run >&- 2>/dev/full": (2, ""),
    "schema run <&- >&- 2>&-": (2, ""),
    f"{' '.join(BOTH)} <&- >&- 2>&-": (0, ""),
    "schema run 2>&- >/dev/null": (0, ""),
}


@pytest.mark.parametrize("call", CLOSED)
@pytest.mark.slow
def test_a_stream_that_cannot_be_written_to_is_an_exit_code_and_no_traceback(folder, call):
    done = subprocess.run(["sh", "-c", f'"{DEMUR}" {call}'], cwd=folder, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == CLOSED[call]
    if "--output" in call:
        assert len(load(folder / "m.json")) > 0


def test_memory_that_runs_out_is_one_line_that_says_what_to_do(tmp_path, monkeypatch):
    def exhausted(*_, **__):
        raise MemoryError

    monkeypatch.setattr("demur.extensions.lab.demo.demonstrate", exhausted)
    done = demur(tmp_path, "demo")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "demur: not enough memory; give it smaller files or fewer --resamples, or use a larger machine\n"
    )
