"""Statements on the population: inputs, clusters and their units, failures, and answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar

from demur.drawing.labels import isolated
from demur.errors import shown
from demur.show.names import systems_of
from demur.show.statements.statement import Fact, Statement, counted
from demur.show.text import listing

if TYPE_CHECKING:
    from demur.confidences.calibration import Calibration
    from demur.results.file_models import Cause, Input
    from demur.results.study import SelectiveStudy
    from demur.results.table import Results

_OFTEN_FAILED = 0.1
_REPEATS = {
    "units": "each is a unit of its cluster",
    "first": "the first one is kept",
    "vote": "one unit with the most frequent answer",
}


@dataclass(frozen=True, slots=True)
class Source(Fact):
    """States the file and the run that a system was read from."""

    system: str
    path: str | None
    mode: str | None
    run: str | None
    commit: str | None = None
    instrument: str | None = None
    columns: tuple[tuple[str, str], ...] = ()

    @property
    def label(self) -> str:
        """The name of the system."""
        return self.system

    @property
    def words(self) -> str:
        """The file, the mode and the run in words."""
        facts = {"mode": self.mode, "run": self.run}
        listed = [f"{name} {isolated(value)}" for name, value in facts.items() if value]
        return ", ".join([isolated(self.path) if self.path else "no file", *listed])

    @property
    def in_full(self) -> str:
        """The same with the commit, the instrument, and the columns that were used."""
        further = {"commit": self.commit, "items of": self.instrument}
        words = ", ".join([self.words, *(f"{name} {isolated(value)}" for name, value in further.items() if value)])
        columns = ", ".join(f"{isolated(column)} as {isolated(role)}" for role, column in self.columns)
        return f"{words}; {columns}" if columns else words


def _source(system: str, source: Input, path: str | None) -> Source:
    columns = tuple((source.columns or {}).items())
    return Source(system, path, source.mode, source.run_id, source.git_commit, source.instrument, columns)


def sources(results: Results) -> list[Source]:
    """The statements on the source of every system, with its path."""
    inputs = zip(systems_of(results), results.study.inputs, strict=True)
    return [_source(system.name, source, source.path) for system, source in inputs]


def published_sources(results: Results) -> list[Source]:
    """The statements on the source of every system for a paper: file names without folders."""
    inputs = zip(systems_of(results), results.study.inputs, strict=True)
    return [_source(system.name, source, source.path and PurePath(source.path).name) for system, source in inputs]


def training_source(calibration: Calibration) -> Source:
    """The statement on the run that a calibration was fitted on."""
    run = calibration.training
    return Source("Run", run.path, run.mode, run.run_id, run.git_commit)


@dataclass(frozen=True, slots=True)
class Population(Statement):
    """States the number of clusters, of their units, and of further clusters that failed."""

    noun: str
    clusters: int
    units: int
    failed: int

    @property
    def words(self) -> str:
        """The counts in words."""
        failed = f"{self.failed} more failed and {'is' if self.failed == 1 else 'are'} excluded"
        units = f"{counted(self.clusters, self.noun)} with {counted(self.units, 'item')}"
        return f"{units} ({failed if self.failed else 'none failed'})"


def population(results: Results) -> Population:
    """The statement on the population of an evaluation."""
    study = results.selective
    return Population(study.noun, study.clusters_included, study.units, study.clusters_failed)


@dataclass(frozen=True, slots=True)
class Failures(Statement):
    """States on how many clusters each system failed."""

    noun: str
    clusters: int
    by_system: tuple[tuple[str, int], ...]
    starts_with_name: ClassVar[bool] = True

    @property
    def any(self) -> bool:
        """Whether any system failed on any cluster."""
        return any(failed for _, failed in self.by_system)

    @property
    def often(self) -> bool:
        """Whether a system failed on so many clusters that the remaining ones may be easier."""
        return any(failed > _OFTEN_FAILED * self.clusters for _, failed in self.by_system)

    @property
    def words(self) -> str:
        """The failures of each system, and if there are many, what they imply."""
        (first, failed), *others = self.by_system
        listed = listing([f"{first} failed on {failed}", *(f"{name} on {number}" for name, number in others)])
        caution = ": they are excluded from all results, and may be the harder ones" if self.often else ""
        return f"{listed} of {counted(self.clusters, self.noun)}{caution}"


def failures(results: Results) -> Failures:
    """The statement on the failures of every system."""
    study = results.selective
    pairs = zip(systems_of(results), study.systems, strict=True)
    return Failures(study.noun, study.clusters_total, tuple((system.name, counts.failed) for system, counts in pairs))


@dataclass(frozen=True, slots=True)
class NotInAll(Statement):
    """States how many clusters only some of the systems have."""

    noun: str
    by_system: tuple[tuple[str, int], ...]

    @property
    def words(self) -> str:
        """The counts, and how these clusters were treated."""
        only = listing([f"{number} only in {name}" for name, number in self.by_system if number])
        return f"{self.noun}s that are not in all runs are left out: {only}"


def not_in_all(results: Results) -> NotInAll | None:
    """The statement on clusters left out because a system lacks them; None if there are none."""
    study, systems = results.selective, systems_of(results)
    counts = tuple((system.name, own.not_in_all) for system, own in zip(systems, study.systems, strict=True))
    return NotInAll(study.noun, counts) if any(number for _, number in counts) else None


@dataclass(frozen=True, slots=True)
class Answered(Statement):
    """States how many units each system answers."""

    units: int
    by_system: tuple[tuple[str, int], ...]
    starts_with_name: ClassVar[bool] = True

    @property
    def words(self) -> str:
        """The answers of each system, as a number and as a share."""
        (first, answers), *others = self.by_system
        start = f"{first} answers {answers} of {counted(self.units, 'item')} ({self._share(answers)})"
        return listing([start, *(f"{name} {number} ({self._share(number)})" for name, number in others)])

    def _share(self, answers: int) -> str:
        return f"{answers / max(self.units, 1):.1%}"


def answered(results: Results) -> Answered:
    """The statement on the answers of every system."""
    study = results.selective
    pairs = zip(systems_of(results), study.systems, strict=True)
    return Answered(study.units, tuple((system.name, counts.answered) for system, counts in pairs))


@dataclass(frozen=True, slots=True)
class FailedUnits(Statement):
    """States how many single units of each system failed, and how they were treated."""

    by_system: tuple[tuple[str, int], ...]
    dropped: bool

    @property
    def words(self) -> str:
        """The counts, and how failed units were treated."""
        several = len(self.by_system) > 1
        lost = ", ".join(f"{name} {number}" if several else f"{number}" for name, number in self.by_system)
        return f"items that failed: {lost}, {'left out' if self.dropped else 'counted as abstentions'}"


@dataclass(frozen=True, slots=True)
class FailedByCause(Statement):
    """States why units of a system failed."""

    system: str
    causes: tuple[Cause, ...]

    @property
    def words(self) -> str:
        """The causes with their numbers of units; a single system is not named."""
        listed = ", ".join(f"{shown(cause.cause)} {cause.units}" for cause in self.causes)
        return f"{self.system and f'{self.system} '}failed by: {listed}"


def failed_units(results: Results) -> Iterator[FailedUnits | FailedByCause]:
    """The statements on units that failed; none if no unit can fail by itself."""
    study, systems = results.selective, systems_of(results)
    if not study.failed_units:
        return
    pairs = [*zip(systems, study.systems, strict=True)]
    lost = tuple((system.label, counts.units_failed or 0) for system, counts in pairs)
    yield FailedUnits(lost, dropped=study.failed_units == "drop")
    for system, counts in pairs:
        if counts.failed_by_cause:
            yield FailedByCause(system.label if len(systems) > 1 else "", counts.failed_by_cause)


@dataclass(frozen=True, slots=True)
class Repeats(Statement):
    """States how several answers to one question were reduced to one."""

    rule: str
    rows: int
    failed: int

    @property
    def words(self) -> str:
        """The rule, and the number of rows it was applied to."""
        rows = f", of {self.rows} rows" if self.rows else ""
        return f"repeats of a question: {_REPEATS[self.rule]}{rows}{f' ({self.failed} failed)' if self.failed else ''}"


def repeats(study: SelectiveStudy) -> Repeats | None:
    """The statement on repeats; None if there were none."""
    if not study.repeats:
        return None
    rows, failed = (sum(getattr(system, name) or 0 for system in study.systems) for name in ("rows", "rows_failed"))
    return Repeats(study.repeats, rows, failed)
