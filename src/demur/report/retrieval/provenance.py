"""Retrieval provenance: what the numbers mean, how they were made and of what, and how to take them along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.metrics.detection import DETECTION_METRICS
from demur.metrics.retrieval import RANKING_METRICS
from demur.report.carried import carried
from demur.report.provenance import definition

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from demur.report.carried import Carried
    from demur.report.provenance import Definition
    from demur.retrieval_artifact import Estimated, RetrievalMetrics, SystemNumbers


@dataclass(frozen=True, slots=True)
class RetrievalProvenance:
    """What a reviewer asks for."""

    definitions: tuple[Definition, ...]
    methods: tuple[str, ...]
    carried: Carried


def retrieval_provenance(metrics: RetrievalMetrics) -> RetrievalProvenance:
    """How the artifact came about."""
    rankings = [definition(name, one.function) for name, one in RANKING_METRICS.items()]
    detections = [definition(name, one.function) for name, one in DETECTION_METRICS.items()]
    return RetrievalProvenance(
        definitions=(*rankings, *detections),
        methods=tuple(dict.fromkeys(_methods(metrics))),
        carried=carried(metrics, "retrieval"),
    )


def _methods(metrics: RetrievalMetrics) -> Iterator[str]:
    """Which interval methods were used."""
    for system in metrics.systems.values():
        for numbers in _groups(system):
            yield from (one.ci95_recommended.method for one in numbers.values() if one.ci95_recommended)
    for places in metrics.deltas.values():
        for deltas in places.values():
            found = (one.ci95_recommended for one in deltas.values())
            yield from (f"{one.method} (differences)" for one in found if one)


def _groups(system: SystemNumbers) -> Iterator[Mapping[str, Estimated]]:
    yield system.positives_only.micro
    yield system.all_queries.micro
    yield system.empty_decision
    yield from (one.micro for one in [system.detection] if one)
    yield from (one.metrics for one in (system.dynamic_k, system.gate) if one)
    yield from system.policies.values()
