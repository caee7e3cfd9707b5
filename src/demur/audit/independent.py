"""The independent audit of demur's own files: points by plain loops, ci95 by repeating the rows of drawn clusters.

Only the seed is shared with the evaluation, no code that computes. One tolerance covers rounding in all numbers.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from demur.audit.figures import Finding
from demur.audit.group_recipes import Number, as_ranked, group_loops, labelled
from demur.audit.loops import LOOPS, family, number, parsed
from demur.audit.loops.confidence import confidence as plain_confidence
from demur.audit.loops.conventions import loop_of
from demur.audit.loops.draws import ci95, drawn, drawn_within
from demur.audit.loops.forecasts import detection
from demur.audit.loops.registry import mean
from demur.audit.loops.rows import QueryRow, by_cluster, by_post, losses, query_row, selective_rows
from demur.audit.loops.selection import PlainBounds, Shown, shown_by
from demur.audit.loops.selective import PlainCurve, Unit
from demur.errors import UserError
from demur.facts.frames import TableOf
from demur.facts.groups import grouping_of
from demur.facts.items import Items
from demur.facts.rankings import Query
from demur.inference.estimates import label
from demur.inference.key import Key
from demur.inference.resample import Progress
from demur.quantities.registry import COMMON
from demur.results.parts import Loss
from demur.results.table import Results

Loop = Callable[..., Number]

TOLERANCE = 1e-9


class Rows(NamedTuple):
    """The rows of each cluster of one system, and a function that prepares them for a loop."""

    clusters: Sequence[Sequence[Any]]
    prepared: Callable[[list[Any]], Any] = list


class Recipe(NamedTuple):
    """A number as a loop over the rows of one system, or of several."""

    tables: tuple[Rows, ...]
    loop: Loop


def audited_independently(
    claimed: Results,
    recipes: Mapping[Key, Recipe],
    progress: Progress | None = None,
    strata: Sequence[int] | None = None,
) -> TableOf[Finding]:
    """Every number that has a plain loop, and its ci95."""
    operands = {row.key: _operands(row.key, recipes) for row in claimed}
    rows = [row for row in claimed if operands[row.key]]
    clusters = next((len(recipe.tables[0].clusters) for recipe in recipes.values()), 0)
    points = _numbers(recipes, range(clusters))
    findings = TableOf(_finding(label(row.key), row.value, _difference(operands[row.key], points)) for row in rows)
    findings += [
        Finding(label(row.key), "not recognised", repr(row.value), cause="no plain loop computes it")
        for row in claimed
        if not operands[row.key]
    ]
    boot = claimed.study.bootstrap
    ends = {row.key: row.percentile.ends for row in rows if row.percentile is not None}
    resampled = {operand: recipes[operand] for key in ends for operand in operands[key]}
    values: dict[Key, list[Any]] = {key: [] for key in ends}
    for replicate in range(boot.n_resamples if boot else 0):
        numbers = _numbers(resampled, _drawn(boot.seed if boot else 0, replicate, strata or clusters))
        for key in ends:
            values[key].append(_difference(operands[key], numbers))
        if progress and boot:
            progress(replicate + 1, boot.n_resamples)
    for key, pair in ends.items():
        for name, end, recomputed in zip(("low", "high"), pair, ci95(values[key]) or (None, None), strict=True):
            findings.append(_finding(f"{label(key)}: ci95, {name}", end, recomputed))
    return findings


def _drawn(seed: int, replicate: int, of: int | Sequence[int]) -> list[int]:
    """The clusters of a replicate, drawn from a number of clusters, or within strata."""
    return drawn(seed, replicate, of) if isinstance(of, int) else drawn_within(seed, replicate, of)


def _operands(key: Key, recipes: Mapping[Key, Recipe]) -> list[Key]:
    """The keys a number is computed from: its own, or the two of a difference; none if a loop is missing."""
    if key in recipes:  # a difference of groups is one loop
        return [key]
    systems = [key.system, *([] if key.minus is None else [str(key.minus.value)])]
    keys = [Key(system, key.quantity, key.confidence, key.among, key.group) for system in systems]
    return keys if all(operand in recipes for operand in keys) else []


def _numbers(recipes: Mapping[Key, Recipe], clusters: Sequence[int]) -> dict[Key, Number]:
    """Every number of a sample of clusters; the rows of each system are assembled once."""
    tables = {id(table): table for recipe in recipes.values() for table in recipe.tables}
    samples = {
        name: table.prepared([row for cluster in clusters for row in table.clusters[cluster]])
        for name, table in tables.items()
    }
    return {key: recipe.loop(*(samples[id(table)] for table in recipe.tables)) for key, recipe in recipes.items()}


def _difference(operands: Sequence[Key], numbers: Mapping[Key, Number]) -> float | None:
    values = [numbers[operand] for operand in operands]
    first, *others = [float(value) for value in values if value is not None] or [math.nan]
    return None if None in values else first - sum(others)


def _finding(name: str, claimed: float, recomputed: float | None) -> Finding:
    reported = "null" if math.isnan(claimed) else repr(claimed)
    if recomputed is None or math.isnan(claimed):
        agrees = recomputed is None and math.isnan(claimed)
    else:
        agrees = abs(claimed - recomputed) <= TOLERANCE * max(1.0, abs(recomputed))
    return Finding(name, "match" if agrees else "differs", reported, recomputed)


def run_recipes(claimed: Results, runs: Mapping[str, Items], calibration: Any) -> dict[Key, Recipe]:
    """The loops of an evaluation of answers."""
    study, recipes = claimed.selective, dict[Key, Recipe]()
    runs = {system: items.take(items.by_name) for system, items in runs.items()}
    for name in study.confidences:
        try:
            scores = {system: plain_confidence(items, name, calibration) for system, items in runs.items()}
        except UserError:  # no plain formula: its numbers are not recognised
            continue
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
                loop = _cost_loop(row.key.quantity, own, largest) or _curve_loop(as_ranked(claimed, row.key).quantity)
            recipes |= {} if loop is None else {row.key: Recipe((own, *sharing), loop)}
        for system, items in runs.items():
            recipes |= _group_recipes(claimed, Key(system, "", name), items, graded[system])
    for system, items in runs.items():
        names = [items.item_names[index] for index in items.item.tolist()]
        columns = zip(items.answer.tolist(), items.answered, strict=True)
        answers = [answer if answered else None for answer, answered in columns]
        truths = items.truth.tolist() if items.has_scores else [None] * len(items)
        units = zip(names, truths, answers, losses(items, study.loss.name), strict=True)
        table = Rows(by_cluster(items, [*units]))
        for row in claimed.where(system=system, confidence="", minus=None):
            if row.key.group and row.key.group.name == "item":
                recipes[row.key] = Recipe((table,), _item_loop(row.key.quantity, row.key.group.level))
    return recipes


def _largest_loss(loss: Loss, items: Items) -> float | None:
    """The largest loss there can be."""
    if loss.name != "abs":
        return loss.maximum if loss.name == "given" else 1
    return items.instrument.range if items.instrument else None


def _cost_loop(quantity: str, own: Rows, largest: float | None) -> Loop | None:
    """The loop of a cost, where a fixed threshold is that of all rows; None for other quantities."""
    if largest is None or not quantity.startswith(("cost", "saving")):
        return None
    registered, at = parsed(quantity)
    if family(registered) != "costs" or registered == "cost_crossfit@A":
        return None
    fixed = {}
    if registered == "cost_at_threshold@A":
        fixed = {"of": own.prepared([row for cluster in own.clusters for row in cluster])}
    return lambda curve, *_: LOOPS[registered](curve, *at, largest=largest, **fixed)


def _group_recipes(claimed: Results, key: Key, items: Items, units: Sequence[Unit]) -> dict[Key, Recipe]:
    record = claimed.selective.groups
    names = [grouping.name for grouping in record.groupings] if record else []
    tables = {name: Rows(by_cluster(items, labelled(items, name, units))) for name in names}
    loops = group_loops(claimed, key.system, key.confidence)
    return {of_group: Recipe((tables[name],), loop) for name, of_group, loop in loops}


def strata_of_runs(claimed: Results, runs: Mapping[str, Items]) -> list[int] | None:
    """The stratum of each cluster; None where the file records no strata."""
    record = claimed.selective.groups
    if record is None or record.stratified_by is None:
        return None
    items = next(iter(runs.values()))
    strata = grouping_of(items, record.stratified_by, len(items)).of_clusters(items.cluster)
    return None if strata is None else strata.tolist()


def _curve_loop(quantity: str) -> Loop | None:
    """The loop over the curve of a system, then the curves that determine the common coverage."""
    stem, _, parameter = quantity.partition("@")

    def cut_at_common(own: PlainCurve, *sharing: PlainCurve) -> Number:
        shared = min(curve.cmax for curve in sharing)
        return LOOPS[f"{stem}@C"](own, shared) if shared else Fraction(0)

    if parameter == COMMON:
        return cut_at_common
    try:
        registered, at = parsed(quantity)
    except KeyError:
        return None
    if family(registered) != "selective":
        return None
    return lambda own, *_: LOOPS[registered](own, *at)


def _item_loop(quantity: str, item: str | None) -> Loop:
    if family(quantity) == "units":
        return lambda rows: number(quantity, [row[1:3] for row in rows if row[0] == item])
    return lambda rows: number(quantity, PlainCurve((row[3], 0) for row in rows if row[0] == item))


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
    settings = claimed.retrieval.settings
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

    def inside(rows: Sequence[ShownQuery], level: str | None) -> Number:
        return single([query for query in rows if getattr(query.row, group.name) == level])

    if group.level is not None:
        return lambda rows: inside(rows, group.level)
    folds = group.name == "fold"
    levels = claimed.retrieval.folds if folds else [criterion.name for criterion in claimed.retrieval.criteria]

    def over_levels(rows: Sequence[ShownQuery]) -> Number:
        values = [inside(rows, level) for level in levels]
        return None if folds and None in values else mean([float(value) for value in values if value is not None])

    return over_levels


def _pooled_loop(key: Key, claimed: Results) -> Loop | None:
    name, (stem, _, parameter) = key.quantity, key.quantity.partition("@")
    effective, gold = claimed.retrieval.settings.effective_k, key.among == "with_gold"

    def gated(row: QueryRow) -> tuple[Fraction | None, float | None]:
        return (Fraction(row.gold == 0), row.prob[0] if row.prob else None) if row.ranking.hits else (None, None)

    if f"{stem}@K" in LOOPS:
        return lambda rows: number(
            name, [query.row.ranking for query in rows if query.row.gold or not gold], effective=effective
        )
    if key.confidence and family(parsed(name)[0]) == "forecasts":
        return lambda rows: detection(name, [query.row.prob or (0.0, int(query.row.gold > 0)) for query in rows])
    if key.confidence:
        return lambda rows: number(name, PlainCurve([gated(query.row) for query in rows])) if rows else None
    if stem.startswith("evidence_") or stem == "average_k":
        return lambda rows: number(stem, [query.shown[parameter] for query in rows])
    return (lambda rows: number(stem, [query.decided for query in rows])) if stem in LOOPS else None
