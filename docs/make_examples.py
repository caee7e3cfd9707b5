"""Write the examples of the README: a log as Inspect writes it and a CSV, of two made-up systems on the same questions.

Run by `make docs`; a test fails when a file is not current.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[1] / "examples"
DOCUMENTS, QUESTIONS = 120, 2


class Answer(NamedTuple):
    """One question about one document, whether the answer is right (None: the system declined), and how sure it was."""

    document: str
    question: str
    right: bool | None
    sure: float


def answers(seed: int, *, skill: float, declines_below: float) -> Iterator[Answer]:
    """What a system answers: documents are easy or hard as a whole, and its confidence tells some of that."""
    documents, rng = random.Random(0), random.Random(seed)
    for document in range(1, DOCUMENTS + 1):
        easy = documents.gauss(0, 0.22)
        for question in range(1, QUESTIONS + 1):
            chance = min(max(skill + easy + documents.gauss(0, 0.15), 0.02), 0.98)
            sure = round(min(max(chance + rng.gauss(0.05, 0.08), 0.01), 0.99), 2)
            right = rng.random() < chance
            yield Answer(f"doc{document:03}", f"q{question}", None if sure < declines_below else right, sure)


def inspect_log() -> str:
    """A log with one scorer, whose score is C, I or, where the system declined, N."""
    samples = [
        {
            "id": f"{each.document}-{each.question}",
            "epoch": 1,
            "input": f"Question {each.question[1:]} about {each.document}",
            "target": "yes",
            "metadata": {"document": each.document},
            "scores": {
                "exact": {
                    "value": {True: "C", False: "I", None: "N"}[each.right],
                    "answer": {True: "yes", False: "no", None: "I cannot tell"}[each.right],
                    "metadata": {"sure": each.sure},
                }
            },
        }
        for each in answers(1, skill=0.55, declines_below=0.55)
    ]
    about = {
        "run_id": "example",
        "created": "2026-01-31T12:00:00+00:00",
        "task": "documents",
        "model": "made-up/careful",
    }
    about |= {"dataset": {"samples": len(samples)}, "config": {"epochs": 1}, "packages": {"inspect_ai": "0.3.285"}}
    lines = ",\n".join(json.dumps(sample) for sample in samples)
    return f'{{"version": 2, "status": "success", "eval": {json.dumps(about)}, "samples": [\n{lines}\n]}}\n'


def table() -> str:
    """A CSV with a loss of 0 or 1, or an empty cell where the system declined."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("cluster", "item", "loss", "sure"))
    for each in answers(11, skill=0.7, declines_below=0.3):
        loss = "" if each.right is None else int(not each.right)
        rows.writerow((each.document, f"{each.document}-{each.question}", loss, each.sure))
    return text.getvalue()


EXAMPLES: dict[str, Callable[[], str]] = {"inspect_log.json": inspect_log, "answers.csv": table}


def main() -> None:
    """Write both."""
    for name, made in EXAMPLES.items():
        (FOLDER / name).write_text(made(), encoding="utf-8")
        print(f"wrote examples/{name}")


if __name__ == "__main__":
    main()
