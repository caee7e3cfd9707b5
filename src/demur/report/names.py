"""Names: what the systems of a result are called, how they look, and which of them are compared."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from unicodedata import bidirectional

from demur.drawing.looks import look_at
from demur.errors import harmless, shown
from demur.files.strict_model import WordedWarning
from demur.inference.key import Key, Minus
from demur.inference.warnings import ResultWarning
from demur.results.parts import Skipped
from demur.results.study import SelectiveStudy
from demur.results.table import Results

_FROM_THE_RIGHT = ("R", "AL", "AN")
_ISOLATES = ("\u2068", "\u2069")  # around names that run from right to left; they end with their line
_LONGEST_NAME, _LONGEST_LABEL = 60, 24


@dataclass(frozen=True, slots=True)
class NamedSystem:
    """A system: its identity, its name in a sentence, what a column has room for, its style, and its role if any."""

    system: str
    name: str
    label: str
    style: str
    aside: str = ""


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
        return f"{self.other.label} − {self.baseline.label}"

    def named(self, system: str) -> NamedSystem:
        """Which of the two a system is."""
        return self.other if system == self.other.system else self.baseline


def systems_of(results: Results) -> tuple[NamedSystem, ...]:
    """The systems. Each that answers has a look of its own; of those that retrieve, the baseline has one."""
    systems, study = results.systems, results.study
    names = [_isolated(name) for name in shortened(systems, _LONGEST_NAME)]
    labels = [_isolated(label) for label in shortened(systems)]
    styles, asides = [look_at(index).style for index in range(len(systems))], [""] * len(systems)
    if not isinstance(study, SelectiveStudy):
        base = systems.index(study.baseline or systems[0])
        styles = [look_at(int(index != base)).style for index in range(len(systems))]
        asides[base] = "baseline" if len(systems) > 1 and "baseline" not in names[base] else ""
    return tuple(map(NamedSystem, systems, names, labels, styles, asides))


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
    return _isolated(shown(name))


def _isolated(text: str) -> str:
    return text.join(_ISOLATES) if any(bidirectional(letter) in _FROM_THE_RIGHT for letter in text) else text


def inert(text: str) -> str:
    r"""A sentence with names in it, on one line: nothing is obeyed but what keeps a name to itself.

    >>> print(inert("\x1b[31m"), len(inert(isolated("\u05d0"))))
    \x1b[31m 3
    """
    return "".join(sign if sign in _ISOLATES else harmless(sign) for sign in text)


def shortened(names: Sequence[str], longest: int = _LONGEST_LABEL) -> tuple[str, ...]:
    """Names as a column or a picture has room for them: long ones lose their middle, and get a number if alike then.

    >>> shortened(["reranked", "llama-3.1-70b-instruct-seed-1"])
    ('reranked', 'llama-3.1-7…truct-seed-1')
    >>> shortened([f"{'a' * 20}{n}{'b' * 20}" for n in "xy"], 12)
    ('1 aaaa…bbbbb', '2 aaaa…bbbbb')
    """
    # A long name that is safe is not cut here by `shown`: its end may be all that tells it from another.
    plain = [name if len(name) > longest and name.isprintable() else shown(name) for name in names]
    cut = [_without_middle(name, longest) for name in plain]
    if len({*cut}) < len(cut):
        numbered = [(name, f"{number} ") for number, name in enumerate(plain, start=1)]
        cut = [
            name if len(name) <= longest else number + _without_middle(name, longest - len(number))
            for name, number in numbered
        ]
    return tuple(cut)


def _without_middle(name: str, longest: int) -> str:
    end = longest // 2
    return name if len(name) <= longest else f"{name[: longest - end - 1]}…{name[-end:]}"


def worded_warnings(results: Results) -> list[WordedWarning]:
    """The warnings in words, each with what it is about."""
    several = isinstance(results.study, SelectiveStudy) and len(results.systems) > 1
    labels = dict(zip(results.systems, shortened(results.systems), strict=True)) if several else {}
    return [
        WordedWarning(code=each.code, message=each.message(), where=_where(results, each, labels))
        for each in results.warnings
    ]


def by_code(warnings: Iterable[WordedWarning]) -> dict[str, list[WordedWarning]]:
    """Warnings of each kind together."""
    kinds: dict[str, list[WordedWarning]] = {}
    for warning in warnings:
        kinds.setdefault(warning.code, []).append(warning)
    return kinds


def _where(results: Results, warning: ResultWarning, labels: dict[str, str]) -> str:
    about, subject = warning.about, warning.subject
    if isinstance(results.study, SelectiveStudy):
        whose = "difference" if about.minus else labels.get(about.system or "", "")
        within = f"{about.confidence}: {f'{whose} {about.quantity or subject}'.strip()}"
        return within if about.confidence is not None else subject or (about.system or "")
    if about.system is None:
        return "posts" if subject == "clusters" else subject
    gate = "gate " if subject in ("clusters", "confidence") else ""
    return f"{about.system} {gate}{'folds' if 'folds' in warning.parameters else subject}".strip()


def why_skipped(results: Results, skipped: Skipped) -> str:
    """Why a confidence was left out, with the system that lacks it where there are several."""
    labels = {system.system: system.label for system in systems_of(results)}
    return skipped.reason if skipped.system is None else f"{labels[skipped.system]}: {skipped.reason}"
