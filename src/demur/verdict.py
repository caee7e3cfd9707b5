"""Verdict: what the numbers of an artifact say, in words. Nothing is called better that was not compared fairly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demur.artifact_numbers import DeltaNumbers, PairedNumbers

if TYPE_CHECKING:
    from demur.artifact import Metrics
    from demur.artifact_numbers import Ends, VariantNumbers

LOWER_IS_BETTER = ("aurc_at_c", "augrc_at_c", "mae_at_coverage", "aurc_full", "augrc_full")
LEFT, RIGHT, UNDECIDED = "left is better", "right is better", "undecided: the interval holds 0"
_ONLY_IF_CMAX_IS_EQUAL = ("aurc_full", "augrc_full")
_CUT = ("aurc_at_c", "augrc_at_c")
ENOUGH_RESAMPLES = 100


def three(value: float) -> str:
    """Three significant digits: what ten thousand resamples can promise of an interval.

    >>> three(0.123456), three(1234.5), three(0.0)
    ('0.123', '1.23e+03', '0')
    """
    return f"{value:.3g}"


def with_interval(value: float | None, ends: Ends | None, bound: float | None = None) -> str:
    """A number and its interval, or what it is at most where nothing went wrong."""
    if value is None:
        return "undefined"
    if ends is None:
        return f"{value:.4g}" if bound is None else f"{value:.4g} (at most {three(bound)})"
    return f"{value:.4g} [{three(ends.low)}, {three(ends.high)}]"


def ends_of(delta: DeltaNumbers) -> Ends | None:
    """The interval that was asked for, or the recommended one."""
    return delta.ci95_recommended if delta.ci is None else delta.ci


def which_is_better(key: str, delta: DeltaNumbers, pair: PairedNumbers, coverage: str | None = None) -> str:
    """Which side a difference speaks for: left, right, neither is shown, or why it says nothing."""
    ends = ends_of(delta)
    if key not in LOWER_IS_BETTER or ends is None:
        return ""
    unfair = _why_not_comparable(key, pair, coverage) or _why_not_decided(delta, pair)
    if unfair or ends.low <= 0 <= ends.high:
        return unfair or UNDECIDED
    return LEFT if ends.low > 0 else RIGHT


def _why_not_comparable(key: str, pair: PairedNumbers, coverage: str | None) -> str:
    left, right = pair.left, pair.right
    if not (left.defined and right.defined):
        return "nothing is answered" if left.defined == right.defined else "one side answers nothing"
    if key in _ONLY_IF_CMAX_IS_EQUAL and left.cmax != right.cmax:
        return "not comparable: Cmax differs"
    if key in _CUT and getattr(left, key).used != getattr(right, key).used:
        return "not comparable: one side ends before"
    one, other = (side.mae_at_coverage.get(coverage or "") for side in (left, right))
    if one and other and one.achieved != other.achieved:
        return f"reached at {one.achieved:.3g} and {other.achieved:.3g}"
    return ""


def _why_not_decided(delta: DeltaNumbers, pair: PairedNumbers) -> str:
    """One participant leaves nothing to resample, and a handful of resamples has no tails."""
    drawn = pair.left.bootstrap.n_resamples if pair.left.bootstrap else 0
    if delta.p_value is None:
        return "one participant decides nothing"
    return "" if drawn >= ENOUGH_RESAMPLES else "too few resamples to decide"


def comparison_sentences(metrics: Metrics, variant: str, names: tuple[str, str] = ("left", "right")) -> list[str]:
    """Why the raw errors say little, and what the fair comparison of two runs says."""
    pair = metrics.confidence_variants[variant]
    assert isinstance(pair, PairedNumbers)  # noqa: S101  (only comparisons are asked)
    deltas = (metrics.comparison.deltas or {})[variant]
    if not (pair.left.defined and pair.right.defined):
        silent = " and ".join(name for name, one in zip(names, (pair.left, pair.right), strict=True) if not one.defined)
        return [f"{silent} answered nothing: there is nothing to compare, and nothing to rank."]
    delta = deltas["augrc_at_c"]
    assert isinstance(delta, DeltaNumbers)  # noqa: S101  (only the risks are nested)
    area = pair.left.augrc_at_c
    common = f"At the coverage both reach ({area.used:.1%})"
    where = common if area.requested is None else f"Cut at a coverage of {area.requested:.1%}"
    fair = f"{where} the AUGRC under {variant} differs by {with_interval(delta.delta, ends_of(delta))}"
    return [*_why_raw_errors_say_little(pair, names), f"{fair}{_conclusion(delta, pair, names)}."]


def _why_raw_errors_say_little(pair: PairedNumbers, names: tuple[str, str]) -> list[str]:
    if pair.left.cmax == pair.right.cmax:
        return []
    shares = f"{names[0]} answers {pair.left.cmax:.1%} of the items and {names[1]} {pair.right.cmax:.1%}"
    errors = f"their raw errors ({_mae(pair.left)} and {_mae(pair.right)}) are about different items"
    return [
        f"{shares}, so {errors}: declining hard cases lowers an error without one better answer.",
        "Neither those errors nor the full areas may be compared.",
    ]


def _conclusion(delta: DeltaNumbers, pair: PairedNumbers, names: tuple[str, str]) -> str:
    said = which_is_better("augrc_at_c", delta, pair)
    return {
        "": "",
        LEFT: f": {names[0]} is better there",
        RIGHT: f": {names[1]} is better there",
        UNDECIDED: "; the interval holds 0, so neither is shown to be better",
    }.get(said, f" ({said})")


def _mae(one: VariantNumbers) -> str:
    return "undefined" if one.mae is None else f"{one.mae:.3f}"
