"""Rows: the plain tuples that loops read, from facts."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from demur.errors import UserError, unknown
from demur.facts.ids import ClusterId, sorted_ids
from demur.facts.items import Items
from reference.selective import Unit

if TYPE_CHECKING:
    from demur.extensions.retrieval.rankings import Query

LOSSES = ("abs_norm", "abs", "zero_one")
GIVEN = "given"


def losses(items: Items, loss: str) -> list[Fraction | None]:
    """The loss of each unit, None where the system abstained."""
    if loss == GIVEN and items.losses is not None:
        divisor, numerators = items.losses.divisor, items.losses.numerators.tolist()
        known = zip(numerators, items.answered, strict=True)
        return [Fraction(numerator) / divisor if answered else None for numerator, answered in known]
    if loss not in LOSSES:
        raise unknown("loss", loss, LOSSES)
    divisor = loss_range(items) if loss == "abs_norm" else 1
    graded: list[Fraction | None] = []
    for truth, answer, answered in zip(items.truth.tolist(), items.answer.tolist(), items.answered, strict=True):
        wrong = int(answer != truth) if loss == "zero_one" else abs(answer - truth)
        graded.append(Fraction(wrong, divisor) if answered else None)
    return graded


def loss_range(items: Items) -> int:
    """The score range that the normalised loss divides by."""
    if items.instrument is None:
        raise UserError("the loss abs_norm divides by the score range: give the instrument")
    return items.instrument.range


def selective_rows(items: Items, confidence: Sequence[float], loss: str) -> list[Unit]:
    """The loss of each unit, with its confidence if it is answered."""
    scores = iter(confidence)
    return [Unit(wrong, None if wrong is None else next(scores)) for wrong in losses(items, loss)]


def by_cluster(items: Items, rows: Sequence[Any]) -> list[list[Any]]:
    """The rows of each cluster, one for each unit, in the order clusters are drawn in."""
    clusters: list[list[Any]] = [[] for _ in items.cluster_ids]
    for cluster, row in zip(items.cluster.tolist(), rows, strict=True):
        clusters[cluster].append(row)
    return clusters


def by_post(queries: Sequence[Query], rows: Sequence[Any]) -> list[list[Any]]:
    """The rows of each post, one for each query, in the order posts are drawn in."""
    posts: dict[ClusterId, list[Any]] = {post: [] for post in sorted_ids(query.post for query in queries)}
    for query, row in zip(queries, rows, strict=True):
        posts[query.post].append(row)
    return [*posts.values()]
