"""What an artifact of `demur retrieval` was asked for, and the queries of one system in the order they are drawn in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.audit.figures import Printed
from demur.audit.own_selection import Bounds
from demur.audit.ranked_loops import Judged
from demur.errors import UserError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from demur.rankings import Query

    Bools = NDArray[np.bool_]

Path = tuple[str, ...]
POSITIVES, ALL = "positives_only", "all_queries"


@dataclass(frozen=True, slots=True)
class Asked:
    """The settings an artifact records."""

    depths: tuple[int, ...]
    effective_k: bool
    bounds: Bounds
    threshold: float | None
    baseline: str | None

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Asked:
        """From the member `settings`; without it nobody can say what was computed."""
        said = content.get("settings")
        if not isinstance(said, Mapping) or not isinstance(said.get("k"), list) or not said["k"]:
            raise UserError("not a retrieval artifact: expected settings with k, k_min, hard_cap, k_max_ratio …")
        threshold, baseline = said.get("gate_threshold"), said.get("baseline")
        return cls(
            depths=tuple(_whole(depth, "k") for depth in said["k"]),
            effective_k=said.get("effective_k") is True,
            bounds=Bounds(_whole(said.get("k_min"), "k_min"), _whole(said.get("hard_cap"), "hard_cap"), _ratio(said)),
            threshold=threshold.value if isinstance(threshold, Printed) else None,
            baseline=baseline if isinstance(baseline, str) else None,
        )


def _whole(number: Any, name: str) -> int:
    if not isinstance(number, Printed) or not number.text.isdigit() or not 0 < number.value < 2**31:
        raise UserError(f"settings: {name} is missing or no integer of 1 or more, so nobody can say what was computed")
    return int(number.text)


def _ratio(said: Mapping[str, Any]) -> Fraction:
    ratio = said.get("k_max_ratio")
    if not isinstance(ratio, Printed) or not 0 < ratio.value <= 1:
        raise UserError("settings: k_max_ratio is missing or not above 0 and at most 1")
    return Fraction(ratio.text)


@dataclass(frozen=True)
class Facts:
    """The queries of one system: as they stand, and judged."""

    rows: Sequence[Query]
    judged: Sequence[Judged]

    @classmethod
    def of(cls, rows: Sequence[Query]) -> Facts:
        """From the rows of a file."""
        return cls(rows, [*map(Judged.of, rows)])

    @cached_property
    def posts(self) -> list[int | str]:
        """Every post once, numbers before texts: a draw is a place in this list."""
        return sorted({row.post for row in self.rows}, key=lambda post: (isinstance(post, str), post))

    @cached_property
    def post(self) -> NDArray[np.intp]:
        """The place of each query's post."""
        place = {post: number for number, post in enumerate(self.posts)}
        return np.array([place[row.post] for row in self.rows], np.intp)

    @cached_property
    def criteria(self) -> dict[str, Bools]:
        """Which queries ask for each criterion."""
        return self._split([one.criterion for one in self.judged])

    @cached_property
    def folds(self) -> dict[str, Bools]:
        """Which queries are in each fold; empty where the data have none."""
        return self._split([one.fold for one in self.judged if one.fold is not None])

    @staticmethod
    def _split(names: Sequence[str]) -> dict[str, Bools]:
        column = np.array(names, dtype=object)
        return {name: np.asarray(column == name, bool) for name in sorted(set(names))}

    @cached_property
    def has_gold(self) -> Bools:
        """Which queries have anything to find."""
        return np.array([one.gold > 0 for one in self.judged])

    @cached_property
    def populations(self) -> dict[str, Bools]:
        """The queries with gold, and all queries."""
        return {POSITIVES: self.has_gold, ALL: np.ones(len(self.rows), bool)}

    def having(self, column: str) -> bool:
        """Whether the data have an optional column; the reader sees to it that all rows have it, or none."""
        return getattr(self.rows[0], column) is not None

    def within(self, among: Bools) -> list[Judged]:
        """Some of the queries."""
        return [one for one, inside in zip(self.judged, among.tolist(), strict=True) if inside]
