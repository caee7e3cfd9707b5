"""How fast demur is beside others: `python bench` prints one table of ratios; `python bench rankings` a part of it.

A ratio is what a peer takes over what demur takes, in CPU time of one run in which they take turns; only what a second
core brings is wall time, and of no use on a busy machine. With --before CHECKOUT, an earlier version is a peer as well.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from pathlib import Path

import arrays
import cores
import one_aurc
import rankings
import reading
import replicates
from timing import Ratio

import commands
import produce

Part = Callable[[Path | None], Iterator[Ratio]]
_LARGE = 100
PARTS: dict[str, Part] = {
    "replicates": replicates.ratios,
    "one_aurc": one_aurc.ratios,
    "rankings": rankings.ratios,
    "arrays": arrays.ratios,
    "reading": reading.ratios,
    "produce": produce.ratios,
    "commands": commands.ratios,
    "cores": cores.ratios,
}


def _words(times: float | None) -> str:
    if times is None:
        return "not installed"
    return f"{times:.0f} ×" if times >= _LARGE else f"{times:.2g} ×"


def main() -> None:
    parser = ArgumentParser("python bench", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all if none is named")
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="an earlier version, built if it has a kernel")
    given = parser.parse_args()
    if unknown := {*given.parts} - PARTS.keys():
        parser.error(f"no part is called {', '.join(sorted(unknown))}, expected {', '.join(PARTS)}")
    print("| | ours | beside | it takes | asked |\n|---|---|---|---|---|")
    for part in given.parts or PARTS:
        for row in PARTS[part](given.before):
            print(f"| {row.job} | {row.ours} | {row.peer} | {_words(row.times)} | {row.asked} |", flush=True)


if __name__ == "__main__":
    main()
