"""Write the golden artifacts of tests/golden anew. Run by `make golden`, by hand, when a number is meant to change."""

from __future__ import annotations

from pathlib import Path

from demur.evaluation import Settings, evaluate
from demur.read import read_run
from demur.resample import Plan
from demur.results import metrics_artifact
from demur.write import json_text

FOLDER = Path(__file__).parents[1] / "tests" / "golden"
MODES = {"one": ("zero_shot",), "paired": ("zero_shot", "few_shot")}


def golden(name: str) -> str:
    """The artifact as text; the path in it is the file's name alone, wherever the repository is."""
    runs = [read_run(FOLDER / "run.json", mode=mode) for mode in MODES[name]]
    found = evaluate(*runs, settings=Settings(confidence="all"), plan=Plan(200, seed=7))
    content = metrics_artifact(found, created_at="2026-01-31T12:00:00Z", command=f"golden {name}").to_json()
    for one in content["inputs"]:
        one["path"] = Path(one["path"]).name
    return json_text(content)


if __name__ == "__main__":
    for name in MODES:
        (FOLDER / f"{name}.json").write_text(golden(name), encoding="utf-8")
        print(f"wrote {name}.json")
