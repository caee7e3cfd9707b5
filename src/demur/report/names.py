"""Names: what the systems of a result are called, how they look, and which of them are compared."""

from dataclasses import dataclass
from unicodedata import bidirectional

from demur.drawing.looks import look_at
from demur.errors import shown
from demur.inference.key import Key, Minus
from demur.inference.warnings import ResultWarning
from demur.results.parts import Skipped
from demur.results.study import SelectiveStudy
from demur.results.table import Results
from demur.strict_model import WordedWarning

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
    where = _about_answers if isinstance(results.study, SelectiveStudy) else _about_queries
    return [
        WordedWarning(code=each.code, message=each.message(), where=where(results, each)) for each in results.warnings
    ]


def _about_answers(results: Results, warning: ResultWarning) -> str:
    about = warning.about
    if about.confidence is None:
        return warning.subject or (about.system or "")
    words = {system.system: system.word for system in systems_of(results)} if len(results.systems) > 1 else {}
    side = "difference" if about.minus else words.get(about.system or "", "")
    return f"{about.confidence}: {f'{side} {about.quantity or warning.subject}'.strip()}"


def _about_queries(_: Results, warning: ResultWarning) -> str:
    system, subject = warning.about.system, warning.subject
    if system is None:
        return "posts" if subject == "clusters" else subject
    gate = "gate " if subject in ("clusters", "confidence") else ""
    return f"{system} {gate}{'folds' if 'folds' in warning.parameters else subject}".strip()


def why_skipped(results: Results, skipped: Skipped) -> str:
    """Why a confidence was left out, with the system that lacks it where there are several."""
    words = {system.system: system.word for system in systems_of(results)}
    return skipped.reason if skipped.system is None else f"{words[skipped.system]}: {skipped.reason}"
