"""Cases: whom to look at, by names alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from demur.artifact import MOST_CASES
from demur.evaluation import Evaluated, EvaluatedPair
from demur.items import sorted_ids

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from demur.evaluation import Evaluation
    from demur.items import Items

    Json = dict[str, Any]


def cases(evaluation: Evaluation) -> Json:
    """Who failed, the surest answers that are wrong, and what one run declined and the other answered right."""
    everyone = set.intersection(*({*items.cluster_ids, *items.failed} for items in evaluation.given))
    failed = sorted_ids({who for items in evaluation.given for who in items.failed} & everyone)
    errors = {
        (name if side is None else f"{name} {side}"): _confident_errors(one)
        for name, side, one in _sides(evaluation.variants)
    }
    return {"failed": failed, "confident_errors": errors, "needless_abstentions": _needless(evaluation)}


def _sides(variants: Mapping[str, Evaluated | EvaluatedPair]) -> Iterator[tuple[str, str | None, Evaluated]]:
    for name, one in variants.items():
        if isinstance(one, EvaluatedPair):
            yield name, "left", one.left
            yield name, "right", one.right
        else:
            yield name, None, one


def _confident_errors(one: Evaluated) -> list[Json]:
    """The surest answers that are wrong: confidence descending, then participant, then item."""
    items, graded = one.graded.items, one.graded
    assert items is not None  # noqa: S101  (evaluations are made of the items of a reader)
    units = np.flatnonzero(items.answered)
    wrong = np.flatnonzero(graded.loss != 0)
    order = wrong[np.argsort(-graded.confidence[wrong], kind="stable")][:MOST_CASES]
    return _named(items, units[order])


def _needless(evaluation: Evaluation) -> Json | None:
    """Units one run declined and the other answered right: of one run alone nobody knows what it would have said."""
    if evaluation.pairing is None:
        return None
    left, right = evaluation.pairing.left, evaluation.pairing.right
    return {"left": _declined(left, right), "right": _declined(right, left)}


def _declined(items: Items, other: Items) -> Json:
    units = np.flatnonzero(~items.answered & other.answered & (other.answer == other.truth))
    return {"count": len(units), "first": _named(items, units[:MOST_CASES])}


def _named(items: Items, units: NDArray[np.intp]) -> list[Json]:
    return [
        {"participant": items.cluster_ids[items.cluster[unit]], "item": items.item_names[items.item[unit]]}
        for unit in units.tolist()
    ]
