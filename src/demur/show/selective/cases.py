"""Sections on single items, and on cases to review, which are listed by name only."""

import math
from dataclasses import replace

from demur.results.json_v1 import ITEM_NUMBERS
from demur.results.study_of_answers import MOST_CASES
from demur.results.table import Results
from demur.show.names import shown_in_full, systems_of
from demur.show.sections import FEW, Content, ShadedCell, section, shade
from demur.show.statements.population import failures, not_in_all
from demur.show.text import UNDEFINED

Numbers = dict[str, float]
_MOST_NAMES = 200
_SEVERAL = 2
_FEW_CASES = 5
_OF_SCORES = "bias"


def item_numbers(results: Results) -> dict[tuple[str, str], Numbers]:
    """The numbers of every item, by system and item; they do not depend on the confidence."""
    table: dict[tuple[str, str], Numbers] = {}
    for key in (row.key for row in results.where(confidence="")):
        if key.group is not None and key.group.name == "item" and key.group.level is not None:
            own = {name: replace(key, quantity=name) for name in ITEM_NUMBERS.values()}
            known = [name for name in own if name != _OF_SCORES or results.get(own[name])]
            numbers = {name: results[own[name]].value for name in known}
            table[key.group.level, key.system] = {_OF_SCORES: math.nan} | numbers
    return table


@section("items", "By item", task="selective", order=80)
def by_item(results: Results) -> Content | None:
    """The section on items: coverage, risk, bias and counts of each, which do not depend on the confidence.

    None where no item has two units, as with questions that each belong to one document.
    """
    table = item_numbers(results)
    if all(numbers["units"] < _SEVERAL for numbers in table.values()):
        return None
    most: Numbers = {}
    for name in ("risk", "bias"):
        defined = [abs(numbers[name]) for numbers in table.values() if not math.isnan(numbers[name])]
        most[name] = max(defined, default=0.0) or 1.0
    items = dict.fromkeys(item for item, _ in table)
    cells = {item: [_cells(table.get((item, system)), most) for system in results.systems] for item in items}
    return {"cells": cells, "few": FEW}


def _cells(numbers: Numbers | None, most: Numbers) -> tuple[ShadedCell, ShadedCell, ShadedCell, str]:
    if numbers is None:
        return (UNDEFINED, ""), (UNDEFINED, ""), (UNDEFINED, ""), UNDEFINED
    few = numbers["answered"] < FEW
    share, risk, bias = numbers["cmax"], numbers["risk"], numbers["bias"]
    signed = f"{bias:+.3f}" if round(bias, 3) else "0.000"  # 0 has no sign
    direction = "above" if bias > 0 else "below"
    nothing = (UNDEFINED, "few")
    return (
        (f"{share:.1%}", shade("coverage", share, few=numbers["units"] < FEW)),
        nothing if math.isnan(risk) else (f"{risk:.3f}", shade("risk", risk / most["risk"], few=few)),
        nothing if math.isnan(bias) else (signed, shade(direction, abs(bias) / most["bias"], few=few)),
        f"{numbers['answered']:.0f} of {numbers['units']:.0f}",
    )


@section("cases", "Cases", task="selective", order=85)
def cases(results: Results) -> Content:
    """The section on cases to review: the first of each list, and the number of others."""
    study, systems = results.selective, systems_of(results)
    needless = [
        {"system": system, "cases": cases.first, "more": cases.count - len(cases.first)}
        for system, counts in zip(systems, study.systems, strict=True)
        if (cases := counts.needless_abstentions)
    ]
    errors = {(group.system, group.confidence): group.cases for group in study.confident_errors}
    most = MOST_CASES if shown_in_full(results) == study.confidences else _FEW_CASES
    listed = [
        [(system, errors.get((system.system, name), ())[:most]) for system in systems] for name in study.confidences
    ]
    return {
        "failed": study.failed[:_MOST_NAMES],
        "more_failed": max(len(study.failed) - _MOST_NAMES, 0),
        "failed_of": [failures(results), *filter(None, [not_in_all(results)])] if len(systems) > 1 else [],
        "confident_errors": [
            [{"system": system, "cases": cases, "cut": len(cases) == most} for system, cases in lists]
            for lists in listed
        ],
        "needless": needless or None,
        "left_out": results.execution is not None and bool(results.execution.left_out),
    }
