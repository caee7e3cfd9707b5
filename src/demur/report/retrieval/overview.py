"""Retrieval at a glance: the verdict with its cards, and which queries were counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.report.numbers import UNDEFINED, interval_text
from demur.report.overview import Card, Figure
from demur.report.retrieval_names import number_title
from demur.report.sides import isolated
from demur.report.systems import systems_of
from demur.retrieval_verdict import ABOVE, BELOW, primary, primary_delta, retrieval_verdict, which_way

if TYPE_CHECKING:
    from collections.abc import Iterator

    from demur.report.sides import Side
    from demur.retrieval_artifact import CandidateCounts, Estimated, RetrievalMetrics
    from demur.verdict import Verdict

_MOST_SYSTEMS = 4


@dataclass(frozen=True, slots=True)
class RetrievalOverview:
    """What the artifact says, and the numbers it rests on."""

    verdict: Verdict
    primary: str
    cards: tuple[Card, ...]
    not_on_cards: int


def retrieval_overview(metrics: RetrievalMetrics) -> RetrievalOverview:
    """The verdict on the rankings where there is evidence."""
    said = retrieval_verdict(metrics, isolated)
    more = max(len(metrics.systems) - _MOST_SYSTEMS, 0)
    return RetrievalOverview(said, number_title(primary(metrics)), (*_cards(metrics),), more)


def _cards(metrics: RetrievalMetrics) -> Iterator[Card]:
    number, asked = primary(metrics), metrics.queries
    systems = [*zip(systems_of(metrics), metrics.systems.values(), strict=True)][:_MOST_SYSTEMS]
    interval = "95 % interval" if metrics.bootstrap else "no resamples, no intervals"
    reached = tuple(_figure(side, one.positives_only.micro[number]) for side, one in systems)
    yield Card(number_title(number), reached, f"queries with gold, higher is better; {interval}")
    if len(metrics.deltas) == 1:
        yield _difference(metrics, *metrics.deltas)
    missed = tuple(_figure(side, one.empty_decision.get("false_evidence_rate")) for side, one in systems)
    yield Card("Shows something where nothing is", missed, "share of the queries without gold; lower is better")
    share = asked.queries_with_positives / asked.queries_total if asked.queries_total else 0.0
    counts = f"{asked.queries_with_positives} of {asked.queries_total} queries"
    yield Card("Queries with evidence", (Figure(None, f"{share:.1%}", ""),), counts)


def _difference(metrics: RetrievalMetrics, name: str) -> Card:
    delta, base = primary_delta(metrics, name), metrics.settings.baseline or ""
    way = which_way(metrics, delta)
    winner = {ABOVE: name, BELOW: base}.get(way)
    value = UNDEFINED if delta is None or delta.delta is None else f"{delta.delta:.4g}"
    figure = Figure(None, value, interval_text(delta.ci95_recommended if delta else None))
    title = f"Difference in {number_title(primary(metrics))}"
    return Card(title, (figure,), f"{isolated(winner)} is better" if winner else way)


def _figure(side: Side, one: Estimated | None) -> Figure:
    if one is None or one.value is None:
        return Figure(side, UNDEFINED, (one.reason or "") if one else "")
    return Figure(side, f"{one.value:.4g}", interval_text(one.ci95_recommended) if one.ci95_recommended else "")


@dataclass(frozen=True, slots=True)
class Lists:
    """What one system returned."""

    side: Side
    abstained: int
    candidates: CandidateCounts


@dataclass(frozen=True, slots=True)
class Asked:
    """From the posts to the queries that were counted, and what each system returned for them."""

    share: str
    lists: tuple[Lists, ...]


def asked(metrics: RetrievalMetrics) -> Asked:
    """Which queries were counted."""
    counts = metrics.queries
    return Asked(
        share=f"{100 * counts.queries_with_positives / max(counts.queries_total, 1):.2f}",
        lists=tuple(
            Lists(side, one.queries_abstained, one.candidates)
            for side, one in zip(systems_of(metrics), metrics.systems.values(), strict=True)
        ),
    )
