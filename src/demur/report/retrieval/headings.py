"""Headings of retrieval numbers, and the number that the verdict is based on."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from demur.errors import shown
from demur.inference.estimates import Estimate
from demur.inference.key import Group, Key
from demur.quantities import Measure
from demur.report.names import Pair
from demur.report.text import cell
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
class Heading:
    """The heading of a list of numbers: one family of quantities, one population of queries, one policy if any."""

    family: str
    among: str
    policy: str = ""

    @property
    def title(self) -> str:
        """The text of the heading."""
        return f"Policy {shown(self.policy)}" if self.policy else _TITLES[self.family, self.among][0]

    @property
    def words(self) -> str:
        """The heading inside a line of text."""
        return f"policies, {shown(self.policy)}" if self.policy else _TITLES[self.family, self.among][1]


def by_heading(rows: Iterable[Estimate]) -> dict[Heading, list[Estimate]]:
    """Numbers by heading; a number without one is only in the file."""
    headings: dict[tuple[str, str], dict[Heading, list[Estimate]]] = {name: {} for name in _TITLES}
    for row in rows:
        measure = Measure.of(row.key.quantity)
        family, among = measure.quantity.of, row.key.among
        heading = Heading(family, among, measure.text if family == "selection" else "")
        headings.get((family, among), {}).setdefault(heading, []).append(row)
    return {heading: members for listed in headings.values() for heading, members in listed.items()}


def pooled(results: Results, system: str, family: str, among: str = "all") -> list[Estimate]:
    """The pooled numbers of a system in one family of quantities, without a policy."""
    return by_heading(results.where(system=system, group=None, minus=None)).get(Heading(family, among), [])


def primary(results: Results, system: str) -> Key:
    """The key of the number of the verdict: the nDCG over queries with gold, or the first metric chosen."""
    return Key(system, results.retrieval.settings.verdict_metric, among="with_gold")


def primary_difference(results: Results, pair: Pair) -> Key:
    """The difference from the baseline that the verdict rests on."""
    return replace(primary(results, pair.other.system), minus=pair.minus)


def at_depth(results: Results, key: Key) -> bool:
    """Whether a number has the depth of the verdict, has none, or was chosen by name."""
    measure, settings = Measure.of(key.quantity), results.retrieval.settings
    if measure.quantity.of != "ranking" or settings.metrics:
        return True
    return bool(measure.value == Measure.of(settings.verdict_metric).value)


def title(key: Key) -> str:
    """The title of a number."""
    return Measure.of(key.quantity).title


def a_title(key: Key) -> str:
    """The title of a number with its article: nDCG, MRR and MAP are pronounced with a vowel."""
    return f"{'an' if title(key)[0] in 'nM' else 'a'} {title(key)}"


def pooled_and_mean(results: Results, key: Key) -> tuple[str, str, str]:
    """A pooled number, its mean over criteria, and its position in the reference ranges.

    There are ranges only for queries with gold and for probabilities.
    """
    figures = results.retrieval.reference_ranges if key.among != "all" or key.confidence else ()
    positions = (figure.place for figure in figures if (figure.system, figure.metric) == (key.system, key.quantity))
    over_criteria = results.get(replace(key, group=Group("criterion")))
    return cell(results, results.get(key)), cell(results, over_criteria), next(positions, "")


def chance_numbers(results: Results, system: str, *families: str) -> tuple[str, ...]:
    """All numbers of a system's probabilities, by which systems with the same probabilities are detected."""
    rows = results.where(system=system, confidence="prob", minus=None)
    chosen = [row for row in rows if Measure.of(row.key.quantity).quantity.of in families]
    return tuple(repr((row.key.quantity, row.key.group, row.value, row.recommended, row.threshold)) for row in chosen)
