"""Choice of the threshold that meets a target, and an estimate of how such a threshold does on new clusters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from demur.confidences.variants import VARIANTS
from demur.extensions.decide.accepted import Accepted
from demur.extensions.decide.rule import Chosen, Direction, Measured, Procedure, Rule, Wanted
from demur.extensions.decide.targets import DecisionTarget, Typed
from demur.extensions.decide.terms import most_units
from demur.files.strict_model import Tool, checked_time, now
from demur.inference.evidence import Evidence
from demur.inference.intervals import Interval, interval
from demur.inference.ratios import Ratio
from demur.quantities.curve import Curve
from demur.quantities.thresholds import typed_threshold
from demur.results.file_models import Input, Loss
from demur.results.study_of_answers import input_of, loss_record
from demur.sampling.draws import checked_seed
from demur.sampling.draws import folds as fold_of_clusters
from demur.sampling.graded import Graded

FOLDS = 10


def choose(  # noqa: PLR0913  (one of four targets, then what to record)
    graded: Graded,
    *,
    risk: Typed | None = None,
    coverage: Typed | None = None,
    errors_per_100: Typed | None = None,
    abstention_cost: Typed | None = None,
    max_units: int | None = None,
    seed: int = 0,
    created_at: str | None = None,
    command: str | None = None,
) -> Rule:
    """Choose the threshold that meets one target, and return it as a rule for `apply`.

    `risk`: the largest coverage with at most this risk. `coverage`: the first operating point that reaches it; a target
    that the largest coverage rounds to, at the digits given, means that one. Both are shares, or with % per cent; for
    `coverage`, and for losses declared 0 or 1, so is a number above 1: 10 is 10 %.
    `errors_per_100`: the largest coverage with at most so many errors (or so much loss) per 100 units, abstentions
    included among the units. `abstention_cost`: the lowest cost, if an abstention costs this share of the largest loss.
    If no threshold meets the target, the threshold is None, with the reason, and the rule declines everything.

    `max_units` is the largest number of units of a cluster, which watching the rule needs; by default, the number of
    items of the instrument. The interval is that of the procedure, by cross-fitting: 10 folds of clusters, drawn by
    `seed`, with the threshold for each fold chosen on the others.

    >>> from demur import grade_units
    >>> units = grade_units([9, 8, 7, 6, 5], loss=[0, 0, 1, 0, 1], clusters=[1, 2, 3, 4, 5])
    >>> choose(units, risk="0.25", seed=1).chosen.accepted
    4
    """
    given = {"risk": risk, "coverage": coverage, "errors_per_100": errors_per_100, "abstention_cost": abstention_cost}
    target = DecisionTarget.of(**given).of_loss(graded)
    checked_time(created_at)
    chosen = chosen_point(graded, target, checked_seed(seed))
    members = rule_members(graded, target, max_units, created_at, command)
    return Rule(**members, threshold=chosen.threshold, chosen=chosen, guarantee=None).of_library(graded.library)


def chosen_point(graded: Graded, target: DecisionTarget, seed: int) -> Chosen:
    """Find the operating point that meets the target on these data, and cross-fit the procedure."""
    curve = Curve.of(graded)
    point = target.point(curve)
    procedure = crossfit(graded, target, seed)
    if point is None:
        return Chosen(
            threshold=None,
            accepted=0,
            coverage=0.0,
            risk=None,
            generalized_risk=0.0,
            reason=target.unmet(curve),
            procedure=procedure,
        )
    confidence = curve.scale * curve.threshold
    lower = float(confidence[point + 1]) if point + 1 < len(curve) else -math.inf
    risk = Accepted.of(graded, float(confidence[point])).risk
    return Chosen(
        threshold=own_scale(graded, float(typed_threshold(float(confidence[point]), lower))),
        accepted=int(curve.points.count[point]),
        coverage=float(curve.coverage[point]),
        risk=float(curve.selective_risk[point]),
        generalized_risk=float(curve.generalized_risk[point]),
        reason="",
        procedure=procedure,
        risk_if_fixed=Measured.of(risk.point, *risk.interval()),
    )


def rule_members(
    graded: Graded, target: DecisionTarget, max_units: int | None, created_at: str | None, command: str | None
) -> dict[str, Any]:
    """The members of a rule that record when and how it was made, and the units it was chosen on."""
    items, largest = graded.items, graded.largest_loss
    maximum = None if largest is None else largest / graded.divisor
    counted = "errors" if np.isin(graded.loss, (0, graded.divisor)).all() else "loss"
    plain = Loss(name=graded.loss_name, definition=graded.loss_name, raw_multiplier=graded.divisor)
    return {
        "created_at": now() if created_at is None else created_at,
        "tool": Tool.installed(command),
        "signal": signal_of(graded),
        "direction": direction_of(graded),
        "noun": items.noun if items else "cluster",
        "loss": Loss.made(loss_record(items, graded.loss_name)) if items else plain,
        "largest_loss": maximum,
        "max_units": most_units(graded, max_units),
        "target": Wanted.made({"kind": target.kind, "value": target.text, "counts": counted}),
        "clusters": len(graded.grouped.ids),
        "units": graded.units,
        "answered": graded.answered,
        "inputs": inputs_of(graded),
    }


def inputs_of(graded: Graded) -> tuple[Input, ...]:
    """The input file that the units were read from, in a tuple; empty if they were not read from a file."""
    source = graded.items.source if graded.items else None
    return (input_of(graded.items),) if graded.items and source and source.path else ()


def signal_of(graded: Graded) -> str:
    """The name of the confidence; "confidence" if it has none."""
    return str(graded.made_of.name) if graded.made_of else "confidence"


def lower_is_surer(signal: str) -> bool:
    """Whether lower values of a variant's signal mean more confident, so that its confidence is negated."""
    return signal in VARIANTS and not VARIANTS[signal].higher_is_more_confident


