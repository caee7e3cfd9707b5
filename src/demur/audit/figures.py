"""Figures: what somebody reported, what the data give, and whether the two agree to the digits that were printed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, Decimal
from itertools import dropwhile, takewhile
from typing import Any, Literal

from demur.audit.loops.draws import percentile, standard_error
from demur.errors import UserError, literal
from demur.facts.tabular import Record

Status = Literal["match", "differs", "not recognised"]

FINEST = 1e-9
_HALF = 0.5
_MOST = 1e9  # of a value whose last digits are worth a look
_ROUNDING = 1e-12  # of a double against its own decimal
_SCALES = {"given in percent (× 100)": 100.0, "given × 1000": 1000.0, "given as a share (÷ 100)": 0.01}
_WORTH_SCALING = 1e-6
_SIGMAS = 4.0  # of the Monte-Carlo error that draws of others may be off by
_NORMAL_KURTOSIS = 3.0
_FEW = 100
CUT_OFF = "cut off, not rounded"
NO_CAUSE = "no known cause"
THIS_IS = "this is "
IN_OURS = "; in our convention it is"


@dataclass(frozen=True, slots=True)
class Printed:
    """A number as it stands in a file: its value, and half a unit of its last printed digit.

    >>> Printed.of("0.42").half_unit, Printed.of("120").half_unit, Printed.of("1.5e-3").half_unit
    (0.005, 0.5, 5e-05)
    """

    text: str
    value: float
    half_unit: float

    @classmethod
    def of(cls, text: str) -> Printed:
        """From the digits."""
        try:
            exact = Decimal(text)
            value, half_unit = float(exact), float(Decimal((0, (5,), int(exact.as_tuple().exponent) - 1)))
        except (ArithmeticError, ValueError):  # an exponent that no decimal has
            value = half_unit = math.inf
        if not math.isfinite(value + half_unit):
            raise UserError(f"not valid JSON: the number {literal(text)} is out of range")
        return cls(text, value, half_unit)

    def agrees(self, low: float, high: float | None = None, *, share: bool = True) -> bool:
        """Whether a value, or one between two, could read like this when printed to as many digits.

        A bare 0 or 1 that stands for a `share`, or for a difference of two, is exact: half a unit around it would allow
        for any share.

        >>> Printed.of("1").agrees(0.7), Printed.of("1").agrees(0.7, share=False), Printed.of("1.0").agrees(0.97)
        (False, True, True)
        >>> Printed.of("0").agrees(-0.3), Printed.of("0").agrees(0.2, 0.4), Printed.of("0").agrees(-0.1, 0.1)
        (False, False, True)
        """
        high = low if high is None else high
        bare = share and self.half_unit == _HALF and all(abs(value) <= 1 for value in (self.value, low, high))
        tolerance = FINEST if bare else max(self.half_unit, FINEST)
        tolerance += _ROUNDING * max(1.0, abs(low))
        return low - tolerance <= self.value <= high + tolerance

    @property
    def telling(self) -> bool:
        """Whether there are digits enough for an agreement to mean something: two significant ones."""
        return len(Decimal(self.text).as_tuple().digits) > 1

    def cuts_off(self, value: float) -> bool:
        """Whether the digits are those of a value with the others left out, where rounding would give another last one.

        >>> Printed.of("0.66").cuts_off(2 / 3), Printed.of("0.67").cuts_off(2 / 3)
        (True, False)
        """
        exact = Decimal(self.text)
        has_decimals = FINEST < self.half_unit < _HALF and abs(value) < _MOST
        return has_decimals and not self.agrees(value) and Decimal(repr(value)).quantize(exact, ROUND_DOWN) == exact


@dataclass(frozen=True, slots=True)
class Expected:
    """What the data give for one figure.

    `value` is None where it is undefined, `band` what an interval's end may be given the Monte-Carlo error, `exact`
    asks for equality, as counts do, and a `share` lies between 0 and 1 if its value does. `otherwise` holds what known
    other ways of computing would give, by what they are: the first that agrees with a figure that differs is its likely
    cause. `within` says what it means to agree with the band, and not with the value.
    """

    value: float | None
    band: tuple[float, float] | None = None
    exact: bool = False
    share: bool = True
    otherwise: Mapping[str, float | None] = field(default_factory=dict)
    within: str = ""

    def agrees(self, reported: Printed | None) -> bool:
        """Whether a reported figure is what the data give."""
        if reported is None or self.value is None:
            return reported is None and self.value is None
        if self.exact:
            return reported.value == self.value
        return reported.agrees(*(self.band or [self.value]), share=self.share)


@dataclass(frozen=True, slots=True)
class Finding(Record):
    """One reported figure and what became of it: `cause` says why it differs, or why nobody can tell.

    `key` is how a reader calls it, `path` the names that lead to it in the file.
    """

    key: str
    status: Status
    reported: str
    recomputed: float | None = None
    band: tuple[float, float] | None = None
    cause: str | None = None
    path: tuple[str, ...] = ()

    def to_row(self) -> dict[str, Any]:
        """The cells of a table; what is recomputed is a number in all rows, and a range is its two ends."""
        recomputed = None if self.recomputed is None else float(self.recomputed)
        low, high = self.band or (None, None)
        cells = {"key": self.key, "status": self.status, "reported": self.reported, "recomputed": recomputed}
        return cells | {"low": low, "high": high, "cause": self.cause}


def flattened(content: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every leaf of a parsed file with its path; a place in a list is its number."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), content)]  # a parser may go deeper than the interpreter does
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, (Mapping, list)):
            members = value.items() if isinstance(value, Mapping) else enumerate(value)
            waiting += reversed([((*path, str(name)), inner) for name, inner in members])
        else:
            yield path, value


def not_recognised(key: str, value: Any, reason: str) -> Finding:
    """A figure nobody can recompute, and why."""
    text = (
        value.text if isinstance(value, Printed) else str(value).lower() if isinstance(value, bool) else literal(value)
    )
    return Finding(key, "not recognised", text, cause=reason)


def finding(key: str, reported: Printed | None, expected: Expected) -> Finding:
    """A figure held against what the data give for it."""
    text = "null" if reported is None else reported.text
    if expected.agrees(reported):
        exactly = reported is None or expected.value is None or reported.agrees(expected.value, share=expected.share)
        return Finding(key, "match", text, expected.value, expected.band, None if exactly else expected.within or None)
    return Finding(key, "differs", text, expected.value, expected.band, _cause(reported, expected))


def _cause(reported: Printed | None, expected: Expected) -> str | None:
    """The first known way of computing that gives the reported figure, as it is or on another scale."""
    if reported is None:
        return None
    if expected.value is not None and not expected.exact and reported.cuts_off(expected.value):
        return CUT_OFF
    ways = [("", expected.value), *expected.otherwise.items()]
    scales = _SCALES if reported.value else {}  # 0 is 0 on any scale
    plain = [(way, value is not None and reported.agrees(value)) for way, value in ways[1:]]
    scaled = [
        (_scaled(way, scale), abs(value) > _WORTH_SCALING and reported.agrees(value * factor))
        for way, value in ways
        if value is not None
        for scale, factor in scales.items()
    ]
    if told := _first(plain) or _first(scaled):
        return told
    cut = {f"{scale}, {CUT_OFF}": factor * (expected.value or 0) for scale, factor in scales.items()}
    cut |= {_scaled(way, CUT_OFF): value for way, value in ways if way and IN_OURS in way and value is not None}
    return next((way for way, value in cut.items() if reported.cuts_off(value)), None)


def _first(ways: Sequence[tuple[str, bool]]) -> str | None:
    """The first way that agrees; if it is a tool's, the tools listed after it that agree too: few digits fit many."""
    rest = dropwhile(lambda each: not each[1], ways)
    way, _ = next(rest, ("", False))
    tools = takewhile(lambda each: each[0].startswith(THIS_IS), rest if way.startswith(THIS_IS) else ())
    also = [f"or {name.removeprefix(THIS_IS).partition(IN_OURS)[0]}" for name, agrees in tools if agrees]
    return _scaled(way, ", ".join(also)) or None


