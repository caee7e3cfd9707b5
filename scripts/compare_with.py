"""Compare every number of this checkout with those of another one, by key and up to rounding.

    python scripts/compare_with.py PATH_OR_COMMIT [--evaluations 100] [--expected REGEX]

Both checkouts run the same commands on random inputs, and the files they write are compared; so are their golden files.
A commit is unpacked into a temporary folder, where it runs without a compiled kernel. Printed are the numbers compared,
the largest difference of each kind, rows that one side lacks, and words that differ. The exit code is 1 if a number
differs or a row is on one side alone, unless its key matches `--expected`; words do not count.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from compare_cases import CALIBRATIONS, write_cases
from same_numbers import Comparison, read_leaves

if TYPE_CHECKING:
    from collections.abc import Iterable

    from compare_cases import Command

HERE = Path(__file__).parents[1]
SHOWN = 20
# How options are spelled where not as `--name value`: the first spelling that a command's help names, else the last; an
# empty one leaves the option out.
SPELLINGS: dict[str, tuple[tuple[str, ...], ...]] = {
    "group": (("--group", "{}={}"),),
    "rater": (("--rater", "{}={}"),),
}
# All commands of a checkout in one process: starting Python for each would take longer than the work.
RUN = """
import contextlib, json, os, runpy, sys
import demur
assert demur.__file__.startswith(sys.argv[1]), demur.__file__
for line in sys.stdin:
    folder, number, words = json.loads(line)
    os.chdir(folder)
    sys.argv, code = ["demur", *words], 0
    with open(f"stdout-{number}.txt", "w") as out, open(f"stderr-{number}", "w") as err:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                runpy.run_module("demur", run_name="__main__")
            except SystemExit as stop:
                code = stop.code or 0
            except Exception as error:
                code = repr(error)
    with open(f"exit-{number}.txt", "w") as file:
        file.write(f"exit code {code}")
"""


class Checkout:
    """A folder of demur's source, and how its commands spell their options."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._environment = os.environ | {"PYTHONPATH": str(self.root / "src"), "COLUMNS": "200", "NO_COLOR": "1"}
        self._help: dict[str, str] = {}

    def _python(self, *words: str, told: str = "") -> str:
        command = [sys.executable, *words]
        done = subprocess.run(command, input=told, text=True, env=self._environment, capture_output=True, check=False)
        if done.returncode:
            sys.exit(f"{self.root}: {' '.join(words[-2:])} failed\n{done.stderr}")
        return done.stdout

    def spelled(self, command: Command) -> list[str]:
        """The words of a command as this checkout takes them."""
        name = str(command[0])
        self._help[name] = self._help.get(name) or self._python("-m", "demur", name, "--help")
        words: list[str] = []
        for part in command:
            if isinstance(part, str):
                words.append(part)
                continue
            option, *values = part
            usual = (f"--{option}", *("{}" for _ in values))
            known = SPELLINGS.get(option, (usual,))
            words += _filled(
                next((one for one in known if one and _names(self._help[name], one[0])), known[-1]), values
            )
        return words

    def run(self, folders: Iterable[Path]) -> None:
        """Run the steps of each folder, in it."""
        lines = ""
        for folder in folders:
            for number, step in enumerate(json.loads((folder / "steps.json").read_text("utf-8"))):
                lines += f"{json.dumps([str(folder), number, self.spelled(step)])}\n"
        self._python("-c", RUN, str(self.root), told=lines)


def _names(text: str, option: str) -> bool:
    fixed = option.partition("{")[0]
    return re.search(re.escape(fixed) + (r"(?![\w-])" if fixed == option else ""), text) is not None


def _filled(template: tuple[str, ...], values: list[str]) -> list[str]:
    left = iter(values)
    return [re.sub("{}", lambda _: next(left), word) for word in template]


