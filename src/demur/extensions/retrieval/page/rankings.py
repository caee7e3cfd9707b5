"""Sections on rankings: all systems, differences from the baseline, criteria and folds."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from demur.drawing.forest import around_zero, difference_strip, scale_strip
from demur.extensions.retrieval.headings import Heading, at_depth, by_heading, pooled, pooled_and_mean, title
from demur.extensions.retrieval.page.overview import SHARES, drawn_number
from demur.extensions.retrieval.statements.differences import HighestNumbers, retrieval_conclusion
from demur.extensions.retrieval.study import CriterionCounts, study_of
from demur.inference.estimates import Estimate
from demur.inference.key import Group, Key
from demur.quantities import Measure
from demur.results.table import Results
from demur.show.differences import Difference
from demur.show.names import NamedSystem, Pair, pairs_of, systems_of
from demur.show.sections import FEW, Content, ShadedCell, section, shade
from demur.show.text import UNDEFINED, cell, decimals, shown_interval

_NAMES = {"with_gold": "with gold", "all": "all"}
_MOST_CRITERIA = 200
_MOST_FOLDS = 12
_MOST_IN_FULL = 2
_HEATED = ("recall", "mrr", "map", "ndcg")


@section("rankings", "Rankings", task="retrieval", order=30)
def rankings_compared(results: Results) -> list[Content]:
    """Both populations; the reference ranges are about the queries with gold."""
    study = study_of(results)
    return [_population(results, "with_gold", study.with_gold), _population(results, "all", study.queries)]


def _population(results: Results, among: str, queries: int) -> Content:
    """The numbers over one population of queries, drawn and listed."""
    keys = [row.key for row in pooled(results, results.systems[0], "ranking", among)]
    figures = study_of(results).reference_ranges if among == "with_gold" else ()
    ranges = {figure.metric: {"baseline": figure.baseline, "good": figure.good} for figure in figures}
    titles, systems = {key.quantity: title(key) for key in keys}, systems_of(results)
    at_the_depth = [key for key in keys if at_depth(results, key)]
    groups = [(title(key), [_of_system(results, key, system, ranges) for system in systems]) for key in at_the_depth]
    reached = "{}: a baseline reaches {:g} to {:g}, a good system {:g} to {:g}"
    return {
        "key": among,
        "name": _NAMES[among],
        "queries": queries,
        "groups": groups,
        "takeaway": _takeaway(results, at_the_depth),
        "scale": scale_strip(SHARES),
        "ranges": [
            reached.format(titles[metric], *limits["baseline"], *limits["good"])
            for metric, limits in ranges.items()
            if metric in titles
        ],
        "rows": [
            (title(key), [pooled_and_mean(results, replace(key, system=system)) for system in results.systems])
            for key in keys
        ],
    }


def _takeaway(results: Results, keys: list[Key]) -> HighestNumbers | None:
    """For how many numbers each system has the highest value, whether or not it is significant."""
    highest = []
    for key in keys:
        estimates = {system.name: results.get(replace(key, system=system.system)) for system in systems_of(results)}
        values = {name: row.value for name, row in estimates.items() if row is not None and not math.isnan(row.value)}
        best = [name for name, value in values.items() if value == max(values.values())]
        highest += best if len(values) > 1 and len(best) == 1 else []
    return HighestNumbers(len(keys), tuple(Counter(highest).items())) if highest else None


def _of_system(
    results: Results, key: Key, system: NamedSystem, ranges: Mapping[str, Mapping[str, tuple[float, float]]]
) -> tuple[NamedSystem, str, str]:
    own = replace(key, system=system.system)
    return system, *drawn_number(results, own, system, ranges.get(key.quantity, {}))


@section("criteria", "By criterion", task="retrieval", order=40)
def criteria(results: Results) -> Content:
    """Pooled numbers at the depth of the verdict, and the AUROC where there is a probability, as heat maps."""
    listed, tables = study_of(results).criteria[:_MOST_CRITERIA], []
    for system in results.systems:
        keys = [row.key for row in pooled(results, system, "ranking", "with_gold") if _heated(results, row.key)]
        present = [key for key in (*keys, Key(system, "auroc", "prob")) if results.get(key) is not None]
        rows = [(criterion, [_shaded(results, key, criterion) for key in present]) for criterion in listed]
        tables.append(([title(key) for key in present], rows))
    return {"tables": tables, "more": len(study_of(results).criteria) - len(listed), "few": FEW}


def _heated(results: Results, key: Key) -> bool:
    chosen = study_of(results).settings.metrics is not None
    return at_depth(results, key) and (chosen or Measure.of(key.quantity).quantity.stem in _HEATED)


def _shaded(results: Results, key: Key, criterion: CriterionCounts) -> ShadedCell:
    estimate = results.get(replace(key, group=Group("criterion", criterion.name)))
    if estimate is None or math.isnan(estimate.value):
        return UNDEFINED, "few"
    queries = criterion.with_gold if key.among == "with_gold" else criterion.queries
    few = estimate.by_convention or queries < FEW
    return f"{estimate.value:.3f}", shade("coverage", estimate.value, few=few)


@section("folds", "Folds", task="retrieval", order=80)
def folds(results: Results) -> Content | None:
    """The numbers over folds at the depth of the verdict, or nothing where there are none."""
    names = study_of(results).folds
    if not names:
        return None
    listed = names if len(names) <= _MOST_FOLDS else ()

    def row(heading: Heading, mean: Estimate) -> tuple[str, str, str, str, list[str]]:
        pooled = cell(results, results.get(replace(mean.key, group=None)))
        by_fold = [results.get(replace(mean.key, group=Group("fold", name))) for name in listed]
        values = [decimals(number.value if number else None) for number in by_fold]
        return heading.title, title(mean.key), pooled, mean_and_spread(mean), values

    rows = [
        [row(heading, mean) for heading, mean in means_over_folds(results, system) if at_depth(results, mean.key)]
        for system in results.systems
    ]
    return {"count": len(names), "names": listed, "rows": rows} if any(rows) else None


def means_over_folds(results: Results, system: str) -> Iterator[tuple[Heading, Estimate]]:
    """Every mean over folds of a system, with its heading."""
    for heading, means in by_heading(results.where(system=system, group=Group("fold"), minus=None)).items():
        yield from ((heading, mean) for mean in means)


def mean_and_spread(mean: Estimate) -> str:
    """The mean over folds and their standard deviation."""
    return UNDEFINED if mean.spread is None else f"{decimals(mean.value)} ± {mean.spread:.4f}"


@section("differences", "Paired differences", task="retrieval", order=70)
def system_differences(results: Results) -> list[Content] | None:
    """Every system against the baseline, or nothing where there is one system."""
    return [_against(results, pair) for pair in pairs_of(results)] or None


def differences_by_heading(results: Results, pair: Pair) -> dict[Heading, list[Estimate]]:
    """The differences of a system from the baseline by heading; means over criteria are only in the file."""
    return by_heading(results.where(system=pair.other.system, group=None, minus=pair.minus))


def _against(results: Results, pair: Pair) -> Content:
    """One system against the baseline, drawn at the depth of the verdict; with many systems others are only counted."""
    names, drawn, others = [pair.baseline.label, pair.other.label], dict[str, Content](), list[tuple[str, Difference]]()
    headings = differences_by_heading(results, pair).items()
    for heading, estimate in ((heading, row) for heading, members in headings for row in members):
        better, row = _difference(results, pair, heading, estimate)
        if not row.panel or not at_depth(results, estimate.key):
            others.append((heading.title, row))
            continue
        first, second = names if better == "higher" else names[::-1]
        directions = f"← {first} is better · {second} is better →"
        panel = drawn.setdefault(row.panel, {"heading": heading.title, "ways": directions, "members": []})
        panel["members"].append(row)
    for panel in drawn.values():
        frame = around_zero(row.drawn for row in panel["members"])
        panel["rows"] = [(row, difference_strip(row.drawn, frame)) for row in panel["members"]]
        panel["scale"] = scale_strip(frame)
    listed = others if len(pairs_of(results)) <= _MOST_IN_FULL else []
    shown = {"panels": [*drawn.values()], "others": listed, "more": len(others) - len(listed)}
    return {"name": pair.other.name, "baseline": pair.baseline.name, **shown}


def _difference(results: Results, pair: Pair, heading: Heading, estimate: Estimate) -> tuple[str, Difference]:
    """The direction in which the number is better, if any, and its difference; ties among draws count half."""
    quantity, concluded = Measure.of(estimate.key.quantity).quantity, retrieval_conclusion(results, estimate.key)
    better = quantity.better if quantity.judged else "neither"
    above, shares = (1 + estimate.above - estimate.below) / 2, (UNDEFINED, UNDEFINED)
    if better != "neither" and not math.isnan(above):
        baseline, other = (1 - above, above) if better == "higher" else (above, 1 - above)
        shares = (f"{baseline:.1%}", f"{other:.1%}")
    name, interval = title(estimate.key), shown_interval(results, estimate)
    panel = "" if better == "neither" else f"{heading} {better}"
    return better, Difference(panel, name, estimate, interval, concluded, pair, shares)
