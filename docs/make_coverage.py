"""Write docs/coverage.md: how often the intervals cover, simulated anew. A quarter of an hour; run by `make coverage`."""

from __future__ import annotations

import argparse
import math
import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING

from demur import __version__
from demur.extensions.lab.designs import DESIGNS
from demur.extensions.lab.study import FAMILY, Tally, coverage, monte_carlo_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PAGE = Path(__file__).with_name("coverage.md")
DATASETS, RESAMPLES, SEED = 600, 500, 1
GOAL, BAND_GOAL, LOW, WARNED = (0.935, 0.98), (0.93, 0.98), 0.92, 0.95
FEW = 50  # data sets without a warning: a share of fewer says nothing

Cell = tuple[str, int]
Cells = dict[Cell, list[Tally]]

INTRODUCTION = """\
# Do the intervals cover?

A 95 % interval should contain the true value in 95 of 100 studies. These studies are simulated: each design (`demur.extensions.lab.designs`) makes
data sets of one kind, whose true numbers are those of a population of 100,000 participants (phq8: 30,000), or 0 where a design compares two
systems of one kind. Version {version}, {datasets:,} data sets per cell, {resamples:,} resamples each, seed {seed}. `make coverage` writes this page
anew. To ask it about data of your own size, or like your own:

```console
$ demur study intervals --design errors_5 --participants 25 --seed 1
$ demur study intervals --like run.json --mode zero_shot --seed 1 --figure coverage.svg
```

## How to read the tables

A cell holds three shares in percent, *recommended* · *percentile* · *unwarned*, and in brackets how many percent of the data sets are
unwarned.

- **recommended** is the interval demur reports first, **percentile** the plain bootstrap interval beside it. Data sets in which a number has no
  interval (no answer in its range has a loss, too many replicates without the number) are left out: no interval is no miss.
- **unwarned** is the recommended interval again, over the data sets in which nothing is said against this very number
  (`few_informative_clusters`, `few_discordant_clusters`, `target_near_cmax`, `plateau_edge`,
  `short_domain`, `heavy_tailed_loss`). `few_clusters`, which
  everything from fewer than 40 participants carries, does not count as such a warning here.
- The Monte-Carlo error of a share over all data sets is ± {error:.1f} (one standard error); over a tenth of them it is ± {tenth:.1f}.
- A **band** holds if it holds the whole curve of the population at once; beside it, as *percentile*, the intervals at each coverage, which do
  not promise that. **{family}** holds if no simultaneous interval leaves out 0 where nothing differs; one minus it is how
  often anything is wrongly called better. Beside it, as *percentile*, what deciding by every percentile interval gives.
- A cell in **bold** misses: unwarned below 93.5 or above 98 (bands 93) by more than two Monte-Carlo standard errors, or recommended
  below 92 with fewer than 95 % of the data sets warned. Wrongly called better is held against 5 % alone.
"""

WHY = """\
## Where nothing helps

- **Few clusters with a loss**: an interval is made of what varies. With two or three erring participants the next sample may have none or
  five, and no method can know. demur warns below ten (areas) or twenty (cut areas, excesses, risks at a coverage).
- **A heavy tail**: the participants who would move the number most are the ones a small sample has not met; an interval from
  the others is too short and looks fine. More participants are the only cure; a bounded loss is a better question.
- **Few participants who differ**: two systems that differ on three people are compared on three people.
- **A risk at a coverage next to a plateau's edge** jumps between two values; its interval holds both only if both occur in the replicates.
"""


def cells() -> list[Cell]:
    """Every design at each of its sizes, the costly ones first, so that no process is left alone with one at the end."""
    every = [(name, size) for name, design in DESIGNS.items() for size in design.participants]
    return sorted(every, key=lambda cell: (-cell[1], cell[0]))


def measured(cell: Cell, datasets: int, resamples: int) -> tuple[Cell, list[Tally]]:
    """One cell."""
    name, participants = cell
    return cell, coverage(DESIGNS[name], participants, datasets=datasets, seed=SEED, resamples=resamples)


def page(found: Cells, datasets: int, resamples: int) -> str:
    """The page made of the counts of every cell."""
    error = 100 * monte_carlo_error(datasets)
    words = {"version": __version__, "datasets": datasets, "resamples": resamples, "seed": SEED, "family": FAMILY}
    parts = [INTRODUCTION.format(**words, error=error, tenth=error * math.sqrt(10))]
    missed = [line for cell, tallies in sorted(found.items()) for tally in tallies if (line := _miss(cell, tally))]
    parts.append("## Cells that miss\n\n" + ("\n".join(missed) if missed else "None.") + "\n")
    parts.append(WHY)
    for name, design in DESIGNS.items():
        sizes = [size for size in design.participants if (name, size) in found]
        if sizes:
            parts.append(f"## {name}\n\n{design.words[0].upper()}{design.words[1:]}.\n")
            parts.append("\n".join(_table({size: found[name, size] for size in sizes})))
    return "\n".join(parts)


def _table(by_size: dict[int, list[Tally]]) -> Iterator[str]:
    """Numbers down, sizes across."""
    yield "| | " + " | ".join(f"{size} participants" for size in by_size) + " |"
    yield "|---|" + "---|" * len(by_size)
    for number in dict.fromkeys(tally.number for tallies in by_size.values() for tally in tallies):
        row = [next((_cell(each) for each in tallies if each.number == number), "") for tallies in by_size.values()]
        yield f"| {number} | " + " | ".join(row) + " |"
    yield ""


def _cell(tally: Tally) -> str:
    shares = (tally.share("recommended"), tally.share("percentile"), tally.share_undoubted)
    text = " · ".join("–" if math.isnan(share) else f"{100 * share:.1f}" for share in shares)
    text = f"{text} ({100 * tally.undoubted / tally.datasets:.0f})"
    return f"**{text}**" if misses(tally) else text


def misses(tally: Tally) -> bool:
    """Whether a cell is outside what is aimed at, by more than chance."""
    if tally.number == FAMILY:
        return tally.share() < 0.95 - 2 * monte_carlo_error(tally.datasets)
    lowest, highest = BAND_GOAL if tally.number.startswith("band") else GOAL
    slack = 2 * monte_carlo_error(tally.undoubted)
    outside = not lowest - slack <= tally.share_undoubted <= highest + slack
    silent = tally.share() < LOW and tally.doubted < WARNED * tally.datasets
    return (outside and tally.undoubted >= FEW) or silent


def _miss(cell: Cell, tally: Tally) -> str:
    if not misses(tally):
        return ""
    where = f"- {cell[0]}, {cell[1]} participants, {tally.number}: "
    return where + f"{100 * tally.share():.1f}, unwarned {100 * tally.share_undoubted:.1f} of {tally.undoubted}"


def main(arguments: Iterable[str] | None = None) -> None:
    """Measure every cell and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", type=int, default=DATASETS)
    parser.add_argument("--resamples", type=int, default=RESAMPLES)
    parser.add_argument("--output", type=Path, default=PAGE)
    options = parser.parse_args(None if arguments is None else [*arguments])
    found: Cells = {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        work = [pool.submit(measured, cell, options.datasets, options.resamples) for cell in cells()]
        for number, done in enumerate(as_completed(work), start=1):
            cell, tallies = done.result()
            found[cell] = tallies
            print(f"{number} of {len(work)}: {cell[0]}, {cell[1]} participants", file=sys.stderr, flush=True)
    options.output.write_text(page(found, options.datasets, options.resamples), encoding="utf-8")


if __name__ == "__main__":
    main()
