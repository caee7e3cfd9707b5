"""Queries without evidence: how well probabilities detect them, and what decides that there is none."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from demur.extensions.retrieval.study import RetrievalSystem
from demur.quantities import Measure
from demur.results.table import Results
from demur.show.statements.statement import Statement
from demur.show.text import with_interval

_MOST_SENTENCES = 3
_RULES = {"threshold": "the gate's threshold", "selected_ids": "the selection", "ranked_ids": "the list"}


@dataclass(frozen=True, slots=True)
class EmptyDecisionBy(Statement):
    """What decides that there is no evidence, and how often that is right, wrong and missed."""

    rule: str
    counts: tuple[int, int, int] | None

    @property
    def words(self) -> str:
        """The rule, and the counts if they are known."""
        counts = "" if self.counts is None else " (TP {}, FP {}, FN {})".format(*self.counts)
        return f"{_RULES[self.rule]}{counts}"


def empty_decision(system: RetrievalSystem) -> EmptyDecisionBy:
    """What decides that there is no evidence, with its counts, which an early file lacks."""
    counts = system.empty_decision
    known = None if counts is None else (counts.true_positives, counts.false_positives, counts.false_negatives)
    return EmptyDecisionBy(system.empty_decision_by, known)


@dataclass(frozen=True, slots=True)
class SingleClass(Statement):
    """Queries of which all have evidence, or none has."""

    @property
    def words(self) -> str:
        """What that makes of the numbers."""
        return "all queries have evidence, or none has: there is nothing to detect, and AUROC and rates are conventions"


@dataclass(frozen=True, slots=True)
class Detection(Statement):
    """How well a probability tells queries with evidence from those without; no system where all share it."""

    system: str
    auroc: str

    @property
    def words(self) -> str:
        """The AUROC."""
        subject = f"the probability{self.system and f' of {self.system}'}"
        return f"{subject} tells queries with evidence from those without with an AUROC of {self.auroc}"


def chance_numbers(results: Results, system: str, *families: str) -> tuple[str, ...]:
    """All numbers of a system's probabilities, by which systems with the same probabilities are detected."""
    rows = results.where(system=system, confidence="prob", minus=None)
    chosen = [row for row in rows if Measure.of(row.key.quantity).quantity.of in families]
    return tuple(repr((row.key.quantity, row.key.group, row.value, row.recommended, row.threshold)) for row in chosen)


def detection_statements(results: Results, names: Mapping[str, str]) -> Iterator[Statement]:
    """How well the probabilities detect evidence: one statement where all systems share them."""
    rows = [row for row in results.where(quantity="auroc", group=None, minus=None) if not math.isnan(row.value)]
    if any(row.by_convention for row in rows):
        yield SingleClass()
        return
    different = {chance_numbers(results, row.key.system, "forecasts") for row in rows}
    shared = len(rows) == len(results.systems) and len(different) == 1
    for row in rows[: 1 if shared else _MOST_SENTENCES]:
        yield Detection("" if shared else names[row.key.system], with_interval(results, row))