def unpacked(commit: str, folder: Path) -> Path:
    """Unpack a commit of this repository."""
    git = shutil.which("git") or sys.exit("git is not installed: give the path of a checkout")
    done = subprocess.run([git, "-C", str(HERE), "archive", commit], capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{commit}: neither a folder nor a commit\n{done.stderr.decode()}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def run_cases(old: Checkout, new: Checkout, folder: Path, evaluations: int) -> list[tuple[Path, Path]]:
    """Run every case with both checkouts, each in a folder of its own, and return the pairs of folders."""
    given, sides = folder / "given", {folder / "old": old, folder / "new": new}
    write_cases(given, evaluations)
    for side in sides:
        shutil.copytree(given, side)
    names = sorted(path.parent.name for path in given.glob("*/steps.json"))
    fitted = {f"calibration-{name}" for name in CALIBRATIONS}
    with ThreadPoolExecutor() as pool:
        for chosen in (fitted, set(names) - fitted):
            done = [pool.submit(code.run, [side / name for name in sorted(chosen)]) for side, code in sides.items()]
            for one in done:
                one.result()
            for side in sides if chosen is fitted else ():  # both evaluate with the calibrators of the other checkout
                for name in fitted:
                    shutil.copy(folder / "old" / name / "calibration.json", side / f"{name}.json")
    for path in [path for path in given.rglob("*") if path.is_file()]:
        for side in sides:
            (side / path.relative_to(given)).unlink()
    return [(folder / "old" / name, folder / "new" / name) for name in names]


def compare_folders(comparison: Comparison, old: Path, new: Path, label: str) -> Counter[str]:
    """Compare the files of two folders; count the exit codes of their commands."""
    codes: Counter[str] = Counter()
    for name in sorted({path.relative_to(side) for side in (old, new) for path in side.rglob("*") if path.is_file()}):
        place = f"{label}/{name}"
        if name.name.startswith("exit-"):
            was, became = ((side / name).read_text("utf-8") for side in (old, new))
            codes[was] += 1
            if was != became:
                comparison.different.append(f"{place}: {was} became {became}\n{_error(old / name)}{_error(new / name)}")
        elif not name.name.startswith("stderr-"):
            before, after = (read_leaves(side / name) if (side / name).exists() else {} for side in (old, new))
            comparison.add(before, after, place)
    return codes


def _error(path: Path) -> str:
    return path.with_name(path.name.replace("exit", "stderr").removesuffix(".txt")).read_text("utf-8")


def report(comparison: Comparison, expected: str | None) -> int:
    """Print what differs; 1 if a number does, or if a row that was not expected to is on one side alone."""
    different = [*comparison.different]
    print(f"{'kind of number':28} {'compared':>9}  largest difference")
    for kind, count in comparison.numbers.items():
        print(f"{kind:28} {count:9}  {comparison.largest.get(kind, 0.0):.1e}")
    print(f"{'all':28} {comparison.numbers.total():9}  {len(different)} differ")
    wrong = bool(different) or not comparison.numbers
    listed = {"numbers that differ": different}
    for title, rows in (("rows missing", comparison.missing), ("rows inserted", comparison.inserted)):
        listed[title] = [row for row in rows if expected is None or not re.search(expected, row)]
        wrong |= bool(listed[title])
    listed["words that differ"] = comparison.words
    for title, lines in listed.items():
        print(f"{title}: {len(lines)}")
        for line in lines[:SHOWN]:
            print(f"  {line}")
    return int(wrong)


def main() -> int:
    """Compare with the checkout given."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("other", metavar="PATH_OR_COMMIT", help="the checkout that was right")
    parser.add_argument("--evaluations", type=int, default=100, metavar="N", help="how many random ones; 100")
    parser.add_argument("--expected", metavar="REGEX", help="keys of rows that only one side is meant to have")
    options = parser.parse_args()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        root = Path(options.other) if Path(options.other).is_dir() else unpacked(options.other, folder / "other")
        comparison, codes = Comparison(), Counter[str]()
        for old, new in run_cases(Checkout(root), Checkout(HERE), folder, options.evaluations):
            codes += compare_folders(comparison, old, new, old.name)
        compare_folders(comparison, root / "tests" / "golden", HERE / "tests" / "golden", "golden")
        code = report(comparison, options.expected)
    print("commands:", ", ".join(f"{count} with {code}" for code, count in codes.items()))
    print(f"{time.perf_counter() - start:.0f} s")
    return code


if __name__ == "__main__":
    sys.exit(main())
