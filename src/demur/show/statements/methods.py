"""Statements on how the numbers were computed: loss, resampling, intervals and conventions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from demur.errors import harmless, shown
from demur.quantities.signature import resampled
from demur.results.study import SIGNATURE
from demur.show.statements.of_features import said_by_features
from demur.show.statements.statement import Fact, Statement
from demur.show.text import level_of

if TYPE_CHECKING:
    from demur.results.table import Results

_LABELS = {"anchor_at_zero": "At coverage 0"}


@dataclass(frozen=True, slots=True)
class LossUsed(Fact):
    """States the loss by which answers are measured."""

    name: str
    definition: str
    label: ClassVar[str] = "Loss"

    @property
    def words(self) -> str:
        """The name and the definition of the loss."""
        return f"{shown(self.name)}, {harmless(self.definition)}"


def loss_used(results: Results) -> LossUsed:
    """The statement on the loss of an evaluation."""
    loss = results.selective.loss
    return LossUsed(loss.name, loss.definition)


@dataclass(frozen=True, slots=True)
class Resampling(Fact):
    """How often what was resampled, and what features say of that; 0 resamples if nothing was."""

    resamples: int
    seed: int
    noun: str
    further: tuple[Statement, ...] = ()
    label: ClassVar[str] = "Resampling"

    @property
    def words(self) -> str:
        """The number of resamples with their seed, in words."""
        units = " ".join([f"{self.noun}s", *(statement.words for statement in self.further)])
        drawn = resampled(self.resamples, units, self.seed)
        return drawn if self.resamples else f"{drawn}, so there are no intervals"


def resampling(results: Results) -> Resampling:
    """The statement on how the clusters of results were resampled."""
    study, drawn = results.study, results.study.bootstrap
    further = tuple(said_by_features(results, "resampling"))
    return Resampling(drawn.n_resamples if drawn else 0, drawn.seed if drawn else 0, study.noun, further)


@dataclass(frozen=True, slots=True)
class Intervals(Fact):
    """States which intervals are shown in brackets, and by which methods they were computed, if given."""

    level: str
    methods: tuple[str, ...] = ()
    label: ClassVar[str] = "Intervals"

    @property
    def words(self) -> str:
        """The level and the methods in words."""
        methods = ", ".join(method_name(method) for method in self.methods)
        return f"in brackets the {self.level}{methods and f' ({methods})'}"


def intervals(results: Results, methods: Iterable[str] = ()) -> Intervals:
    """The statement on the intervals that are shown."""
    return Intervals(level_of(results), tuple(methods))


def method_name(method: str) -> str:
    """An interval method in words."""
    return shown(method.replace("_", " "))


@dataclass(frozen=True, slots=True)
class Convention(Fact):
    """States a convention that the numbers follow."""

    name: str
    text: str

    @property
    def label(self) -> str:
        """The subject of the convention."""
        return _LABELS.get(self.name) or shown(self.name.replace("_", " ")).capitalize()

    @property
    def words(self) -> str:
        """The convention as the file records it."""
        return harmless(self.text)


def conventions(results: Results) -> Iterator[Convention]:
    """The statements on the conventions that a file records, without the signature."""
    for name, text in results.study.convention.items():
        if name != SIGNATURE:
            yield Convention(name, text)
