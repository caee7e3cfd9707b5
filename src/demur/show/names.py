"""Names, labels and styles of the systems of a result, and the pairs that are compared."""

from dataclasses import dataclass

from demur.drawing.labels import isolated, shortened
from demur.drawing.system_styles import system_style
from demur.inference.key import Key, Minus
from demur.results.file_models import Skipped
from demur.results.study import SelectiveStudy
from demur.results.table import Results

_LONGEST_NAME = 60
_MOST_IN_FULL = 8


@dataclass(frozen=True, slots=True)
class NamedSystem:
    """A system with its id, its name in sentences, its short label for columns, its style, and its role if any."""

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
        """The subtracted system of a difference of the two."""
        return Minus("system", self.baseline.system)

    def key(self, quantity: str, confidence: str) -> Key:
        """The key of a difference between the two."""
        return Key(self.other.system, quantity, confidence, minus=self.minus)

    @property
    def label(self) -> str:
        """The label of a difference: other − baseline."""
        return f"{self.other.label} − {self.baseline.label}"

    @property
    def names(self) -> dict[str, str]:
        """The names of the two for sentences, by id."""
        return {side.system: side.name for side in (self.first, self.second)}

    @property
    def labels(self) -> dict[str, str]:
        """The labels of the two for columns, by id."""
        return {side.system: side.label for side in (self.first, self.second)}

    def named(self, system: str) -> NamedSystem:
        """The named system with this id."""
        return self.other if system == self.other.system else self.baseline


def systems_of(results: Results) -> tuple[NamedSystem, ...]:
    """The named systems, each in a style of its own; in the task of an extension only the baseline has one."""
    systems, study = results.systems, results.study
    names = [isolated(name) for name in shortened(systems, _LONGEST_NAME)]
    labels = [isolated(label) for label in shortened(systems)]
    styles, asides = [system_style(index).style for index in range(len(systems))], [""] * len(systems)
    if not isinstance(study, SelectiveStudy):
        base = systems.index(study.baseline or systems[0])
        styles = [system_style(int(index != base)).style for index in range(len(systems))]
        asides[base] = "baseline" if len(systems) > 1 and "baseline" not in names[base] else ""
    return tuple(map(NamedSystem, systems, names, labels, styles, asides))


def by_name(results: Results) -> dict[str, NamedSystem]:
    """The named systems by id."""
    return {system.system: system for system in systems_of(results)}


def pairs_of(results: Results) -> tuple[Pair, ...]:
    """Every other system paired with the baseline; none for a single system."""
    systems = systems_of(results)
    base = next((system for system in systems if system.system == results.study.baseline), systems[0])
    others = [system for system in systems if system is not base]
    return tuple(Pair(other, base, *sorted((other, base), key=systems.index)) for other in others)


def shown_in_full(results: Results) -> tuple[str, ...]:
    """The confidences that a page shows in full: all, or only the first if there are very many curves."""
    confidences = results.selective.confidences
    return confidences if len(results.systems) * len(confidences) <= _MOST_IN_FULL else confidences[:1]


def why_skipped(results: Results, skipped: Skipped) -> str:
    """The reason why a confidence was left out, with the system that lacks it if there are several."""
    return skipped.reason if skipped.system is None else f"{by_name(results)[skipped.system].label}: {skipped.reason}"
