"""Compare every number of this checkout with those of an older one, on 200 random inputs, to the last bit.

    python scripts/compare_with.py BASELINE_FOLDER --make OLD_CHECKOUT
    python scripts/compare_with.py BASELINE_FOLDER

The first writes the inputs, the command lines and what the old code makes of them; the second runs this code on the
same inputs, prints what differs, and exits with 1 if anything does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

from compare_cases import CALIBRATIONS, CREATED_AT, write_cases
from compare_files import RENAMED, Tally, compare_retrieval, compare_trees

HERE = Path(__file__).parents[1]
SHOWN = 20
# All commands in one process: starting Python 200 times would take longer than the work.
RUN = """
import json, os, sys
from demur.cli import main
for line in sys.stdin:
    folder, *spellings = json.loads(line)
    os.chdir(folder)
    for words in spellings:
        sys.argv, code = ["demur", *words], 0
        try:
            main(words)
        except SystemExit as stop:
            code = stop.code
        if not code:
            break
    else:
        sys.exit(f"{folder}: demur {' '.join(words)}")
"""


def run_commands(checkout: Path, commands: list[tuple[Path, list[str]]], renamed: dict[str, str] | None = None) -> None:
    """Run `demur` of a checkout, each command in its folder, words renamed if it knows them; stop where one fails."""
    lines = ""
    for folder, words in commands:
        spellings = [[(renamed or {}).get(word, word) for word in words], words]
        lines += f"{json.dumps([str(folder.resolve()), *spellings])}\n"
    environment = os.environ | {"PYTHONPATH": str(checkout.resolve() / "src")}
    done = subprocess.run(
        [sys.executable, "-c", RUN], input=lines, text=True, env=environment, stdout=subprocess.DEVNULL, check=False
    )
    if done.returncode:
        sys.exit(f"{checkout}: a command failed")


def cases(folder: Path) -> dict[Path, list[str]]:
    """The folders of the cases, and the command of each."""
    return {path.parent: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*/command.json"))}


def make_baseline(folder: Path, checkout: Path) -> None:
    """Write the inputs, and what the old code makes of them as `old.json`."""
    folder.mkdir(parents=True)
    write_cases(folder)
    calibrations = [
        (folder, ["calibrate", "--input", "training.json", *words, "--output", f"calibration-{name}.json"])
        for name, words in CALIBRATIONS.items()
    ]
    run_commands(checkout, [(place, [*words, "--created-at", CREATED_AT]) for place, words in calibrations])
    evaluations = [(place, [*words, "--quiet", "--output", "old.json"]) for place, words in cases(folder).items()]
    run_commands(checkout, evaluations)
    print(f"{len(evaluations)} cases in {folder}")


def check(folder: Path) -> int:
    """Run this code on the same inputs, and compare its `new.json` with each `old.json`."""
    commands = [(place, [*words, "--quiet", "--output", "new.json"]) for place, words in cases(folder).items()]
    run_commands(HERE, commands, RENAMED)
    tallies: dict[str, Tally] = defaultdict(Tally)
    files: dict[str, int] = defaultdict(int)
    for place, _ in commands:
        kind, tally = place.name.partition("-")[2], Tally()
        old, new = (json.loads((place / name).read_text("utf-8")) for name in ("old.json", "new.json"))
        became_a_table = "estimates" in new and "estimates" not in old and kind == "retrieval"
        (compare_retrieval if became_a_table else compare_trees)(tally, old, new)
        tallies[kind].add(tally, place.name)
        files[kind] += 1
    return report(tallies, files)


def report(tallies: dict[str, Tally], files: dict[str, int]) -> int:
    """Print the table, the first differences and the new members; 1 if anything differs."""
    total = Tally()
    for tally in tallies.values():
        total.add(tally, "")
    print(f"{'':10} {'files':>6} {'numbers':>9} {'equal':>9} {'different':>9}")
    for kind, tally in [*tallies.items(), ("all", total)]:
        count = files.get(kind, sum(files.values()))
        print(f"{kind:10} {count:6} {tally.numbers:9} {tally.equal:9} {len(tally.different):9}")
    for tally in tallies.values():
        for line in tally.different[:SHOWN]:
            print(f"  {line}")
    if total.extra:
        print("only in the new files:", ", ".join(f"{name} ({times})" for name, times in sorted(total.extra.items())))
    return int(bool(total.different or not files))


def main() -> int:
    """Make a baseline, or check against one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="BASELINE_FOLDER")
    parser.add_argument("--make", type=Path, metavar="OLD_CHECKOUT", help="write the baseline with this code")
    options = parser.parse_args()
    start = time.perf_counter()
    code = make_baseline(options.folder, options.make) if options.make else check(options.folder)
    print(f"{time.perf_counter() - start:.0f} s")
    return code or 0


if __name__ == "__main__":
    sys.exit(main())
