"""Costs: the cheapest threshold at each price of an abstention, and which system is cheaper."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from demur.drawing.costs import CostLine, RequestedPrice, cost_chart
from demur.inference.estimates import Estimate
from demur.inference.key import Key
from demur.quantities.costs import price_of
from demur.quantities.priced import AT_THRESHOLD, COST, CROSSFIT, OF_ALL, SAVING
from demur.report.names import NamedSystem, Pair, pairs_of, systems_of
from demur.report.sections import Content, section
from demur.report.text import UNDEFINED, cell, ends_of, four, interval_text, shown_interval, table, three, threshold_at
from demur.results.gaps import deciding
from demur.results.parts import CurveRecord
from demur.results.table import Results

HEADINGS = (
    "price",
    "decline below",
    "coverage",
    "lowest cost",
    "threshold kept",
    "cross-fitted",
    "answer all",
    "saved",
)
_PARTS = {1: "as much as", 2: "half", 3: "a third of", 4: "a quarter of", 5: "a fifth of", 10: "a tenth of"}
_PARTS |= {20: "a twentieth of", 50: "a fiftieth of", 100: "a hundredth of"}


class CostRow(NamedTuple):
    """One price as a row of a table, and the sentence about it."""

    cells: tuple[str, ...]
    sentence: str


def cost_table(results: Results, system: NamedSystem, confidence: str) -> list[CostRow]:
    """The rows of all requested prices."""
    return [_row(results, system, confidence, price) for price in results.selective.abstention_costs or ()]


def _row(results: Results, system: NamedSystem, confidence: str, price: str) -> CostRow:
    def estimate(stem: str) -> Estimate | None:
        return results.get(Key(system.system, f"{stem}@{price}", confidence))

    cost, answer_all = estimate(COST), estimate(OF_ALL)
    if cost is None or answer_all is None:
        return CostRow((price, *[UNDEFINED] * (len(HEADINGS) - 1)), "")
    crossfit, saving = (cell(results, estimate(stem)) for stem in (CROSSFIT, SAVING))
    fixed = estimate(AT_THRESHOLD)
    threshold, policy = _threshold(results, system.system, confidence, cost)
    ends = interval_text(None if fixed is None else shown_interval(results, fixed))
    cells = (cell(results, cost), ends, crossfit, four(answer_all.value), saving)
    against = f"against {three(answer_all.value)} for answering everything"
    if cost.value == answer_all.value:
        against = f"against {three(float(price_of(price)))} for declining everything"
    sentence = f"If a silence costs {in_words(price_of(price))}, {policy} is cheapest: {three(cost.value)} per unit"
    return CostRow((price, threshold, f"{cost.at or 0.0:.1%}", *cells), f"{sentence}, {against}.")


def _threshold(results: Results, system: str, confidence: str, cost: Estimate) -> tuple[str, str]:
    """The threshold as text, and the policy in words."""
    record = results.curves[system, confidence]
    thresholds = record.curve.threshold
    if cost.threshold is None:
        return "everything", "declining everything"
    text = threshold_at(record, thresholds.index(cost.threshold))
    last = cost.threshold == thresholds[-1]
    return ("nothing", "answering everything it can") if last else (text, f"declining below {text}")


def in_words(price: Fraction) -> str:
    """A price as a share of the worst error.

    >>> in_words(Fraction(1, 10)), in_words(Fraction(3, 20)), in_words(Fraction(0))
    ('a tenth of the worst error', '0.15 of the worst error', 'nothing')
    """
    if not price:
        return "nothing"
    part = _PARTS.get(price.denominator) if price.numerator == 1 else None
    return f"{part or f'{float(price):.3g} of'} the worst error"


def cheaper(results: Results, pair: Pair, confidence: str) -> Iterator[str]:
    """The prices at which one of two systems is cheaper, by the simultaneous band over all prices."""
    prices = sorted(results.selective.abstention_costs or (), key=price_of)
    winners = [_winner(results, pair, confidence, price) for price in prices]
    for system in (pair.first, pair.second):
        won = [winner == system.system for winner in winners]
        for first, last in _runs(won):
            between = prices[first] if first == last else f"between {prices[first]} and {prices[last]}"
            yield f"{system.name} is cheaper where an abstention costs {between}."
    if prices and not any(winners):
        yield "Neither is shown to be cheaper at any of these prices: the simultaneous 95 % intervals include 0."


def _winner(results: Results, pair: Pair, confidence: str, price: str) -> str | None:
    difference = results.get(pair.key(f"{COST}@{price}", confidence))
    ends = None if difference is None else deciding(difference)
    if ends is None or ends.low <= 0 <= ends.high:
        return None
    return pair.other.system if ends.high < 0 else pair.baseline.system


def _runs(flags: list[bool]) -> Iterator[tuple[int, int]]:
    """Where flags are true in a row: the first and the last of each run.

    >>> [*_runs([True, True, False, True])]
    [(0, 1), (3, 3)]
    """
    start = None
    for index, flag in enumerate([*flags, False]):
        if flag and start is None:
            start = index
        elif not flag and start is not None:
            yield start, index - 1
            start = None


def cost_sentences(results: Results, confidence: str) -> Iterator[str]:
    """The sentences about each system at each price, and about each pair."""
    systems = systems_of(results)
    for system in systems:
        prefix = f"{system.name}: " if len(systems) > 1 else ""
        yield from (f"{prefix}{row.sentence}" for row in cost_table(results, system, confidence) if row.sentence)
    for pair in pairs_of(results):
        yield from cheaper(results, pair, confidence)


def costs_text(results: Results, confidence: str) -> Iterator[str]:
    """The costs of errors and abstentions."""
    systems = systems_of(results)
    for system in systems:
        rows = [row.cells for row in cost_table(results, system, confidence)]
        heads = (f"{system.label}, {HEADINGS[0]}" if len(systems) > 1 else HEADINGS[0], *HEADINGS[1:])
        yield from ["", *table([(f"  {row[0]}", *row[1:]) for row in (heads, *rows)])]
    yield from cost_sentences(results, confidence)


@section("costs", "What an error and a silence cost", task="selective", order=60)
def costs(results: Results) -> Content | None:
    """Pictures, sentences and tables of every confidence; None without prices."""
    if not results.selective.abstention_costs:
        return None
    systems = systems_of(results)
    return {
        "headings": HEADINGS,
        "confidences": [
            {
                "svg": cost_chart([*_lines(results, confidence)]).svg,
                "sentences": [*cost_sentences(results, confidence)],
                "tables": [
                    (system, [row.cells for row in cost_table(results, system, confidence)]) for system in systems
                ],
            }
            for confidence in results.selective.confidences
        ],
    }


def _lines(results: Results, confidence: str) -> Iterator[CostLine]:
    """The cost line of each system: its lowest cost at every price, and the requested prices."""
    systems = systems_of(results)
    for system in systems:
        label = system.label if len(systems) > 1 else ""
        requested = [*_requested_prices(results, system, confidence)]
        yield cost_line(results.curves[system.system, confidence], label, system.style, requested)


def _requested_prices(results: Results, system: NamedSystem, confidence: str) -> Iterator[RequestedPrice]:
    for price in results.selective.abstention_costs or ():
        cost = results.get(Key(system.system, f"{COST}@{price}", confidence))
        if cost is not None and not math.isnan(cost.value):
            yield float(price_of(price)), cost.value, ends_of(shown_interval(results, cost))


def cost_line(record: CurveRecord, label: str, style: str, requested: Sequence[RequestedPrice] = ()) -> CostLine:
    """The lowest cost as a function of the price: between switches its slope is the share declined."""
    coverages = dict(zip(record.curve.threshold, record.curve.coverage, strict=True))
    vertices, answered = [(0.0, 0.0)], 0.0
    for switch in record.switches or ():
        price, threshold = switch["a"] or 0.0, switch["to"]
        vertices.append((price, _further(vertices[-1], price, answered)))
        answered = 0.0 if threshold is None else coverages[threshold]
    of_all = vertices[-1][1] - vertices[-1][0] * (1 - answered)
    return CostLine(label, style, [*vertices, (1.0, _further(vertices[-1], 1.0, answered))], of_all, requested)


def _further(vertex: tuple[float, float], price: float, answered: float) -> float:
    return vertex[1] + (price - vertex[0]) * (1 - answered)
