"""Estimation: from rows and contrasts to estimates with intervals, in one pass over one set of draws."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from demur.errors import UserError, literal
from demur.inference.estimates import Estimate
from demur.inference.evidence import Evidence
from demur.inference.intervals import METHODS, MOST_DROPPED, Interval, interval, rare
from demur.inference.key import Key
from demur.inference.ratios import Ratio
from demur.inference.rows import Contrast, Row, difference
from demur.inference.rules import ONE_HOLDS_ALL, Counted, recommended
from demur.inference.simultaneous import at_once
from demur.inference.student import t_tails
from demur.inference.views import CurveView, SharedView, drawn_from
from demur.sampling.resample import Ask, Columns, Joint, Plan, left_out, resampled

ROUNDING = 1e-12  # a smaller difference in a replicate is a tie
POINT_ONLY = "reported without an interval"
SIDE_ONLY = "drawn for a difference alone"
SAME = "it is the same in every draw, or given by convention"


@dataclass(frozen=True, slots=True)
class Request:
    """One more interval of every number, beside the recommended one: by a method, at a level.

    What the `further` methods need is computed as well, for `Estimate.interval`.
    """

    method: str = "recommended"
    level: float = 0.95
    further: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for method in (self.method, *self.further):
            if method not in (*METHODS, "recommended"):
                raise UserError(f"interval {literal(method)}, expected recommended or one of {', '.join(METHODS)}")
        if not (isinstance(self.level, float) and 0 < self.level < 1):
            raise UserError(f"level {literal(self.level)}, expected a number between 0 and 1, such as 0.95")

    @classmethod
    def of(cls, methods: str | Sequence[str] | None, level: float | None) -> Request | None:
        """The request for these methods, of which the first is `requested`; None without a method and a level."""
        if methods is None and level is None:
            return None
        names = tuple(methods) if isinstance(methods, (tuple, list)) else (methods,)
        first, *further = names or (None,)
        return cls("recommended" if first is None else first, 0.95 if level is None else level, tuple(further))

    @property
    def needs(self) -> frozenset[str]:
        """What the methods need besides bootstrap values."""
        named = (METHODS[name] for name in (self.method, *self.further) if name in METHODS)
        return frozenset(need for method in named for need in method.needs)


@dataclass(frozen=True, slots=True, eq=False)
class Headline:
    """The number that systems are compared by (a key without a system), and the pairs of systems it ranks."""

    number: Key
    pairs: Sequence[Contrast] = ()


def estimated(
    rows: Sequence[Row],
    contrasts: Sequence[Contrast] = (),
    *,
    plan: Plan,
    request: Request | None = None,
    asks: Sequence[Ask] = (),
    headline: Headline | None = None,
) -> tuple[list[Estimate], list[Columns]]:
    """Estimate every row and contrast, and answer the further `asks` from the same draws.

    With a `headline`, all differences that can favour a system get simultaneous intervals. There are two exceptions: a
    single difference of the headline number needs none, and ranked pairs have intervals that hold for all those pairs.
    """
    pairs_ranked = headline.pairs if headline else ()
    listed = set(map(id, contrasts))
    compared = [*contrasts, *(pair for pair in pairs_ranked if id(pair) not in listed)]
    drawn_rows = [row for row in rows if row.resampled]
    needs: frozenset[str] = request.needs if request else frozenset()
    family = [pair for pair in contrasts if headline is not None and pair.of_systems and pair.comparable]
    judged = set(map(id, [*family, *pairs_ranked]))
    pairs = [pair for pair in compared if ("errors" in needs or id(pair) in judged) and pair.has_errors]
    requests = [Ask(drawn_from(row.view), row.columns(needs)) for row in drawn_rows]
    sides = [Joint((drawn_from(pair.row.view), drawn_from(pair.subtracted.view))) for pair in pairs]
    requests += [Ask(joint, pair.columns) for joint, pair in zip(sides, pairs, strict=True)]
    answers = resampled([*requests, *asks], plan)
    jackknifed = left_out(requests[: len(drawn_rows)], plan) if "left_out" in needs else [{} for _ in drawn_rows]
    by_row = {id(row): (columns, left) for row, columns, left in zip(drawn_rows, answers, jackknifed, strict=False)}
    by_pair = dict(zip(map(id, pairs), answers[len(drawn_rows) : len(requests)], strict=True))
    singles = [_single(row, *by_row.get(id(row), ({}, {})), request) for row in rows]
    differences = [_contrast(pair, by_row, by_pair.get(id(pair), {}), request) for pair in compared]
    if headline is not None:
        joint = _judged(differences, family, headline)
        differences = [_with_simultaneous(row, joint.get(row.key)) for row in differences]
    return singles + differences, answers[len(requests) :]


def _judged(differences: Sequence[Estimate], family: Sequence[Contrast], headline: Headline) -> dict[Key, Interval]:
    """The simultaneous intervals by key; a single difference of the headline number needs none."""
    joint = _joint(differences, family)
    named = [contrast.key for contrast in family if replace(contrast.key, system="", minus=None) == headline.number]
    if len(named) == 1:
        joint.pop(named[0], None)
    number = len(headline.pairs)
    return joint | _joint(differences, headline.pairs, number=number) if number > 1 else joint


def _joint(differences: Sequence[Estimate], family: Sequence[Contrast], *, number: int = 0) -> dict[Key, Interval]:
    """Simultaneous intervals of a family of differences, for those that have an interval."""
    evidence = {row.key: row.evidence for row in differences if row.recommended and row.evidence}
    judged = {pair.key: (evidence[pair.key], pair.counted) for pair in family if pair.key in evidence}
    return at_once(judged, number=number)


def _with_simultaneous(row: Estimate, at_once: Interval | None) -> Estimate:
    """Add a simultaneous interval, widened where needed to contain the recommended one."""
    single = row.recommended
    if at_once is None or single is None:
        return row
    low, high = min(at_once.low, single.low), max(at_once.high, single.high)
    return replace(row, simultaneous=replace(at_once, low=low, high=high))


def judged_together(rows: Sequence[Estimate], family: Mapping[Key, Counted]) -> list[Estimate]:
    """The rows, those of a family of differences with an interval that holds for all of the family at once."""
    known = {row.key: row.evidence for row in rows if row.key in family and row.recommended and row.evidence}
    joint = at_once({key: (evidence, family[key]) for key, evidence in known.items()})
    return [_with_simultaneous(row, joint.get(row.key)) for row in rows]


def _single(row: Row, columns: Columns, left: Columns, request: Request | None) -> Estimate:
    values = columns.get("value", np.zeros(0))
    if row.side:
        dropped = Evidence(row.point, values, row.holding).drop_rate
        return Estimate(row.key, row.point, drop_rate=dropped, no_interval=SIDE_ONLY, **_operating_point(row, columns))
    influence = row.influence_in_data if row.resampled else None
    evidence = Evidence(
        point=row.point,
        values=values,
        clusters=row.holding,
        influence=influence if influence is None or row.held is None else influence[row.held],
        replicate_std_error=columns.get("error"),
        left_out=left.get("value"),
        two_sided=row.counted.varies and row.rule != "biased" and not row.by_convention and not row.rests_on_one,
        largest=row.view.largest if isinstance(row.view, CurveView) else math.nan,
    )
    if row.must_vary == "always":
        evidence = _varying(evidence)
    if row.ratio is not None and row.ratio.clusters:
        evidence = _of_ratio(row, row.ratio, evidence)
    uncertainty = _uncertainty(evidence, row.rule, row.counted, request if row.resampled else None)
    if row.ratio is not None and row.measure.value is None and not row.counted.number:
        uncertainty["percentile"] = None  # it would be 0 to 0, as no answer has a loss
    if row.rests_on_one:
        uncertainty["no_interval"] = _why_no_interval(evidence) or ONE_HOLDS_ALL
    if not row.resampled:
        uncertainty["no_interval"] = POINT_ONLY
    return Estimate(
        key=row.key,
        **uncertainty,
        undefined=row.measure.quantity.undefined if math.isnan(row.point) else "",
        upper_bound=_upper_bound(row),
        by_convention=row.by_convention,
        **_operating_point(row, columns),
    )


def _of_ratio(row: Row, ratio: Ratio, evidence: Evidence) -> Evidence:
    """The evidence about a ratio of sums; only clusters with a denominator above 0 count.

    At a threshold the influences are those of the accepted sums, of all answers those of the row.
    """
    if row.measure.value is not None:
        return replace(ratio.evidence(evidence.values), point=row.point)
    collapses = row.clusters == 1 and row.counted.number > 0
    maximum, two_sided = ratio.maximum or 1.0, ratio.clusters > 1 or collapses
    return replace(evidence, clusters=ratio.clusters, largest=ratio.largest, maximum=maximum, two_sided=two_sided)


def _varying(evidence: Evidence) -> Evidence:
    """The evidence, without a two-sided interval where all draws are the same."""
    reached = evidence.reached
    if evidence.clusters == 1 or (len(reached) and reached.max() - reached.min() > ROUNDING):
        return evidence
    return replace(evidence, two_sided=False)


def _uncertainty(evidence: Evidence, rule: str, counted: Counted, request: Request | None) -> dict[str, Any]:
    """The fields of an estimate that follow from the evidence."""
    best, reason = recommended(rule, evidence, counted)
    requested, problem = None, ""
    if request is not None:
        try:
            if request.method == "recommended":
                requested = recommended(rule, evidence, counted, request.level)[0]
            else:
                requested = interval(request.method, evidence, request.level)
        except UserError as error:
            problem = str(error)
    return {
        "value": evidence.point,
        "std_error": evidence.bootstrap_std_error,
        "percentile": interval("percentile", evidence),
        "recommended": best,
        "requested": requested,
        "not_requested": problem,
        "drop_rate": evidence.drop_rate,
        "no_interval": "" if best else _why_no_interval(evidence) or reason or SAME,
        "evidence": evidence,
    }


def _why_no_interval(evidence: Evidence) -> str:
    if not len(evidence.values):
        return "no resamples"
    if math.isnan(evidence.point):
        return "there is no number"
    return "" if evidence.drop_rate <= MOST_DROPPED else "too many draws have no such number"


def _operating_point(row: Row, drawn: Columns) -> dict[str, Any]:
    """The coverage and threshold of a number, and how often a replicate has another threshold or ends before."""
    parts: dict[str, Any] = {}
    if "ends_before" in drawn:
        parts["short_domain_rate"] = _share(drawn["ends_before"])
    if isinstance(row.view, SharedView):
        return parts | {"at": float(row.view.reached.value) if row.view.reached else 0.0}
    if row.curve_view is None or row.measure.coverage is None:
        return parts
    curve, coverage = row.curve_view.curve, row.measure.coverage
    if "operating_point" not in row.measure.quantity.watched:
        return parts | {"at": float(min(coverage.value, curve.coverage_reached))}
    if "operating_point" in drawn:
        reached = drawn["operating_point"][drawn["operating_point"] < len(curve)]
        index = curve.points.count.searchsorted(coverage.units_needed(curve.units))
        parts["other_threshold_rate"] = _share(reached != index) if len(reached) else 0.0
    point = curve.at(coverage)
    return parts if math.isnan(point.value) else parts | {"at": point.achieved, "threshold": point.threshold}


def _share(flags: Any) -> float:
    """The share of the replicates that are flagged."""
    return float(np.count_nonzero(flags) / len(flags))


def _upper_bound(row: Row) -> float | None:
    """The one-sided 95 % bound of a number without any observed error, by the cluster bound."""
    view, bound = row.curve_view, row.measure.quantity.bound
    if view is None or bound is None or view.varies or not row.resampled:
        return None
    largest = view.table.largest_loss
    if largest is None or not view.curve.defined:
        return None
    return float(bound(largest / view.table.divisor, rare(row.holding, view.largest), view.curve.cmax))


def _contrast(
    contrast: Contrast, drawn: Mapping[int, tuple[Columns, Columns]], errors: Columns, request: Request | None
) -> Estimate:
    (values, left), (other_values, other_left) = (drawn[id(row)] for row in (contrast.row, contrast.subtracted))
    row = contrast.row
    left_out_of_both = difference(left, other_left) if left else None
    replicates = difference(values, other_values)
    evidence = contrast.evidence(replicates, replicate_std_error=errors.get("error"), left_out=left_out_of_both)
    if row.must_vary != "never":
        evidence = _varying(evidence)
    parts = _uncertainty(evidence, row.contrast_rule, contrast.counted, request)
    if contrast.rests_on_one:
        parts["no_interval"] = _why_no_interval(evidence) or ONE_HOLDS_ALL
    undefined = row.measure.quantity.undefined if math.isnan(contrast.point) else ""
    reached = evidence.reached
    above, below = (_share(side) if len(reached) else math.nan for side in (reached > ROUNDING, reached < -ROUNDING))
    p_value = _p_value(evidence, parts["recommended"])
    return Estimate(key=contrast.key, **parts, undefined=undefined, p_value=p_value, above=above, below=below)


def _p_value(evidence: Evidence, interval: Interval | None) -> float:
    """The two-sided p-value that corresponds to the recommended interval; nan where there is none."""
    if interval is None or evidence.clusters == 1:
        return math.nan
    by_influence = interval.method == "analytic" and evidence.std_error is not None
    error = evidence.std_error if by_influence else evidence.bootstrap_std_error
    degrees = evidence.degrees if by_influence else evidence.clusters - 1
    return t_tails(evidence.point / error, degrees) if error else float(evidence.point == 0)