def direction_of(graded: Graded) -> Direction:
    """Whether a rule accepts at or above its threshold, or at or below it, on the scale of the signal."""
    return "at_most" if graded.scale < 0 or lower_is_surer(signal_of(graded)) else "at_least"


def own_scale(graded: Graded, threshold: float) -> float:
    """Convert a threshold between the scales of the confidence and of its signal, in either direction."""
    return threshold if direction_of(graded) == "at_least" else 0.0 - threshold


def crossfit(graded: Graded, target: DecisionTarget, seed: int) -> Procedure | None:
    """For each fold of clusters, choose a threshold on the others and apply it; None if there is one cluster.

    A threshold is the confidence of the chosen operating point. There are at most as many folds as clusters. A coverage
    that all answers reach on all the data means all answers where the others fall short of it, and if nothing but all
    answers reaches it, it means them in every fold.
    """
    size = len(graded.grouped.ids)
    number = min(FOLDS, size)
    if number == 1:
        return None
    fold = fold_of_clusters(seed, size, number)
    whole = Curve.of(graded)
    reached = target.point(whole) if target.kind == "coverage" else None
    thresholds = np.full(number, np.inf if reached is None else -np.inf)
    for held_out in range(0 if reached == len(whole) - 1 else number):
        curve = Curve.of(graded.of_clusters(fold != held_out))
        if (point := target.point(curve)) is not None:
            thresholds[held_out] = curve.scale * curve.threshold[point]
    accepted = Accepted.of(graded, thresholds[fold])
    risk, per_unit, coverage = accepted.risk, accepted.generalized_risk, accepted.coverage
    return Procedure(
        folds=number,
        seed=seed,
        without_threshold=int(np.isposinf(thresholds).sum()),
        accepted=int(accepted.count.sum()),
        risk=Measured.of(risk.point, *_interval(risk, accepted.clusters)),
        generalized_risk=Measured.of(per_unit.point, *_interval(per_unit, accepted.clusters)),
        coverage=Measured.of(coverage.point, *coverage.interval()),
    )


def _interval(ratio: Ratio, clusters: int) -> tuple[Interval | None, str]:
    """The 95 % interval of a ratio over held-out clusters: the ratio ± t standard errors, over all clusters.

    If no accepted unit has a loss, the standard error would be 0, and the interval ends at the bound for clusters.
    """
    if math.isnan(ratio.point):
        return None, "nothing is accepted on held-out clusters"
    if ratio.clusters == 1 or not ratio.numerator.any():  # ± 0 would claim certainty
        return ratio.interval()
    influence = np.zeros(clusters)
    influence[ratio.held] = ratio.influence
    analytic = interval("analytic", Evidence(ratio.point, np.array([ratio.point]), clusters, influence))
    return (analytic.within(ratio.counted.low, ratio.counted.high) if analytic else None), ""
