"""Two result files, old and new, number by number and to the last bit.

The nested files of one or two runs have the same members. A retrieval file was nested and is now a table: `key_of` says
which row an old number has become.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = Any
Path = tuple[str, ...]
Key = tuple[Any, ...]

RENAMED = {"bootstrap_t": "t_interval", "said": "mean_predicted", "came_true": "fraction_correct"}
WORDING = {"convention", "message", "where", "reason", "no_interval", "undefined", "definition", "command", "version"}
KEY = ("system", "quantity", "confidence", "among", "group", "minus")
USUAL = dict.fromkeys(
    ("group", "minus", "value", "std_error", "ci95_low", "ci95_high", "method", "low", "high", "drop_rate")
)
USUAL |= dict.fromkeys(("upper_bound95", "spread", "at", "threshold", "share_above", "share_below"))
USUAL |= {"confidence": "", "among": "all", "by_convention": False}
_ABSENT = object()


@dataclass
class Tally:
    """What was compared, which values differ, and which members only the new file has."""

    numbers: int = 0
    equal: int = 0
    different: list[str] = field(default_factory=list)
    extra: Counter[str] = field(default_factory=Counter)

    def compare(self, path: Path, old: Json, new: Json) -> None:
        """Compare two values that are not containers."""
        is_number = isinstance(old, (int, float)) and not isinstance(old, bool)
        same = _same(old, new)
        self.numbers += is_number
        self.equal += is_number and same
        if not same:
            shown = "nothing" if new is _ABSENT else repr(new)
            self.different.append(f"{' > '.join(path)}: {old!r} became {shown}")

    def add(self, other: Tally, label: str) -> None:
        """Add what was compared in another file."""
        self.numbers += other.numbers
        self.equal += other.equal
        self.different += [f"{label}: {line}" for line in other.different]
        self.extra += other.extra


def _same(old: Json, new: Json) -> bool:
    """Whether two values have the same type and the same bits: 0.0 is neither 0 nor -0.0."""
    if isinstance(old, str):
        return new in {old, RENAMED.get(old, old)}
    return type(old) is type(new) and old == new and (old != 0 or math.copysign(1, old) == math.copysign(1, new))


def compare_trees(tally: Tally, old: Json, new: Json, path: Path = ()) -> None:
    """Walk two files of the same shape together; wording may differ, and the new one may have more members."""
    if isinstance(old, dict) and isinstance(new, dict):
        members = {name if name in new else RENAMED.get(name, name): value for name, value in old.items()}
        for name, value in members.items():
            if name not in WORDING:
                compare_trees(tally, value, new.get(name, _ABSENT), (*path, name))
        tally.extra.update(name for name in new if name not in members)
    elif isinstance(old, list) and isinstance(new, list):
        tally.compare((*path, "length"), len(old), len(new))
        for index, (before, after) in enumerate(zip(old, new, strict=False)):
            compare_trees(tally, before, after, (*path, str(index)))
    elif isinstance(old, (dict, list)):
        for leaf, value in _leaves(old, path):
            tally.compare(leaf, value, _ABSENT)
    else:
        tally.compare(path, old, new)


def _leaves(tree: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    if not isinstance(tree, (dict, list)):
        yield path, tree
        return
    for name, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        if name not in WORDING:
            yield from _leaves(value, (*path, str(name)))


# Retrieval


def compare_retrieval(tally: Tally, old: Json, new: Json) -> None:
    """Compare an old nested retrieval file with a new table of estimates, and what stands beside the estimates."""
    rows = _rows(tally, new.get("estimates", {}))
    compared: Counter[Key] = Counter()
    for key, columns in old_estimates(old):
        row = rows.get(key, {})
        compared[key] += 1
        for name, value in columns.items():
            tally.compare((*map(str, key), name), value, row.get(name, _ABSENT))
    tally.extra.update(f"row {key[1]}" for key in rows if key not in compared)
    tally.different += [f"{key}: compared {times} times" for key, times in compared.items() if times > 1]
    beside = _as_before(new, rows)
    for path, value in beside_estimates(old):
        compare_trees(tally, value, _at(beside, path), path)


def _rows(tally: Tally, columns: Json) -> dict[Key, Json]:
    """The rows of the new table by key."""
    rows: dict[Key, Json] = {}
    for values in zip(*columns.values(), strict=True):
        row = USUAL | dict(zip(columns, values, strict=True))
        if row["share_above"] is not None:
            row["share_above"] = (1 + row["share_above"] - row["share_below"]) / 2  # ties counted half, as before
        key = tuple(_hashable(row.get(name)) for name in KEY)
        if key in rows:
            tally.different.append(f"{key} is the key of two rows")
        rows[key] = row
    return rows


def _hashable(value: Json) -> Json:
    if isinstance(value, dict):
        return tuple(sorted((name, _hashable(inner)) for name, inner in value.items()))
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


_QUANTITIES = {
    ("gate", "mae"): "risk",
    ("empty_decision", "precision"): "empty_precision",
    ("empty_decision", "recall"): "empty_recall",
    ("empty_decision", "f1"): "empty_f1",
}


def key_of(system: str, place: str, name: str, group: Key | None = None, minus: str | None = None) -> Key:
    """The row of an old number: whose it was, where it stood (`gate`, `policies/gap`, …) and what it was called."""
    part, _, rest = place.partition("/")
    quantity = f"{name}@{rest}" if part == "policies" else _QUANTITIES.get((part, name), name)
    confidence = "prob" if part in {"detection", "gate"} else ""
    among = "with_gold" if part == "positives_only" else "all"
    return (system, quantity, confidence, among, group, None if minus is None else (("system", minus),))


_MACRO = ("criterion", None)


def old_estimates(old: Json) -> Iterator[tuple[Key, Json]]:
    """Every estimate of an old file: its row in the new one, and the columns it is compared in."""
    for system, numbers in old["systems"].items():
        for place, group, estimates in _placed_estimates(numbers):
            bounds = numbers["gate"]["upper_bound95"] if place == "gate" else {}
            for name, estimate in estimates.items():
                columns = _columns(estimate) | ({"upper_bound95": bounds[name]} if name in bounds else {})
                yield key_of(system, place, name, group), columns
        for place, names in (numbers["folds"] or {}).items():
            for name, folds in names.items():
                mean = {"value": folds["mean"], "spread": folds["std"]}
                yield key_of(system, place, name, ("fold", None)), mean
                for fold, value in folds["values"].items():
                    yield key_of(system, place, name, ("fold", fold)), {"value": value}
    for system, places in old["deltas"].items():
        for place, estimates in places.items():
            group = _MACRO if place.endswith("/macro") else None
            for name, estimate in estimates.items():
                yield key_of(system, place, name, group, minus=old["settings"]["baseline"]), _columns(estimate)


def _placed_estimates(numbers: Json) -> Iterator[tuple[str, Key | None, Json]]:
    """The groups of estimates of one system: where they stood, the part of the queries they are of, and themselves."""
    for place in ("positives_only", "all_queries", "detection"):
        found = numbers[place]
        if found is None:
            continue
        yield place, None, found["micro"]
        yield place, _MACRO, found["macro"]
        for criterion, inside in found["per_criterion"].items():
            yield place, ("criterion", criterion), inside["metrics"] if place != "detection" else inside
    yield "empty_decision", None, numbers["empty_decision"]
    for place in ("gate", "dynamic_k"):
        if numbers[place] is not None:
            yield place, None, numbers[place]["metrics"]
    for policy, estimates in numbers["policies"].items():
        yield f"policies/{policy}", None, estimates


def _columns(estimate: Json) -> Json:
    """An old estimate as columns of the new table."""
    low, high = estimate["ci95"] or (None, None)
    recommended = estimate["ci95_recommended"] or dict.fromkeys(("method", "low", "high"))
    columns = {
        "value": estimate["delta" if "delta" in estimate else "value"],
        "std_error": estimate["std_error"],
        "ci95_low": low,
        "ci95_high": high,
        **recommended,
    }
    return columns | {name: estimate[name] for name in ("drop_rate", "share_above") if name in estimate}


_BESIDE = {
    "detection": ("single_class", "has_evidence_rate", "single_class_criteria", "threshold_at_fpr"),
    "gate": ("defined", "curve"),
    "dynamic_k": ("abstained", "breaches"),
    "positives_only": ("queries",),
    "all_queries": ("queries",),
}


def beside_estimates(old: Json) -> Iterator[tuple[Path, Json]]:
    """What an old file holds beside estimates, and the path of the same thing in the new one."""
    for name in ("inputs", "settings", "bootstrap", "queries", "reference_ranges", "warnings"):
        yield (name,), old[name]
    for system, numbers in old["systems"].items():
        for name in ("queries_abstained", "candidates", "empty_decision_by"):
            yield ("systems", system, name), numbers[name]
        for part, names in _BESIDE.items():
            for name in names if numbers[part] else ():
                yield ("systems", system, part, name), numbers[part][name]
        for part in ("positives_only", "all_queries"):
            for criterion, inside in numbers[part]["per_criterion"].items():
                yield ("systems", system, part, "per_criterion", criterion, "queries"), inside["queries"]


def _as_before(new: Json, rows: dict[Key, Json]) -> Json:
    """What the new file holds beside estimates, under the paths of the old one."""
    counts = {"positives_only": "with_gold", "all_queries": "queries"}
    systems = {}
    for system in new["systems"]:
        name = system["name"]
        groups = {
            old: {
                "queries": new[count],
                "per_criterion": {one["name"]: {"queries": one[count]} for one in new["criteria"]},
            }
            for old, count in counts.items()
        }
        curve = next((one for one in new["curves"] if one["system"] == name), None)
        told = {key: row for key, row in rows.items() if key[:3] == (name, "auroc", "prob") and key[5] is None}
        systems[name] = groups | {
            "queries_abstained": system["abstained"],
            "candidates": system["candidates"],
            "empty_decision_by": system["empty_decision_by"],
            "gate": curve,
            "dynamic_k": {"abstained": system["empty_selections"], "breaches": system["breaches"]},
            "detection": {
                "has_evidence_rate": new["has_evidence_rate"],
                "single_class": any(row["by_convention"] for key, row in told.items() if key[4] is None),
                "single_class_criteria": [key[4][1] for key, row in told.items() if key[4] and row["by_convention"]],
                "threshold_at_fpr": {
                    key[1].removeprefix("tpr@fpr="): {
                        "threshold": row["threshold"],
                        "tpr": row["value"],
                        "fpr": row["at"],
                    }
                    for key, row in rows.items()
                    if key[0] == name and key[1].startswith("tpr@") and key[4] is None and key[5] is None
                },
            },
        }
    queries = {
        "posts": new["posts"],
        "criteria": len(new["criteria"]),
        "queries_total": new["queries"],
        "queries_with_positives": new["with_gold"],
        "queries_without_positives": new["queries"] - new["with_gold"],
        "folds": new["folds"] or None,
    }
    bootstrap = None if new["bootstrap"] is None else new["bootstrap"] | {"cluster": "post"}
    settings = new["settings"] | {"baseline": new["baseline"]}
    return new | {"systems": systems, "queries": queries, "settings": settings, "bootstrap": bootstrap}


def _at(tree: Json, path: Path) -> Json:
    for name in path:
        tree = tree.get(name, _ABSENT) if isinstance(tree, dict) else _ABSENT
    return tree
