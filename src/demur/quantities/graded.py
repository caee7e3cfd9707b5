"""Graded units: the only table a curve sees. Answers with a loss and a confidence; abstentions are counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.errors import UserError
from demur.facts.ids import sorted_ids
from demur.facts.items import Items
from demur.types import Flags, Floats, Indices, Integers

_SAFE_PRODUCT = 2.0**53


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """What was sampled: ids in sorted order, how many units each has, and whose each answered unit is.

    Of a part of the units, such as a group, a cluster may have none.
    """

    ids: Sequence[int | str]
    units: Integers
    of_answer: Indices

    def __post_init__(self) -> None:
        if not isinstance(self.ids, range) and tuple(self.ids) != sorted_ids(self.ids):
            raise UserError("cluster ids must be distinct and sorted: integers, then texts")
        if len(self.units) != len(self.ids) or (self.units < 0).any():
            raise UserError(
                f"{len(self.units)} cluster sizes for {len(self.ids)} clusters, expected one each, 0 or more"
            )
        if self.of_answer.size and not 0 <= self.of_answer.min() <= self.of_answer.max() < len(self.ids):
            raise UserError("an answer belongs to a cluster that does not exist")

    @classmethod
    def of(cls, owners: Sequence[int | str], answered: Flags) -> Clusters:
        """From the cluster of every unit, and which units are answered."""
        ids = sorted_ids(owners)
        position = {owner: index for index, owner in enumerate(ids)}
        place = np.array([position[owner] for owner in owners], dtype=np.intp)
        return cls(ids, np.bincount(place, minlength=len(ids)), place[answered])


@dataclass(frozen=True, slots=True, eq=False)
class Graded:
    """Losses and confidences of the answered units, and how many units there are in all.

    A loss is `loss / divisor`. Whole numbers are kept as integers, whatever type they came in: their sums are exact
    and do not depend on the order of the rows. Without `clusters` every unit was sampled by itself. `items` are the
    facts the units came from, where a reader made them, and `made_of` is the `Confidence` that `grade` gave them. With
    `count`, an entry stands for so many answered units that are alike.
    """

    units: int
    loss: NDArray[Any]
    confidence: Floats
    divisor: int = 1
    abstained_nan: int = 0
    loss_name: str = "as given"
    clusters: Clusters | None = None
    largest_loss: float | None = None
    items: Items | None = None
    made_of: Any = None
    count: Integers | None = None

    def __post_init__(self) -> None:
        if len(self.loss) != len(self.confidence) or self.answered > self.units:
            raise UserError(
                f"{len(self.loss)} losses, {len(self.confidence)} confidences and {self.units} units do not go together"
            )
        if self.clusters is not None:
            held = int(self.clusters.units.sum()), len(self.clusters.of_answer)
            if held != (self.units, len(self.loss)):
                raise UserError(
                    f"clusters of {held[0]} units and {held[1]} answers, expected {self.units} and {len(self.loss)}"
                )
        largest = float(np.abs(self.loss).max(initial=0))
        if not (np.isfinite(largest * max(self.units, 1) ** 2) and np.isfinite(self.confidence).all()):
            raise UserError("losses and confidences must be finite, and the losses small enough to be summed")
        # Integers, if the losses are whole and every product of a count and a loss sum fits a double.
        fits = largest * self.answered * self.units * 2 < _SAFE_PRODUCT
        whole = fits and (self.loss.dtype.kind in "iub" or bool((self.loss == np.rint(self.loss)).all()))
        object.__setattr__(self, "loss", self.loss.astype(np.int64 if whole else np.float64, copy=False))

    @property
    def scale(self) -> int:
        """What turns a confidence into the number that was given for it: −1 where lower is surer."""
        return -1 if self.made_of is not None and self.made_of.lower_is_surer else 1

    @property
    def answered(self) -> int:
        """How many units are answered."""
        return len(self.loss) if self.count is None else int(self.count.sum())

    def number_of(self, answers: Flags) -> int:
        """How many units are among these answers."""
        return int(answers.sum() if self.count is None else self.count[answers].sum())

    @property
    def each(self) -> Graded:
        """The same with an entry for every answered unit."""
        if self.count is None:
            return self
        loss, confidence, owner = (
            np.repeat(x, self.count) for x in (self.loss, self.confidence, self.grouped.of_answer)
        )
        clusters = replace(self.grouped, of_answer=owner)
        return replace(self, loss=loss, confidence=confidence, clusters=clusters, count=None)

    def only(self, units: Flags) -> Graded:
        """Some of the units of a run, drawn with the same clusters as all of them."""
        if self.items is None or self.clusters is None:
            raise UserError("units are told apart by the facts they came from: grade the items of a reader")
        items, taken = self.items, units[self.items.answered]
        return replace(
            self,
            units=items.number_of(units),
            loss=self.loss[taken],
            confidence=self.confidence[taken],
            clusters=replace(self.clusters, units=items.cluster_sizes(units), of_answer=self.clusters.of_answer[taken]),
            items=None,
            count=None if self.count is None else self.count[taken],
        )

    @property
    def grouped(self) -> Clusters:
        """Whom each unit was sampled with; by itself, where nobody says."""
        if self.clusters is not None:
            return self.clusters
        return Clusters(range(self.units), np.ones(self.units, np.int64), np.arange(self.answered))

    def of_clusters(self, kept: Flags) -> Graded:
        """The units of some of the clusters alone."""
        clusters = self.grouped
        ours = kept[clusters.of_answer]
        part = Clusters(
            tuple(name for name, flag in zip(clusters.ids, kept, strict=True) if flag),
            clusters.units[kept],
            (np.cumsum(kept) - 1)[clusters.of_answer[ours]],
        )
        return replace(
            self,
            units=int(part.units.sum()),
            loss=self.loss[ours],
            confidence=self.confidence[ours],
            clusters=part,
            items=None,
            count=None if self.count is None else self.count[ours],
        )
