"""Names and numbers as text: systems, pairs, warnings, values, intervals and titles, the same wherever shown."""

import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context
from unicodedata import bidirectional

from demur.coverage import Coverage
from demur.drawing.looks import look_at
from demur.errors import shown
from demur.inference.estimates import Estimate
from demur.inference.key import Key, Minus
from demur.inference.warnings import ResultWarning
from demur.intervals import Interval
from demur.quantities import Measure
from demur.quantities.registry import COMMON, COVERAGE, CUT
from demur.results.parts import Points, Skipped
from demur.results.study import SelectiveStudy
from demur.results.table import Results
from demur.strict_model import WordedWarning

UNDEFINED = "–"
_DIGITS, _MOST_DIGITS = 6, 17


def three(value: float) -> str:
    """Three significant digits: what ten thousand resamples can promise of an interval.

    >>> three(0.123456), three(1234.5), three(0.0)
    ('0.123', '1.23e+03', '0')
    """
    return f"{value:.3g}"


def four(value: float) -> str:
    """Four significant digits, or a dash where there is no number.

    >>> four(0.123456), four(float("nan"))
    ('0.1235', '–')
    """
    return UNDEFINED if math.isnan(value) else f"{value:.4g}"


def decimals(value: float | None) -> str:
    """Four digits after the point, or a dash where there is no number.

    >>> decimals(0.123456), decimals(None)
    ('0.1235', '–')
    """
    return UNDEFINED if value is None or math.isnan(value) else f"{value:.4f}"


def interval_text(interval: Interval | None) -> str:
    """An interval to three digits."""
    return UNDEFINED if interval is None else f"[{three(interval.low)}, {three(interval.high)}]"


def shown_interval(results: Results, estimate: Estimate) -> Interval | None:
    """The interval to show: the one that was asked for, even if there is none, or the recommended one."""
    return estimate.recommended if results.study.requested is None else estimate.requested


def bounded_interval(results: Results, estimate: Estimate) -> str:
    """The interval to show, or what the number is at most where nothing went wrong."""
    if estimate.upper_bound is not None:
        return f"at most {three(estimate.upper_bound)}"
    return interval_text(shown_interval(results, estimate))


def with_interval(results: Results, estimate: Estimate) -> str:
    """A number and its interval, or what it is at most where nothing went wrong."""
    if math.isnan(estimate.value):
        return "undefined"
    value, interval = four(estimate.value), shown_interval(results, estimate)
    if interval is not None:
        return f"{value} {interval_text(interval)}"
    return value if estimate.upper_bound is None else f"{value} (at most {three(estimate.upper_bound)})"


def level_of(results: Results) -> str:
    """The name of the intervals that are shown.

    An interval at another level than 95 % is only there where something was resampled.
    """
    requested = results.study.requested
    return "95 % interval" if requested is None else f"{100 * requested.level:.4g} % interval"


def title_of(estimate: Estimate) -> str:
    """What a number is called, with the coverage it is taken at and where a cut area ends."""
    measure = Measure.of(estimate.key.quantity)
    if measure.quantity.parameter is CUT:
        end = 0.0 if estimate.at is None else estimate.at
        if measure.text == COMMON:
            return f"{measure.quantity.title} to C_common {three(end)}"
        requested = float(Coverage.of(measure.text))
        ends_before = "" if end == requested else f" (ends at {three(end)})"
        return f"{measure.quantity.title} to {three(requested)}{ends_before}"
    if measure.quantity.parameter is COVERAGE:
        return f"{measure.quantity.title} at {Coverage.of(measure.text).key}"
    return measure.title


def usable_threshold(threshold: float, next_lower: float) -> str:
    """A threshold as somebody can type it: at most the true one, and above the confidence that is to be left out.

    >>> usable_threshold(2 / 3, 0.5), usable_threshold(0.3, 0.0), usable_threshold(0.12345678, 0.12345671)
    ('0.666666', '0.3', '0.12345678')
    """
    for digits in range(_DIGITS, _MOST_DIGITS):
        below = Context(prec=digits, rounding=ROUND_FLOOR).create_decimal_from_float(threshold)
        for text in (f"{threshold:.{digits}g}", f"{float(below):.{digits}g}"):
            if next_lower < float(text) <= threshold:
                return text
    return repr(threshold)


