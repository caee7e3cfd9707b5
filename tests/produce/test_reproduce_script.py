"""The script under its original options: what it calls, and that nobody is asked by a dry run."""

from unittest import mock

import pytest

from commands import script
from demur.extensions.lab.interviews import simulated_interviews


def called(folder, *words):
    with mock.patch("demur.cli.main") as main:
        told = script(folder, "reproduce_results.py", *words)
    assert told.returncode == 0
    return main.call_args.args[0]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), ("--config", "produce.toml")),
        (("--zero-shot-only",), ("--config", "produce.toml", "--mode", "zero_shot")),
        (("--few-shot-only", "--limit", "3"), ("--config", "produce.toml", "--mode", "few_shot", "--limit", "3")),
        (("--split", "dev", "--dry-run"), ("--config", "produce.toml", "--split", "dev.csv", "--dry-run")),
        (("--config", "in/p.toml", "--split=train"), ("--config", "in/p.toml", "--split", "in/train.csv")),
        (
            ("--consistency-samples", "5", "--consistency-temperature", "0.2"),
            ("--config", "produce.toml", "--consistency-samples", "5", "--consistency-temperature", "0.2"),
        ),
    ],
)
def test_it_is_demur_produce_in_other_words(tmp_path, words, expected):
    assert called(tmp_path, *words) == ["produce", *expected]


def test_both_modes_alone_are_a_mistake(tmp_path):
    told = script(tmp_path, "reproduce_results.py", "--zero-shot-only", "--few-shot-only")
    assert told.returncode == 2
    assert told.stderr.splitlines()[-1].endswith("not allowed with argument --zero-shot-only")


def test_a_dry_run_of_a_split_asks_nobody(tmp_path):
    pytest.importorskip("httpx")
    simulated_interviews(6, seed=1).write(tmp_path / "talks")
    words = ("--config", "talks/produce.toml", "--split", "train", "--zero-shot-only", "--limit", "3", "--dry-run")
    told = script(tmp_path, "reproduce_results.py", *words)
    assert (told.returncode, told.stderr) == (0, "")
    assert "3 participants" in told.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["talks"]
