"""Groups at a threshold by plain loops. A row is (cluster, loss, confidence), the loss None for an abstention."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from demur.audit.retrieval_figures.numbers import Number, mean, total
from reference.registry import register


class GroupUnit(NamedTuple):
    """One unit: its cluster, the loss of its answer, None if the system abstained, and the confidence in it."""

    cluster: Any
    loss: Fraction | None
    confidence: Any


def _accepted(rows: Sequence[GroupUnit], threshold: float) -> list[Fraction]:
    return [row.loss for row in rows if row.loss is not None and row.confidence >= threshold]


def _risks(groups: Sequence[Sequence[GroupUnit]], threshold: float) -> list[Number]:
    risks = [mean(_accepted(rows, threshold)) for rows in groups]
    return [risk for risk in risks if risk is not None]


FORMULAS: dict[str, Callable[..., Number | None]] = {
    "clusters": lambda rows: Fraction(len({row.cluster for row in rows})),
    "accepted@threshold=T": lambda rows, threshold: Fraction(len(_accepted(rows, threshold))),
    "errors@threshold=T": lambda rows, threshold: Fraction(sum(loss != 0 for loss in _accepted(rows, threshold))),
    "loss_sum@threshold=T": lambda rows, threshold: total(_accepted(rows, threshold)),
    "worst_risk@threshold=T": lambda groups, threshold: max(_risks(groups, threshold), default=None),
    "worst_minus_best@threshold=T": lambda groups, threshold: (
        max(risks) - min(risks) if len(risks := _risks(groups, threshold)) > 1 else None
    ),
}
register(FORMULAS)
