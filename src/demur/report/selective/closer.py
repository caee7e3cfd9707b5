"""Closer: the numbers item by item, and the cases to look at, by their names alone."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from demur.report.names import NamedSystem, systems_of
from demur.report.sections import Content, section
from demur.report.shading import FEW, ShadedCell, shade
from demur.report.text import UNDEFINED
from demur.results.parts import Case
from demur.results.record import MOST_CASES
from demur.results.table import Results

Numbers = dict[str, float]
_MOST_NAMES = 200
_NOTHING = ShadedCell(UNDEFINED, "few")


@section("items", "By item", task="selective", order=70)
def by_item(results: Results) -> Content:
    """Every item, whatever the confidence: how often it is answered, how wrong, which way, and out of how many."""
    table: dict[tuple[str, str], Numbers] = {}
    for row in results:
        if row.key.group is not None and row.key.group.name == "item" and row.key.group.level is not None:
            table.setdefault((row.key.group.level, row.key.system), {})[row.key.quantity] = row.value
    items = dict.fromkeys(item for item, _ in table)
    most = {name: _largest(numbers[name] for numbers in table.values()) for name in ("risk", "bias")}
    cells = {item: [_cells(table.get((item, system)), most) for system in results.systems] for item in items}
    return {"cells": cells, "few": FEW}


def _largest(values: Iterable[float]) -> float:
    return max((abs(value) for value in values if not math.isnan(value)), default=0.0) or 1.0


def _cells(numbers: Numbers | None, most: Numbers) -> tuple[ShadedCell, ShadedCell, ShadedCell, str]:
    if numbers is None:
        return (ShadedCell(UNDEFINED, ""),) * 3 + (UNDEFINED,)
    few = numbers["answered"] < FEW
    share, risk, bias = numbers["cmax"], numbers["risk"], numbers["bias"]
    way = "above" if bias > 0 else "below"
    return (
        ShadedCell(f"{share:.1%}", shade("coverage", share, few=numbers["units"] < FEW)),
        _NOTHING if math.isnan(risk) else ShadedCell(f"{risk:.3f}", shade("risk", risk / most["risk"], few=few)),
        _NOTHING if math.isnan(bias) else ShadedCell(_signed(bias), shade(way, abs(bias) / most["bias"], few=few)),
        f"{numbers['answered']:.0f} of {numbers['units']:.0f}",
    )


def _signed(bias: float) -> str:
    """A bias with its sign, unless it is nothing to the digits shown."""
    text = f"{bias:+.3f}"
    return "0.000" if float(text) == 0 else text


@dataclass(frozen=True, slots=True)
class ListedCases:
    """Cases of one system, and how many more there are that are not listed; `cut` where only that is known."""

    system: NamedSystem
    cases: tuple[Case, ...]
    more: int = 0
    cut: bool = False


@section("cases", "Cases", task="selective", order=80)
def cases(results: Results) -> Content:
    """Whom to look at: the first of each list."""
    study, systems = results.selective, systems_of(results)
    declined = [(systems[index], system.needless_abstentions) for index, system in enumerate(study.systems)]
    needless = [ListedCases(system, cases.first, cases.count - len(cases.first)) for system, cases in declined if cases]
    return {
        "failed": study.failed[:_MOST_NAMES],
        "more_failed": max(len(study.failed) - _MOST_NAMES, 0),
        "failed_of": _failed_of(results),
        "confident_errors": [_errors(results, name) for name in study.confidences],
        "needless": needless or None,
    }


def _failed_of(results: Results) -> str:
    """Of several systems, how many failed in each, and whether some of the names are not in all of them."""
    study = results.selective
    if len(study.systems) == 1:
        return ""
    first, *others = zip(systems_of(results), study.systems, strict=True)
    counts = [f"{first[0].name} failed on {first[1].failed}"]
    counts += [f"{named.name} on {system.failed}" for named, system in others]
    text, left_out = f"{', '.join(counts)}.", len(study.failed) - study.clusters_failed
    return text if left_out <= 0 else f"{text} {left_out} more are in one run alone, and left out of the comparison."


def _errors(results: Results, confidence: str) -> list[ListedCases]:
    errors = {(each.system, each.confidence): each.cases for each in results.selective.confident_errors}
    listed = [(system, errors.get((system.system, confidence), ())) for system in systems_of(results)]
    return [ListedCases(system, cases, cut=len(cases) == MOST_CASES) for system, cases in listed]
