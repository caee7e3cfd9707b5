"""Reported figures, the values expected from the data, and whether they agree to the printed digits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_DOWN, Decimal
from itertools import dropwhile, takewhile
from statistics import stdev
from typing import Any, Literal

from demur.errors import UserError, literal
from demur.extensions.audit.retrieval_figures.numbers import percentile
from demur.facts.frames import Record

Status = Literal["match", "differs", "not recognised"]

FINEST = 1e-9
_HALF = 0.5
_MOST = 1e9  # beyond it, the last digits of a value are not compared
_ROUNDING = 1e-12  # of a double relative to its decimal
_SCALES = {"given in percent (× 100)": 100.0, "given × 1000": 1000.0, "given as a share (÷ 100)": 0.01}
_WORTH_SCALING = 1e-6
_SIGMAS = 4.0  # of Monte-Carlo error that other draws may differ by
_NORMAL_KURTOSIS = 3.0
_FEW = 100
_IT_IS = "it is "
CUT_OFF = "cut off, not rounded"
NO_CAUSE = "no known cause"


@dataclass(frozen=True, slots=True)
class Printed:
    """A number as printed in a file: its value, and half a unit of its last digit.

    >>> Printed.of("0.42").half_unit, Printed.of("120").half_unit, Printed.of("1.5e-3").half_unit
    (0.005, 0.5, 5e-05)
    """

    text: str
    value: float
    half_unit: float

    @classmethod
    def of(cls, text: str) -> Printed:
        """Parse a number as printed."""
        try:
            exact = Decimal(text)
            value, half_unit = float(exact), float(Decimal((0, (5,), int(exact.as_tuple().exponent) - 1)))
        except (ArithmeticError, ValueError):  # an exponent that no decimal has
            value = half_unit = math.inf
        if not math.isfinite(value + half_unit):
            raise UserError(f"not valid JSON: the number {literal(text)} is out of range")
        return cls(text, value, half_unit)

    def agrees(self, low: float, high: float | None = None, *, share: bool = True) -> bool:
        """Whether a value, or some value in a range, would be printed like this with the same number of digits.

        A bare 0 or 1 that is a `share`, or a difference of two shares, is exact: half a unit around it would allow any
        share.

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
        """Whether there are at least two significant digits, so that agreement is unlikely to be chance."""
        return len(Decimal(self.text).as_tuple().digits) > 1

    def cuts_off(self, value: float) -> bool:
        """Whether these are the digits of a value that was truncated, and rounding would give other digits.

        >>> Printed.of("0.66").cuts_off(2 / 3), Printed.of("0.67").cuts_off(2 / 3)
        (True, False)
        """
        exact = Decimal(self.text)
        has_decimals = FINEST < self.half_unit < _HALF and abs(value) < _MOST
        return has_decimals and not self.agrees(value) and Decimal(repr(value)).quantize(exact, ROUND_DOWN) == exact


@dataclass(frozen=True, slots=True)
class Explanation:
    """A possible cause of a difference: another convention, details such as its scale, and the value in ours.

    Words that begin with "it is" name another figure, as do those of a `tool`; all others say how the same figure was
    computed. Digits may agree by chance, so neither is stated as a fact, and tools that agree too are `alternatives`.

    >>> print(Explanation("it is the AURC of fd-shifts", "fd-shifts", ours=0.12).also("given in percent"))
    would equal the AURC of fd-shifts, given in percent; in our convention it is 0.12
    >>> print(Explanation("it is risk@0.6"), "·", Explanation("loss abs, not abs_norm"))
    would equal risk@0.6 · would equal it, loss abs, not abs_norm
    """

    words: str = ""
    tool: str = ""
    ours: float | None = None
    details: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()

    def also(self, *details: str) -> Explanation:
        """The explanation with more details."""
        return replace(self, details=(*self.details, *details))

    @property
    def convention(self) -> str:
        """The convention with its details."""
        alternatives = (f"or {convention}" for convention in self.alternatives)
        return ", ".join(filter(None, (self.words.removeprefix(_IT_IS), *self.details, *alternatives)))

    @property
    def kind(self) -> str:
        """The cause without the value in our convention, so that figures can be counted by cause."""
        return f"would equal {'' if self.words.startswith(_IT_IS) else 'it, '}{self.convention}"

    @property
    def shared(self) -> str:
        """The part of the cause that several figures may share: the tool and scale, or else the cause itself."""
        return ", ".join((self.tool, *self.details)) if self.tool else self.kind

    def __str__(self) -> str:
        return self.kind if self.ours is None else f"{self.kind}; in our convention it is {self.ours:.6g}"


