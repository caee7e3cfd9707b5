"""Our own files by another road: points by the plain loops, ci95 by repeating the rows of the drawn clusters.

Nothing that computes is shared with the evaluation but the seed. One tolerance for all: what is the same on paper
differs by rounding alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from demur.audit.figures import Finding
from demur.audit.loops import number
from demur.audit.loops.confidence import confidence as plain_confidence
from demur.audit.loops.draws import ci95, drawn
from demur.audit.loops.forecasts import detection
from demur.audit.loops.ranking import Ranked
from demur.audit.loops.registry import LOOPS, family, mean, parsed
from demur.audit.loops.rows import by_cluster, losses, ranking_row, selection_row, selective_rows
from demur.audit.loops.selection import PlainBounds, Shown, shown_by
from demur.audit.loops.selective import PlainCurve, Unit
from demur.errors import UserError
from demur.inference.estimates import Estimate, label
from demur.inference.key import Key
from demur.items import Items, sorted_ids
from demur.quantities.registry import COMMON
from demur.rankings import Query

if TYPE_CHECKING:
    from demur.results.table import Results

Progress = Callable[[int, int], None]
Number = Fraction | float | None

TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of each cluster of one system, and what a loop takes of them."""

    clusters: Sequence[Sequence[Any]]
    prepared: Callable[[list[Any]], Any] = list

    def of(self, which: Sequence[int]) -> Any:
        """The rows of these clusters, as often as they are drawn."""
        return self.prepared([row for cluster in which for row in self.clusters[cluster]])


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """A number as a loop over the rows of one system, or of several."""

    tables: tuple[Rows, ...]
    loop: Callable[..., Number]


def audited_independently(
    claimed: Results, recipes: Mapping[Key, Recipe], progress: Progress | None = None
) -> list[Finding]:
    """Every number that has a plain loop, and its ci95."""
    rows = [row for row in claimed if _operands(row.key, recipes)]
    everyone = range(len(next(iter(recipes.values())).tables[0].clusters)) if recipes else range(0)
    points = _numbers(recipes, everyone)
    found = [_finding(label(row.key), row.value, _difference(row.key, points, recipes)) for row in rows]
    found += [
        Finding(label(row.key), "not recognised", repr(row.value), cause="no plain loop computes it")
        for row in claimed
        if not _operands(row.key, recipes)
    ]
    boot = claimed.study.bootstrap
    if boot is None:
        return found
    resampled = [row for row in rows if row.percentile is not None]
    wanted = {key: recipes[key] for row in resampled for key in _operands(row.key, recipes)}
    values: dict[Key, list[Any]] = {row.key: [] for row in resampled}
    for replicate in range(boot.n_resamples):
        numbers = _numbers(wanted, drawn(boot.seed, replicate, len(everyone)))
        for row in resampled:
            values[row.key].append(_difference(row.key, numbers, recipes))
        if progress:
            progress(replicate + 1, boot.n_resamples)
    return [*found, *(one for row in resampled for one in _interval_findings(row, values[row.key]))]


def _operands(key: Key, recipes: Mapping[Key, Recipe]) -> list[Key]:
    """The rows a number is made of: itself, or the two a difference is between; none if a loop is lacking."""
    own = Key(key.system, key.quantity, key.confidence, key.among, key.group)
    keys = [own]
    if key.minus is not None:
        keys.append(Key(str(key.minus.value), key.quantity, key.confidence, key.among, key.group))
    return keys if all(one in recipes for one in keys) else []


def _numbers(recipes: Mapping[Key, Recipe], which: Sequence[int]) -> dict[Key, Number]:
    """Every number of a sample of clusters; the rows of a system are put together once."""
    prepared: dict[int, Any] = {}

    def rows(table: Rows) -> Any:
        if id(table) not in prepared:
            prepared[id(table)] = table.of(which)
        return prepared[id(table)]

    return {key: recipe.loop(*map(rows, recipe.tables)) for key, recipe in recipes.items()}


