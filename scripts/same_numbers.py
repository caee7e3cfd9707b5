"""Compare results that may differ by rounding: numbers by key and within a tolerance, words apart.

A file is read as leaves, each a number or a word under a key. A row of a table, or a member of a list, is known by what
names it (system, quantity, group, …), not by its place: rows may change their order, and an inserted one moves none.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Json: TypeAlias = "dict[str, Json] | list[Json] | str | float | bool | None"
Key: TypeAlias = tuple[str, ...]
Leaves: TypeAlias = dict[Key, str | float | bool]
Unit: TypeAlias = Literal["percentage", "loss", "share"]

TOLERANCE, P_TOLERANCE = 1e-12, 1e-9
IGNORED = {"tool", "execution", "created_at", "command"}
IDENTITY = (
    *("name", "label", "path", "system", "variant", "quantity", "metric", "confidence", "among", "group", "minus"),
    *("code", "about", "where", "cluster", "participant", "post", "criterion", "item", "level", "policy"),
)
# A difference is as exact as the numbers it is made of, however small it is itself.
DIFFERENCE = re.compile(r"deltas?|minus=.*|vs_rest|gap|eaug?rc(@.*)?|saving(@.*)?|bias")
NOT_DIFFERENCES = {"degrees", "count", "drop_rate", "share_above", "share_below", "favours_left", "favours_right"}
PERCENTAGE = re.compile(r"\w+_pct\b.*")
OF_LOSS = re.compile(r"([en]?aug?rc|risk|mae|matched_risk|cost|saving|bias|loss)(?![a-z]).*")
PARTNERS = {"0": "1", "1": "0"} | {
    before + one + after: before + other + after
    for one, other in (("low", "high"), ("high", "low"))
    for before in ("", "ci95_", "simultaneous_")
    for after in ("", "_simultaneous")
}


def read_leaves(path: Path) -> Leaves:
    """Read a file as leaves: JSON, a CSV table, or the lines of any other text."""
    text = path.read_text(encoding="utf-8")
    if text.startswith("{"):
        return leaves(json.loads(text))
    if path.suffix == ".csv":
        return leaves([{name: _typed(cell) for name, cell in row.items()} for row in csv.DictReader(text.splitlines())])
    return leaves({f"line {number}": line for number, line in enumerate(text.splitlines(), 1)})


def _typed(cell: str) -> str | float:
    try:
        return float(cell)
    except ValueError:
        return cell


def leaves(content: Json) -> Leaves:
    """Every number and word under its key; what is null or empty is left out, as if it were not there."""
    return {key: leaf for key, leaf in _walk(content, ()) if leaf is not None and leaf != ""}


def _walk(tree: Json, key: Key) -> Iterator[tuple[Key, str | float | bool | None]]:
    if isinstance(tree, dict) and isinstance(tree.get("quantity"), list):  # a table, column by column
        columns = [column for column in tree.values() if isinstance(column, list)]
        yield from _walk([dict(zip(tree, row, strict=True)) for row in zip(*columns, strict=True)], key)
    elif isinstance(tree, dict):
        for name, member in tree.items():
            if name not in IGNORED:
                yield from _walk(member, (*key, name))
    elif isinstance(tree, list):
        seen: Counter[Key] = Counter()
        for index, member in enumerate(tree):
            row = _name(member) or (str(index),)
            seen[row] += 1
            yield from _walk(member, (*key, *row, *((f"#{seen[row]}",) if seen[row] > 1 else ())))
    else:
        yield key, tree


def _name(member: Json) -> Key:
    if not isinstance(member, dict):
        return ()
    return tuple(f"{name}={_text(member[name])}" for name in IDENTITY if member.get(name) or member.get(name) == 0)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def is_number(leaf: object) -> bool:
    """Whether a leaf is compared as a number."""
    return isinstance(leaf, (int, float)) and not isinstance(leaf, bool)


@dataclass
class Comparison:
    """What was compared and what differs, in one pair of files or in many."""

    numbers: Counter[str] = field(default_factory=Counter)
    largest: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    different: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    inserted: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    def add(self, old: Leaves, new: Leaves, label: str = "") -> None:
        """Compare the leaves of two files."""
        scales = _Scales(old)
        rows = [{key[:-1] for key in side} for side in (old, new)]
        alone: tuple[Counter[Key], Counter[Key]] = Counter(), Counter()
        for key in [*old, *(key for key in new if key not in old)]:
            before, after = old.get(key), new.get(key)
            if (before is None or after is None) and not all(key[:-1] in side for side in rows):
                mine, others = rows if after is None else rows[::-1]
                row = key[:-1]
                while row and row[:-1] in mine and row[:-1] not in others:
                    row = row[:-1]  # what a row holds goes with it
                alone[before is None][row] += is_number(before) or is_number(after)
            elif is_number(before) or is_number(after):
                self._compare(key, before, after, scales, _place(label, key))
            elif before != after:
                self.words.append(f"{_place(label, key)}: {before!r} became {after!r}")
        for found, listed, change in zip(alone, (self.missing, self.inserted), ("missing", "inserted"), strict=True):
            listed += [f"{_place(label, row)} ({numbers} numbers)" for row, numbers in found.items() if numbers]
            self.words += [f"{_place(label, row)}: {change}" for row, numbers in found.items() if not numbers]

    def _compare(self, key: Key, before: object, after: object, scales: _Scales, place: str) -> None:
        kind, scale = scales.kind_and_scale(key)
        self.numbers[kind] += 1
        if before == after:
            return
        apart = float("inf")
        if isinstance(before, (int, float)) and isinstance(after, (int, float)):
            apart = abs(after - before) / (max(scale, abs(before), abs(after)) if kind != "p-value" else 1.0)
            self.largest[kind] = max(self.largest[kind], apart)
        counted = isinstance(before, int) and isinstance(after, int)
        if counted or not apart <= (P_TOLERANCE if kind == "p-value" else TOLERANCE):
            self.different.append(f"{place}: {before!r} became {after!r} ({kind}, {apart:.1e})")


def _place(label: str, key: Key) -> str:
    return " > ".join((label, *key))


class _Scales:
    """What the numbers of one file are measured against."""

    def __init__(self, of: Leaves) -> None:
        self._leaves = {key: float(leaf) for key, leaf in of.items() if is_number(leaf)}
        self._largest: dict[Unit, float] = {"percentage": 100.0, "share": 1.0, "loss": self._largest_loss(of)}
        self._errors = {unit: scale / 1000 for unit, scale in self._largest.items()}
        for key, leaf in self._leaves.items():
            if "std_error" in key:
                self._errors[_unit(key)] = max(leaf, self._errors[_unit(key)])

    def _largest_loss(self, of: Leaves) -> float:
        """The largest loss by definition or, for losses without one, the largest risk of a curve."""
        if of.get(("loss", "name")) in {"abs_norm", "zero_one"} or ("loss", "name") not in of:
            return 1.0
        declared = [("loss", "maximum"), ("largest_loss",), ("loss", "raw_multiplier")]
        if ("loss", "maximum") not in of and of[("loss", "name")] != "abs":
            return max((leaf for key, leaf in self._leaves.items() if "selective_risk" in key), default=1.0)
        return next(self._leaves[key] for key in declared if key in self._leaves)

    def kind_and_scale(self, key: Key) -> tuple[str, float]:
        """What kind of number it is, and the scale on which a difference of 1e-12 counts."""
        if "p_value" in key:
            return "p-value", 1.0
        unit = _unit(key)
        if "std_error" in key:
            return "standard error", self._errors[unit]
        partner = tuple(PARTNERS.get(part, part) for part in key) if _is_end(key) else key
        scale = abs(self._leaves.get(partner, 0.0))  # of an interval, the larger end
        kind = "interval end" if partner != key else "value"
        if not NOT_DIFFERENCES.isdisjoint(key):
            return kind, scale
        if unit == "percentage":
            return f"{kind} of a percentage", 100.0
        if any(DIFFERENCE.fullmatch(_bare(part)) for part in key):
            return f"{kind} of a difference", max(scale, self._largest[unit])
        return kind, scale


def _is_end(key: Key) -> bool:
    pair = key[-1] in {"0", "1"} and any("ci" in part or part in {"unclipped", "interval"} for part in key[-4:-1])
    return pair or any(part in PARTNERS and part not in {"0", "1"} for part in key)


def _bare(part: str) -> str:
    return part if part.startswith("minus=") else part.partition("=")[2] or part


def _unit(key: Key) -> Unit:
    if any(PERCENTAGE.fullmatch(_bare(part)) for part in key):
        return "percentage"
    return "loss" if any(OF_LOSS.fullmatch(_bare(part)) for part in key) else "share"
