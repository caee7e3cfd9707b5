"""An extension is a folder that can be deleted: with each one hidden in turn, the core and the others go on."""

import subprocess
import sys
from pathlib import Path

import pytest

from artifacts import GOLDEN
from demur.extension import Extension, installed

HIDDEN = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name == HIDE or name.startswith(HIDE + "."):
            raise ModuleNotFoundError(f"No module named {name!r}", name=HIDE)

sys.meta_path.insert(0, Hidden())
"""
EVALUATES = """
import demur
from demur.cli import main

results = demur.load(GOLDEN + "/paired.json")
assert demur.report_html(results).startswith("<!doctype html>")
for words in (
    ["evaluate", GOLDEN + "/run.json", "--mode", "few_shot", "--seed", "1", "-o", "m.json", "--quiet"],
    ["report", "m.json"],
    ["--help"],
):
    try:
        main(words)
    except SystemExit as stopped:
        assert not stopped.code, words
"""
OURS = ("audit", "decide", "importers", "lab", "produce")


def run_hiding(name: str, code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    start = f"HIDE = 'demur.extensions.{name}'\nGOLDEN = {str(GOLDEN)!r}\n"
    return subprocess.run(
        [sys.executable, "-c", start + HIDDEN + code], cwd=folder, capture_output=True, text=True, check=False
    )


def test_our_extensions_are_found():
    assert set(OURS) <= {*installed()}
    assert all(isinstance(extension, Extension) for extension in installed().values())


@pytest.mark.slow
@pytest.mark.parametrize("name", OURS)
def test_without_an_extension_the_others_and_the_core_go_on(name, tmp_path):
    done = run_hiding(name, EVALUATES, tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "m.html").is_file()
    gone = [command for command in installed()[name].commands if f"│ {command} " in done.stdout]
    kept = [f"│ {command} " for other in OURS if other != name for command in installed()[other].commands]
    assert gone == []
    assert all(command in done.stdout for command in kept)


def test_a_name_of_an_extension_that_is_hidden_says_what_it_needs(tmp_path):
    done = run_hiding("decide", "import demur\ndemur.choose", tmp_path)
    assert "demur.choose needs the extension decide, which is not installed" in done.stderr


@pytest.mark.slow
def test_a_rule_on_a_page_needs_its_extension(tmp_path):
    code = "from demur.cli import main\nmain(['report', GOLDEN + '/paired.json', '--rule', 'r.json', '-o', 'p.html'])"
    done = run_hiding("decide", code, tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "demur: demur.load_rule needs the extension decide, which is not installed\n",
    )
    assert [*tmp_path.iterdir()] == []
