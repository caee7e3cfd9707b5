"""No-evidence detection of one system: by loops as the data are, and in every draw of posts."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from demur.audit import detection_loops as detection
from demur.audit.own_means import mean_of_those_there
from demur.audit.ranked_loops import mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from demur.audit.own_queries import Facts, Path
    from demur.audit.ranked_loops import Judged, Loop

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

RATES = ("0.03", "0.05", "0.10")
LOOPS: dict[str, Loop] = {
    "auroc": detection.auroc,
    "auprc": detection.auprc,
    **{f"tpr@fpr={rate}": partial(detection.tpr_at_fpr, target=Fraction(rate)) for rate in RATES},
}


class Detection:
    """The detection metrics of all queries together, of each criterion, and averaged over the criteria."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._groups: dict[Path, Bools] = {("micro",): np.ones(len(facts.rows), bool)}
        self._groups |= {("per_criterion", name): here for name, here in facts.criteria.items()}
        self._forecasts = {group: _Forecasts(facts, among) for group, among in self._groups.items()}

    @property
    def one_class(self) -> set[Path]:
        """The groups whose numbers are given by convention."""
        return {group for group, among in self._groups.items() if len({*self._facts.has_gold[among].tolist()}) == 1}

    @property
    def points(self) -> dict[Path, float]:
        """By the data as they are, conventions included, also in the mean over criteria."""
        found: dict[Path, float] = {}
        for name, loop in LOOPS.items():
            each = {group: _number(loop(self._facts.within(among))) for group, among in self._groups.items()}
            found |= {(*group, name): value for group, value in each.items()}
            found["macro", name] = _number(mean(value for group, value in each.items() if group != ("micro",)))
        return found

    def drawn(self, weights: Floats) -> dict[Path, Floats]:
        """In every draw, by convention where it holds one class; the mean is over the criteria it holds a query of."""
        each = {group: forecasts.drawn(weights) for group, forecasts in self._forecasts.items()}
        found = {(*group, name): values for group, columns in each.items() for name, values in columns.items()}
        for name in LOOPS:
            criteria = [columns[name] for group, columns in each.items() if group != ("micro",)]
            found["macro", name] = mean_of_those_there(criteria)
        return found


def _number(value: float | None) -> float:
    return math.nan if value is None else value


class _Forecasts:
    """Some queries from the largest probability down; `ends` are the last places of equal ones."""

    def __init__(self, facts: Facts, among: Bools) -> None:
        judged = facts.within(among)
        order = sorted(range(len(judged)), key=lambda place: -_probability(judged[place]))
        said = np.array([_probability(judged[place]) for place in order])
        self._post = facts.post[among][order]
        self._with_evidence = np.array([float(judged[place].gold > 0) for place in order])
        self._ends = np.flatnonzero(np.append(said[1:] != said[:-1], True))

    def drawn(self, weights: Floats) -> dict[str, Floats]:
        """Every metric in every draw."""
        times = weights[:, self._post]
        accepted = np.cumsum(times, axis=1)[:, self._ends]
        found = np.cumsum(times * self._with_evidence, axis=1)[:, self._ends]
        alarms = accepted - found
        positives, negatives = found[:, -1], alarms[:, -1]
        steps = np.diff(found, axis=1, prepend=0.0)
        area = (np.diff(alarms, axis=1, prepend=0.0) * (found - steps / 2)).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = positives / accepted[:, -1]
            pure = np.where(accepted > 0, found / accepted, 0.0)
            values = {"auroc": area / (positives * negatives), "auprc": (steps * pure).sum(axis=1) / positives}
            for rate in RATES:
                target = Fraction(rate)
                within = alarms * target.denominator <= target.numerator * negatives[:, None]
                values[f"tpr@fpr={rate}"] = np.where(within, found, 0.0).max(axis=1) / positives
        return {name: _or_convention(name, column, share) for name, column in values.items()}


def _or_convention(name: str, values: Floats, share: Floats) -> Floats:
    """A metric in every draw, by the share of queries with evidence: 0 and 1 are one class, nan is no query at all."""
    usual = {"auroc": 0.5 + 0 * share, "auprc": share}.get(name, 0 * share)
    return np.where((share > 0) & (share < 1), values, usual)


def _probability(query: Judged) -> float:
    return 0.0 if query.prob is None else query.prob


def thresholds(queries: Sequence[Judged], rates: Sequence[str]) -> dict[Path, float | None]:
    """Where to draw the line for false positive rates, and both rates there."""
    found: dict[Path, float | None] = {}
    for rate in rates:
        target = Fraction(rate)
        found[rate, "threshold"] = detection.threshold_at_fpr(queries, target)
        found[rate, "tpr"] = detection.tpr_at_fpr(queries, target)
        found[rate, "fpr"] = detection.fpr_within(queries, target)
    return found
