"""Results recomputed by the plain loops: values over the rows, ci95 over the repeated rows of the drawn clusters.

Only the seed is shared with the evaluation, no code that computes. One tolerance covers rounding in all numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from demur import Group, Items, Key, Results
from demur.extensions.audit.retrieval_figures import detection
from demur.extensions.audit.retrieval_figures.numbers import Number, mean
from demur.extensions.audit.retrieval_figures.rows import QueryRow, query_row
from demur.extensions.audit.retrieval_figures.selection import Shown
from demur.inference.estimates import label
from demur.quantities.losses import are_amounts
from demur.quantities.registry import COMMON
from demur.results.file_models import Loss
from reference import LOOPS, family, number, parsed
from reference.confidence import confidence as plain_confidence
from reference.conventions import loop_of
from reference.draws import ci95, drawn
from reference.groups import GroupUnit
from reference.policies import PlainBounds, shown_by
from reference.registry import Loop
from reference.rows import by_cluster, by_post, losses, selective_rows
from reference.selective import PlainCurve, Unit

if TYPE_CHECKING:
    from demur.extensions.retrieval.rankings import Query

TOLERANCE = 1e-9


class Rows(NamedTuple):
    """The rows of each cluster of one system, and a function that prepares them for a loop."""

    clusters: Sequence[Sequence[Any]]
    prepared: Callable[[list[Any]], Any] = list


class Recipe(NamedTuple):
    """A number as a loop over the rows of one system, or of several."""

    tables: tuple[Rows, ...]
    loop: Loop


class Compared(NamedTuple):
    """A number of results, its name, and the same number by the loops; None is undefined."""

    name: str
    claimed: float | None
    recomputed: float | None

    @property
    def agrees(self) -> bool:
        if self.claimed is None or self.recomputed is None:
            return self.claimed is self.recomputed
        return abs(self.claimed - self.recomputed) <= TOLERANCE * max(1.0, abs(self.recomputed))


def compared(claimed: Results, recipes: Mapping[Key, Recipe], strata: Sequence[int] | None = None) -> list[Compared]:
    """Every number of results, each of which must have a loop, and its ci95."""
    operands = {row.key: _operands(row.key, recipes) for row in claimed}
    clusters = next((len(recipe.tables[0].clusters) for recipe in recipes.values()), 0)
    points = _numbers(recipes, range(clusters))
    found = [_compared(label(row.key), row.value, _difference(operands[row.key], points)) for row in claimed]
    boot = claimed.study.bootstrap
    ends = {row.key: row.percentile.ends for row in claimed if row.percentile is not None}
    resampled = {operand: recipes[operand] for key in ends for operand in operands[key]}
    values: dict[Key, list[Any]] = {key: [] for key in ends}
    seed, resamples = (boot.seed, boot.n_resamples) if boot else (0, 0)
    for replicate in range(resamples):
        numbers = _numbers(resampled, drawn(seed, replicate, clusters, strata))
        for key in ends:
            values[key].append(_difference(operands[key], numbers))
    for key, pair in ends.items():
        for name, end, recomputed in zip(("low", "high"), pair, ci95(values[key]) or (None, None), strict=True):
            found.append(_compared(f"{label(key)}: ci95, {name}", end, recomputed))
    return found


def _operands(key: Key, recipes: Mapping[Key, Recipe]) -> list[Key]:
    """The keys a number is computed from: its own, or the two of a difference."""
    if key in recipes:  # a difference of groups is one loop
        return [key]
    assert key.minus is not None, f"no loop computes {label(key)}"
    systems = [key.system, str(key.minus.value)]
    keys = [Key(system, key.quantity, key.confidence, key.among, key.group) for system in systems]
    assert all(operand in recipes for operand in keys), f"no loop computes {label(key)}"
    return keys


def _numbers(recipes: Mapping[Key, Recipe], clusters: Sequence[int]) -> dict[Key, Number | None]:
    """Every number of a sample of clusters; the rows of each system are assembled once."""
    tables = {id(table): table for recipe in recipes.values() for table in recipe.tables}
    samples = {
        name: table.prepared([row for cluster in clusters for row in table.clusters[cluster]])
        for name, table in tables.items()
    }
    return {key: recipe.loop(*(samples[id(table)] for table in recipe.tables)) for key, recipe in recipes.items()}


def _difference(operands: Sequence[Key], numbers: Mapping[Key, Number | None]) -> float | None:
    values = [numbers[operand] for operand in operands]
    first, *others = [float(value) for value in values if value is not None] or [math.nan]
    return None if None in values else first - sum(others)


def _compared(name: str, claimed: float, recomputed: float | None) -> Compared:
    return Compared(name, None if math.isnan(claimed) else claimed, recomputed)


def run_recipes(claimed: Results, runs: Mapping[str, Items], calibration: Any) -> dict[Key, Recipe]:
    """The loops of an evaluation of answers."""
    study, recipes = claimed.selective, dict[Key, Recipe]()
    runs = {system: items.take(items.by_name) for system, items in runs.items()}
    for name in study.confidences:
        scores = {system: plain_confidence(items, name, calibration) for system, items in runs.items()}
        if name in claimed.lower_is_surer:
            scores = {system: [-value for value in values] for system, values in scores.items()}
        graded = {system: selective_rows(items, scores[system], study.loss.name) for system, items in runs.items()}
        tables = {system: Rows(by_cluster(items, graded[system]), PlainCurve) for system, items in runs.items()}
        answering = [table for system, table in tables.items() if claimed.curves[system, name].defined]
        sharing = answering if len(answering) > 1 else [*tables.values()]
        for row in claimed.where(confidence=name, minus=None, group=None):
            own, largest = tables[row.key.system], _largest_loss(study.loss, runs[row.key.system])
            loop = loop_of(row.key.convention, row.key.quantity)
            if not row.key.convention:
                loop = _curve_loop(_as_ranked(claimed, row.key).quantity, own, largest)
            recipes |= {} if loop is None else {row.key: Recipe((own, *sharing), loop)}
        for system, items in runs.items():
            recipes |= _group_recipes(claimed, system, name, items, graded[system])
    for system, items in runs.items():
        recipes |= _item_recipes(claimed, system, items)
    return recipes


def _item_recipes(claimed: Results, system: str, items: Items) -> Iterator[tuple[Key, Recipe]]:
    """The loop of every number of an item of one system, over rows of its name, truth, answer and loss."""
    names = [items.item_names[index] for index in items.item.tolist()]
    columns = zip(items.answer.tolist(), items.answered, strict=True)
    answers = [answer if answered else None for answer, answered in columns]
    loss = claimed.selective.loss.name
    truths = items.truth.tolist() if are_amounts(items, loss) else [None] * len(items)
    units = zip(names, truths, answers, losses(items, loss), strict=True)
    table = Rows(by_cluster(items, [*units]))
    for row in claimed.where(system=system, confidence="", minus=None):
        if row.key.group and row.key.group.name == "item":
            yield row.key, Recipe((table,), _item_loop(row.key.quantity, row.key.group.level))


def _largest_loss(loss: Loss, items: Items) -> float | None:
    """The largest loss there can be."""
    if loss.name != "abs":
        return loss.maximum if loss.name == "given" else 1
    return items.instrument.range if items.instrument else None


def _group_recipes(
    claimed: Results, system: str, confidence: str, items: Items, units: Sequence[Unit]
) -> Iterator[tuple[Key, Recipe]]:
    """The loop of every number of a group of one system under one confidence, over the labelled units of a grouping."""
    record = getattr(claimed.selective, "groups", None)
    for grouping in record.groupings if record else ():
        table = Rows(by_cluster(items, _labelled(items, grouping.name, units)))
        rows = claimed.where(system=system, confidence=confidence)
        own = [row for row in rows if row.key.group and row.key.group.name == grouping.name]
        risks = [row for row in own if row.key.quantity.startswith("risk@")]
        small = {row.key.group for row in risks if row.too_small}
        judged = [level for level in grouping.levels if Group(grouping.name, level) not in small]
        for row in own:
            loop = _group_loop(_as_ranked(claimed, row.key), grouping.levels, judged)
            yield row.key, Recipe((table,), loop)


def strata_of_runs(claimed: Results, runs: Mapping[str, Items]) -> list[int] | None:
    """The stratum of each cluster; None where the file records no strata."""
    record = getattr(claimed.selective, "groups", None)
    if record is None or record.stratified_by is None:
        return None
    items = next(iter(runs.values()))
    strata = items.groups[record.stratified_by].of_clusters(items.cluster)
    return None if strata is None else strata.tolist()


def _curve_loop(quantity: str, table: Rows, largest: float | None) -> Loop | None:
    """The loop over the curve of a system, then the curves that determine the common coverage.

    A cost needs the `largest` loss there can be; the threshold that is fixed in all draws is that of the whole `table`.
    """
    stem, _, parameter = quantity.partition("@")

    def cut_at_common(own: PlainCurve, *sharing: PlainCurve) -> Number | None:
        shared = min(curve.cmax for curve in sharing)
        return LOOPS[f"{stem}@C"](own, shared) if shared else Fraction(0)

    if parameter == COMMON:
        return cut_at_common
    try:
        registered, at = parsed(quantity)
    except KeyError:
        return None
    if family(registered) == "selective":
        return lambda own, *_: LOOPS[registered](own, *at)
    if family(registered) != "costs" or largest is None or registered == "cost_crossfit@A":
        return None
    fixed = {}
    if registered == "cost_at_threshold@A":
        fixed = {"of": table.prepared([row for cluster in table.clusters for row in cluster])}
    return lambda own, *_: LOOPS[registered](own, *at, largest=largest, **fixed)


def _item_loop(quantity: str, item: str | None) -> Loop:
    if family(quantity) == "units":
        return lambda rows: number(quantity, [row[1:3] for row in rows if row[0] == item])
    return lambda rows: number(quantity, PlainCurve((row[3], 0) for row in rows if row[0] == item))


class LabelledUnit(NamedTuple):
    """A unit with its group and its cluster."""

    level: str
    cluster: Any
    unit: Unit


def _labelled(items: Items, name: str, units: Sequence[Unit]) -> list[LabelledUnit]:
    """Every unit with its level of a grouping."""
    levels, index = items.item_names, items.item
    if name in items.groups:
        levels, index = items.groups[name].levels, items.groups[name].index
    columns = zip(index.tolist(), items.cluster.tolist(), units, strict=True)
    return [LabelledUnit(levels[level], cluster, unit) for level, cluster, unit in columns]


def _as_ranked(claimed: Results, key: Key) -> Key:
    """A key with its threshold negated where lower values of the signal mean more confident."""
    stem, at, threshold = key.quantity.partition("@threshold=")
    if not at or key.confidence not in claimed.lower_is_surer:
        return key
    return replace(key, quantity=f"{stem}{at}{-float(threshold)!r}")


def _group_loop(key: Key, levels: Sequence[str], judged: Sequence[str]) -> Loop:
    level = key.group.level if key.group else None
    if level is None:
        registered, at = parsed(key.quantity)
        return lambda rows: LOOPS[registered]([_group_units(rows, name.__eq__) for name in judged], *at)
    if key.quantity.endswith(f"@{COMMON}"):
        return lambda rows: _at_common(key.quantity, rows, level, levels)
    if key.minus is not None:
        return lambda rows: _minus_rest(key.quantity, rows, level)
    return lambda rows: _of_part(key.quantity, rows, level.__eq__)


def _inside(rows: Sequence[LabelledUnit], among: Callable[[str], bool]) -> list[Unit]:
    return [row.unit for row in rows if among(row.level)]


def _group_units(rows: Sequence[LabelledUnit], among: Callable[[str], bool]) -> list[GroupUnit]:
    return [GroupUnit(row.cluster, *row.unit) for row in rows if among(row.level)]


def _of_part(quantity: str, rows: Sequence[LabelledUnit], among: Callable[[str], bool]) -> Number | None:
    """A number of some of the units; None where a draw holds none of them."""
    units, kind = _inside(rows, among), family(parsed(quantity)[0])
    if kind == "groups":
        return number(quantity, _group_units(rows, among))
    if kind == "units":
        return number(quantity, [(None, None if unit.loss is None else 0) for unit in units])
    return number(quantity, PlainCurve(units)) if units else None


def _minus_rest(quantity: str, rows: Sequence[LabelledUnit], level: str) -> Number | None:
    group, rest = (_of_part(quantity, rows, among) for among in (level.__eq__, level.__ne__))
    return None if group is None or rest is None else float(group) - float(rest)


def _at_common(quantity: str, rows: Sequence[LabelledUnit], level: str, levels: Sequence[str]) -> Number | None:
    """An area cut at the smallest Cmax of the groups that answer anything in this draw."""
    curves = {name: PlainCurve(_inside(rows, name.__eq__)) for name in levels}
    reached = [curve.cmax for curve in curves.values() if curve.losses]
    if not curves[level].rows:
        return None
    return LOOPS[quantity.replace(COMMON, "C")](curves[level], min(reached)) if reached else Fraction(0)


class ShownQuery(NamedTuple):
    """One query: its rows, what each policy shows, and whether anything is shown at all."""

    row: QueryRow
    shown: Mapping[str, Shown]
    decided: Shown


def query_recipes(claimed: Results, queries: Mapping[str, Sequence[Query]]) -> dict[Key, Recipe]:
    """The loops of an evaluation of retrieval."""
    recipes: dict[Key, Recipe] = {}
    for system in claimed.systems:
        table = Rows(by_post(queries[system], [_shown_query(query, claimed) for query in queries[system]]))
        for row in claimed.where(system=system, minus=None):
            loop = _query_loop(row.key, claimed)
            recipes |= {} if loop is None else {row.key: Recipe((table,), loop)}
    return recipes


def _shown_query(query: Query, claimed: Results) -> ShownQuery:
    settings = claimed.study.settings
    row = query_row(query, settings.relevance_level)
    bounds = PlainBounds(settings.k_min, settings.hard_cap, settings.k_max_ratio)
    shown = {} if row.selected is None else {"": row.selected}
    for policy in settings.policies:
        scores = query.scores if query.scores is not None else [0.0] * len(query.ranked)
        if query.scores is not None or policy.startswith("fixed:"):
            count = shown_by(policy, scores, bounds)
            shown[policy] = Shown(row.gold, count, row.ranking.hits_within(count))
    if settings.gate_threshold is not None:
        decided = int(bool(query.ranked) and query.prob is not None and query.prob >= settings.gate_threshold)
    else:
        decided = len(query.ranked if query.selected is None else query.selected)
    return ShownQuery(row, shown, Shown(row.gold, decided, 0))


def _query_loop(key: Key, claimed: Results) -> Loop | None:
    """The loop of one number over some of the queries, or the mean of it over the criteria."""
    single, group = _pooled_loop(key, claimed), key.group
    if single is None or group is None:
        return single

    def inside(rows: Sequence[ShownQuery], level: str | None) -> Number | None:
        return single([query for query in rows if getattr(query.row, group.name) == level])

    if group.level is not None:
        return lambda rows: inside(rows, group.level)
    folds = group.name == "fold"
    levels = claimed.study.folds if folds else [criterion.name for criterion in claimed.study.criteria]

    def over_levels(rows: Sequence[ShownQuery]) -> Number | None:
        values = [inside(rows, level) for level in levels]
        return None if folds and None in values else mean([float(value) for value in values if value is not None])

    return over_levels


def _pooled_loop(key: Key, claimed: Results) -> Loop | None:
    name, (stem, _, parameter) = key.quantity, key.quantity.partition("@")
    effective, gold = claimed.study.settings.effective_k, key.among == "with_gold"

    def gated(row: QueryRow) -> tuple[Fraction | None, float | None]:
        return (Fraction(row.gold == 0), row.prob[0] if row.prob else None) if row.ranking.hits else (None, None)

    if f"{stem}@K" in LOOPS:
        return lambda rows: number(
            name, [query.row.ranking for query in rows if query.row.gold or not gold], effective=effective
        )
    registered, at = parsed(name) if key.confidence else ("", ())
    if registered in detection.FIGURES:
        return lambda rows: detection.detection(
            registered, [query.row.prob or (0.0, int(query.row.gold > 0)) for query in rows], *at
        )
    if key.confidence:
        return lambda rows: number(name, PlainCurve([gated(query.row) for query in rows])) if rows else None
    if stem.startswith("evidence_") or stem == "average_k":
        return lambda rows: number(stem, [query.shown[parameter] for query in rows])
    return (lambda rows: number(stem, [query.decided for query in rows])) if stem in LOOPS else None
