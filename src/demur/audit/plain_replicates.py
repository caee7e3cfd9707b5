"""Bootstrap replicates one after the other: the drawn clusters are pooled, and every number is taken anew."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from demur.audit.plain_units import Side

    Floats = NDArray[np.float64]

NUMBERS = ("cmax", "aurc_full", "augrc_full", "naurc", "naugrc", "eaurc", "eaugrc", "aurc_at_c", "augrc_at_c")
WITH_ERRORS = ("cmax", "aurc_full", "augrc_full")


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """What each cluster (a row) holds: units, and at or above each threshold (a column) answers and losses."""

    units: Floats
    count: Floats
    loss: Floats
    levels: Floats
    level_count: Floats
    divisor: int

    @classmethod
    def of(cls, side: Side, confidence: Sequence[float]) -> Pool:
        """From the answers of one side."""
        numerators, clusters = side.numerators, len(side.items.cluster_ids)
        threshold_of = {value: place for place, value in enumerate(sorted(set(confidence), reverse=True))}
        level_of = {value: place for place, value in enumerate(sorted(set(numerators)))}
        units = np.zeros(clusters)
        for cluster in side.items.cluster:
            units[cluster] += 1
        count, loss = np.zeros((clusters, len(threshold_of))), np.zeros((clusters, len(threshold_of)))
        level_count = np.zeros((clusters, len(level_of)))
        for unit, said, wrong in zip(side.answered, confidence, numerators, strict=True):
            cluster = side.items.cluster[unit]
            count[cluster, threshold_of[said]] += 1
            loss[cluster, threshold_of[said]] += wrong
            level_count[cluster, level_of[wrong]] += 1
        return cls(
            units=units,
            count=np.cumsum(count, axis=1),
            loss=np.cumsum(loss, axis=1),
            levels=np.array(list(level_of), dtype=np.float64),
            level_count=level_count,
            divisor=side.divisor,
        )

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return len(self.units)

    def answered(self, weights: Floats) -> Floats:
        """How many units are answered in each replicate."""
        return weights @ self.count[:, -1] if self.count.shape[1] else np.zeros(len(weights))

    def drawn(self, weights: Floats) -> Sample:
        """One replicate: how often each cluster was drawn; thresholds nobody drawn has an answer at are left out."""
        count, loss = weights @ self.count, weights @ self.loss
        held = np.diff(count, prepend=0.0) > 0
        losses = np.repeat(self.levels, (weights @ self.level_count).astype(np.intp))
        return Sample(self, weights, float(weights @ self.units), held, count[held], loss[held], losses)


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The pooled units of one replicate: N, and accepted answers and losses at each threshold that is held."""

    pool: Pool
    weights: Floats
    units: float
    held: NDArray[np.bool_]
    count: Floats
    loss: Floats
    losses: Floats

    def numbers(self, cut: float) -> dict[str, float]:
        """Every number that gets an interval; areas are cut after so many units."""
        total, scale = self.units, self.units * self.pool.divisor
        if not len(self.count):
            return dict.fromkeys(NUMBERS, 0.0) | {"naurc": math.nan, "naugrc": math.nan}
        places, risk, joint = np.append(0.0, self.count), self.loss / self.count, np.append(0.0, self.loss)
        flat = np.append(risk[:1], risk)
        aurc, augrc = _area(places, flat) / scale, _area(places, joint) / (scale * total)
        best = np.cumsum(self.losses)
        means = best / np.arange(1, len(best) + 1)
        best_aurc = (float(means.sum()) + (means[0] - means[-1]) / 2) / scale
        best_augrc = (float(best.sum()) - best[-1] / 2) / (scale * total)
        upto = np.append(places[places < cut], min(cut, places[-1]))
        cmax = self.count[-1] / total
        return {
            "cmax": cmax,
            "aurc_full": aurc,
            "augrc_full": augrc,
            "naurc": aurc / cmax,
            "naugrc": augrc / cmax,
            "eaurc": aurc - best_aurc,
            "eaugrc": augrc - best_augrc,
            "aurc_at_c": _area(upto, np.interp(upto, places, flat)) / scale,
            "augrc_at_c": _area(upto, np.interp(upto, places, joint)) / (scale * total),
        }

    def risks_at(self, needed: Sequence[int]) -> list[float]:
        """The mean loss at the first threshold that accepts so many units; nan where none does."""
        places = np.searchsorted(self.count, needed).tolist()
        found = zip(self.loss.tolist(), self.count.tolist(), strict=True)
        risks = [loss / (count * self.pool.divisor) for loss, count in found]
        return [risks[place] if place < len(risks) else math.nan for place in places]

    def influences(self) -> dict[str, Floats]:
        """How much one copy of each cluster moves the areas and Cmax."""
        pool, total = self.pool, self.units
        if not len(self.count):
            return dict.fromkeys(WITH_ERRORS, np.zeros(pool.clusters))
        own_units, own_count, own_loss = pool.units[:, None], pool.count[:, self.held], pool.loss[:, self.held]
        coverage, risk, joint = self.count / total, self.loss / self.count, self.loss / total
        moves = _with_start(0.0, (own_count - coverage * own_units) / total)
        tilts = (own_loss - risk * own_count) / self.count
        lifts = (own_loss - joint * own_units) / total
        at = np.append(0.0, coverage)
        aurc = _moved(at, np.append(risk[:1], risk), moves, _with_start(tilts[:, :1], tilts))
        augrc = _moved(at, np.append(0.0, joint), moves, _with_start(0.0, lifts))
        return {"cmax": moves[:, -1], "aurc_full": aurc / pool.divisor, "augrc_full": augrc / pool.divisor}

    def errors(self) -> dict[str, float]:
        """Standard errors from the influences: √(P/(P−1) · Σ u²), a cluster drawn twice counted twice."""
        return {name: _error(moved, self.weights) for name, moved in self.influences().items()}

    def errors_apart(self, other: Sample) -> dict[str, float]:
        """Standard errors of the differences from another side: a cluster moves them as far as the sides apart."""
        own = self.influences()
        return {name: _error(moved - own[name], self.weights) for name, moved in other.influences().items()}