def _difference(key: Key, numbers: Mapping[Key, Number], recipes: Mapping[Key, Recipe]) -> float | None:
    first, *others = (numbers[operand] for operand in _operands(key, recipes))
    if first is None or None in others:
        return None
    return float(first) - sum(float(other) for other in others if other is not None)


def _finding(name: str, claimed: float, recomputed: float | None) -> Finding:
    reported = "null" if math.isnan(claimed) else repr(claimed)
    if recomputed is None or math.isnan(claimed):
        agrees = recomputed is None and math.isnan(claimed)
    else:
        agrees = abs(claimed - recomputed) <= TOLERANCE * max(1.0, abs(recomputed))
    return Finding(name, "match" if agrees else "differs", reported, recomputed)


def _interval_findings(row: Estimate, values: Sequence[Any]) -> Iterator[Finding]:
    ends = ci95(values)
    if row.percentile is not None:
        for name, claimed, recomputed in zip(
            ("low", "high"), (row.percentile.low, row.percentile.high), ends or (None, None), strict=True
        ):
            yield _finding(f"{label(row.key)}: ci95, {name}", claimed, recomputed)


def run_recipes(claimed: Results, runs: Mapping[str, Items], calibration: Any) -> dict[Key, Recipe]:
    """The loops of an evaluation of answers."""
    study, recipes = claimed.selective, dict[Key, Recipe]()
    for name in study.confidences:
        try:
            tables = {system: _table(items, name, study.loss.name, calibration) for system, items in runs.items()}
        except UserError:  # a confidence without a plain formula: its numbers are listed as not recognised
            continue
        for row in claimed.where(confidence=name, minus=None, group=None):
            recipe = _curve_recipe(row.key, tables)
            if recipe is not None:
                recipes[row.key] = recipe
    for system, items in runs.items():
        recipes |= _item_recipes(claimed, system, items)
    return recipes


def _table(items: Items, confidence: str, loss: str, calibration: Any) -> Rows:
    values = plain_confidence(items, confidence, calibration).values
    return Rows(by_cluster(items, selective_rows(items, values, loss)), PlainCurve)


def _item_recipes(claimed: Results, system: str, items: Items) -> dict[Key, Recipe]:
    """The loops of what is reported item by item."""
    answers = [answer if known else None for answer, known in zip(items.answer.tolist(), items.answered, strict=True)]
    names = [items.item_names[index] for index in items.item.tolist()]
    scored = Rows(by_cluster(items, [*zip(names, items.truth.tolist(), answers, strict=True)]))
    graded = Rows(by_cluster(items, [*zip(names, losses(items, claimed.selective.loss.name), strict=True)]))
    recipes: dict[Key, Recipe] = {}
    for row in claimed.where(system=system, confidence="", minus=None):
        if row.key.group is not None and row.key.group.name == "item":
            of_units = family(row.key.quantity) == "units"
            recipes[row.key] = Recipe((scored if of_units else graded,), _item_loop(row.key))
    return recipes


def _item_loop(key: Key) -> Callable[[Sequence[Any]], Number]:
    level = key.group.level if key.group else None

    def loop(rows: Sequence[Any]) -> Number:
        inside = [row[1:] for row in rows if row[0] == level]
        if key.quantity in ("cmax", "risk"):
            return number(key.quantity, PlainCurve([(loss, 0) for (loss,) in inside]))
        return number(key.quantity, inside)

    return loop


def _curve_recipe(key: Key, tables: Mapping[str, Rows]) -> Recipe | None:
    stem, _, parameter = key.quantity.partition("@")
    if parameter == COMMON:
        own, others = tables[key.system], [table for system, table in tables.items() if system != key.system]
        return Recipe((own, *others), lambda *curves: _cut_at_common(f"{stem}@C", curves))
    try:
        registered, at = parsed(key.quantity)
    except KeyError:
        return None
    return Recipe((tables[key.system],), lambda curve: LOOPS[registered](curve, *at))


