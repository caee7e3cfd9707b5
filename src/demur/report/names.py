"""Names: what the systems of a result are called, how they look, and which of them are compared."""

from collections.abc import Iterable
from dataclasses import dataclass
from unicodedata import bidirectional

from demur.drawing.looks import look_at
from demur.errors import shown
from demur.files.strict_model import WordedWarning
from demur.inference.key import Key, Minus
from demur.inference.warnings import ResultWarning
from demur.results.parts import Skipped
from demur.results.study import SelectiveStudy
from demur.results.table import Results

_FROM_THE_RIGHT = ("R", "AL", "AN")
_LONGEST_LABEL = 24
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

    @property
    def minus(self) -> Minus:
        """What a difference of the two subtracts."""
        return Minus("system", self.baseline.system)

    def key(self, quantity: str, confidence: str) -> Key:
        """The identity of a difference between the two."""
        return Key(self.other.system, quantity, confidence, minus=self.minus)

    @property
    def label(self) -> str:
        """What is subtracted from what."""
        return f"{self.other.word} − {self.baseline.word}"

    def named(self, system: str) -> NamedSystem:
        """Which of the two a system is."""
        return self.other if system == self.other.system else self.baseline


def systems_of(results: Results) -> tuple[NamedSystem, ...]:
    """The systems; two that answer are left and right, and of those that retrieve the baseline is drawn as left."""
    names = {system: isolated(system) for system in results.systems}
    if isinstance(results.study, SelectiveStudy):
        words = _WORDS.get(len(names)) or tuple(names.values())
        looks = [(word, look_at(index).style) for index, word in enumerate(words)]
    else:
        first = results.study.baseline or results.systems[0]
        drawn = ("baseline" if len(names) > 1 else "run", "left")
        looks = [drawn if system == first else ("", "right") for system in names]
    return tuple(NamedSystem(system, *look, names[system]) for system, look in zip(names, looks, strict=True))


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


def short(name: str) -> str:
    """A name as a picture has room for it.

    >>> short("reranked"), short("a" * 30)
    ('reranked', 'aaaaaaaaaaaaaaaaaaaaaaa…')
    """
    return name if len(name) <= _LONGEST_LABEL else f"{name[: _LONGEST_LABEL - 1]}…"


def worded_warnings(results: Results) -> list[WordedWarning]:
    """The warnings in words, each with what it is about."""
    several = isinstance(results.study, SelectiveStudy) and len(results.systems) > 1
    words = {system.system: system.word for system in systems_of(results)} if several else {}
    return [
        WordedWarning(code=each.code, message=each.message(), where=_where(results, each, words))
        for each in results.warnings
    ]


def by_code(warnings: Iterable[WordedWarning]) -> dict[str, list[WordedWarning]]:
    """Warnings of each kind together."""
    kinds: dict[str, list[WordedWarning]] = {}
    for warning in warnings:
        kinds.setdefault(warning.code, []).append(warning)
    return kinds


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
