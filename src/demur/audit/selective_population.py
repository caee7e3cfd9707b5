"""Who and what an artifact counts: participants, items and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demur.audit.figures import Expected
from demur.audit.plain_units import SIDES, counts_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from demur.audit.plain_units import Side
    from demur.audit.selective_points import Path

    Counts = dict[Path, tuple[int, Mapping[str, float]]]

_FAILED_IN = "failed participants counted in"


def about_everyone(sides: Sequence[Side]) -> dict[Path, Expected]:
    """The figures of `population`, of `loss` and, of two runs, of `comparison`."""
    own, first = sides[0].own, sides[0]
    everyone = len(own.cluster_ids) + len(own.failed)
    total = everyone if len(sides) == 1 else counts_of(own, sides[1].own).overlap
    included, answered = len(first.items.cluster_ids), len(first.answered)
    all_units = total * len(first.items.item_names)
    counts: Counts = {
        ("population", "participants_total"): (total, {"failed participants left out": included}),
        ("population", "participants_included"): (included, {_FAILED_IN: total}),
        ("population", "participants_failed"): (total - included, {}),
        ("population", "items_total"): (first.units, {_FAILED_IN: all_units, "abstentions left out": answered}),
        ("loss", "raw_multiplier"): (first.divisor, {}),
    }
    counts |= _answers(sides) if len(sides) == 1 else _answers(sides) | _comparison(sides, total, included)
    found = {path: Expected(value, exact=True, otherwise=ways) for path, (value, ways) in counts.items()}
    if len(sides) == 1:
        found["population", "cmax"] = Expected(answered / first.units, otherwise={_FAILED_IN: answered / all_units})
    return found


def _answers(sides: Sequence[Side]) -> Counts:
    answered = [len(side.answered) for side in sides]
    if len(sides) == 1:
        return {("population", "items_predicted"): (answered[0], {"abstentions counted": sides[0].units})}
    return {
        ("population", "items_predicted", side): (answered[number], {"the other side's figure": answered[1 - number]})
        for number, side in enumerate(SIDES)
    }


def _comparison(sides: Sequence[Side], total: int, included: int) -> Counts:
    found = counts_of(sides[0].own, sides[1].own)
    return {
        ("comparison", "participants_left_only"): (found.left_only, {"the other side's figure": found.right_only}),
        ("comparison", "participants_right_only"): (found.right_only, {"the other side's figure": found.left_only}),
        ("comparison", "participants_overlap_total"): (total, {"failed participants left out": included}),
        ("comparison", "participants_overlap_included"): (included, {_FAILED_IN: total}),
        ("comparison", "participants_failed_left"): (
            found.failed_left,
            {"the other side's figure": found.failed_right},
        ),
        ("comparison", "participants_failed_right"): (
            found.failed_right,
            {"the other side's figure": found.failed_left},
        ),
    }
