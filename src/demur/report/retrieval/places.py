"""Places: the groups numbers of retrieval are listed in, what these are called, and the number a verdict rests on."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from demur.errors import shown
from demur.inference.estimates import Estimate
from demur.inference.key import Group, Key
from demur.quantities import Measure
from demur.report.names import Pair
from demur.report.text import UNDEFINED, with_interval
from demur.results.table import Results

_TITLES = {
    ("ranking", "with_gold"): ("Queries with gold", "positives only"),
    ("ranking", "all"): ("All queries", "all queries"),
    ("selection", "all"): ("As selected", "dynamic k"),
    ("decision", "all"): ("No evidence: the decision", "empty decision"),
    ("forecasts", "all"): ("No evidence: the chance", "detection"),
    ("curve", "all"): ("The gate", "gate"),
}


@dataclass(frozen=True, slots=True)
class Place:
    """Numbers that are listed together: of one family of quantities, among some queries, of one policy if of any."""

    family: str
    among: str
    policy: str = ""

    @property
    def title(self) -> str:
        """The place as a heading."""
        return f"Policy {shown(self.policy)}" if self.policy else _TITLES[self.family, self.among][0]

    @property
    def words(self) -> str:
        """The place inside a line of text."""
        return f"policies, {shown(self.policy)}" if self.policy else _TITLES[self.family, self.among][1]


def by_place(rows: Iterable[Estimate]) -> dict[Place, list[Estimate]]:
    """Numbers place by place; a number that belongs in none of them is in the file alone."""
    places: dict[tuple[str, str], dict[Place, list[Estimate]]] = {name: {} for name in _TITLES}
    for row in rows:
        measure = Measure.of(row.key.quantity)
        family, among = measure.quantity.of, row.key.among
        place = Place(family, among, measure.text if family == "selection" else "")
        places.get((family, among), {}).setdefault(place, []).append(row)
    return {place: members for listed in places.values() for place, members in listed.items()}


def pooled(results: Results, system: str, family: str, among: str = "all") -> list[Estimate]:
    """The numbers of a system in one family of quantities, over all criteria and folds and of no policy."""
    return by_place(results.where(system=system, group=None, minus=None)).get(Place(family, among), [])


def primary(results: Results, system: str) -> Key:
    """The number the verdict rests on: the nDCG where there is evidence, or the first metric that was chosen."""
    return Key(system, results.retrieval.settings.verdict_metric, among="with_gold")


def primary_difference(results: Results, pair: Pair) -> Key:
    """The difference from the baseline that the verdict rests on."""
    return replace(primary(results, pair.other.system), minus=pair.minus)


def at_depth(results: Results, key: Key) -> bool:
    """Whether a number is taken at the depth of the verdict, or at none; one that was chosen by name always counts."""
    measure, settings = Measure.of(key.quantity), results.retrieval.settings
    if measure.quantity.of != "ranking" or settings.metrics:
        return True
    return bool(measure.value == Measure.of(settings.verdict_metric).value)


def title(key: Key) -> str:
    """What a number is called."""
    return Measure.of(key.quantity).title


def a_title(key: Key) -> str:
    """What a number is called, with an article: letters that are spelled out begin with a vowel."""
    return f"{'an' if title(key)[0] in 'nM' else 'a'} {title(key)}"


def cell(results: Results, estimate: Estimate | None) -> str:
    """A number with its interval."""
    return UNDEFINED if estimate is None or math.isnan(estimate.value) else with_interval(results, estimate)


def pooled_and_mean(results: Results, key: Key) -> tuple[str, str, str]:
    """A number pooled, its mean over criteria, and where it falls among the reference ranges.

    The ranges are of queries with gold, and of probabilities.
    """
    figures = results.retrieval.reference_ranges if key.among != "all" or key.confidence else ()
    ranges = (each.place for each in figures if (each.system, each.metric) == (key.system, key.quantity))
    over_criteria = results.get(replace(key, group=Group("criterion")))
    return cell(results, results.get(key)), cell(results, over_criteria), next(ranges, "")


def chance_numbers(results: Results, system: str, *families: str) -> tuple[str, ...]:
    """Every number of a system's probabilities, to tell whether systems share them."""
    rows = results.where(system=system, confidence="prob", minus=None)
    chosen = [row for row in rows if Measure.of(row.key.quantity).quantity.of in families]
    return tuple(repr((row.key.quantity, row.key.group, row.value, row.recommended, row.threshold)) for row in chosen)
