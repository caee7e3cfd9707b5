"""Retrieval: the figures somebody reported of rankings, held against the queries they were computed from.

A figure under `positives_only` is over the queries with gold, one under `all_queries` over all. Elsewhere the nearest
`skip_no_positives` says which, or else a `queries_evaluated` that is one of the two counts; where nothing does, a
figure is over all queries, because nothing says that any were left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from demur.audit.causes import POPULATIONS, ends_too_soon, other_ways
from demur.audit.figures import Expected, Finding, Printed, finding, key_of, not_recognised
from demur.audit.measures import Measure, measure_of
from demur.audit.names import Asked, asked_for
from demur.audit.sections import Known, Path, Place, Population, containers, leaves, place_of
from demur.audit.views import Queries, View
from demur.errors import UserError, and_more, shown

if TYPE_CHECKING:
    from demur.rankings import Query

FLAG = "skip_no_positives"


def audited_retrieval(queries: Mapping[str, Sequence[Query]], content: Any) -> list[Finding]:
    """Every figure of a reported file, recomputed from the queries of each system.

    `content` is the file parsed by `strict_json.loads(text, number=Printed.of)`.
    """
    if not queries:
        raise UserError("the data have no ranked column to audit; name one with --system NAME=COLUMN")
    if not isinstance(content, Mapping):
        raise UserError("expected an object with a section for each system")
    figures = [*leaves(content)]
    if not figures:
        raise UserError("there are no figures in it")
    audit = _Audit(Queries(queries), content)
    found = [audit.finding(path, value) for path, value in figures]
    strangers = audit.strangers(path for path, _ in figures)
    if strangers and all(one.status == "not recognised" for one in found):
        names, there = and_more(shown(strangers[0]), len(strangers)), ", ".join(map(shown, queries))
        raise UserError(f"no section is called after a system of the data ({there}), but {names}; {_way_out('NAME')}")
    return found


def _way_out(name: str) -> str:
    return f"say which column it is with --system {name}=COLUMN"


class _Audit:
    """One reported file and the queries it is about."""

    def __init__(self, queries: Queries, content: Mapping[str, Any]) -> None:
        self.queries = queries
        self._content = content
        self._known = Known(queries.systems, queries.criteria, queries.folds)
        self._says: dict[Path, dict[str, Any]] = {}

    def strangers(self, paths: Iterable[Path]) -> list[str]:
        """The sections that hold figures but are called after no system."""
        places = (place_of(path, self._known) for path in paths)
        return [
            *dict.fromkeys(place.stranger for place in places if place.stranger and place.asked and not place.system)
        ]

    def finding(self, path: Path, value: Any) -> Finding:
        """What became of one figure."""
        key = key_of(path)
        place = place_of(path, self._known)
        reason = self._why_not(path, place, value)
        if reason is not None:
            return not_recognised(key, value, reason)
        assert place.asked is not None  # noqa: S101  (it would have been a reason)
        if place.asked.figure == FLAG:
            return self._flag(key, path, place, flag=value)
        return self._recomputed(key, place.asked, self._view(path, place), value)

    def _recomputed(self, key: str, asked: Asked, view: View, reported: Printed | None) -> Finding:
        """A figure against the data; other ways of computing are tried only where it takes them to find a cause."""
        expected = Expected(self.queries.figure(asked, view), exact=measure_of(asked).exact and view.spread is None)
        if not expected.agrees(reported):
            expected = replace(expected, otherwise=dict(other_ways(self.queries, asked, view)))
        found = finding(key, reported, expected)
        if found.status == "differs" and found.cause is None:
            return replace(found, cause=ends_too_soon(self.queries, asked, view))
        return found

    def _why_not(self, path: Path, place: Place, value: Any) -> str | None:
        """Why a figure cannot be recomputed, or None."""
        if place.asked is None:
            name = next((name for name in reversed(path) if not name.isdecimal()), path[-1])
            return "it does not say at which K" if place.stem else f"no known figure is called {shown(name)}"
        is_flag = place.asked.figure == FLAG
        if isinstance(value, bool) != is_flag or isinstance(value, str):
            return "expected true or false" if is_flag else "not a number"
        if place.stranger is not None or place.group is not None:
            return self._unplaced(place)
        return None if is_flag else self._lacking(place, measure_of(place.asked))

    def _lacking(self, place: Place, measure: Measure) -> str | None:
        """What a figure needs and the data or the file do not say."""
        candidates = self.queries.systems if place.system is None else (place.system,)
        for column in (measure.needs, "fold" if place.spread == "std" else None):
            lacking = [self.queries.lacking(column, system) for system in candidates] if column else []
            if lacking and all(lacking):
                return lacking[0]
        if self._system(place, measure) is None:
            return f"it does not say which system it is of: {', '.join(map(shown, candidates))}"
        return None

    def _system(self, place: Place, measure: Measure) -> str | None:
        if place.system is not None or measure.column is None:
            return place.system or self.queries.systems[0]
        return self.queries.speaking_for_all(measure.column)

    def _unplaced(self, place: Place) -> str:
        if place.stranger is None:
            return f"it does not say which {place.group} it is of"
        if place.group is not None:
            return f"no {place.group} of the data is called {shown(place.stranger)}"
        if place.system is not None:
            return f"nothing known is called {shown(place.stranger)}"
        there = ", ".join(map(shown, self.queries.systems))
        name = shown(place.stranger)
        return f"no system of the data is called {name} (there are: {there}); {_way_out(name)}"

    def _view(self, path: Path, place: Place) -> View:
        assert place.asked is not None  # noqa: S101  (only recognised figures are viewed)
        measure = measure_of(place.asked)
        system = self._system(place, measure)
        assert system is not None  # noqa: S101
        spread = place.spread if self.queries.folds else None  # of one lot of queries, the mean is the figure itself
        view = View(
            system,
            averaging=place.averaging or "micro",
            spread=spread,
            criterion=place.criterion,
            fold=place.fold,
        )
        return replace(view, population=self._population(path, place, view)) if measure.of_population else view

    def _population(self, path: Path, place: Place, view: View) -> Population:
        """The queries a figure is over: by the name of a section, a flag, or how many were evaluated."""
        if place.population is not None or place.asked == Asked("queries"):
            return place.population or "all"  # a bare number of queries is not said to be of those evaluated
        above = [self._said_in(where, inside) for where, inside in containers(self._content, path)]
        flag = next((said[FLAG] for said in above if FLAG in said), None)
        if flag is not None:
            return "positives" if flag else "all"
        evaluated = next((said["queries_evaluated"] for said in above if "queries_evaluated" in said), None)
        one_lot = replace(view, spread=None, averaging="micro")
        with_gold, in_all = (
            self.queries.figure(Asked(name), one_lot) for name in ("queries_with_positives", "queries")
        )
        return "positives" if evaluated == with_gold != in_all else "all"

    def _said_in(self, where: Path, inside: Mapping[str, Any]) -> dict[str, Any]:
        """What an object says itself of the queries it is about."""
        if where not in self._says:
            said: dict[str, Any] = {}
            for name, value in inside.items():
                asked = asked_for(name)
                if asked == Asked(FLAG) and isinstance(value, bool):
                    said[FLAG] = value
                elif asked == Asked("queries_evaluated") and isinstance(value, Printed):
                    said["queries_evaluated"] = value.value
            self._says[where] = said
        return self._says[where]

    def _flag(self, key: str, path: Path, place: Place, *, flag: bool) -> Finding:
        """Whether queries without gold were left out: the section's name says so, or else the figures beside it."""
        text = "true" if flag else "false"
        if place.population is not None:
            truth, cause = place.population == "positives", "the section's name says otherwise"
        else:
            votes = self._votes(path[:-1])
            if not any(votes.values()):
                return not_recognised(key, flag, "no figure beside it tells which queries were left out")
            truth = flag if votes["positives"] == votes["all"] else votes["positives"] > votes["all"]
            cause = f"the figures beside it are over {POPULATIONS['positives' if truth else 'all']}"
        if flag == truth:
            return Finding(key, "match", text, truth)
        return Finding(key, "differs", text, truth, cause=cause)

    def _votes(self, section: Path) -> dict[Population, int]:
        """How many figures of a section agree with the data over each population."""
        votes: dict[Population, int] = {"positives": 0, "all": 0}
        for path, value in leaves(self._content):
            place = place_of(path, self._known)
            inside = path[: len(section)] == section and isinstance(value, Printed) and place.population is None
            if (
                not inside
                or place.asked is None
                or place.asked.figure in (FLAG, "queries")
                or self._why_not(path, place, value)
            ):
                continue
            if measure_of(place.asked).of_population:
                view = self._view(path, place)
                for population in POPULATIONS:
                    expected = Expected(self.queries.figure(place.asked, replace(view, population=population)))
                    votes[population] += expected.agrees(value)
        return votes
