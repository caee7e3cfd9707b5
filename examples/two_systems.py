"""Two made-up systems that may decline to answer, and why their raw errors must not be compared.

Makes two run files of 41 participants, reads them back, evaluates both and writes a small page. `make demo` runs it.
"""

from __future__ import annotations

import json
import math
import random
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from demur import PHQ8, Coverage, Curve, Items, Scores, grade, read_run

FOLDER = Path("build/demo")
PEOPLE = 41
METRICS = ("cmax", "mae", "aurc", "augrc", "eaugrc", "mae@0.3", "mae@0.5")
# How reluctant each system is to answer, and how noisy its answers are: chosen to resemble a published pair of runs.
SYSTEMS = {"zero_shot": {"reluctance": 0.47, "noise": 1.5}, "few_shot": {"reluctance": 0.29, "noise": 1.9}}


@dataclass(frozen=True)
class Item:
    """What is the case for one item of one person, whatever a system makes of it."""

    severity: float
    difficulty: float


def score(severity: float) -> int:
    """A latent severity as an item score."""
    return min(max(round(severity), 0), 3)


def make_people() -> list[dict[str, Item]]:
    """Participants whose items are alike, because their mood is behind all of them."""
    rng = random.Random("demur people")  # noqa: S311  (a simulation)
    moods = [rng.gauss(1.2, 0.8) for _ in range(PEOPLE)]
    return [{name: Item(mood + rng.gauss(0, 0.7), rng.random()) for name in PHQ8.items} for mood in moods]


def assessed(items: dict[str, Item], number: int, rng: random.Random, system: dict[str, float]) -> dict[str, object]:
    """One participant as a system sees them: hard items get fewer answers, worse ones, and less evidence."""
    predicted, signals = {}, {}
    for name, item in items.items():
        guess = score(item.severity + rng.gauss(0, system["noise"] * (0.5 + item.difficulty)))
        answers = item.difficulty + system["reluctance"] < rng.gauss(1, 0.3)
        predicted[name] = guess if answers else None
        signals[name] = {"llm_evidence_count": max(0, round(rng.gauss(4 - 4 * item.difficulty, 0.8)))}
    truth = {name: score(item.severity) for name, item in items.items()}
    maps = {"ground_truth_items": truth, "predicted_items": predicted, "item_signals": signals}
    return {"participant_id": 300 + number, "success": True} | maps


def write_run(mode: str, people: list[dict[str, Item]]) -> Path:
    """The run file of one system on these people."""
    rng = random.Random(f"demur {mode}")  # noqa: S311  (a simulation)
    results = [assessed(items, number, rng, SYSTEMS[mode]) for number, items in enumerate(people)]
    run = {
        "run_metadata": {"run_id": f"demo-{mode}", "git_commit": None},
        "experiments": [{"provenance": {"mode": mode}, "results": {"mode": mode, "results": results}}],
    }
    path = FOLDER / f"{mode}.json"
    path.write_text(json.dumps(run), encoding="utf-8")
    return path


def curve_of(items: Items) -> Curve:
    """The risk–coverage curve, ranked by how much evidence the system found."""
    return Curve.of(grade(items, loss="abs", confidence=items.numbers("llm_evidence_count")))


def table(scores: dict[str, Scores], common: str) -> str:
    """The two systems side by side, one metric a line."""
    names = [*METRICS, f"aurc@{common}", f"augrc@{common}"]
    lines = [f"{'':16}" + "".join(f"{mode:>12}" for mode in scores)]
    for name in names:
        cells = "".join(
            f"{'undefined' if math.isnan(found[name]) else format(found[name], '.3f'):>12}" for found in scores.values()
        )
        lines.append(f"{name.replace(common, 'C_common'):16}{cells}")
    return "\n".join(lines)


def main() -> None:
    """Make, read, evaluate, explain."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    people = make_people()
    curves = {mode: curve_of(read_run(write_run(mode, people))) for mode in SYSTEMS}
    common = str(min(Fraction(curve.answered, curve.units) for curve in curves.values()))
    names = [*METRICS, f"aurc@{common}", f"augrc@{common}"]
    scores = {mode: Scores(curve, names) for mode, curve in curves.items()}
    print(f"{PEOPLE} made-up participants, {len(PHQ8.items)} PHQ-8 items each; loss: absolute error\n")
    print(table(scores, common))
    zero_shot, few_shot = (f"{found['cmax']:.1%}" for found in scores.values())
    print(
        f"\nThe raw errors (mae) belong to different shares of the items (cmax): {zero_shot} and {few_shot}.\n"
        "Whoever answers more answers harder items too, so they must not be compared.\n"
        f"Compare at a coverage both reach: the lines with @, C_common = {float(Coverage.of(common)):.3f}.\n"
        "Without intervals these are point estimates only: no winner is declared here."
    )
    sections = "".join(f"<h2>{mode}</h2>{curves[mode]._repr_html_()}{scores[mode]._repr_html_()}" for mode in SYSTEMS)
    page = FOLDER / "report.html"
    style = "<style>body{font:16px sans-serif;margin:2em}td,th{padding:0 1em;text-align:left}</style>"
    page.write_text(f"<!doctype html><meta charset=utf-8><title>demur demo</title>{style}{sections}", encoding="utf-8")
    print(f"\nReport: {page}")


if __name__ == "__main__":
    main()