def replicated(
    pool: Pool, weights: Floats, cuts: Floats, targets: Mapping[str, Fraction], *, errors: bool
) -> dict[str, Floats]:
    """Every number in every replicate, by its key; risks by `mae <coverage>` and standard errors by `error <key>`."""
    rows = []
    names = [f"mae {key}" for key in targets]
    needed = {
        total: [math.ceil(coverage * int(total)) for coverage in targets.values()]
        for total in np.unique(weights @ pool.units).tolist()
    }
    for drawn, cut in zip(weights, cuts, strict=True):
        sample = pool.drawn(drawn)
        row = sample.numbers(float(cut))
        row |= zip(names, sample.risks_at(needed[sample.units]), strict=True)
        if errors:
            row |= {f"error {name}": error for name, error in sample.errors().items()}
        rows.append(row)
    return {name: np.array([row[name] for row in rows]) for name in rows[0]} if rows else {}


def left_out(clusters: int) -> Floats:
    """The weights that leave out each cluster in turn."""
    return np.ones((clusters, clusters)) - np.eye(clusters)


def _error(moved: Floats, weights: Floats) -> float:
    clusters = len(weights)
    return math.sqrt(clusters / (clusters - 1) * float(weights @ moved**2)) if clusters > 1 else 0.0


def _area(places: Floats, heights: Floats) -> float:
    """Trapezoids; of whole numbers the sum is exact."""
    return float((places[1:] - places[:-1]) @ (heights[1:] + heights[:-1])) / 2


def _with_start(start: Floats | float, columns: Floats) -> Floats:
    return np.concatenate([np.broadcast_to(start, (len(columns), 1)), columns], axis=1)


def _moved(places: Floats, heights: Floats, moves: Floats, lifts: Floats) -> Floats:
    """How much an area moves: trapezoids differentiated by their places and by their heights."""
    widths, means = np.diff(places), (heights[1:] + heights[:-1]) / 2
    by_height = (lifts[:, 1:] + lifts[:, :-1]) / 2 @ widths
    return np.asarray(by_height + np.diff(moves, axis=1) @ means)
