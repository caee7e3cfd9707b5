"""Graded units, the input of risk–coverage curves: answers with a loss and a confidence, and a count of abstentions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.errors import UserError
from demur.facts.compact_array import distinct
from demur.facts.ids import are_sorted, sorted_ids
from demur.facts.items import Items
from demur.types import Flags, Floats, Indices, Integers

_SAFE_PRODUCT = 2.0**53


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """The sampled clusters: ids in sorted order, the number of units of each, and the cluster of each answered unit.

    In a part of the units, such as a group, a cluster may have none.
    """

    ids: Sequence[int | str]
    units: Integers
    of_answer: Indices

    def __post_init__(self) -> None:
        if not isinstance(self.ids, range) and not are_sorted(self.ids):
            raise UserError("cluster ids must be distinct and sorted: integers, then texts")
        if len(self.units) != len(self.ids) or (self.units < 0).any():
            raise UserError(
                f"{len(self.units)} cluster sizes for {len(self.ids)} clusters, expected one each, 0 or more"
            )
        if self.of_answer.size and not 0 <= self.of_answer.min() <= self.of_answer.max() < len(self.ids):
            raise UserError("an answer belongs to a cluster that does not exist")

    @classmethod
    def of(cls, owners: Sequence[int | str], answered: Flags) -> Clusters:
        """Build the clusters from the cluster id of every unit and flags of which units are answered."""
        ids = sorted_ids(owners)
        position = {owner: index for index, owner in enumerate(ids)}
        cluster = np.array([position[owner] for owner in owners], dtype=np.intp)
        return cls(ids, np.bincount(cluster, minlength=len(ids)), cluster[answered])


@dataclass(frozen=True, slots=True, eq=False)
class Graded:
    """Losses and confidences of the answered units, and the number of units including abstentions.

    A loss is `loss / divisor`. Integral losses are stored as integers, whatever their type: their sums are exact and do
    not depend on the order of the rows. Without `clusters` every unit was sampled by itself. `items` are the facts of a
    reader that the units came from, if any, `made_of` is the `Confidence` that `grade` used, and `library` that of a
    frame they came in. With `count`, an entry stands for several answered units that are alike; its arrays may then be
    `CompactArray`.
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
    library: str = ""

    def __post_init__(self) -> None:
        if len(self.loss) != len(self.confidence) or self.answered > self.units:
            raise UserError(
                f"{len(self.loss)} losses, {len(self.confidence)} confidences and {self.units} units do not go together"
            )
        if self.clusters is not None:
            sizes = int(self.clusters.units.sum()), len(self.clusters.of_answer)
            if sizes != (self.units, len(self.loss)):
                raise UserError(
                    f"clusters of {sizes[0]} units and {sizes[1]} answers, expected {self.units} and {len(self.loss)}"
                )
        losses = distinct(self.loss)
        largest = float(np.abs(losses).max(initial=0))
        if not (np.isfinite(largest * max(self.units, 1) ** 2) and np.isfinite(distinct(self.confidence)).all()):
            raise UserError("losses and confidences must be finite, and the losses small enough to be summed")
        # Integers, if the losses are whole and every product of a count and a loss sum fits a double.
        fits = largest * self.answered * self.units * 2 < _SAFE_PRODUCT
        whole = fits and (losses.dtype.kind in "iub" or bool((losses == np.rint(losses)).all()))
        object.__setattr__(self, "loss", self.loss.astype(np.int64 if whole else np.float64, copy=False))

    @property
    def scale(self) -> int:
        """The factor from a confidence to the original signal: −1 where lower values mean more confident."""
        return -1 if self.made_of is not None and self.made_of.lower_is_surer else 1

    @property
    def answered(self) -> int:
        """How many units are answered."""
        return len(self.loss) if self.count is None else int(self.count.sum())

    def number_of(self, answers: Flags) -> int:
        """The number of units that the flagged entries stand for."""
        return int(answers.sum() if self.count is None else self.count[answers].sum())

    @property
    def each(self) -> Graded:
        """The same units with one entry per answered unit, where entries stood for several."""
        if self.count is None:
            return self
        loss, confidence, owner = (
            np.repeat(x, self.count) for x in (self.loss, self.confidence, self.grouped.of_answer)
        )
        clusters = replace(self.grouped, of_answer=owner)
        return replace(self, loss=loss, confidence=confidence, clusters=clusters, count=None)

    def only(self, units: Flags) -> Graded:
        """The flagged units only; all clusters stay, some perhaps empty."""
        items, clusters = self.items, self.clusters
        if items is None or clusters is None:
            raise UserError("units are told apart by the facts they came from: grade the items of a reader")
        chosen = units[items.answered]
        return replace(
            self,
            units=items.number_of(units),
            loss=self.loss[chosen],
            confidence=self.confidence[chosen],
            clusters=replace(clusters, units=items.cluster_sizes(units), of_answer=clusters.of_answer[chosen]),
            items=None,
            count=None if self.count is None else self.count[chosen],
        )

    @property
    def grouped(self) -> Clusters:
        """The clusters; every unit is a cluster of its own where none were given."""
        if self.clusters is not None:
            return self.clusters
        return Clusters(range(self.units), np.ones(self.units, np.int64), np.arange(self.answered))

    def of_clusters(self, chosen: Flags) -> Graded:
        """The units of the flagged clusters only."""
        clusters = self.grouped
        answers = chosen[clusters.of_answer]
        part = Clusters(
            tuple(name for name, flag in zip(clusters.ids, chosen, strict=True) if flag),
            clusters.units[chosen],
            (np.cumsum(chosen) - 1)[clusters.of_answer[answers]],
        )
        return replace(
            self,
            units=int(part.units.sum()),
            loss=self.loss[answers],
            confidence=self.confidence[answers],
            clusters=part,
            items=None,
            count=None if self.count is None else self.count[answers],
        )
