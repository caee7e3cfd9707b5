"""A million rows decided by a rule, and the same by the plain loop one would write first: a ratio, and the memory."""

from __future__ import annotations

import csv
import resource
import tempfile
import time
from pathlib import Path

from demur import apply, choose, grade_units

ROWS = 1_000_000


def plain_loop(source: Path, target: Path, threshold: float) -> int:
    accepted = 0
    with source.open(newline="") as given, target.open("w", newline="") as made:
        rows, writer = csv.DictReader(given), csv.writer(made)
        writer.writerow([*(rows.fieldnames or ()), "decision"])
        for row in rows:
            taken = float(row["confidence"]) >= threshold
            accepted += taken
            writer.writerow([*row.values(), "accept" if taken else "decline"])
    return accepted


def main() -> None:
    rule = choose(grade_units([0.9, 0.5, 0.1], loss=[0, 0, 1], clusters=[1, 2, 3]), risk="0", seed=1)
    with tempfile.TemporaryDirectory() as folder:
        source, ours, loop = (Path(folder) / name for name in ("new.csv", "ours.csv", "loop.csv"))
        with source.open("w") as file:
            file.write("cluster,confidence\n")
            file.writelines(f"p{n // 8},0.{n * 7919 % 1_000_000:06d}\n" for n in range(ROWS))
        start = time.process_time()
        found = apply(rule, source, ours)
        middle = time.process_time()
        accepted = plain_loop(source, loop, rule.threshold or 0.0)
        end = time.process_time()
        same = ours.read_bytes() == loop.read_bytes().replace(b"\r\n", b"\n")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{found.rows:,} rows; a plain loop = 1 ({end - middle:.2f} s of CPU here)")
    print(f"  apply  {(middle - start) / (end - middle):6.2f}   {middle - start:.2f} s, {peak} MiB at the most")
    print(f"  the same decisions: {same and found.accepted == accepted}")


if __name__ == "__main__":
    main()
