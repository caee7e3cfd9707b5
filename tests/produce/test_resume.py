"""A run that was stopped at any moment goes on, and ends with the same bytes as one that never was."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from demur import UserError
from demur.extensions.produce.folder import locked
from demur.extensions.produce.journal import Journal, line_of, replayed
from faults import Fault
from parametrized import parametrize_few
from producing import interviews, no_wait, produced, production, serving

CHANGES = {"assess": {"consistency_samples": 2}}
SOURCE = str(Path(__file__).parents[2] / "src")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return interviews(tmp_path_factory.mktemp("resume") / "interviews", participants=12)


@pytest.fixture(scope="module")
def endpoint(folder):
    with serving(folder) as running:
        yield running


@pytest.fixture(scope="module")
def whole(folder, endpoint, tmp_path_factory):
    """The folder of a run that was never stopped."""
    run = tmp_path_factory.mktemp("whole") / "run"
    assert produced(folder, endpoint.base_url, run, changes=CHANGES)[0].code == 0
    return run


@parametrize_few("moment", range(6), 1)
@pytest.mark.slow
def test_a_journal_that_ends_at_any_byte_leads_to_the_same_run_file(folder, endpoint, whole, tmp_path, moment):
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    (run / "run.json").unlink()
    data = (run / "journal.jsonl").read_bytes()
    (run / "journal.jsonl").write_bytes(data[: random.Random(moment).randrange(len(data))])
    outcome, _ = produced(folder, endpoint.base_url, run, changes=CHANGES)
    assert outcome.code == 0
    assert (run / "run.json").read_bytes() == (whole / "run.json").read_bytes()


def killed(folder, url, run, lines):
    """`demur produce`, killed as soon as its journal has so many lines; whether it was, or ended before."""
    words = ["produce", "--config", folder / "produce.toml", "--run-folder", run, "--consistency-samples", "2"]
    words += ["--base-url", url, "--quiet", "--concurrency", "3"]
    code = "import sys; from demur.cli import main; main(sys.argv[1:])"
    process = subprocess.Popen([sys.executable, "-c", code, *words], env={**os.environ, "PYTHONPATH": SOURCE})
    try:
        while process.poll() is None:
            journal = run / "journal.jsonl"
            if journal.exists() and journal.read_bytes().count(b"\n") >= lines:
                break
            time.sleep(0.001)
    finally:
        process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def check_killing(folder, endpoint, whole, tmp_path, moments):
    total = len(replayed(whole / "journal.jsonl")[0])
    draw, kills = random.Random(moments), 0
    for moment in range(moments):
        run = tmp_path / f"run{moment}"
        kills += killed(folder, endpoint.base_url, run, draw.randrange(1, total))
        if moment % 3 == 2:  # and once more, later on
            kills += killed(folder, endpoint.base_url, run, draw.randrange(1, total))
        assert produced(folder, endpoint.base_url, run, changes=CHANGES)[0].code == 0
        assert (run / "run.json").read_bytes() == (whole / "run.json").read_bytes()
    return kills


@pytest.mark.slow
def test_killed_and_resumed_is_uninterrupted_byte_for_byte(folder, endpoint, whole, tmp_path):
    assert check_killing(folder, endpoint, whole, tmp_path, 2) >= 1


@pytest.mark.slow
def test_killed_at_ten_moments_and_resumed_is_uninterrupted_byte_for_byte(folder, endpoint, whole, tmp_path):
    assert check_killing(folder, endpoint, whole, tmp_path, 10) >= 5


@pytest.mark.slow
def test_the_run_file_does_not_depend_on_concurrency_or_on_the_order_of_calls(folder, endpoint, whole, tmp_path):
    changes = {**CHANGES, "endpoint": {"concurrency": 1}}
    production(folder, endpoint.base_url, tmp_path, changes=changes, limit=1).produce()
    assert len(json.loads((tmp_path / "run.json").read_text())["experiments"][0]["results"]["results"]) == 1
    assert produced(folder, endpoint.base_url, tmp_path, changes=changes)[0].code == 0
    assert (tmp_path / "run.json").read_bytes() == (whole / "run.json").read_bytes()
    production(folder, endpoint.base_url, tmp_path, changes=changes, limit=1).produce()
    assert (tmp_path / "run.json").read_bytes() == (whole / "run.json").read_bytes()


@pytest.mark.slow
def test_nothing_is_asked_twice_when_a_run_is_resumed(folder, tmp_path):
    with serving(folder, keep=True) as endpoint:
        for limit in (2, 3, None):
            production(folder, endpoint.base_url, tmp_path, changes=CHANGES, limit=limit).produce()
        chats = [json.dumps(each.request, sort_keys=True) for each in endpoint.exchanges if each.participant]
    assert len(chats) == len({*chats}) > 0


def test_a_stop_lets_the_run_be_resumed(folder, endpoint, whole, tmp_path):
    """What SIGINT does: nothing new is begun, and the exit code is 130."""
    run, begun = production(folder, endpoint.base_url, tmp_path / "run", changes=CHANGES), threading.Event()

    def interrupt():
        begun.wait(10)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    endpoint.faults = [Fault("slow", step="score", seconds=0.2)]
    try:
        endpoint.respond, respond = (lambda *given: (begun.set(), respond(*given))[1]), endpoint.respond
        outcome = run.produce()
    finally:
        endpoint.respond, endpoint.faults = respond, []
        thread.join()
    assert (outcome.code, outcome.run) == (130, None)
    assert outcome.left > 0
    assert not (tmp_path / "run" / "run.json").exists()
    assert produced(folder, endpoint.base_url, tmp_path / "run", changes=CHANGES)[0].code == 0
    assert (tmp_path / "run" / "run.json").read_bytes() == (whole / "run.json").read_bytes()


@pytest.mark.slow
def test_a_run_whose_time_is_up_stops_and_can_be_resumed(folder, endpoint, tmp_path):
    changes = {**CHANGES, "endpoint": {"total_timeout": 1e-9}}
    assert production(folder, endpoint.base_url, tmp_path, changes=changes).produce().code == 130
    assert produced(folder, endpoint.base_url, tmp_path, changes=CHANGES)[0].code == 0


OTHER = {
    "config.endpoint.model": {"endpoint": {"model": "gemma"}},
    "config.assess.seed": {"assess": {"consistency_samples": 2, "seed": 8}},
    "config.retrieval.top_k": {**CHANGES, "retrieval": {"top_k": 3}},
}


@pytest.mark.parametrize("name", OTHER)
def test_a_folder_begun_with_another_configuration_is_refused(folder, endpoint, whole, name):
    before = {path: path.read_bytes() for path in whole.iterdir() if path.name != "lock"}
    with pytest.raises(UserError, match=f"this folder was begun with another {name.rpartition('.')[2]}: {name} "):
        production(folder, endpoint.base_url, whole, changes=OTHER[name]).produce()
    assert {path: path.read_bytes() for path in whole.iterdir() if path.name != "lock"} == before


def test_a_folder_begun_with_other_data_is_refused(folder, endpoint, whole, tmp_path):
    other = tmp_path / "interviews"
    shutil.copytree(folder, other)
    person = (other / "dev.csv").read_text().split("\n")[1].partition(",")[0]
    transcript = other / "transcripts" / f"{person}_TRANSCRIPT.csv"
    transcript.write_text(transcript.read_text() + "1\t2\tParticipant\tone more line\n")
    with pytest.raises(UserError, match=f"another transcript of '{person}'"):
        production(other, endpoint.base_url, whole, changes=CHANGES).produce()
    (other / "truth.csv").write_text((other / "truth.csv").read_text() + "\n")
    with pytest.raises(UserError, match="begun with another truth: hashes.truth"):
        production(other, endpoint.base_url, whole, changes=CHANGES).produce()


def test_a_second_producer_in_the_folder_is_refused(folder, endpoint, tmp_path):
    run = production(folder, endpoint.base_url, tmp_path)
    refused = pytest.raises(UserError, match=rf"another demur produce is at work here \(process {os.getpid()} on ")
    with locked(run.folder), refused:
        run.produce()


def journal_of(path, count=3):
    with Journal(path) as journal:
        for number in range(count):
            journal.append("done", ("zero_shot", "300", "assemble", number), {"predicted": {}, "signals": {"x": 0.1}})
    return path


def test_a_torn_last_line_is_cut_off_and_said(tmp_path, folder, endpoint):
    path = journal_of(tmp_path / "journal.jsonl")
    good = path.read_bytes()
    for tail in (b'{"v": 1', b'{"v": 1, "kind": "done", "crc": 5}\n', b"\n"):
        path.write_bytes(good + tail)
        records, torn = replayed(path)
        assert (len(records), torn, path.read_bytes()) == (3, len(tail), good)
    said, run = [], tmp_path / "run"
    production(folder, endpoint.base_url, run, limit=1).produce()
    (run / "journal.jsonl").write_bytes((run / "journal.jsonl").read_bytes() + b'{"v": 1')
    production(folder, endpoint.base_url, run, limit=1, tell=said.append).produce()
    assert said == [f"{tmp_path / 'run' / 'journal.jsonl'}: the last line was torn, and 7 bytes of it are cut off"]


def test_a_damaged_line_elsewhere_is_an_error_that_names_it(tmp_path):
    path = journal_of(tmp_path / "journal.jsonl")
    first, second, third = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second.replace(b"0.1", b"0.2") + third)
    with pytest.raises(UserError, match=r"journal.jsonl: line 2: damaged: its checksum does not fit"):
        replayed(path)


def test_nothing_is_written_after_a_line_that_could_not_be(tmp_path, monkeypatch):
    """A disk that is full for a moment must not leave half a line in the middle."""
    path, key = journal_of(tmp_path / "journal.jsonl"), ("zero_shot", "301", "assemble", 0)
    good, write = path.read_bytes(), os.write
    with Journal(path) as journal:
        monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:10]))
        journal.append("failed", key, {})
        monkeypatch.setattr(os, "write", write)
        with pytest.raises(OSError, match="No space left"):
            journal.append("failed", key, {})
    assert len(replayed(path)[0]) == 3
    assert path.read_bytes() == good


def test_a_folder_that_cannot_be_written_to_ends_the_run_in_one_line(folder, endpoint, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    changes = {"assess": {"mode": "zero_shot"}}
    assert production(folder, endpoint.base_url, tmp_path, changes=changes, limit=1).produce().code == 0
    run = production(folder, endpoint.base_url, tmp_path, changes=changes)
    monkeypatch.setattr("demur.extensions.produce.journal.Journal.append", full)
    with pytest.raises(UserError, match=r"the run folder cannot be written \(No space left on device\)"):
        run.produce()


def test_a_journal_of_another_release_is_refused(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(line_of({"v": 2, "kind": "done", "key": ["", "", "", 0]}))
    with pytest.raises(UserError, match="line 1: version 2, expected 1"):
        replayed(path)


@pytest.mark.slow
def test_text_is_kept_while_it_is_needed_and_no_longer(folder, endpoint, tmp_path):
    seen = []

    def look(_):
        seen.extend(path.stat().st_mode & 0o777 for path in (tmp_path / "run" / "text").rglob("*.json"))

    production(folder, endpoint.base_url, tmp_path / "run", progress="plain", tell=look).produce()
    assert {*seen} == {0o600}
    assert not (tmp_path / "run" / "text").exists()


@pytest.mark.slow
def test_text_is_kept_if_it_is_wanted(folder, endpoint, tmp_path):
    production(folder, endpoint.base_url, tmp_path, limit=1, include_text=True, wait=no_wait).produce()
    kept = sorted(path.relative_to(tmp_path / "text").parts[0] for path in (tmp_path / "text").rglob("*.json"))
    assert kept == ["evidence", "few_shot", "zero_shot"]
    (reasons,) = (tmp_path / "text" / "zero_shot").iterdir()
    assert json.loads(reasons.read_text())["Sleep"].keys() == {"evidence", "reason"}
