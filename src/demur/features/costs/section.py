"""Costs as a section: the lowest cost at every price, and the cheapest threshold at the requested ones."""

import math
from collections.abc import Iterator, Sequence

from demur.features.costs.chart import CostLine, RequestedPrice, cost_chart
from demur.features.costs.prices import price_of
from demur.features.costs.quantities import COST
from demur.features.costs.recorded import prices_of, switches_of
from demur.features.costs.statements import cost_statements
from demur.features.costs.tables import HEADINGS, cost_row
from demur.inference.key import Key
from demur.results.file_models import CurveRecord
from demur.results.table import Results
from demur.show.names import NamedSystem, systems_of
from demur.show.sections import Content, section
from demur.show.text import ends_of, shown_interval


@section("costs", "What an error and a silence cost", task="selective", order=60)
def costs(results: Results) -> Content | None:
    """Pictures, sentences and tables of every confidence; None without prices."""
    prices, systems = prices_of(results), systems_of(results)
    if not prices:
        return None
    return {
        "headings": HEADINGS,
        "confidences": [
            {
                "svg": cost_chart([*_lines(results, confidence)]).svg,
                "statements": [*cost_statements(results, confidence)],
                "tables": [
                    (system, [cost_row(results, system, confidence, price) for price in prices]) for system in systems
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
    for price in prices_of(results):
        cost = results.get(Key(system.system, f"{COST}@{price}", confidence))
        if cost is not None and not math.isnan(cost.value):
            yield float(price_of(price)), cost.value, ends_of(shown_interval(results, cost))


def cost_line(record: CurveRecord, label: str, style: str, requested: Sequence[RequestedPrice] = ()) -> CostLine:
    """The lowest cost as a function of the price: between switches its slope is the share declined."""
    coverages = dict(zip(record.curve.threshold, record.curve.coverage, strict=True))
    vertices, answered = [(0.0, 0.0)], 0.0
    for switch in switches_of(record):
        price, threshold = switch["a"] or 0.0, switch["to"]
        vertices.append((price, _further(vertices[-1], price, answered)))
        answered = 0.0 if threshold is None else coverages[threshold]
    of_all = vertices[-1][1] - vertices[-1][0] * (1 - answered)
    return CostLine(label, style, [*vertices, (1.0, _further(vertices[-1], 1.0, answered))], of_all, requested)


def _further(vertex: tuple[float, float], price: float, answered: float) -> float:
    return vertex[1] + (price - vertex[0]) * (1 - answered)
