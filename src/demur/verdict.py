"""Verdict: what the numbers of an artifact say, in words. Nothing is called better that was not compared fairly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.artifact_numbers import DeltaNumbers, PairedNumbers
from demur.errors import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from demur.artifact import Metrics
    from demur.artifact_numbers import Ends, VariantNumbers
    from demur.cautions import Caution

LOWER_IS_BETTER = ("aurc_at_c", "augrc_at_c", "mae_at_coverage", "aurc_full", "augrc_full")
LEFT, RIGHT, UNDECIDED = "left is better", "right is better", "undecided: the 95 % interval holds 0"
_ONLY_IF_CMAX_IS_EQUAL = ("aurc_full", "augrc_full")
_CUT = ("aurc_at_c", "augrc_at_c")
REACHED_AT = "reached at"
ENOUGH_RESAMPLES = 100
OFTEN_FAILED = 0.1
_TOO_FEW = ("one_cluster", "few_informative_clusters")
_CAUTIONS = (*_TOO_FEW, "few_clusters", "no_errors", "unequal_clusters", "few_resamples", "fitted_on_this_run")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The one thing to take away, what it rests on, who is missing, and which warnings bear on it."""

    headline: str
    sentences: tuple[str, ...]
    failures: tuple[str, ...]
    cautions: tuple[str, ...]


def verdict(metrics: Metrics, names: tuple[str, ...] = ()) -> Verdict:
    """What an artifact says under its first variant; the runs are called by the names given."""
    names = names or (("left", "right") if metrics.comparison.enabled else ("The run",))
    variant, one = next(iter(metrics.confidence_variants.items()))
    headline, sentences = _said(metrics, variant, one, names)
    return Verdict(headline, sentences, (*_failed_often(metrics, names),), (*_cautions(metrics, variant, names),))


def _said(
    metrics: Metrics, variant: str, one: VariantNumbers | PairedNumbers, names: tuple[str, ...]
) -> tuple[str, tuple[str, ...]]:
    if isinstance(one, PairedNumbers):
        both = (names[0], names[-1])
        return _which_run(metrics, variant, one, both), (*comparison_sentences(metrics, variant, both),)
    if not one.defined:
        return f"{names[0]} answered nothing: there is nothing to measure, and nothing to rank.", ()
    return f"{names[0]} answers {one.cmax:.1%} of the items.", (*_one_run(metrics, variant, one),)


def _which_run(metrics: Metrics, variant: str, pair: PairedNumbers, names: tuple[str, str]) -> str:
    delta = (metrics.comparison.deltas or {})[variant]["augrc_at_c"]
    assert isinstance(delta, DeltaNumbers)  # noqa: S101  (only the risks are nested)
    said = which_is_better("augrc_at_c", delta, pair)
    winner = {LEFT: names[0], RIGHT: names[1]}.get(said)
    if winner is None:
        reason = {UNDECIDED: "", "": "nothing was resampled"}.get(said, said)
        return f"No conclusion: {reason}." if reason else "Neither run is shown to be better."
    if _too_few(metrics, variant):
        return f"{winner} looks better {_where(pair)}, but too few participants stand behind that."
    return f"{winner} lets fewer or smaller errors through, over all thresholds {_where(pair)}."


def _where(pair: PairedNumbers) -> str:
    """How far the areas that are compared go: where asked, unless the runs end before, or as far as both go."""
    area, other = pair.left.augrc_at_c, pair.right.augrc_at_c
    if area.requested is not None and area.used != other.used:
        return f"cut at a coverage of {area.requested:.1%}"
    if area.used == area.requested:
        return f"up to a coverage of {area.used:.1%}"
    return f"up to the coverage both reach ({area.used:.1%})"


def _too_few(metrics: Metrics, variant: str) -> bool:
    return any(one.code in _TOO_FEW for one in _about(metrics, variant))


def _about(metrics: Metrics, variant: str) -> Iterator[Caution]:
    """The warnings about everyone and about one variant."""
    others = tuple(f"{name}: " for name in metrics.confidence_variants if name != variant)
    return (one for one in metrics.warnings if not one.where.startswith(others) or one.where.startswith(f"{variant}: "))


def _cautions(metrics: Metrics, variant: str, names: tuple[str, ...]) -> Iterator[str]:
    """Each kind of warning that bears on the verdict, once, with the side it is about."""
    found = {one.code: one for one in reversed([*_about(metrics, variant)])}
    sides = dict(zip(("left", "right"), names, strict=False)) if metrics.comparison.enabled else {}
    for code in _CAUTIONS:
        if code in found:
            said = found[code].message.replace("cluster", "participant")
            told = said.replace("1 participants hold", "1 participant holds")
            side = next((f"{name}: " for word, name in sides.items() if f"{word} " in found[code].where), "")
            yield f"{side}{told}." if side else f"{told[:1].upper()}{told[1:]}."