def _cut_at_common(name: str, curves: Sequence[PlainCurve]) -> Number:
    """An area up to where the first of several systems ends."""
    shared = min(Fraction(number("cmax", curve) or 0) for curve in curves)
    return LOOPS[name](curves[0], shared) if shared else Fraction(0)


class Asked(NamedTuple):
    """One query as the loops see it."""

    criterion: str
    ranked: Ranked
    shown: Mapping[str, Shown]
    decided: Shown
    prob: float | None
    fold: str | None


def query_recipes(claimed: Results, queries: Mapping[str, Sequence[Query]]) -> dict[Key, Recipe]:
    """The loops of an evaluation of retrieval."""
    recipes: dict[Key, Recipe] = {}
    for system in claimed.systems:
        posts: dict[Any, list[Asked]] = {}
        for query in queries[system]:
            posts.setdefault(query.post, []).append(_asked(query, claimed))
        table = Rows([posts[post] for post in sorted_ids(posts)])
        for row in claimed.where(system=system, minus=None):
            loop = _query_loop(row.key, claimed)
            if loop is not None:
                recipes[row.key] = Recipe((table,), loop)
    return recipes


def _asked(query: Query, claimed: Results) -> Asked:
    settings = claimed.retrieval.settings
    bounds = PlainBounds(settings.k_min, settings.hard_cap, settings.k_max_ratio)
    ranked = ranking_row(query)
    shown = {} if query.selected is None else {"": selection_row(query)}
    for policy in settings.policies:
        scores = query.scores if query.scores is not None else [0.0] * len(query.ranked)
        if query.scores is not None or policy.startswith("fixed:"):
            count = shown_by(policy, scores, bounds)
            shown[policy] = Shown(ranked.gold, count, sum(ranked.hits[:count]))
    if settings.gate_threshold is not None:
        decided = int(bool(query.ranked) and query.prob is not None and query.prob >= settings.gate_threshold)
    else:
        decided = len(query.ranked if query.selected is None else query.selected)
    return Asked(str(query.criterion), ranked, shown, Shown(ranked.gold, decided, 0), query.prob, query.fold)


def _query_loop(key: Key, claimed: Results) -> Callable[[Sequence[Asked]], Number] | None:
    """The loop of one number over some of the queries, or the mean of it over the criteria."""
    single = _pooled_loop(key, claimed)
    if single is None or key.group is None:
        return single
    group, folds = key.group, key.group.name == "fold"

    def inside(rows: Sequence[Asked], level: str) -> Number:
        return single([row for row in rows if (row.fold if folds else row.criterion) == level])

    if group.level is not None:
        return lambda rows: inside(rows, str(group.level))
    levels = claimed.retrieval.folds if folds else [criterion.name for criterion in claimed.retrieval.criteria]

    def over_levels(rows: Sequence[Asked]) -> Number:
        values = [inside(rows, level) for level in levels]
        if folds and None in values:
            return None
        return mean([float(value) for value in values if value is not None])

    return over_levels


def _pooled_loop(key: Key, claimed: Results) -> Callable[[Sequence[Asked]], Number] | None:
    stem, _, parameter = key.quantity.partition("@")
    effective = claimed.retrieval.settings.effective_k
    if f"{stem}@K" in LOOPS:
        gold = key.among == "with_gold"
        return lambda rows: number(
            key.quantity, [row.ranked for row in rows if row.ranked.gold or not gold], effective=effective
        )
    if key.confidence:
        if family(parsed(key.quantity)[0]) == "forecasts":
            return lambda rows: detection(key.quantity, [(row.prob or 0.0, int(row.ranked.gold > 0)) for row in rows])
        return lambda rows: number(key.quantity, PlainCurve([_gated(row) for row in rows])) if rows else None
    if stem.startswith("evidence_") or stem == "average_k":
        return lambda rows: number(stem, [row.shown[parameter] for row in rows])
    return (lambda rows: number(stem, [row.decided for row in rows])) if stem in LOOPS else None


def _gated(row: Asked) -> Unit:
    answered = bool(row.ranked.hits)
    return Unit(Fraction(row.ranked.gold == 0) if answered else None, row.prob if answered else None)
