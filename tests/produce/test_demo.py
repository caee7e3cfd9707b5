"""The demonstration: one command, offline, and it says where everything is and what it is worth."""

import json

import pytest

from commands import demur

pytest.importorskip("httpx")


@pytest.mark.slow
def test_the_whole_road_is_walked_offline_with_one_command(tmp_path):
    told = demur(tmp_path, "produce", "--demo", "--run-folder", "road")
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith("12 made-up participants were assessed zero-shot and few-shot by a scripted endpoint")
    assert "the numbers mean nothing clinically" in told.stdout
    places = dict(line.split(": ") for line in told.stdout.split("\n\n")[1].splitlines())
    assert [*places] == ["Interviews", "Run folder", "Run", "Results", "Report"]
    assert all((tmp_path / path).exists() for path in places.values())
    metrics = json.loads((tmp_path / places["Results"]).read_text())
    assert {each["name"] for each in metrics["skipped_variants"]} == {"calibrated", "verbalized_calibrated"}
    again = demur(tmp_path, "produce", "--demo", "--run-folder", "road")
    assert again.returncode == 2
    assert again.stderr == "demur: road: is there already; name a folder that is new or empty\n"


@pytest.mark.parametrize(
    "words", [("--limit", "3"), ("--config", "produce.toml"), ("--dry-run",), ("--seed", "0"), ("--quiet",)]
)
def test_the_demonstration_takes_no_other_option(tmp_path, words):
    told = demur(tmp_path, "produce", "--demo", *words)
    message = "demur: --demo brings its own interviews and endpoint: give it alone, or with --run-folder\n"
    assert (told.returncode, told.stderr) == (2, message)
    assert [*tmp_path.iterdir()] == []