def threshold_at(curve: Points, point: int) -> str:
    """The threshold of an operating point: it accepts that point's answers and no more."""
    threshold, *lower = curve.threshold[point : point + 2]
    return usable_threshold(threshold, lower[0] if lower else -math.inf)


_FROM_THE_RIGHT = ("R", "AL", "AN")
_WORDS = {1: ("run",), 2: ("left", "right")}


@dataclass(frozen=True, slots=True)
class NamedSystem:
    """A system: its identity in the results, the word a picture has for it, its style, and its name for people."""

    system: str
    word: str
    style: str
    name: str

    @property
    def aside(self) -> str:
        """The word, where the name does not say it already."""
        return "" if self.word == "run" or self.word in self.name else self.word

    @property
    def where(self) -> str:
        """Where its participants are, in a sentence."""
        return f"on the {self.word}" if self.word in _WORDS[2] else f"in {self.name}"


@dataclass(frozen=True, slots=True)
class Pair:
    """A system and its baseline; `first` and `second` are the same two in the order of the results."""

    other: NamedSystem
    baseline: NamedSystem
    first: NamedSystem
    second: NamedSystem

    def key(self, quantity: str, confidence: str) -> Key:
        """The identity of a difference between the two."""
        return Key(self.other.system, quantity, confidence, minus=Minus("system", self.baseline.system))

    @property
    def label(self) -> str:
        """What is subtracted from what."""
        return f"{self.other.word} − {self.baseline.word}"

    def named(self, system: str) -> NamedSystem:
        """Which of the two a system is."""
        return self.other if system == self.other.system else self.baseline


def systems_of(results: Results) -> tuple[NamedSystem, ...]:
    """The systems of an evaluation of answers; two of them are left and right."""
    words = _WORDS.get(len(results.systems)) or tuple(map(isolated, results.systems))
    return tuple(
        NamedSystem(system, word, look_at(index).style, isolated(system))
        for index, (system, word) in enumerate(zip(results.systems, words, strict=True))
    )


def pairs_of(results: Results) -> tuple[Pair, ...]:
    """Every other system with the baseline; none where there is one system."""
    systems = systems_of(results)
    base = next((system for system in systems if system.system == results.study.baseline), systems[0])
    others = [system for system in systems if system is not base]
    return tuple(Pair(other, base, *sorted((other, base), key=systems.index)) for other in others)


def isolated(name: str) -> str:
    r"""A name inside a sentence; one with letters that run from right to left may not turn the words around it.

    >>> isolated("few_shot"), len(isolated("\u05d0")), isolated("\u202e")
    ('few_shot', 3, "'\\u202e'")
    """
    safe = shown(name)
    return f"\u2068{safe}\u2069" if any(bidirectional(letter) in _FROM_THE_RIGHT for letter in safe) else safe


def worded_warnings(results: Results) -> list[WordedWarning]:
    """The warnings in words, each with what it is about."""
    several = isinstance(results.study, SelectiveStudy) and len(results.systems) > 1
    words = {system.system: system.word for system in systems_of(results)} if several else {}
    return [
        WordedWarning(code=each.code, message=each.message(), where=_where(results, each, words))
        for each in results.warnings
    ]


def _where(results: Results, warning: ResultWarning, words: dict[str, str]) -> str:
    about, subject = warning.about, warning.subject
    if isinstance(results.study, SelectiveStudy):
        side = "difference" if about.minus else words.get(about.system or "", "")
        within = f"{about.confidence}: {f'{side} {about.quantity or subject}'.strip()}"
        return within if about.confidence is not None else subject or (about.system or "")
    if about.system is None:
        return "posts" if subject == "clusters" else subject
    gate = "gate " if subject in ("clusters", "confidence") else ""
    return f"{about.system} {gate}{'folds' if 'folds' in warning.parameters else subject}".strip()


def why_skipped(results: Results, skipped: Skipped) -> str:
    """Why a confidence was left out, with the system that lacks it where there are several."""
    words = {system.system: system.word for system in systems_of(results)}
    return skipped.reason if skipped.system is None else f"{words[skipped.system]}: {skipped.reason}"