def _scaled(way: str, scale: str) -> str:
    cause, ours, number = way.partition(IN_OURS)
    return f"{', '.join(filter(None, (cause, scale)))}{ours}{number}"


def expected_end(values: Sequence[float], share: float, recorded: int | None) -> Expected:
    """The end of a percentile interval, between the quantiles that other draws may have at its share.

    Where that is below the least or above the largest of our draws, it may lie beyond them by their whole width.
    """
    ordered = sorted(values)
    low, high = _shares(share, _worth(len(values), recorded))
    width = ordered[-1] - ordered[0]
    band = (
        percentile(ordered, max(low, 0)) - (width if low <= 0 else 0),
        percentile(ordered, min(high, 1)) + (width if high >= 1 else 0),
    )
    return Expected(percentile(ordered, share), band)


def expected_share(share: float, draws: int, recorded: int | None) -> Expected:
    """A share of the draws, between those that as many other draws may have."""
    low, high = _shares(share, _worth(draws, recorded))
    return Expected(share, (max(low, 0.0), min(high, 1.0)))


def _shares(share: float, n: float) -> tuple[float, float]:
    """The shares of n draws that are no surprise, by Wilson's interval or the plain one, whichever is wider."""
    extra = _SIGMAS**2 / n
    middle, away = (share + extra / 2) / (1 + extra), _SIGMAS * math.sqrt((share * (1 - share) + extra / 4) / n)
    plain = _SIGMAS * math.sqrt(share * (1 - share) / n)
    return min(middle - away / (1 + extra), share - plain), max(middle + away / (1 + extra), share + plain)


def expected_error(values: Sequence[float], recorded: int | None) -> Expected:
    """The standard error, within what its own sampling error allows; anything of very few draws."""
    error = standard_error(values)
    if error is None:
        return Expected(None)
    n = _worth(len(values), recorded)
    if n < _FEW:
        return Expected(error, (0.0, math.inf))
    middle = math.fsum(values) / len(values)
    fourth = math.fsum((value - middle) ** 4 for value in values) / len(values)
    kurtosis = max(fourth / error**4, _NORMAL_KURTOSIS) if error else _NORMAL_KURTOSIS
    away = _SIGMAS * math.sqrt((kurtosis - 1) / (4 * n)) * error
    return Expected(error, (error - away, error + away))


def _worth(own: int, recorded: int | None) -> float:
    """As how many draws both sets are worth when they are held against each other."""
    return 1 / (1 / own + 1 / max(recorded or own, 1))
