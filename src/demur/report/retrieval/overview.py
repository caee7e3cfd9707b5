"""Retrieval at a glance: the verdict with its cards, which queries were counted, and how the numbers were made."""

import math
from collections.abc import Iterator

from demur.inference.key import Key
from demur.quantities import quantities
from demur.report.names import NamedSystem, isolated, worded_warnings
from demur.report.parts import Card, CardNumber, carried, definition
from demur.report.retrieval.places import others_of, primary, primary_difference, systems_of, title
from demur.report.retrieval.sentences import open_question, verdict
from demur.report.sections import Content, section
from demur.report.text import UNDEFINED, four, interval_text, level_of, shown_interval
from demur.report.verdict import decide
from demur.results.study import RetrievalSystem
from demur.results.table import Results

_MOST_SYSTEMS = 4


@section("verdict", "Verdict", task="retrieval", order=10)
def retrieval_overview(results: Results) -> Content:
    """The verdict on the rankings where there is evidence."""
    more = max(len(results.systems) - _MOST_SYSTEMS, 0)
    words, number = verdict(results, isolated), title(primary(results, ""))
    return {"verdict": words, "primary": number, "cards": [*_cards(results)], "not_on_cards": more}


def _cards(results: Results) -> Iterator[Card]:
    study, systems = results.retrieval, systems_of(results)[:_MOST_SYSTEMS]
    interval = level_of(results) if study.bootstrap else "no resamples, no intervals"
    reached = [_number(results, system, primary(results, system.system)) for system in systems]
    yield title(primary(results, "")), reached, f"queries with gold, higher is better; {interval}"
    if len(others_of(results)) == 1:
        key = primary_difference(results, *others_of(results))
        estimate, winner = results.get(key), decide(results, key).winner
        number: CardNumber = (None, UNDEFINED, UNDEFINED)
        if estimate is not None:
            number = (None, four(estimate.value), interval_text(shown_interval(results, estimate)))
        note = open_question(results, key) if winner is None else f"{isolated(winner)} is better"
        yield f"Difference in {title(key)}", [number], note
    missed = [_number(results, system, Key(system.system, "false_evidence_rate")) for system in systems]
    yield "Shows something where nothing is", missed, "share of the queries without gold; lower is better"
    share = study.with_gold / study.queries if study.queries else 0.0
    yield "Queries with evidence", [(None, f"{share:.1%}", "")], f"{study.with_gold} of {study.queries} queries"


def _number(results: Results, system: NamedSystem, key: Key) -> CardNumber:
    estimate = results.get(key)
    if estimate is None or math.isnan(estimate.value):
        return system, UNDEFINED, estimate.undefined if estimate else ""
    interval = shown_interval(results, estimate)
    return system, four(estimate.value), interval_text(interval) if interval else ""


@section("counted", "Who was counted", task="retrieval", order=20)
def lists_returned(results: Results) -> list[tuple[NamedSystem, RetrievalSystem]]:
    """What each system returned for the queries that were counted."""
    return [*zip(systems_of(results), results.retrieval.systems, strict=True)]


@section("methods", "Methods and provenance", task="retrieval", order=90)
def retrieval_provenance(results: Results) -> Content:
    """How the results came about."""
    methods = [
        f"{row.recommended.method}{' (differences)' if row.key.minus else ''}"
        for row in results.where(group=None)
        if row.recommended
    ]
    return {
        "definitions": [*map(definition, (*quantities("ranking"), *quantities("forecasts", "detection")))],
        "methods": [*dict.fromkeys(methods)],
        "carried": carried(results, "retrieval", worded_warnings(results)),
    }