@dataclass(frozen=True, slots=True)
class Expected:
    """The value of one figure that the data give.

    `value` is None where it is undefined, `band` the range that Monte-Carlo error allows for the end of an interval,
    `exact` requires equality, as for counts, and a `share` lies between 0 and 1. `otherwise` holds the values of other
    known conventions: the first that agrees with a figure that differs is its likely cause. `within` is
    the remark on a figure that agrees with the band but not with the value.
    """

    value: float | None
    band: tuple[float, float] | None = None
    exact: bool = False
    share: bool = True
    otherwise: Mapping[Explanation, float | None] = field(default_factory=dict)
    within: str = ""

    def agrees(self, reported: Printed | None) -> bool:
        """Whether a reported figure agrees with the data."""
        if reported is None or self.value is None:
            return reported is None and self.value is None
        if self.exact:
            return reported.value == self.value
        return reported.agrees(*(self.band or [self.value]), share=self.share)


@dataclass(frozen=True, slots=True)
class Finding(Record):
    """The finding about one reported figure; `cause` says why it differs, or why it is not recognised.

    `key` is its name for a reader, `path` the names that lead to it in the file. Figures are counted by the `kind` of
    cause. `fits` has what every cause that would give the figure shares with others, the stated one first, and
    `explains` is how many of the figures that differ the stated cause would give.
    """

    key: str
    status: Status
    reported: str
    recomputed: float | None = None
    band: tuple[float, float] | None = None
    cause: str | None = None
    path: tuple[str, ...] = ()
    kind: str | None = None
    fits: tuple[str, ...] = ()
    explains: int | None = None

    def because(self, *causes: Explanation) -> Finding:
        """The finding with the first of these causes stated; unchanged if there are none."""
        if not causes:
            return self
        return replace(self, cause=str(causes[0]), kind=causes[0].kind, fits=tuple(cause.shared for cause in causes))

    def to_row(self) -> dict[str, Any]:
        """The cells of a table; the recomputed value is a number in all rows, and a range has two columns."""
        recomputed = None if self.recomputed is None else float(self.recomputed)
        low, high = self.band or (None, None)
        cells = {"key": self.key, "status": self.status, "reported": self.reported, "recomputed": recomputed}
        return cells | {"low": low, "high": high, "cause": self.cause, "explains": self.explains}


def flattened(content: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every leaf of a parsed file with its path; list elements are named by their index."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), content)]  # no recursion, as files may be nested deeply
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, (Mapping, list)):
            members = value.items() if isinstance(value, Mapping) else enumerate(value)
            waiting += reversed([((*path, str(name)), inner) for name, inner in members])
        else:
            yield path, value


def not_recognised(key: str, value: Any, reason: str) -> Finding:
    """The finding about a figure that cannot be recomputed, with the reason."""
    text = (
        value.text if isinstance(value, Printed) else str(value).lower() if isinstance(value, bool) else literal(value)
    )
    return Finding(key, "not recognised", text, cause=reason)


def compared(
    path: tuple[str, ...],
    claimed: Any,
    recomputed: Any,
    *,
    tolerance: float = 0.0,
    key: str = "",
    cause: str | None = None,
) -> Finding:
    """Compare a value of a file of demur with the recomputed value; None is undefined."""
    agrees = claimed == recomputed
    if tolerance and isinstance(claimed, float) and isinstance(recomputed, (int, float)):
        agrees = abs(claimed - recomputed) <= tolerance * max(1.0, abs(recomputed))
    number = recomputed if isinstance(recomputed, (int, float)) else None
    status: Status = "match" if agrees else "differs"
    return Finding(
        key or ", ".join(path), status, as_reported(claimed), number, cause=None if agrees else cause, path=path
    )


def as_reported(value: Any) -> str:
    """Format a value of a file of demur as a finding shows it."""
    if isinstance(value, float):
        return "null" if math.isnan(value) else repr(value)
    return "null" if value is None else str(value)


