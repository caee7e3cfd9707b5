"""The page about producing: its commands run as they stand, one after the other, and its lists are complete."""

import re
from pathlib import Path

import pytest

from commands import demur
from demur.extensions.produce.failures import CATEGORIES
from demur.extensions.produce.scripted import ScriptedEndpoint
from demur.extensions.produce.scripted_answers import Script

pytest.importorskip("httpx")

PAGE = (Path(__file__).parents[2] / "docs" / "producing.md").read_text(encoding="utf-8")
FEWER = {"evaluate": ("--bootstrap-resamples", "40"), "produce": ("--consistency-samples", "2")}


def commands(*, without):
    blocks = re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [line.split()[2:] for line in lines if line.startswith("$ demur") and without not in line]


@pytest.mark.slow
def test_the_commands_of_the_page_run_as_they_stand(tmp_path):
    made, *others = commands(without="--demo")
    assert demur(tmp_path, *made).returncode == 0
    with ScriptedEndpoint(Script.read(tmp_path / "interviews" / "answers.json")) as endpoint:
        configuration = tmp_path / "interviews" / "produce.toml"
        configuration.write_text(configuration.read_text().replace("http://127.0.0.1:8091/v1", endpoint.base_url))
        for words in others:
            fewer = FEWER.get(words[0], ()) if "--dry-run" not in words else ()
            told = demur(tmp_path, *words, *fewer)
            assert told.returncode == 0, (words, told.stderr)
    assert (tmp_path / "metrics.html").exists()


def test_the_page_lists_every_category_of_failure_and_what_it_means():
    listed = dict(re.findall(r"^\| `([a-z_]+)` \| (.*) \|$", PAGE, flags=re.MULTILINE))
    assert {name: listed.get(name) for name in CATEGORIES} == {each.name: each.when for each in CATEGORIES.values()}
