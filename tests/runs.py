"""Small run files for the tests, and the means to break them."""

from __future__ import annotations

import json
from typing import Any

from demur import PHQ8, Items, read_table


def participant(person: int | str, predicted: dict[str, Any] | None = None, **signals: Any) -> dict[str, Any]:
    """A successful participant: truth 0, 1, 2, 3, 0 … and predictions equal to it unless said otherwise."""
    truth = {item: index % 4 for index, item in enumerate(PHQ8.items)}
    return {
        "participant_id": person,
        "success": True,
        "error": None,
        "ground_truth_items": truth,
        "predicted_items": truth | (predicted or {}),
        "item_signals": {item: {"llm_evidence_count": index} | signals for index, item in enumerate(PHQ8.items)},
    }


def failure(person: int | str) -> dict[str, Any]:
    return {"participant_id": person, "success": False}


def experiment(*people: dict[str, Any], mode: str = "few_shot") -> dict[str, Any]:
    return {"provenance": {"mode": mode, "split": "dev"}, "results": {"mode": mode, "results": list(people)}}


def run(*experiments: dict[str, Any]) -> dict[str, Any]:
    return {"run_metadata": {"run_id": "r1", "git_commit": "abc"}, "experiments": list(experiments)}


def written(folder: Any, content: Any, name: str = "run.json") -> Any:
    """The content as a file: text as it is, bytes as they are, anything else as JSON."""
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def items_of(*units: dict[str, Any], truth: int = 0) -> Items:
    """One cluster per unit; a unit is its signals, and `None` as its prediction says it abstained."""
    names = dict.fromkeys(name for unit in units for name in unit)
    names.pop("prediction", None)
    rows = {
        "cluster": [*range(1, len(units) + 1)],
        "item": ["q"] * len(units),
        "truth": [truth] * len(units),
        "prediction": [unit.get("prediction", 0) for unit in units],
    }
    return read_table(rows | {name: [unit.get(name) for unit in units] for name in names}, instrument=None)
