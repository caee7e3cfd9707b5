"""Write the golden files of tests/golden anew. Run by `make golden`, by hand, when a number is meant to change."""

from __future__ import annotations

import random
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import demur
from demur import Plan, Settings, calibrate, read_run, report_html
from demur.extension import tasks
from demur.files.write import json_text
from demur.results.selective import evaluate
from demur.show.tables import FORMS, table_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from demur import Calibration, Rankings, Results

FOLDER = Path(__file__).parents[1] / "tests" / "golden"
WHEN = "2026-01-31T12:00:00Z"


def selective(name: str, *modes: str, resamples: int = 200, labels: tuple[str, ...] = (), **settings: str) -> Results:
    """Modes of the golden run, under their labels where they have some."""
    runs = [read_run(FOLDER / "run.json", mode=mode) for mode in modes]
    return evaluate(
        *([dict(zip(labels, runs, strict=True))] if labels else runs),
        settings=Settings(**{"confidence": "all", "created_at": WHEN} | settings),
        plan=Plan(resamples, seed=7),
        command=f"golden {name}",
    )


def rankings(seed: int) -> Rankings:
    """Twelve queries of six posts, some without gold, with a gate, a selection and two folds."""
    rng = random.Random(1)
    gold = [rng.sample([f"s{n}" for n in range(6)], rng.choice([0, 1, 2])) for _ in range(12)]
    rng = random.Random(seed)
    ranked = [rng.sample([f"s{n}" for n in range(6)], rng.choice([0, 4, 6])) for _ in gold]
    return demur.rankings_of(
        gold,
        ranked,
        posts=[query // 2 for query in range(12)],
        criteria=["A.1" if query % 2 else "A/2" for query in range(12)],
        scores=[sorted((rng.randint(0, 9) for _ in ids), reverse=True) for ids in ranked],
        prob=[rng.randint(0, 10) / 10 for _ in gold],
        fold=[str(query // 6) for query in range(12)],
        selected=[ids[: rng.randint(0, 3)] for ids in ranked],
    )


def retrieval() -> Results:
    """Two retrieval systems, one called as if it were a part of the other."""
    from demur.extensions.retrieval.reference_ranges import REFERENCES  # noqa: PLC0415  (may not be there)

    return demur.evaluate_retrieval(
        {"bge": rankings(2), "bge/large": rankings(3)},
        settings=demur.RetrievalSettings(depths=(3,), policies=("fixed:2",), reference=REFERENCES["phq8-evidence"]),
        plan=Plan(50, seed=7),
        created_at=WHEN,
        command="golden retrieval",
    )


GOLDEN: dict[str, Callable[[], Results]] = {
    "one": lambda: selective("one", "zero_shot"),
    "paired": lambda: selective("paired", "zero_shot", "few_shot"),
    "three": lambda: selective(
        "three",
        "zero_shot",
        "few_shot",
        "zero_shot",
        resamples=50,
        labels=("zero", "zero/few", "again"),
        confidence="llm",
        baseline="zero/few",
    ),
} | ({"retrieval": retrieval} if "retrieval" in tasks() else {})


def calibrated() -> Calibration:
    """A calibrator of the golden run."""
    items = read_run(FOLDER / "run.json", mode="few_shot")
    return calibrate(
        items, method="isotonic", variant="verbalized", folds=2, created_at=WHEN, command="golden calibrator"
    )


class Skeleton(HTMLParser):
    """The elements of a page with their ids and classes, indented; no text, so that no wording or number is in it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._depth = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """One line per element; what is drawn inside a picture is not part of the skeleton."""
        names = dict(attrs)
        if tag in (
            "html",
            "body",
            "main",
            "nav",
            "header",
            "footer",
            "section",
            "table",
            "caption",
            "svg",
            "details",
            "h1",
            "h2",
        ):
            marks = "".join(f" {name}={names[name]}" for name in ("id", "class") if names.get(name))
            self.lines.append(f"{'  ' * self._depth}{tag}{marks}")
        self._depth += tag in ("body", "main", "nav", "section", "details")

    def handle_endtag(self, tag: str) -> None:
        """Back out of what holds other elements."""
        self._depth -= tag in ("body", "main", "nav", "section", "details")


def skeleton(artifact: Results | Calibration) -> str:
    """The skeleton of an artifact's page."""
    return "\n".join(Skeleton(report_html(artifact)).lines) + "\n"


def files() -> Iterator[tuple[str, str]]:
    """Every golden file and its content; a path in it is the file's name alone, wherever the repository is."""
    for name, make in GOLDEN.items():
        results = make()
        content = results.to_json()
        del content["execution"]  # whoever computes it, the rest is the same
        for source in content["inputs"]:
            source["path"] = source["path"] and Path(source["path"]).name
        yield f"{name}.json", json_text(content)
        yield f"{name}.skeleton", skeleton(results)
        if name == "paired":
            yield from ((f"{name}.{form}", table_text(results.narrowed("llm"), form)) for form in FORMS)
    calibration = calibrated()
    content = calibration.to_json()
    content["training"]["path"] = Path(content["training"]["path"]).name
    yield "calibrator.json", json_text(content)
    yield "calibrator.skeleton", skeleton(calibration)


if __name__ == "__main__":
    for file, text in files():
        (FOLDER / file).write_text(text, encoding="utf-8")
        print(f"wrote {file}")
