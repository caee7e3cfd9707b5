"""Published operating points, known only by their numbers: counts, or a coverage and a risk."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from demur.errors import UserError, literal, shown, unknown

_COUNTS, _PUBLISHED = ("units", "answered", "loss"), ("coverage", "risk")
_MEMBERS = (*_COUNTS, "clusters", "sd", *_PUBLISHED, "ci", "se")
_WHOLE = ("units", "answered", "clusters")
_NUMBER = re.compile(r"[0-9]{1,18}(\.[0-9]{0,30})?|\.[0-9]{1,30}")
_EXPECTED = "expected NAME: units=328, answered=300, loss=141, or NAME: coverage=0.9, risk=0.2, ci=0.1..0.3"


@dataclass(frozen=True, slots=True)
class NumbersOfPoint:
    """A point by its numbers: `counts` of units, answers and their summed loss, or a `published` coverage and risk.

    `spread` is the standard deviation of the losses; `ends`, the bounds of a confidence interval, or `std_error` are
    the uncertainty of the risk, if they are known. `given` is the text as typed, and `loss` the loss that the risk is
    the mean of, if stated.
    """

    name: str
    given: str
    coverage: float
    risk: float
    units: int | None = None
    answered: int | None = None
    clusters: int | None = None
    spread: float | None = None
    ends: tuple[float, float] | None = None
    std_error: float | None = None
    source: str | None = None
    population: str | None = None
    loss: str | None = None

    @property
    def kind(self) -> str:
        """The kind of its numbers: published or counts."""
        return "published" if self.answered is None else "counts"


def point_of(name: str, text: str, **about: Any) -> NumbersOfPoint:
    """A point from a text such as "coverage=1.0, risk=0.62"; `about` may give source, population and loss.

    >>> point_of("A paper", "coverage=1.0, risk=0.62, ci=0.50..0.74").ends
    (0.5, 0.74)
    """
    members: dict[str, str] = {}
    for part in text.split(","):
        member, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value or member in members:
            raise UserError(f"point {shown(name)}: {literal(part.strip())}, {_EXPECTED}")
        if member not in _MEMBERS:
            raise unknown(f"number of the point {shown(name)}", member, _MEMBERS)
        members[member] = value
    numbers = {member: _number(name, member, value) for member, value in members.items() if member != "ci"}
    given = ", ".join(f"{member}={value}" for member, value in members.items())
    if {*_COUNTS} <= members.keys() and not {*_PUBLISHED, "ci", "se"} & members.keys():
        return NumbersOfPoint(name, given, **_counts(name, numbers), **about)
    if {*_PUBLISHED} <= members.keys() and not {*_COUNTS, "sd"} & members.keys():
        ends = _ends(name, members["ci"]) if "ci" in members else None
        return NumbersOfPoint(name, given, **_published(name, numbers, ends), **about)
    raise UserError(f"point {shown(name)}: {literal(text)}, {_EXPECTED}")


def typed_point(text: str) -> NumbersOfPoint:
    """Parse NAME: NUMBERS, the notation of the command line.

    >>> typed_point("Rater: units=8, answered=6, loss=1").kind
    'counts'
    """
    name, colon, numbers = text.rpartition(":")
    if not colon or not name.strip():
        raise UserError(f"point {literal(text)}, {_EXPECTED}")
    return point_of(name.strip(), numbers.strip())


def _number(name: str, member: str, text: str) -> float:
    if not _NUMBER.fullmatch(text) or (member in _WHOLE and not text.isdigit()):
        kind = "a whole number" if member in _WHOLE else "a number"
        raise UserError(f"point {shown(name)}: {member} {literal(text)}, expected {kind}, 0 or more")
    return float(text)


def _counts(name: str, numbers: Mapping[str, float]) -> dict[str, Any]:
    units, answered, lost = (numbers[member] for member in _COUNTS)
    if not 0 < answered <= units:
        reason = "rater_answers_nothing: it has no risk" if not answered else f"expected at most units, {units:g}"
        raise UserError(f"point {shown(name)}: answered {answered:g}, {reason}")
    clusters = numbers.get("clusters")
    counted = {"units": int(units), "answered": int(answered), "clusters": None if clusters is None else int(clusters)}
    return counted | {"coverage": answered / units, "risk": lost / answered, "spread": numbers.get("sd")}


def _published(name: str, numbers: Mapping[str, float], ends: tuple[float, float] | None) -> dict[str, Any]:
    coverage, risk, error = numbers["coverage"], numbers["risk"], numbers.get("se")
    if not 0 < coverage <= 1:
        reason = "rater_answers_nothing: it has no risk" if not coverage else "expected a share above 0 and at most 1"
        raise UserError(f"point {shown(name)}: coverage {coverage:g}, {reason}")
    if ends is not None and (error is not None or not ends[0] <= risk <= ends[1] or ends[0] == ends[1]):
        raise UserError(f"point {shown(name)}: expected ci=LOW..HIGH around the risk {risk:g}, or se=, not both")
    clusters = numbers.get("clusters")
    known = {"std_error": error or None, "clusters": None if clusters is None else int(clusters)}
    return known | {"coverage": coverage, "risk": risk, "ends": ends}


def _ends(name: str, text: str) -> tuple[float, float]:
    low, dots, high = text.partition("..")
    if not dots:
        raise UserError(f"point {shown(name)}: ci {literal(text)}, expected LOW..HIGH, such as 0.5..0.74")
    return _number(name, "ci", low), _number(name, "ci", high)
