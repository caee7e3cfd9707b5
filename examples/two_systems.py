"""Two made-up systems that may decline to answer, and why their raw errors must not be compared.

Simulates two run files of 41 participants, reads them back, evaluates and compares them, and writes a small page.
`make demo` runs it.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

from demur import Comparison, Curve, Estimate, Graded, Plan, compare, grade, read_run
from demur.simulate import FEW_SHOT, ZERO_SHOT, make_people, run_system

FOLDER = Path("build/demo")
# Of the first 300 seeds, the one whose two runs come closest to a published pair in coverage and error. With another
# the comparison may well end undecided: 41 people are not many.
PEOPLE, SEED = 41, 0
SYSTEMS = {"zero_shot": ZERO_SHOT, "few_shot": FEW_SHOT}
NUMBERS = ("cmax", "mae", "aurc", "augrc", "eaugrc", "mae@0.3", "mae@0.5")


def write_runs() -> dict[str, Path]:
    """Run files of both systems on the same people."""
    people, paths = make_people(PEOPLE, seed=SEED), {}
    for place, (mode, system) in enumerate(SYSTEMS.items()):
        run = run_system(people, system, seed=SEED + place).to_json(mode, run_id=f"demo-{mode}")
        paths[mode] = FOLDER / f"{mode}.json"
        paths[mode].write_text(json.dumps(run), encoding="utf-8")
    return paths


def shown(estimate: Estimate) -> str:
    """A number with its recommended interval."""
    ends = estimate.recommended
    return f"{estimate.point:.3f} [{ends.low:.3f}, {ends.high:.3f}]" if ends else "undefined"


def table(found: Comparison) -> list[tuple[str, str, str, str]]:
    """The two systems and their difference, one number a line."""
    lines = [("", *SYSTEMS, "difference")]
    for name, delta in found.deltas.items():
        sides = (shown(found.left[name]), shown(found.right[name])) if name in found.left else _common(found, name)
        lines.append((name, *sides, shown(delta)))
    return lines


def _common(found: Comparison, name: str) -> tuple[str, str]:
    left, right = found.common[name]
    return shown(left), shown(right)


def verdict(found: Comparison) -> str:
    """What the numbers say, in a few sentences."""
    left, right = found.left, found.right
    delta = found.deltas["augrc@C_common"]
    ends = delta.recommended
    decided = ends is not None and (ends.low > 0 or ends.high < 0)
    better = "zero_shot" if delta.point > 0 else "few_shot"
    return (
        f"The raw errors (mae {left['mae'].point:.3f} and {right['mae'].point:.3f}) belong to different shares of "
        f"the items: {left['cmax'].point:.1%} and {right['cmax'].point:.1%} are answered.\n"
        "Whoever answers more answers harder items too, so these errors, and the full areas, must not be compared.\n"
        f"At the coverage both reach ({found.common_coverage:.1%}) the AUGRC differs by {shown(delta)}: "
        + (f"{better} is better there." if decided else "the interval holds 0, so neither is shown to be better.")
    )


def page(found: Comparison, curves: dict[str, Curve]) -> str:
    """The same as a page."""
    head, *rows = table(found)
    cells = "".join(f"<tr><th>{escape(row[0])}{''.join(f'<td>{escape(cell)}' for cell in row[1:])}" for row in rows)
    heads = "".join(f"<th>{escape(cell)}" for cell in head)
    pictures = "".join(f"<h2>{mode}</h2>{curve._repr_html_()}" for mode, curve in curves.items())
    style = "<style>body{font:16px sans-serif;margin:2em}td,th{padding:0 1em;text-align:left}</style>"
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>demur demo</title>{style}<h1>Two systems</h1>"
        f"<p>{escape(verdict(found))}<table><tr>{heads}{cells}</table>{pictures}"
    )


def main() -> None:
    """Make, read, evaluate, compare, explain."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    graded: dict[str, Graded] = {
        mode: grade(read_run(path), loss="abs", confidence="llm_evidence_count") for mode, path in write_runs().items()
    }
    found = compare(graded["zero_shot"], graded["few_shot"], NUMBERS, plan=Plan(10_000, seed=SEED))
    print(f"{PEOPLE} made-up participants × 8 items, absolute error, 10,000 resamples of participants, seed {SEED}\n")
    for row in table(found):
        print(f"{row[0]:15}" + "".join(f"{cell:25}" for cell in row[1:]).rstrip())
    print("\n" + verdict(found))
    curves = {mode: Curve.of(units) for mode, units in graded.items()}
    (FOLDER / "report.html").write_text(page(found, curves), encoding="utf-8")
    print(f"\nReport: {FOLDER / 'report.html'}")


if __name__ == "__main__":
    main()
