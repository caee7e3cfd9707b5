"""Whole columns of an artifact, such as those of a curve: each is one figure, its first difference speaks for it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from demur.audit.figures import Expected, Finding, Printed, finding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Column:
    """What the data give for each number of a column, and what the column would be in other ways."""

    numbers: Sequence[Expected]
    others: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @classmethod
    def of(cls, values: Sequence[float], others: Mapping[str, Sequence[float]] | None = None) -> Column:
        """A column that leaves no room for draws."""
        return cls([Expected(value) for value in values], others or {})

    @property
    def values(self) -> list[float]:
        """The numbers themselves."""
        return [one.value for one in self.numbers if one.value is not None]

    def found(self, key: str, reported: Sequence[Any]) -> Finding:
        """A reported column as one finding; where it is no single number that differs, how many are expected."""
        size, expected = f"{len(reported)} numbers", len(self.numbers)
        if len(reported) != expected:
            alike = [way for way, other in self.others.items() if len(other) == len(reported)]
            return Finding(key, "differs", size, float(expected), cause=f"{expected} are expected{_as(alike)}")
        ways = {way: other for way, other in self.others.items() if len(other) == expected}
        for place, (number, known) in enumerate(zip(reported, self.numbers, strict=True)):
            otherwise = {**known.otherwise, **{way: other[place] for way, other in ways.items()}}
            printed = number if isinstance(number, Printed) else None
            one = finding(key, printed, replace(known, otherwise=otherwise))
            if one.status == "differs":
                cause = f"the first of them at place {place}" + (f": {one.cause}" if one.cause else "")
                return replace(one, cause=cause)
        return Finding(key, "match", size, float(expected))


def _as(ways: Sequence[str]) -> str:
    return f"; so many would be there with {ways[0]}" if ways else ""
