"""Closer: the numbers item by item, and the cases to look at, by their names alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.artifact import MOST_CASES
from demur.report.numbers import UNDEFINED, runs_of
from demur.report.sides import sides_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from demur.artifact import Case, Declined, Metrics
    from demur.artifact_numbers import ByItem
    from demur.report.sides import Side

FEW = 10
_SHADES = 8
_MOST_NAMES = 200


@dataclass(frozen=True, slots=True)
class Cell:
    """A number with the shade of its background; greyed where few answers stand behind it."""

    shown: str
    style: str


@dataclass(frozen=True, slots=True)
class ItemRow:
    """One item: of each run how often it is answered, how wrong, which way, and out of how many."""

    name: str
    cells: tuple[tuple[Cell, Cell, Cell, str], ...]


def by_item(metrics: Metrics) -> list[ItemRow]:
    """Every item; which variant ranks the answers makes no difference here."""
    entry = next(iter(metrics.confidence_variants.values()), None)
    runs = [one.by_item for one in runs_of(entry)] if entry else []
    found = [item for run in runs for item in run.values()]
    most_risk = _largest(item.risk for item in found)
    most_bias = _largest(item.bias for item in found)
    names = dict.fromkeys(name for run in runs for name in run)
    return [ItemRow(name, tuple(_cells(run.get(name), most_risk, most_bias) for run in runs)) for name in names]


def _largest(values: Iterable[float | None]) -> float:
    return max((abs(value) for value in values if value is not None), default=0.0) or 1.0


def _cells(item: ByItem | None, most_risk: float, most_bias: float) -> tuple[Cell, Cell, Cell, str]:
    if item is None:
        return (Cell(UNDEFINED, ""),) * 3 + (UNDEFINED,)
    few = item.answered < FEW
    coverage = Cell(f"{item.coverage:.1%}", shade("coverage", item.coverage, few=item.n < FEW))
    risk = Cell(UNDEFINED, "few")
    bias = Cell(UNDEFINED, "few")
    if item.risk is not None:
        risk = Cell(f"{item.risk:.3f}", shade("risk", item.risk / most_risk, few=few))
    if item.bias is not None:
        way = "above" if item.bias > 0 else "below"
        bias = Cell(_signed(item.bias), shade(way, abs(item.bias) / most_bias, few=few))
    return coverage, risk, bias, f"{item.answered} of {item.n}"


def _signed(bias: float) -> str:
    """A bias with its sign, unless it is nothing to the digits shown."""
    shown = f"{bias:+.3f}"
    return "0.000" if float(shown) == 0 else shown


def shade(kind: str, share: float, *, few: bool) -> str:
    """The style of a cell of a heat map, darker where there is more."""
    return "few" if few else f"{kind} shade-{round(min(max(share, 0.0), 1.0) * _SHADES)}"


@dataclass(frozen=True, slots=True)
class CaseList:
    """Cases of one run, and how many more there are that are not listed; `cut` where only that is known."""

    side: Side
    cases: tuple[Case, ...]
    more: int = 0
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Cases:
    """Whom to look at."""

    failed: tuple[int | str, ...]
    more_failed: int
    failed_of: str
    confident_errors: tuple[tuple[CaseList, ...], ...]
    needless: tuple[CaseList, ...] | None


def cases(metrics: Metrics) -> Cases:
    """The cases of the artifact, the first of each list."""
    found, sides = metrics.cases, sides_of(metrics)
    needless = found.needless_abstentions
    return Cases(
        failed=found.failed[:_MOST_NAMES],
        more_failed=max(len(found.failed) - _MOST_NAMES, 0),
        failed_of=_failed_of(metrics),
        confident_errors=tuple(_errors(metrics, name, sides) for name in metrics.confidence_variants),
        needless=tuple(map(_declined, sides, (needless.left, needless.right))) if needless else None,
    )


def _failed_of(metrics: Metrics) -> str:
    """Of two runs, how many failed on each side, and whether some of the names are in one run alone."""
    compared = metrics.comparison
    if not compared.enabled:
        return ""
    left, right = (side.name for side in sides_of(metrics))
    said = f"{left} failed on {compared.participants_failed_left}, {right} on {compared.participants_failed_right}."
    left_out = len(metrics.cases.failed) - metrics.population.participants_failed
    return said if left_out <= 0 else f"{said} {left_out} more are in one run alone, and left out of the comparison."


def _errors(metrics: Metrics, variant: str, sides: Sequence[Side]) -> tuple[CaseList, ...]:
    listed = metrics.cases.confident_errors
    keys = (variant if side.word == "run" else f"{variant} {side.word}" for side in sides)
    found = [(side, listed.get(key, ())) for side, key in zip(sides, keys, strict=True)]
    return tuple(CaseList(side, cases, cut=len(cases) == MOST_CASES) for side, cases in found)


def _declined(side: Side, declined: Declined) -> CaseList:
    return CaseList(side, declined.first, declined.count - len(declined.first))