def _failed_often(metrics: Metrics, names: tuple[str, ...]) -> Iterator[str]:
    """Who fails is in no number: where many do, the rest may be the easier ones."""
    people, compared = metrics.population, metrics.comparison
    failed = (compared.participants_failed_left, compared.participants_failed_right)
    counts = [count for count in failed if count is not None] or [people.participants_failed]
    if any(count > OFTEN_FAILED * people.participants_total for count in counts):
        sides = " and ".join(f"{name} failed on {count}" for name, count in zip(names, counts, strict=True))
        yield (
            f"{sides} of {people.participants_total} participants: they are in no number here, and may be the harder "
            "ones."
        )


def _one_run(metrics: Metrics, variant: str, one: VariantNumbers) -> Iterator[str]:
    """How wrong one run is, what declining more would give, and how well its confidence ranks."""
    yield f"The mean loss of its answers is {_mae(one)} ({shown(metrics.loss.definition)})."
    reached = [at for at in one.mae_at_coverage.values() if at is not None and at.achieved < one.cmax]
    if reached and one.mae is not None:
        half = min(reached, key=lambda at: abs(at.achieved - one.cmax / 2))
        change = "lower" if half.value < one.mae else "no lower"
        kept = f"Of the {half.achieved:.1%} of the items it is surest of under {shown(variant)}"
        yield f"{kept} it is {half.value:.3f}: {change} than of all answers."
    orders = f"a random order would give {one.augrc_random:.4g} and the best possible {one.augrc_optimal:.4g}"
    yield f"The AUGRC is {one.augrc_full:.4g}; {orders}. Lower is better."


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


def ends_of(delta: DeltaNumbers, pair: PairedNumbers) -> Ends | None:
    """The interval to show: the one that was asked for, even if there is none, or the recommended one."""
    asked = pair.left.bootstrap is not None and pair.left.bootstrap.ci is not None
    return delta.ci if asked else delta.ci95_recommended


def which_is_better(key: str, delta: DeltaNumbers, pair: PairedNumbers, coverage: str | None = None) -> str:
    """Which side a difference speaks for: left, right, neither is shown, or why it says nothing.

    Decided by the recommended interval at 95 %, whatever other interval is shown: no level of one's choice decides.
    """
    ends = delta.ci95_recommended
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
        return f"{REACHED_AT} {one.achieved:.3g} and {other.achieved:.3g}"
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
    where = _where(pair)
    difference = f"{with_interval(delta.delta, ends_of(delta, pair))} ({names[1]} − {names[0]})"
    fair = f"{where[:1].upper()}{where[1:]} the AUGRC under {shown(variant)} differs by {difference}"
    tentative = _too_few(metrics, variant)
    said = [*_why_raw_errors_say_little(pair, names), f"{fair}{_conclusion(delta, pair, names, tentative=tentative)}."]
    return [*said, *_against_the_risk(delta, pair, names)]


def _against_the_risk(delta: DeltaNumbers, pair: PairedNumbers, names: tuple[str, str]) -> list[str]:
    """An area rewards a good order as well as right answers: where the errors of all answers point the other way."""
    said, (left, right) = which_is_better("augrc_at_c", delta, pair), (pair.left.mae, pair.right.mae)
    if left is None or right is None or pair.left.cmax != pair.right.cmax:
        return []
    turned = (said == LEFT and left > right) or (said == RIGHT and right > left)
    if not turned:
        return []
    other = names[1] if said == LEFT else names[0]
    return [f"With everything answered {other} makes the fewer or smaller errors: what is better here is the order."]


def _why_raw_errors_say_little(pair: PairedNumbers, names: tuple[str, str]) -> list[str]:
    if pair.left.cmax == pair.right.cmax:
        return []
    shares = f"{names[0]} answers {pair.left.cmax:.1%} of the items and {names[1]} {pair.right.cmax:.1%}"
    errors = f"their raw errors ({_mae(pair.left)} and {_mae(pair.right)}) are about different items"
    return [
        f"{shares}, so {errors}: declining hard cases lowers an error without one better answer.",
        "Neither those errors nor the full areas may be compared.",
    ]


def _conclusion(delta: DeltaNumbers, pair: PairedNumbers, names: tuple[str, str], *, tentative: bool) -> str:
    said = which_is_better("augrc_at_c", delta, pair)
    seems = "looks better" if tentative else "is better"
    return {
        "": "",
        LEFT: f": {names[0]} {seems} there",
        RIGHT: f": {names[1]} {seems} there",
        UNDECIDED: "; the 95 % interval holds 0, so neither is shown to be better",
    }.get(said, f" ({said})")


def _mae(one: VariantNumbers) -> str:
    return "undefined" if one.mae is None else f"{one.mae:.3f}"