def finding(key: str, reported: Printed | None, expected: Expected) -> Finding:
    """Compare a figure with the value that the data give."""
    text = "null" if reported is None else reported.text
    if expected.agrees(reported):
        exactly = reported is None or expected.value is None or reported.agrees(expected.value, share=expected.share)
        return Finding(key, "match", text, expected.value, expected.band, None if exactly else expected.within or None)
    differs = Finding(key, "differs", text, expected.value, expected.band)
    return differs if reported is None else differs.because(*_causes(reported, expected))


def _causes(reported: Printed, expected: Expected) -> list[Explanation]:
    """The known conventions that give the reported figure, on its own or another scale, the likeliest first."""
    if expected.value is not None and not expected.exact and reported.cuts_off(expected.value):
        return [Explanation(CUT_OFF)]
    candidates = [(Explanation(), expected.value), *expected.otherwise.items()]
    scales = _SCALES if reported.value else {}  # 0 is 0 on any scale
    plain = [(cause, value is not None and reported.agrees(value)) for cause, value in candidates[1:]]
    scaled = [
        (cause.also(scale), abs(value) > _WORTH_SCALING and reported.agrees(value * factor))
        for cause, value in candidates
        if value is not None
        for scale, factor in scales.items()
    ]
    if cause := _first(plain) or _first(scaled):
        return [cause, *(other for other, agrees in (*plain, *scaled) if agrees)]
    cut = [(Explanation(scale), factor * (expected.value or 0)) for scale, factor in scales.items()]
    cut += [(cause, value) for cause, value in candidates if cause.ours is not None and value is not None]
    return [cause.also(CUT_OFF) for cause, value in cut if reported.cuts_off(value)]


def _first(causes: Sequence[tuple[Explanation, bool]]) -> Explanation | None:
    """The first cause that agrees; if it is a tool, also the next tools that agree, as few digits fit many."""
    rest = dropwhile(lambda each: not each[1], causes)
    cause, _ = next(rest, (None, False))
    if cause is None or not cause.tool:
        return cause
    tools = takewhile(lambda each: each[0].tool, rest)
    return replace(cause, alternatives=tuple(tool.convention for tool, agrees in tools if agrees))


def expected_end(values: Sequence[float], share: float, recorded: int | None) -> Expected:
    """The expected limit of a percentile interval, with the range that Monte-Carlo error of both sets of draws allows.

    Where that range reaches beyond our draws, it is extended by their whole width.
    """
    ordered = sorted(values)
    low, high = _shares(share, _effective_draws(len(values), recorded))
    width = ordered[-1] - ordered[0]
    band = (
        percentile(ordered, max(low, 0)) - (width if low <= 0 else 0),
        percentile(ordered, min(high, 1)) + (width if high >= 1 else 0),
    )
    return Expected(percentile(ordered, share), band)


def expected_share(share: float, draws: int, recorded: int | None) -> Expected:
    """The expected share of draws, with the range that Monte-Carlo error allows."""
    low, high = _shares(share, _effective_draws(draws, recorded))
    return Expected(share, (max(low, 0.0), min(high, 1.0)))


def _shares(share: float, n: float) -> tuple[float, float]:
    extra = _SIGMAS**2 / n
    middle, away = (share + extra / 2) / (1 + extra), _SIGMAS * math.sqrt((share * (1 - share) + extra / 4) / n)
    plain = _SIGMAS * math.sqrt(share * (1 - share) / n)
    return min(middle - away / (1 + extra), share - plain), max(middle + away / (1 + extra), share + plain)


def expected_error(values: Sequence[float], recorded: int | None) -> Expected:
    """The expected standard error, with the range that Monte-Carlo error allows; unlimited if draws are few."""
    if len(values) < 2:  # noqa: PLR2004  (one value has no spread)
        return Expected(None)
    error = stdev(values)
    n = _effective_draws(len(values), recorded)
    if n < _FEW:
        return Expected(error, (0.0, math.inf))
    middle = math.fsum(values) / len(values)
    fourth = math.fsum((value - middle) ** 4 for value in values) / len(values)
    kurtosis = max(fourth / error**4, _NORMAL_KURTOSIS) if error else _NORMAL_KURTOSIS
    away = _SIGMAS * math.sqrt((kurtosis - 1) / (4 * n)) * error
    return Expected(error, (error - away, error + away))


def _effective_draws(own: int, recorded: int | None) -> float:
    return 1 / (1 / own + 1 / max(recorded or own, 1))
