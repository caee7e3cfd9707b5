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
        _headline(metrics, silent, spoken),
        (*_sentences(metrics, silent, spoken),),
        (*said,),
        (*_cautions(metrics, spoken),),
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
    groups = {f"better than {base}": above, f"worse than {base}": below}
    groups["not shown to differ"] = [spoken(name) for name, way in ways.items() if way not in (ABOVE, BELOW)]
    said = "; ".join(f"{what}: {', '.join(names)}" for what, names in groups.items() if names)
    few_said = "; too few posts stand behind that" if few else ""
    return f"Ranking of the evidence, {said}{few_said}."


def _sentences(metrics: RetrievalMetrics, silent: Sequence[str], spoken: Spoken) -> Iterator[str]:
    asked = metrics.queries
    share = asked.queries_with_positives / max(asked.queries_total, 1)
    yield f"Of {asked.queries_total} queries {asked.queries_with_positives} ({share:.1%}) have evidence to find."
    if asked.queries_with_positives and len(silent) < len(metrics.systems):
        yield from _differences(metrics, spoken)
    yield from _detection(metrics, spoken)


def _detection(metrics: RetrievalMetrics, spoken: Spoken) -> Iterator[str]:
    """How well probabilities tell where there is evidence: once where all systems share them."""
    told = [(name, one.detection) for name, one in metrics.systems.items() if one.detection]
    if any(one.single_class for _, one in told):
        yield "All queries have evidence, or none has: there is nothing to detect, and AUROC and rates are conventions."
        return
    shared = all(one == told[0][1] for _, one in told) and len(told) == len(metrics.systems)
    for name, one in told[: 1 if shared else _MOST_SENTENCES]:
        if "auroc" in one.micro:
            whose = "The probability" if shared else f"The probability of {spoken(name)}"
            found = _with_interval(one.micro["auroc"])
            yield f"{whose} tells queries with evidence from those without with an AUROC of {found}."


def _differences(metrics: RetrievalMetrics, spoken: Spoken) -> Iterator[str]:
    """What each system reaches, and how far it is from the baseline on the same queries."""
    others = [*metrics.deltas]
    if not others:
        return
    base = metrics.settings.baseline or ""
    where = f"Where there is evidence {spoken(base)} reaches an {_title(metrics)} of {_reached(metrics, base)}"
    first, *rest = (_difference(metrics, name, spoken) for name in others[:_MOST_SENTENCES])
    yield f"{where} and {first}"
    yield from rest
    if len(others) > _MOST_SENTENCES:
        yield f"{len(others) - _MOST_SENTENCES} more systems are compared in the same way."


def _difference(metrics: RetrievalMetrics, name: str, spoken: Spoken) -> str:
    base, delta = metrics.settings.baseline or "", primary_delta(metrics, name)
    differs = "undefined" if delta is None else with_interval(delta.delta, delta.ci95_recommended)
    way = which_way(metrics, delta)
    end = {
        ABOVE: f": {spoken(name)} is better",
        BELOW: f": {spoken(base)} is better",
        UNDECIDED: "; the interval holds 0, so neither is shown to be better",
    }.get(way, f" ({way})")
    return f"{spoken(name)} {_reached(metrics, name)}, a paired difference of {differs}{end}."


def _title(metrics: RetrievalMetrics) -> str:
    return RankingMeasure.of(primary(metrics)).title


def _reached(metrics: RetrievalMetrics, system: str) -> str:
    return _with_interval(metrics.systems[system].positives_only.micro[primary(metrics)])


def _with_interval(one: Estimated) -> str:
    return with_interval(one.value, one.ci95_recommended)


def _cautions(metrics: RetrievalMetrics, spoken: Spoken) -> Iterator[str]:
    """Each kind of warning that bears on the verdict, once; one about a system, with its name."""
    found = {one.code: one for one in reversed(metrics.warnings)}
    for code in _CAUTIONS:
        if code in found:
            said = found[code].message.replace("cluster", "post")
            about = f"{spoken(found[code].where)}: " if found[code].where in metrics.systems else ""
            yield f"{about}{said if about else f'{said[:1].upper()}{said[1:]}'}."
