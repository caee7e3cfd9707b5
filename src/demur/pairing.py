"""Pairing: which clusters two runs can be compared on, and who was left out on either side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.errors import UserError, shown
from demur.items import sorted_ids

if TYPE_CHECKING:
    from demur.items import ClusterId, Items


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """Two runs cut down to the clusters that succeeded on both sides, and how many there were before."""

    left: Items
    right: Items
    intersection_only: bool
    left_only: int
    right_only: int
    overlap: int
    failed_left: int
    failed_right: int

    @property
    def included(self) -> int:
        """How many clusters are compared."""
        return len(self.left.cluster_ids)


def paired(left: Items, right: Items, *, intersection_only: bool = False) -> Pairing:
    """Both runs on the clusters they share. Different sets are an error unless the intersection is asked for."""
    ids_left, ids_right = _everyone(left), _everyone(right)
    if ids_left != ids_right and not intersection_only:
        raise _different(left, right)
    shared = ids_left & ids_right
    included = (shared - set(left.failed)) & (shared - set(right.failed))
    if not included:
        raise UserError(f"nothing to compare: no {left.noun} succeeded on both sides ({len(shared)} are on both)")
    return Pairing(
        left=left.only(included),
        right=right.only(included),
        intersection_only=intersection_only,
        left_only=len(ids_left - ids_right),
        right_only=len(ids_right - ids_left),
        overlap=len(shared),
        failed_left=len(shared & set(left.failed)),
        failed_right=len(shared & set(right.failed)),
    )


def _everyone(items: Items) -> set[ClusterId]:
    return {*items.cluster_ids, *items.failed}


def _different(left: Items, right: Items) -> UserError:
    ids_left, ids_right = _everyone(left), _everyone(right)
    sides = " and ".join(
        f"{len(only)} only on the {side}{f' ({shown(sorted_ids(only)[0])}, …)' if only else ''}"
        for side, only in (("left", ids_left - ids_right), ("right", ids_right - ids_left))
    )
    shared = len(ids_left & ids_right)
    return UserError(
        f"the two inputs hold different {left.noun}s: {sides}; --intersection-only compares the {shared} they share"
    )
