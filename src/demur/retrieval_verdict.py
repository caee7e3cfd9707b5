"""Retrieval verdict: what a retrieval artifact says, in words. Nothing is called better that no interval shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demur.cautions import FEW_INFORMATIVE
from demur.errors import shown
from demur.metrics.retrieval import RankingMeasure
from demur.verdict import ENOUGH_RESAMPLES, Verdict, with_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from demur.retrieval_artifact import DeltaEstimated, Estimated, RetrievalMetrics

    Spoken = Callable[[str], str]

ABOVE, BELOW, UNDECIDED = "above", "below", "undecided: the interval holds 0"
WITH_GOLD = "positives_only/micro"
_USUAL_DEPTH = 10
_MOST_SENTENCES = 3
_CAUTIONS = (
    *("one_cluster", "few_clusters", "unequal_clusters", "few_resamples", "many_comparisons", "single_class"),
    *("abstained", "criterion_without_gold", "selected_not_ranked", "selection_bounds", "unjudged_topics"),
    "post_in_several_folds",
)


def retrieval_verdict(metrics: RetrievalMetrics, spoken: Spoken = shown) -> Verdict:
    """What an artifact says of the rankings where there is evidence; systems are called as `spoken` calls them."""
    silent = [name for name, one in metrics.systems.items() if one.queries_abstained == metrics.queries.queries_total]
    said = [f"{spoken(name)} returned nothing for any query: every ranking number of it is 0." for name in silent]
    return Verdict(
        _headline(metrics, silent, spoken), (*_sentences(metrics, silent, spoken),), (*said,), (*_cautions(metrics),)
    )


def primary(metrics: RetrievalMetrics) -> str:
    """The number the verdict rests on: nDCG at 10, or at the largest depth there is."""
    depths = metrics.settings.k
    return f"ndcg@{_USUAL_DEPTH if _USUAL_DEPTH in depths else max(depths)}"


def primary_delta(metrics: RetrievalMetrics, system: str) -> DeltaEstimated | None:
    """How a system differs from the baseline in that number."""
    return metrics.deltas[system].get(WITH_GOLD, {}).get(primary(metrics))


def why_not_decided(metrics: RetrievalMetrics) -> str:
    """Why no difference of this artifact decides anything; nothing where some may."""
    if metrics.bootstrap is None:
        return "nothing was resampled"
    if metrics.queries.posts == 1:
        return "one post decides nothing"
    return "" if metrics.bootstrap.n_resamples >= ENOUGH_RESAMPLES else "too few resamples to decide"


def which_way(metrics: RetrievalMetrics, delta: DeltaEstimated | None) -> str:
    """Whether a system is shown to be above or below the baseline, or why that cannot be said."""
    reason = why_not_decided(metrics)
    if reason or delta is None or delta.ci95_recommended is None:
        return reason or "there is no interval"
    ends = delta.ci95_recommended
    return UNDECIDED if ends.low <= 0 <= ends.high else ABOVE if ends.low > 0 else BELOW


def _headline(metrics: RetrievalMetrics, silent: Sequence[str], spoken: Spoken) -> str:
    names = [spoken(name) for name in metrics.systems]
    if not metrics.queries.queries_with_positives:
        return "No query has gold: there is nothing to find, and no ranking to judge."
    if len(silent) == len(names):
        said = f"{names[0]} returned nothing" if len(names) == 1 else "No system returned anything"
        return f"{said}: there is nothing to judge."
    if len(names) == 1:
        return (
            f"{names[0]} reaches an {_title(metrics)} of {_reached(metrics, *metrics.systems)} where there is evidence."
        )
    reason = why_not_decided(metrics)
    return f"No conclusion: {reason}." if reason else _compared(metrics, spoken)


def _compared(metrics: RetrievalMetrics, spoken: Spoken) -> str:
    base = spoken(metrics.settings.baseline or "")
    ways = {name: which_way(metrics, primary_delta(metrics, name)) for name in metrics.deltas}
    above, below = ([spoken(name) for name, way in ways.items() if way == wanted] for wanted in (ABOVE, BELOW))
    if not (above or below):
        whom = "Neither system" if len(ways) == 1 else "No system"
        return f"{whom} is shown to rank the evidence better{'' if len(ways) == 1 else f' or worse than {base}'}."
    few = metrics.queries.posts < FEW_INFORMATIVE
    if len(ways) == 1:
        winner, loser = (above[0], base) if above else (base, below[0])
        if few:
            return f"{winner} looks better at ranking the evidence, but too few posts stand behind that."
        return f"{winner} ranks the evidence better than {loser}."
    rest = [spoken(name) for name, way in ways.items() if way not in (ABOVE, BELOW)]
    parts = [f"better than {base}: {_listed(above)}" if above else "", f"worse: {_listed(below)}" if below else ""]
    parts += [f"not shown to differ: {_listed(rest)}" if rest else "", "too few posts stand behind that" if few else ""]
    return f"At ranking the evidence {'; '.join(filter(None, parts))}."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _sentences(metrics: RetrievalMetrics, silent: Sequence[str], spoken: Spoken) -> Iterator[str]:
    asked = metrics.queries
    share = asked.queries_with_positives / max(asked.queries_total, 1)
    yield f"Of {asked.queries_total} queries {asked.queries_with_positives} ({share:.1%}) have evidence to find."
    if asked.queries_with_positives and len(silent) < len(metrics.systems):
        others = [*metrics.deltas]
        yield from (_difference(metrics, name, spoken) for name in others[:_MOST_SENTENCES])
        if len(others) > _MOST_SENTENCES:
            yield f"{len(others) - _MOST_SENTENCES} more systems are compared in the same way."
    told = next((one.detection for one in metrics.systems.values() if one.detection), None)
    if told is None:
        return
    if told.single_class:
        yield "All queries have evidence, or none has: there is nothing to detect, and AUROC and rates are conventions."
    elif "auroc" in told.micro:
        found = _with_interval(told.micro["auroc"])
        yield f"The probability tells queries with evidence from those without with an AUROC of {found}."


def _difference(metrics: RetrievalMetrics, name: str, spoken: Spoken) -> str:
    base, delta = metrics.settings.baseline or "", primary_delta(metrics, name)
    values = f"{_reached(metrics, base)} for {spoken(base)} and {_reached(metrics, name)} for {spoken(name)}"
    differs = "undefined" if delta is None else with_interval(delta.delta, delta.ci95_recommended)
    way = which_way(metrics, delta)
    end = {
        ABOVE: f": {spoken(name)} is better",
        BELOW: f": {spoken(base)} is better",
        UNDECIDED: "; the interval holds 0, so neither is shown to be better",
    }.get(way, f" ({way})")
    return (
        f"Where there is evidence the {_title(metrics)} is {values}. On the same queries it differs by {differs}{end}."
    )


def _title(metrics: RetrievalMetrics) -> str:
    return RankingMeasure.of(primary(metrics)).title


def _reached(metrics: RetrievalMetrics, system: str) -> str:
    return _with_interval(metrics.systems[system].positives_only.micro[primary(metrics)])


def _with_interval(one: Estimated) -> str:
    return with_interval(one.value, one.ci95_recommended)


def _cautions(metrics: RetrievalMetrics) -> Iterator[str]:
    """Each kind of warning that bears on the verdict, once; one about a system, with its name."""
    found = {one.code: one for one in reversed(metrics.warnings)}
    for code in _CAUTIONS:
        if code in found:
            said = found[code].message.replace("cluster", "post")
            about = f"{shown(found[code].where)}: " if found[code].where in metrics.systems else ""
            yield f"{about}{said if about else f'{said[:1].upper()}{said[1:]}'}."
