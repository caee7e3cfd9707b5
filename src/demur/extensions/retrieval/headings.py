"""Headings of retrieval numbers."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from demur.errors import shown
from demur.extensions.retrieval.study import study_of
from demur.inference.estimates import Estimate
from demur.inference.key import Group, Key
from demur.quantities import Measure
from demur.results.table import Results
from demur.show.text import cell

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


def at_depth(results: Results, key: Key) -> bool:
    """Whether a number has the depth of the verdict, has none, or was chosen by name."""
    measure, settings = Measure.of(key.quantity), study_of(results).settings
    if measure.quantity.of != "ranking" or settings.metrics:
        return True
    return bool(measure.value == Measure.of(settings.verdict_metric).value)


def title(key: Key) -> str:
    """The title of a number."""
    return Measure.of(key.quantity).title


def pooled_and_mean(results: Results, key: Key) -> tuple[str, str, str]:
    """A pooled number, its mean over criteria, and its position in the reference ranges.

    There are ranges only for queries with gold and for probabilities.
    """
    figures = study_of(results).reference_ranges if key.among != "all" or key.confidence else ()
    positions = (figure.place for figure in figures if (figure.system, figure.metric) == (key.system, key.quantity))
    over_criteria = results.get(replace(key, group=Group("criterion")))
    return cell(results, results.get(key)), cell(results, over_criteria), next(positions, "")
