"""Python with a folder of the package hidden: to its imports it is as if the folder had been deleted."""

import os
import subprocess
import sys
from pathlib import Path

from artifacts import GOLDEN

ROOT = Path(__file__).parents[1]
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


def run_hiding(package: str, code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code in a folder, without a package."""
    start = f"HIDE = {package!r}\nGOLDEN = {str(GOLDEN)!r}\n"
    paths = [os.environ.get("PYTHONPATH", ""), *(str(ROOT / name) for name in ("docs", "tests", "scripts"))]
    return subprocess.run(
        [sys.executable, "-c", start + HIDDEN + code],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        check=False,
    )
