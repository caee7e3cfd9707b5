"""Results for the tests of reports: large ones, and ones whose every text is somebody else's."""

from __future__ import annotations

import copy
import hashlib
import json
import math
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from demur import PHQ8, Key, Minus, Plan, Settings, read_run
from demur.results.load import results_of
from demur.results.selective import evaluate
from runs import experiment, participant, run, written

if TYPE_CHECKING:
    from demur.facts.items import Items
    from demur.inference.estimates import Estimate
    from demur.results.table import Results

GOLDEN = Path(__file__).parent / "golden"
MAPS_BY_NAME = ("confidence_variants", "deltas", "by_item", "nulls_filled", "confident_errors")
FIXED = ("schema_version", "created_at", "kind")


@cache
def _text(name: str) -> str:
    return (GOLDEN / f"{name}.json").read_text(encoding="utf-8")


def golden(name: str) -> dict[str, Any]:
    """The content of a golden file to be changed, with one warning of each kind: reading all takes most of the time."""
    content = json.loads(_text(name))
    return content | {"warnings": [*{each["code"]: each for each in content["warnings"]}.values()]}


def golden_with_bands() -> dict[str, Any]:
    """A golden file whose bands have simultaneous limits, though its three participants are too few."""
    content = golden("one")
    one = content["confidence_variants"]["llm"]
    content["confidence_variants"] = {"llm": one}
    for risk in ("selective_risk", "generalized_risk"):
        around = zip(one["curve"][risk], (0.0, 0.1, 0.05), (0.25, 0.1, 0.1), strict=True)
        ends = [(at - below if at > below else 0.0, at + above) for at, below, above in around]
        one["bands"][risk] |= {
            f"{end}_simultaneous": [*each] for end, each in zip(("low", "high"), zip(*ends, strict=True), strict=True)
        }
    return content


@cache
def golden_results(name: str) -> Results:
    """The results of a golden file, whole, read once for all tests."""
    return results_of(json.loads(_text(name)))


def hashed(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def difference(results: Results, quantity: str, confidence: str = "llm") -> Estimate:
    """A number of the second system minus that of the first."""
    first, second = results.systems
    return results[Key(second, quantity, confidence, minus=Minus("system", first))]


def two_variants(content: dict[str, Any]) -> dict[str, Any]:
    """The same file with its first two variants."""
    names = [*content["confidence_variants"]][:2]
    content["confidence_variants"] = {name: content["confidence_variants"][name] for name in names}
    if content["comparison"]["enabled"]:
        content["comparison"]["deltas"] = {name: content["comparison"]["deltas"][name] for name in names}
    return content


def items_of(people: list[dict[str, Any]], name: str = "run.json") -> Items:
    """The answers of a list of participants, as they are read from a file."""
    with TemporaryDirectory() as folder:
        return read_run(written(Path(folder), run(experiment(*people)), name), mode="few_shot")


def evaluated(
    *people: list[dict[str, Any]], resamples: int = 100, intersection: bool = False, **settings: Any
) -> Results:
    """The results of one run or several, each a list of participants."""
    items = [items_of(them, f"{n}.json") for n, them in enumerate(people)]
    plan = Plan(resamples, seed=1 if resamples else None)
    chosen = Settings(**({"confidence": "llm", "intersection_only": intersection} | settings))
    return evaluate(*items, settings=chosen, plan=plan)


@cache
def silent(*speaks: bool) -> Results:
    """One run or two that answer everything, with errors, or nothing."""
    wrong, nothing = {"Sleep": 0, "Tired": 0}, dict.fromkeys(PHQ8.items)
    return evaluated(*([participant(n, wrong if one else nothing) for n in range(25)] for one in speaks))


def large(variants: int = 13, points: int = 10_000) -> Results:
    """Two runs with very many operating points under every variant; risks that swing as real ones do."""
    content, units = golden("paired"), 2 * points
    counts = {"items_total": units, "items_predicted": {"left": points, "right": points}}
    content["population"] |= counts | {"cmax": {"left": 0.5, "right": 0.5}}
    template = content["confidence_variants"]["llm"]
    deltas = content["comparison"]["deltas"]["llm"]
    names = [f"variant_{n}" for n in range(variants)]
    content["confidence_variants"] = {name: _long(template, points, units, n) for n, name in enumerate(names)}
    content["comparison"]["deltas"] = dict.fromkeys(names, deltas)
    content["warnings"], content["cases"]["confident_errors"] = [], {}
    return results_of(content)


def _long(template: dict[str, Any], points: int, units: int, turn: int) -> dict[str, Any]:
    pair = copy.deepcopy(template)
    coverage = [k / units for k in range(1, points + 1)]
    for side, one in pair.items():
        phase = turn + (side == "right")
        risk = [0.3 + 0.2 * c + 0.5 * math.sin(40 * c + phase) / (1 + 60 * c) for c in coverage]
        one["curve"] = {
            "coverage": coverage,
            "selective_risk": risk,
            "generalized_risk": [r * c for r, c in zip(risk, coverage, strict=True)],
            "threshold": [1 - math.sqrt(c) / 3 for c in coverage],
        }
        one |= {"cmax": coverage[-1], "mae_at_coverage": dict.fromkeys(one["mae_at_coverage"])}
        each = {"n": units // 8, "answered": points // 8, "coverage": 0.5, "risk": 0.25, "bias": 0.0}
        one["by_item"] = dict.fromkeys(one["by_item"], each)
        one["bands"] = _bands(one["curve"], points)
        one["risk_intervals"] = None
    return pair


def _bands(curve: dict[str, list[float]], points: int) -> dict[str, Any]:
    """As many as an artifact holds, around the curve."""
    kept = [place * (points - 1) // 39 for place in range(40)]

    def around(risks: list[float]) -> dict[str, list[float]]:
        near, far = 0.08765432109876, 0.15678901234567
        away = {"low": -near, "high": near, "low_simultaneous": -far, "high_simultaneous": far}
        return {end: [risks[place] + distance for place in kept] for end, distance in away.items()}

    risks = {name: around(curve[name]) for name in ("selective_risk", "generalized_risk")}
    return {"level": 0.95, "coverage": [curve["coverage"][place] for place in kept], **risks}


def renamed(content: dict[str, Any], name_of: Any) -> Results:
    """The same results with every text in them, and every name of a confidence or item, replaced."""

    def replaced(value: Any, member: str) -> Any:
        if isinstance(value, dict):
            own = member in MAPS_BY_NAME
            return {_name(key, name_of) if own else key: replaced(one, key) for key, one in value.items()}
        if isinstance(value, list):
            return [replaced(one, member) for one in value]
        if member in ("participant", "failed"):
            return name_of(str(value))
        if isinstance(value, str) and member not in FIXED and value != "demur":
            return name_of(value)
        return value

    return results_of(replaced(content, ""))


def _name(key: str, name_of: Any) -> str:
    """A key of `confident_errors` is a variant and a side."""
    variant, space, side = key.rpartition(" ")
    return f"{name_of(variant)} {side}" if space and side in ("left", "right") else name_of(key)
