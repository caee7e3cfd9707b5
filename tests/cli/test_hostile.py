"""`demur evaluate` and files that mean harm or were damaged: nothing but clean errors and valid results."""

import copy
import os
import random
import subprocess
import sys

import pytest

from commands import demur
from damage import damaged
from demur import load
from demur.report.console import evaluation_text
from demur.simulate.runs import simulated_run
from runs import experiment, participant, run, written

FLAGS = ("--seed", "1", "--bootstrap-resamples", "20", "--created-at", "2026-01-31T12:00:00Z")


def evaluate(where, *arguments):
    return demur(where, "evaluate", *FLAGS, *arguments)


HOSTILE = ["\x1b[31mred", "[bold]x[/bold]", "a\nb", "\r\x07", "\u2028\u202e", "</script>", "[/]", "\x9b2J"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_shows_up_harmlessly(tmp_path, text):
    people = [participant(f"{who}{text}", token_msp=0.5) for who in range(3)]
    content = run(experiment(*people, mode=f"m{text}")) | {"run_metadata": {"run_id": text, "git_commit": text}}
    written(tmp_path, content)
    shown = evaluate(tmp_path, "--input", "run.json", "--output", "m.json")
    assert shown.returncode == 0
    broken = copy.deepcopy(content)
    broken["experiments"][0]["results"]["results"][0]["predicted_items"]["Sleep"] = text
    written(tmp_path, broken)
    refused = evaluate(tmp_path, "--input", "run.json", "--output", "m2.json")
    assert refused.returncode == 2
    for out in (shown.stdout, shown.stderr, refused.stdout, refused.stderr):
        assert all(character.isprintable() or character == "\n" for character in out)
    assert refused.stderr.count("\n") == 1
    made = load(tmp_path / "m.json")
    assert made.study.inputs[0].run_id == text, "the file holds it as it is"
    report = evaluation_text(made)  # what is echoed loses its escapes on the way when nobody is at the terminal
    assert all(character.isprintable() or character == "\n" for character in report)
    assert report + "\nwrote m.json\n" == shown.stdout


@pytest.mark.slow
def test_markup_reaches_a_terminal_as_text():
    """Printed through rich, with a terminal's width and colours, brackets stay brackets."""
    code = "from demur.report.console import print_report; print_report('warning [bold]x[/bold] \\\\[y]')"
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": "40", "TERM": "xterm"}
    found = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    assert "[bold]x[/bold] \\[y]" in found.stdout


def try_damaged(tmp_path, count, seed):
    rng = random.Random(seed)
    content = simulated_run(2, seed=1, failures=1)
    path, output = tmp_path / "run.json", tmp_path / "m.json"
    refused = 0
    for _ in range(count):
        data = damaged(rng, content)
        path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
        output.unlink(missing_ok=True)
        flags = (
            "--seed",
            "1",
            "--bootstrap-resamples",
            "3",
            "--output",
            "m.json",
            "--mode",
            "few_shot",
            "--confidence",
            "verbalized",
        )
        found = demur(tmp_path, "evaluate", "--input", "run.json", *flags)
        assert "Traceback" not in found.stderr
        if found.returncode == 0:
            assert len(load(output)) > 0
        else:
            refused += 1
            assert found.returncode == 2
            assert found.stderr.startswith("demur: ")
            assert found.stderr.count("\n") == 1
            assert not output.exists()
    assert 0.2 * count < refused < count


@pytest.mark.slow
def test_a_damaged_file_is_a_clean_error_or_a_valid_result(tmp_path):
    try_damaged(tmp_path, 40, seed=1)
