"""Retrieval on the console: who was counted, what each system finds and where that falls, and how systems differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demur.errors import shown
from demur.metrics.retrieval import RankingMeasure
from demur.report.console import warnings_text
from demur.report.retrieval_names import number_title, place_in_words, rate_text
from demur.retrieval_verdict import retrieval_verdict
from demur.text_table import table
from demur.verdict import three, with_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from demur.artifact_numbers import Ends
    from demur.retrieval_artifact import DeltaEstimated, Estimated, FoldNumbers, RetrievalMetrics, SystemNumbers

_UNDEFINED = "–"
_MOST_BREACHES = 5


def retrieval_text(metrics: RetrievalMetrics) -> str:
    """The whole report, as lines."""
    lines = [*_asked(metrics)]
    for name, system in metrics.systems.items():
        lines += ["", *_system(metrics, name, system)]
    for name, deltas in metrics.deltas.items():
        lines += ["", *_differences(metrics, name, deltas)]
    said = retrieval_verdict(metrics)
    lines += ["", said.headline, *said.sentences, *said.failures]
    return "\n".join([*lines, *warnings_text(metrics.warnings)])


def _asked(metrics: RetrievalMetrics) -> Iterator[str]:
    asked, drawn = metrics.queries, metrics.bootstrap
    for file in metrics.inputs:
        yield f"file: {shown(file.path)}"
    yield (
        f"{asked.queries_total} queries of {asked.posts} posts and {asked.criteria} criteria: "
        f"{asked.queries_with_positives} with gold, {asked.queries_without_positives} without"
    )
    if drawn is None:
        yield "no intervals: 0 resamples"
    else:
        yield f"95 % intervals from {drawn.n_resamples} resamples of posts, seed {drawn.seed}"


def _system(metrics: RetrievalMetrics, name: str, system: SystemNumbers) -> Iterator[str]:
    lists = system.candidates
    yield (
        f"{shown(name)}   {system.queries_abstained} queries without a list; candidates a query: median {lists.p50:g}, "
        f"90 % within {lists.p5:g} to {lists.p95:g}"
    )
    placed = {one.metric: one.place for one in metrics.reference_ranges if one.system == name}
    head = (
        "",
        f"with gold ({system.positives_only.queries})",
        f"all ({system.all_queries.queries})",
        "mean over criteria",
    )
    rows = [
        (
            f"  {RankingMeasure.of(metric).title}",
            _cell(one),
            _cell(system.all_queries.micro[metric]),
            _cell(system.positives_only.macro[metric]),
            placed.get(metric, ""),
        )
        for metric, one in system.positives_only.micro.items()
    ]
    yield from table([(*head, "with gold, against the reference ranges"), *rows])
    yield from _detection(system, placed)
    yield from _shown_ids(system)
    if system.folds:
        yield from _folds(system.folds)


def _detection(system: SystemNumbers, placed: Mapping[str, str]) -> Iterator[str]:
    empty = system.empty_decision
    rules = {"threshold": "by the gate's threshold", "selected_ids": "by the selection", "ranked_ids": "by the list"}
    yield f"  no evidence here, as a decision {rules[system.empty_decision_by]}"
    yield from table([(f"    {name.replace('_', ' ')}", _cell(one)) for name, one in empty.items()])
    if system.detection is None:
        return
    told = system.detection
    yield f"  no evidence here, from the probability ({told.has_evidence_rate:.1%} of the queries have evidence)"
    rows = [
        (f"    {number_title(name)}", _cell(one), _cell(told.macro[name]), placed.get(name, ""))
        for name, one in told.micro.items()
    ]
    yield from table([("", "all", "mean over criteria", "against the reference ranges"), *rows])
    for rate, at in told.threshold_at_fpr.items():
        line = "no finite threshold" if at.threshold is None else f"probability {at.threshold:.6g} or more"
        yield f"    at most {rate_text(rate)} false alarms: {line} (TPR {three(at.tpr)}, FPR {three(at.fpr)})"
    if system.gate is not None:
        numbers = (f"{number_title(name)} {_cell(one)}" for name, one in system.gate.metrics.items())
        yield f"    as a selective predictor: {', '.join(numbers)}"


def _shown_ids(system: SystemNumbers) -> Iterator[str]:
    groups = {} if system.dynamic_k is None else {"as selected": system.dynamic_k.metrics}
    groups |= dict(system.policies)
    if not groups:
        return
    names = [*next(iter(groups.values()))]
    yield "  what is shown"
    rows = [(f"    {policy}", *(_cell(one[name]) for name in names)) for policy, one in groups.items()]
    yield from table([("", *(name.replace("_", " ") for name in names)), *rows])
    broken = system.dynamic_k.breaches if system.dynamic_k else ()
    for one in broken[:_MOST_BREACHES]:
        low, high = one.allowed
        place = f"post {shown(one.post)}, criterion {shown(one.criterion)}"
        yield f"    {place}: {one.selected} of {one.candidates} selected, {low} to {high} allowed"
    if len(broken) > _MOST_BREACHES:
        yield f"    … and {len(broken) - _MOST_BREACHES} more selections that break the bounds"


def _folds(folds: Mapping[str, Mapping[str, FoldNumbers]]) -> Iterator[str]:
    first = next(iter(next(iter(folds.values())).values()))
    yield f"  over {len(first.values)} folds, mean ± std (ddof 0)"
    rows = [
        (f"    {number_title(name)}", place_in_words(place), _over(one))
        for place, found in folds.items()
        for name, one in found.items()
    ]
    yield from table([("", "over", "mean ± std"), *rows])


def _over(found: FoldNumbers) -> str:
    return _UNDEFINED if found.mean is None or found.std is None else f"{found.mean:.4f} ± {found.std:.4f}"


def _differences(
    metrics: RetrievalMetrics, name: str, deltas: Mapping[str, Mapping[str, DeltaEstimated]]
) -> Iterator[str]:
    yield f"{shown(name)} − {shown(metrics.settings.baseline)}, on the same queries"
    rows = [
        (
            f"  {number_title(metric)}",
            place_in_words(place),
            _difference(one),
            _decided(one.ci95_recommended),
        )
        for place, found in deltas.items()
        for metric, one in found.items()
        if not place.endswith("macro")
    ]
    yield from table([("", "over", "difference", ""), *rows])


def _difference(one: DeltaEstimated) -> str:
    return with_interval(one.delta, one.ci95_recommended)


def _decided(ends: Ends | None) -> str:
    if ends is None:
        return ""
    return "undecided: the interval holds 0" if ends.low <= 0 <= ends.high else "above" if ends.low > 0 else "below"


def _cell(one: Estimated) -> str:
    return _UNDEFINED if one.value is None else with_interval(one.value, one.ci95_recommended)
