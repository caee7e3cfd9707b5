"""Our own files by another road: points by the plain loops, ci95 by repeating the rows of the drawn clusters.

Nothing that computes is shared with the evaluation but the seed. One tolerance holds for all of them: what is the same
on paper differs by rounding alone.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from demur.audit.figures import Finding
from demur.audit.loops import LOOPS, family, number, parsed
from demur.audit.loops.confidence import confidence as plain_confidence
from demur.audit.loops.draws import ci95, drawn
from demur.audit.loops.forecasts import detection
from demur.audit.loops.registry import mean
from demur.audit.loops.rows import QueryRow, by_cluster, by_post, losses, query_row, selective_rows
from demur.audit.loops.selection import PlainBounds, Shown, shown_by
from demur.audit.loops.selective import PlainCurve
from demur.errors import UserError
from demur.facts.items import Items
from demur.facts.rankings import Query
from demur.inference.estimates import Estimate, label
from demur.inference.key import Key
from demur.quantities.registry import COMMON
from demur.results.table import Results

Progress = Callable[[int, int], None]
Number = Fraction | float | None
Loop = Callable[..., Number]

TOLERANCE = 1e-9


class Rows(NamedTuple):
    """The rows of each cluster of one system, and what a loop takes of them."""

    clusters: Sequence[Sequence[Any]]
    prepared: Callable[[list[Any]], Any] = list

    def of(self, which: Sequence[int]) -> Any:
        """The rows of these clusters, as often as they are drawn."""
        return self.prepared([row for cluster in which for row in self.clusters[cluster]])


class Recipe(NamedTuple):
    """A number as a loop over the rows of one system, or of several."""

    tables: tuple[Rows, ...]
    loop: Loop


def audited_independently(
    claimed: Results, recipes: Mapping[Key, Recipe], progress: Progress | None = None
) -> list[Finding]:
    """Every number that has a plain loop, and its ci95."""
    rows = [row for row in claimed if _operands(row.key, recipes)]
    clusters = next((len(recipe.tables[0].clusters) for recipe in recipes.values()), 0)
    points = _numbers(recipes, range(clusters))
    findings = [_finding(label(row.key), row.value, _difference(row.key, points, recipes)) for row in rows]
    findings += [
        Finding(label(row.key), "not recognised", repr(row.value), cause="no plain loop computes it")
        for row in claimed
        if not _operands(row.key, recipes)
    ]
    boot, resampled = claimed.study.bootstrap, [row for row in rows if row.percentile is not None]
    wanted = {key: recipes[key] for row in resampled for key in _operands(row.key, recipes)}
    values: dict[Key, list[Any]] = {row.key: [] for row in resampled}
    for replicate in range(boot.n_resamples if boot else 0):
        numbers = _numbers(wanted, drawn(boot.seed if boot else 0, replicate, clusters))
        for row in resampled:
            values[row.key].append(_difference(row.key, numbers, recipes))
        if progress and boot:
            progress(replicate + 1, boot.n_resamples)
    return [*findings, *(end for row in resampled for end in _interval_findings(row, values[row.key]))]


def _operands(key: Key, recipes: Mapping[Key, Recipe]) -> list[Key]:
    """The rows a number is made of: itself, or the two a difference is between; none if a loop is lacking."""
    systems = [key.system, *([] if key.minus is None else [str(key.minus.value)])]
    keys = [Key(system, key.quantity, key.confidence, key.among, key.group) for system in systems]
    return keys if all(operand in recipes for operand in keys) else []


def _numbers(recipes: Mapping[Key, Recipe], which: Sequence[int]) -> dict[Key, Number]:
    """Every number of a sample of clusters; the rows of a system are put together once."""
    tables = {id(table): table for recipe in recipes.values() for table in recipe.tables}
    samples = {name: table.of(which) for name, table in tables.items()}
    return {key: recipe.loop(*(samples[id(table)] for table in recipe.tables)) for key, recipe in recipes.items()}


def _difference(key: Key, numbers: Mapping[Key, Number], recipes: Mapping[Key, Recipe]) -> float | None:
    values = [numbers[operand] for operand in _operands(key, recipes)]
    first, *others = [float(value) for value in values if value is not None] or [math.nan]
    return None if None in values else first - sum(others)


def _finding(name: str, claimed: float, recomputed: float | None) -> Finding:
    reported = "null" if math.isnan(claimed) else repr(claimed)
    if recomputed is None or math.isnan(claimed):
        agrees = recomputed is None and math.isnan(claimed)
    else:
        agrees = abs(claimed - recomputed) <= TOLERANCE * max(1.0, abs(recomputed))
    return Finding(name, "match" if agrees else "differs", reported, recomputed)


def _interval_findings(row: Estimate, values: Sequence[Any]) -> Iterator[Finding]:
    if row.percentile is not None:
        claimed = row.percentile.low, row.percentile.high
        for name, end, recomputed in zip(("low", "high"), claimed, ci95(values) or (None, None), strict=True):
            yield _finding(f"{label(row.key)}: ci95, {name}", end, recomputed)


def run_recipes(claimed: Results, runs: Mapping[str, Items], calibration: Any) -> dict[Key, Recipe]:
    """The loops of an evaluation of answers."""
    study, recipes = claimed.selective, dict[Key, Recipe]()
    for name in study.confidences:
        try:
            given = {system: plain_confidence(items, name, calibration) for system, items in runs.items()}
        except UserError:  # a confidence without a plain formula: its numbers are listed as not recognised
            continue
        tables = {
            system: Rows(by_cluster(items, selective_rows(items, given[system], study.loss.name)), PlainCurve)
            for system, items in runs.items()
        }
        for row in claimed.where(confidence=name, minus=None, group=None):
            recipe = _curve_recipe(row.key, tables)
            recipes |= {} if recipe is None else {row.key: recipe}
    for system, items in runs.items():
        recipes |= _item_recipes(claimed, system, items)
    return recipes


def _curve_recipe(key: Key, tables: Mapping[str, Rows]) -> Recipe | None:
    stem, _, parameter = key.quantity.partition("@")
    if parameter == COMMON:
        others = [table for system, table in tables.items() if system != key.system]
        return Recipe((tables[key.system], *others), lambda *curves: _cut_at_common(f"{stem}@C", curves))
    try:
        registered, at = parsed(key.quantity)
    except KeyError:
        return None
    return Recipe((tables[key.system],), lambda curve: LOOPS[registered](curve, *at))


def _cut_at_common(name: str, curves: Sequence[PlainCurve]) -> Number:
    """An area up to where the first of several systems ends."""
    shared = min(curve.cmax for curve in curves)
    return LOOPS[name](curves[0], shared) if shared else Fraction(0)


def _item_recipes(claimed: Results, system: str, items: Items) -> dict[Key, Recipe]:
    """The loops of what is reported item by item."""
    answers = [answer if known else None for answer, known in zip(items.answer.tolist(), items.answered, strict=True)]
    names = [items.item_names[index] for index in items.item.tolist()]
    graded = losses(items, claimed.selective.loss.name)
    table = Rows(by_cluster(items, [*zip(names, items.truth.tolist(), answers, graded, strict=True)]))
    keys = [row.key for row in claimed.where(system=system, confidence="", minus=None)]
    return {key: Recipe((table,), _item_loop(key)) for key in keys if key.group and key.group.name == "item"}


def _item_loop(key: Key) -> Loop:
    level = key.group.level if key.group else None
    if family(key.quantity) == "units":
        return lambda rows: number(key.quantity, [row[1:3] for row in rows if row[0] == level])
    return lambda rows: number(key.quantity, PlainCurve((row[3], 0) for row in rows if row[0] == level))


class ShownQuery(NamedTuple):
    """One query: its rows, what each policy shows of it, and whether anything is shown at all."""

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
    settings, row = claimed.retrieval.settings, query_row(query)
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
    stem, _, parameter = key.quantity.partition("@")
    effective, gold = claimed.retrieval.settings.effective_k, key.among == "with_gold"
    if f"{stem}@K" in LOOPS:
        return lambda rows: number(
            key.quantity, [query.row.ranking for query in rows if query.row.gold or not gold], effective=effective
        )
    if key.confidence and family(parsed(key.quantity)[0]) == "forecasts":
        return lambda rows: detection(
            key.quantity, [query.row.prob or (0.0, int(query.row.gold > 0)) for query in rows]
        )
    if key.confidence:
        return lambda rows: number(key.quantity, PlainCurve([_gated(query.row) for query in rows])) if rows else None
    if stem.startswith("evidence_") or stem == "average_k":
        return lambda rows: number(stem, [query.shown[parameter] for query in rows])
    return (lambda rows: number(stem, [query.decided for query in rows])) if stem in LOOPS else None


def _gated(row: QueryRow) -> tuple[Fraction | None, float | None]:
    return (Fraction(row.gold == 0), row.prob[0] if row.prob else None) if row.ranking.hits else (None, None)
