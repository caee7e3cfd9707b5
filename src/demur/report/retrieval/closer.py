"""Retrieval closer: the numbers criterion by criterion and fold by fold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.report.closer import FEW, Cell, shade
from demur.report.numbers import UNDEFINED
from demur.report.retrieval_names import number_title, place_title
from demur.report.systems import cell, depth_of
from demur.retrieval_verdict import primary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from demur.retrieval_artifact import Estimated, FoldNumbers, RetrievalMetrics, SystemNumbers

_MOST_CRITERIA = 200
_MOST_FOLDS = 12
_HEATED = ("recall", "mrr", "map", "ndcg")


@dataclass(frozen=True, slots=True)
class CriterionRow:
    """One criterion: how many queries with gold, of how many, and its numbers."""

    name: str
    with_gold: int
    queries: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Criteria:
    """The heat map of every system."""

    columns: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[CriterionRow, ...], ...]
    more: int


def criteria(metrics: RetrievalMetrics) -> Criteria:
    """Every criterion under every system."""
    names = [f"{stem}@{depth_of(primary(metrics))}" for stem in _HEATED]
    first = next(iter(metrics.systems.values())).positives_only
    shown = [name for name in names if name in first.micro]
    listed = [*first.per_criterion][:_MOST_CRITERIA]
    systems = metrics.systems.values()
    return Criteria(
        columns=tuple(tuple(map(number_title, (*shown, *(["auroc"] if one.detection else [])))) for one in systems),
        rows=tuple(tuple(_criterion(one, name, shown) for name in listed) for one in systems),
        more=len(first.per_criterion) - len(listed),
    )


def _criterion(system: SystemNumbers, name: str, metrics: list[str]) -> CriterionRow:
    gold, asked = system.positives_only.per_criterion[name], system.all_queries.per_criterion[name]
    cells = [_heated(gold.metrics[metric], few=gold.queries < FEW) for metric in metrics]
    if system.detection is not None:
        convention = name in system.detection.single_class_criteria
        auroc = system.detection.per_criterion.get(name, {}).get("auroc")
        cells.append(_heated(auroc, few=convention or asked.queries < FEW))
    return CriterionRow(name, gold.queries, asked.queries, tuple(cells))


def _heated(one: Estimated | None, *, few: bool) -> Cell:
    if one is None or one.value is None:
        return Cell(UNDEFINED, "few")
    return Cell(f"{one.value:.3f}", shade("coverage", one.value, few=few))


@dataclass(frozen=True, slots=True)
class FoldRow:
    """One number: pooled with its interval by post, mean and deviation over folds, and fold by fold."""

    place: str
    title: str
    pooled: str
    over_folds: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Folds:
    """The folds, by name where they are few, and the rows of every system."""

    count: int
    names: tuple[str, ...]
    rows: tuple[tuple[FoldRow, ...], ...]


def folds(metrics: RetrievalMetrics) -> Folds | None:
    """The numbers over folds, or nothing where there are none."""
    names = metrics.queries.folds or ()
    if not names or not any(one.folds for one in metrics.systems.values()):
        return None
    listed = names if len(names) <= _MOST_FOLDS else ()
    depth = depth_of(primary(metrics))
    rows = tuple(tuple(_fold_rows(one, listed, depth)) for one in metrics.systems.values())
    return Folds(len(names), tuple(listed), rows)


def _fold_rows(system: SystemNumbers, names: tuple[str, ...], depth: str) -> Iterator[FoldRow]:
    for place, numbers in (system.folds or {}).items():
        pooled = _pooled(system, place)
        for name, one in numbers.items():
            if depth_of(name) in ("", depth):
                values = tuple(_four(one.values.get(fold)) for fold in names)
                yield FoldRow(place_title(place), number_title(name), cell(pooled.get(name)), _over(one), values)


def _pooled(system: SystemNumbers, place: str) -> Mapping[str, Estimated]:
    """The numbers of all folds together, under the same place."""
    whole, _, policy = place.partition("/")
    return {
        "positives_only": system.positives_only.micro,
        "all_queries": system.all_queries.micro,
        "empty_decision": system.empty_decision,
        "detection": system.detection.micro if system.detection else {},
        "dynamic_k": system.dynamic_k.metrics if system.dynamic_k else {},
        "policies": system.policies.get(policy, {}),
    }.get(whole, {})


def _over(one: FoldNumbers) -> str:
    return UNDEFINED if one.mean is None or one.std is None else f"{one.mean:.4f} ± {one.std:.4f}"


def _four(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.4f}"
