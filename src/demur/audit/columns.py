"""Columns: a whole list of figures, such as one column of a curve, held against the data as one finding."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from demur.audit.figures import Expected, Finding, Printed, finding

if TYPE_CHECKING:
    from collections.abc import Mapping


def column_finding(
    key: str, reported: list[Any], column: list[float] | None, others: Mapping[str, list[float]]
) -> Finding:
    """A whole column as one finding: the first number that differs speaks for it."""
    size = f"{len(reported)} numbers"
    if column is None:
        return Finding(key, "not recognised", size)
    if len(reported) != len(column):
        alike = [way for way, other in others.items() if len(other) == len(reported)]
        return Finding(key, "differs", size, float(len(column)), cause=f"{len(column)} are expected{_as(alike)}")
    for place, (number, value) in enumerate(zip(reported, column, strict=True)):
        ways = {way: other[place] for way, other in others.items() if len(other) == len(column)}
        one = finding(key, number if isinstance(number, Printed) else None, Expected(value, otherwise=ways))
        if one.status == "differs":
            cause = f"the first of them at place {place}" + (f": {one.cause}" if one.cause else "")
            return replace(one, cause=cause)
    return Finding(key, "match", size)


def _as(ways: list[str]) -> str:
    return f"; so many would be there with {ways[0]}" if ways else ""
