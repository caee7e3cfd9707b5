"""One pass over many units: a curve beside one argsort; all variants and decisions by a rule beside plain loops."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from timing import Ratio, against, by_turns

from demur import Scores, apply, choose, grade_units, risk_coverage
from demur.confidences.fitting import calibrate
from demur.confidences.serving import chosen
from demur.extensions.lab.runs import ZERO_SHOT, make_people, run_system
from demur.facts.items import Items
from demur.quantities import default_measures

UNITS = 1_000_000
PEOPLE = 10_000


def curve() -> Iterator[Ratio]:
    """A curve and every number of it but the hull's."""
    rng = np.random.default_rng(0)
    confidence, loss = rng.random(UNITS), rng.integers(0, 4, UNITS)
    measures = [measure for measure in default_measures() if "achievable" not in measure.quantity.name]
    ours, sort = by_turns(
        {
            "ours": lambda: Scores(risk_coverage(confidence, loss=loss), measures),
            "sort": partial(np.argsort, confidence),
        }
    ).values()
    job = f"a curve of {UNITS} units and {len(measures)} numbers"
    yield from against(job, f"{ours:.2f} s", ours, {"one numpy.argsort": sort}, "≥ 0.125")


def three_in_a_loop(items: Items) -> list[list[float]]:
    """Three variants, one unit at a time, as one would write them first."""
    columns = {name: column.values.tolist() for name, column in items.signals.items()}
    rows = []
    for unit, answered in enumerate(items.answered.tolist()):
        if answered:
            evidence = min(columns["llm_evidence_count"][unit], 3) / 3
            similar = min(max(columns["retrieval_similarity_mean"][unit], 0.0), 1.0)
            verbalized = min(max((columns["verbalized_confidence"][unit] - 1) / 4, 0.0), 1.0)
            total = round(0.4 * verbalized + 0.3 * evidence + 0.3 * similar, 12)
            rows.append([columns["llm_evidence_count"][unit], verbalized, total])
    return rows


def variants() -> Iterator[Ratio]:
    items = run_system(make_people(PEOPLE, seed=1), ZERO_SHOT, seed=1).items()
    calibration = calibrate(items, method="temperature", features=["verbalized_confidence"])
    number = len(chosen(items, "all", calibration)[0])
    ours, loop = by_turns(
        {"ours": partial(chosen, items, "all", calibration), "loop": partial(three_in_a_loop, items)}
    ).values()
    job = f"all {number} variants of {len(items)} units"
    yield from against(job, f"{ours:.3f} s", ours, {"a plain loop over three of them": loop})


def decided_in_a_loop(source: Path, target: Path, threshold: float) -> None:
    with source.open(newline="") as given, target.open("w", newline="") as made:
        rows, writer = csv.DictReader(given), csv.writer(made, lineterminator="\n")
        writer.writerow([*(rows.fieldnames or ()), "decision"])
        for row in rows:
            writer.writerow([*row.values(), "accept" if float(row["confidence"]) >= threshold else "decline"])


def decisions() -> Iterator[Ratio]:
    rule = choose(grade_units([0.9, 0.5, 0.1], loss=[0, 0, 1], clusters=[1, 2, 3]), risk="0", seed=1)
    with tempfile.TemporaryDirectory() as folder:
        source, target, loop = (Path(folder) / name for name in ("new.csv", "ours.csv", "loop.csv"))
        with source.open("w") as file:
            file.write("cluster,confidence\n")
            file.writelines(f"p{n // 8},0.{n * 7919 % 1_000_000:06d}\n" for n in range(UNITS))
        jobs = {
            "ours": partial(apply, rule, source, target),
            "loop": partial(decided_in_a_loop, source, loop, rule.threshold or 0.0),
        }
        ours, plain = by_turns(jobs, rounds=1).values()
        if target.read_bytes() != loop.read_bytes():
            raise SystemExit("the plain loop decides otherwise: nothing to compare")
    yield from against(f"{UNITS} rows of CSV decided by a rule", f"{ours:.2f} s", ours, {"a plain loop": plain})


def ratios(_: Path | None) -> Iterator[Ratio]:
    yield from curve()
    yield from variants()
    yield from decisions()
