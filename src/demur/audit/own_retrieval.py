"""Audit of an artifact of `demur retrieval`: every figure in it held against the queries it was made from.

Texts and settings (a seed, depths, bounds, versions, messages) are used, not listed. Intervals are reproduced from the
recorded seed, or, where more draws are recorded than are taken here, held within a band of Monte-Carlo error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from demur.audit.columns import Column
from demur.audit.figures import Expected, Finding, Printed, finding, key_of, not_recognised
from demur.audit.own_breaches import breach_findings
from demur.audit.own_estimates import difference
from demur.audit.own_places import lacking, other_places
from demur.audit.own_queries import Asked, Facts, Path
from demur.audit.own_system import OneSystem, grouped
from demur.audit.plain_intervals import RESAMPLES
from demur.audit.selective_draws import Resampling
from demur.errors import UserError, shown
from demur.reference_ranges import RANGES

if TYPE_CHECKING:
    from demur.rankings import Query

_SYSTEMS, _DELTAS, _PLACED = "systems", "deltas", "reference_ranges"
_MOST_DRAWS = 10**6
_FIGURES = ("queries", _SYSTEMS, _DELTAS, _PLACED)


def is_own_retrieval(content: Any) -> bool:
    """Whether a reported file is an artifact of `demur retrieval`."""
    return isinstance(content, Mapping) and content.get("kind") == "retrieval" and "systems" in content


def audited_own_retrieval(
    queries: Mapping[str, Sequence[Query]], content: Mapping[str, Any], *, resamples: int | None = None
) -> list[Finding]:
    """A finding for each figure of an artifact that was parsed with its numbers as `Printed`.

    Where no number of `resamples` is given 2000 are taken, and if a figure then lies outside its band, which the rare
    values of few posts may bring about, as many as are recorded: they leave no doubt.
    """
    if resamples is not None and resamples < 1:
        raise UserError(f"resamples {resamples}, expected 1 or more: intervals are held against draws of our own")
    found = _audited(queries, content, RESAMPLES if resamples is None else resamples)
    doubtful = any(one.status == "differs" and one.band is not None for one in found)
    recorded = Resampling.of(content.get("bootstrap"), _MOST_DRAWS).draws
    if doubtful and resamples is None and recorded.repeated and recorded.own > RESAMPLES:
        return _audited(queries, content, recorded.own)
    return found


def _audited(queries: Mapping[str, Sequence[Query]], content: Mapping[str, Any], resamples: int) -> list[Finding]:
    reported = _mapping(content.get(_SYSTEMS))
    if not reported.keys() & queries.keys():
        there = ", ".join(map(shown, queries))
        raise UserError(
            f"no system of it is in the data ({there}); say which column one is with --system {_first(reported)}=COLUMN"
        )
    asked, drawn = Asked.of(content), content.get("bootstrap")
    resampling = None if drawn is None else Resampling.of(drawn, resamples)
    systems = {
        name: OneSystem(Facts.of(rows), asked, resampling, _mapping(reported.get(name)))
        for name, rows in queries.items()
        if name in reported
    }
    audit = _Audit(systems, content, asked.baseline)
    return [one for name in _FIGURES for one in audit.findings(content.get(name), (name,))]


def _first(names: Mapping[str, Any]) -> str:
    return shown(next(iter(names), "NAME"))


def _mapping(content: Any) -> Mapping[str, Any]:
    return content if isinstance(content, Mapping) else {}


@dataclass
class _Audit:
    """What the data give for every figure there can be, and the walk through those there are."""

    systems: Mapping[str, OneSystem]
    content: Mapping[str, Any]
    baseline: str | None
    _known: dict[Path, Expected] = field(default_factory=dict)
    _columns: dict[Path, list[float]] = field(default_factory=dict)
    _flags: dict[Path, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._known |= _of_queries(next(iter(self.systems.values())).facts)
        for name, system in self.systems.items():
            place = (_SYSTEMS, name)
            self._known |= {(*place, *path): expected for path, expected in system.figures.items()}
            self._columns |= {(*place, *path): column for path, column in system.columns.items()}
            self._flags |= {(*place, *path): flag for path, flag in system.flags.items()}
            self._known |= self._differences(name, system)
        self._known |= self._placed()

    def _differences(self, name: str, system: OneSystem) -> dict[Path, Expected]:
        """The system minus the baseline, for every number both have that is not of a single criterion."""
        other = self.systems.get(self.baseline or "")
        found: dict[Path, Expected] = {}
        if other is None or other is system:
            return found
        of_other = other.compared
        for path, number in system.compared.items():
            if path in of_other:
                members = difference(number.minus(of_other[path]), system.clusters, system.draws)
                place = (_DELTAS, name, *grouped(path))
                found |= {(*place, *member): expected for member, expected in members.items()}
        return found

    def _placed(self) -> dict[Path, Expected]:
        """Results beside the reference ranges; an entry says of which system and which number it is."""
        found: dict[Path, Expected] = {}
        entries = self.content.get(_PLACED)
        for number, entry in enumerate(entries if isinstance(entries, list) else ()):
            system, metric = (_mapping(entry).get(name) for name in ("system", "metric"))
            place = (_PLACED, str(number))
            for group in ("positives_only", "detection"):
                value = self._known.get((_SYSTEMS, str(system), group, "micro", str(metric), "value"))
                found |= {} if value is None else {(*place, "value"): value}
            if metric in RANGES:
                known = {"baseline": RANGES[metric].baseline, "good": RANGES[metric].good}
                found |= {
                    (*place, name, str(end)): Expected(ends[end]) for name, ends in known.items() for end in (0, 1)
                }
        return found

    def findings(self, content: Any, place: Path) -> Iterator[Finding]:
        """What became of every figure below a place, in the order of the file."""
        waiting = [(place, content)]  # a parser may go deeper than the interpreter does
        while waiting:
            path, value = waiting.pop()
            is_column = path[2:4] in (("gate", "curve"), ("dynamic_k", "breaches"))
            if isinstance(value, Mapping) or (isinstance(value, list) and not is_column):
                members = value.items() if isinstance(value, Mapping) else enumerate(value)
                waiting += reversed([((*path, str(name)), inner) for name, inner in members])
            else:
                yield from self._leaf(path, value)

    def _leaf(self, place: Path, value: Any) -> Iterator[Finding]:
        """A number, a null or a text in place of one, a switch, or a whole list; other texts are no figures."""
        if isinstance(value, list) and place[2] == "dynamic_k":
            yield from breach_findings(key_of(place), value, self.systems.get(place[1]))
        elif isinstance(value, list):
            others = {way: self._columns[other] for way, other in self._elsewhere(place) if other in self._columns}
            column, key = self._columns.get(place), key_of(place)
            known = Finding(key, "not recognised", f"{len(value)} numbers") if column is None else None
            yield self._or_why(place, known or Column.of(column or [], others).found(key, value))
        elif isinstance(value, bool):
            yield self._flag(place, value)
        elif isinstance(value, Printed) or (value is None and place in self._known):
            yield self._figure(place, value)
        elif isinstance(value, str) and place in self._known:
            yield not_recognised(key_of(place), value, "not a number")

    def _flag(self, place: Path, flag: bool) -> Finding:  # noqa: FBT001
        truth = self._flags.get(place)
        if truth is None:
            return self._or_why(place, not_recognised(key_of(place), flag, ""))
        return Finding(key_of(place), "match" if flag == truth else "differs", str(flag).lower(), truth)

    def _figure(self, place: Path, value: Printed | None) -> Finding:
        expected = self._known.get(place)
        if expected is not None and not expected.agrees(value):
            ways = {way: self._known[other].value for way, other in self._elsewhere(place) if other in self._known}
            expected = replace(expected, otherwise={**expected.otherwise, **ways})
        return self._or_why(place, finding(key_of(place), value, expected))

    def _elsewhere(self, place: Path) -> Iterator[tuple[str, Path]]:
        return other_places(place, [*self.systems])

    def _or_why(self, place: Path, one: Finding) -> Finding:
        """A finding, with the reason if nobody could tell."""
        if one.status != "not recognised":
            return one
        return replace(one, cause=lacking(place, self.systems, self.baseline))


def _of_queries(facts: Facts) -> dict[Path, Expected]:
    with_gold = int(facts.has_gold.sum())
    counts = {
        "posts": len(facts.posts),
        "criteria": len(facts.criteria),
        "queries_total": len(facts.rows),
        "queries_with_positives": with_gold,
        "queries_without_positives": len(facts.rows) - with_gold,
    }
    return {("queries", name): Expected(count, exact=True) for name, count in counts.items()}
