"""Retrieval: the figures somebody reported of rankings, held against the queries they were computed from.

A figure under `positives_only` is over the queries with gold, one under `all_queries` over all. Elsewhere the nearest
`skip_no_positives` says which, or else a `queries_evaluated` that is one of the two counts; where nothing does, a
figure is over all queries, because nothing says that any were left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from demur.audit.causes import POPULATIONS, ends_too_soon, other_ways
from demur.audit.declarations import FLAG, Declarations
from demur.audit.figures import Expected, Finding, Printed, finding, key_of, not_recognised
from demur.audit.measures import Measure, measure_of
from demur.audit.names import Asked
from demur.audit.sections import Known, Path, Place, Population, leaves, place_of
from demur.audit.views import Queries, View
from demur.errors import UserError, and_more, shown

if TYPE_CHECKING:
    from demur.rankings import Query


def audited_retrieval(queries: Mapping[str, Sequence[Query]], content: Any) -> list[Finding]:
    """Every figure of a reported file, recomputed from the queries of each system.

    `content` is the file parsed by `strict_json.loads(text, number=Printed.of)`.
    """
    if not queries:
        raise UserError("the data have no ranked column to audit; name one with --system NAME=COLUMN")
    if not isinstance(content, Mapping):
        raise UserError("expected an object with a section for each system")
    audit = _Audit(Queries(queries), content)
    if not audit.figures:
        raise UserError("there are no figures in it")
    found = [audit.finding(figure) for figure in audit.figures]
    strangers = audit.strangers()
    if strangers and all(one.status == "not recognised" for one in found):
        names, there = and_more(shown(strangers[0]), len(strangers)), ", ".join(map(shown, queries))
        raise UserError(f"no section is called after a system of the data ({there}), but {names}; {_way_out('NAME')}")
    return found


def _way_out(name: str) -> str:
    return f"say which column it is with --system {name}=COLUMN"


class Figure(NamedTuple):
    """A leaf of a reported file, and what the path to it says."""

    path: Path
    value: Any
    place: Place

    @property
    def counts(self) -> bool:
        """Whether there is anything to recompute: a text or a switch is no figure, unless it stands in place of one."""
        return self.place.asked is not None or not isinstance(self.value, (str, bool))


class _Audit:
    """One reported file and the queries it is about."""

    def __init__(self, queries: Queries, content: Mapping[str, Any]) -> None:
        known = Known(queries.systems, queries.criteria, queries.folds)
        placed = (Figure(path, value, place_of(path, known)) for path, value in leaves(content))
        self.figures = [figure for figure in placed if figure.counts]
        self._queries = queries
        self._declared = Declarations(content)

    def strangers(self) -> list[str]:
        """The sections that hold figures but are called after no system."""
        places = [figure.place for figure in self.figures if figure.place.asked and not figure.place.system]
        return [*dict.fromkeys(place.stranger for place in places if place.stranger is not None)]

    def finding(self, figure: Figure) -> Finding:
        """What became of one figure."""
        key, asked = key_of(figure.path), figure.place.asked
        reason = self._why_not(figure)
        if reason is not None:
            return not_recognised(key, figure.value, reason)
        assert asked is not None  # noqa: S101  (that would have been the reason)
        if asked.figure == FLAG:
            return self._flag(key, figure)
        return self._recomputed(key, asked, self._view(figure, asked), figure.value)

    def _recomputed(self, key: str, asked: Asked, view: View, reported: Printed | None) -> Finding:
        """A figure against the data; other ways of computing are tried only where it takes them to find a cause."""
        expected = Expected(self._queries.figure(asked, view), exact=measure_of(asked).exact and view.spread is None)
        if not expected.agrees(reported):
            expected = replace(expected, otherwise=dict(other_ways(self._queries, asked, view)))
        found = finding(key, reported, expected)
        if found.status == "differs" and found.cause is None:
            return replace(found, cause=ends_too_soon(self._queries, asked, view))
        return found

    def _why_not(self, figure: Figure) -> str | None:
        """Why a figure cannot be recomputed, or None."""
        path, value, place = figure
        if place.asked is None:
            name = next((name for name in reversed(path) if not name.isdecimal()), path[-1])
            return "it does not say at which K" if place.stem else f"no known figure is called {shown(name)}"
        is_flag = place.asked.figure == FLAG
        if isinstance(value, bool) != is_flag or isinstance(value, str):
            return "expected true or false" if is_flag else "not a number"
        over_folds = place.group == "fold" and place.spread is not None
        if place.stranger is not None or (place.group is not None and not over_folds):
            return self._unplaced(place)
        return None if is_flag else self._lacking(place, measure_of(place.asked))

    def _lacking(self, place: Place, measure: Measure) -> str | None:
        """What a figure needs and the data or the file do not say."""
        candidates = self._queries.systems if place.system is None else (place.system,)
        for column in (measure.needs, "fold" if place.spread == "std" else None):
            lacking = [self._queries.lacking(column, system) for system in candidates] if column else []
            if lacking and all(lacking):
                return lacking[0]
        if place.spread == "std" and place.fold is not None:
            return "a fold alone has no spread over folds"
        if self._system(place, measure) is None:
            return f"it does not say which system it is of: {', '.join(map(shown, candidates))}"
        return None

    def _system(self, place: Place, measure: Measure) -> str | None:
        if place.system is not None or measure.column is None:
            return place.system or self._queries.systems[0]
        return self._queries.speaking_for_all(measure.column)

    def _unplaced(self, place: Place) -> str:
        if place.stranger is None:
            return f"it does not say which {place.group} it is of"
        if place.group is not None:
            return f"no {place.group} of the data is called {shown(place.stranger)}"
        if place.system is not None:
            return f"nothing known is called {shown(place.stranger)}"
        there = ", ".join(map(shown, self._queries.systems))
        name = shown(place.stranger)
        return f"no system of the data is called {name} (there are: {there}); {_way_out(name)}"

    def _view(self, figure: Figure, asked: Asked) -> View:
        """The queries a figure is over; a mean of what is one lot of queries is the figure itself."""
        place, measure = figure.place, measure_of(asked)
        view = View(
            self._system(place, measure) or self._queries.systems[0],
            averaging="micro" if measure.exact else place.averaging or "micro",
            spread=place.spread if self._queries.folds and place.fold is None else None,
            criterion=place.criterion,
            fold=place.fold,
        )
        return replace(view, population=self._population(figure, view)) if measure.of_population else view

    def _population(self, figure: Figure, view: View) -> Population:
        """All queries or those with gold: by the name of a section, a flag, or how many were evaluated."""
        if figure.place.population is not None or figure.place.asked == Asked("queries"):
            return figure.place.population or "all"  # a bare number of queries is not said to be of those evaluated
        skips, evaluated = self._declared.skips(figure.path), self._declared.evaluated(figure.path)
        if skips is None:
            one_lot = replace(view, spread=None, averaging="micro")
            with_gold = self._queries.figure(Asked("queries_with_positives"), one_lot)
            skips = evaluated == with_gold != self._queries.figure(Asked("queries_total"), one_lot)
        return "positives" if skips else "all"

    def _flag(self, key: str, figure: Figure) -> Finding:
        """Whether queries without gold were left out: the section's name says so, or else the figures beside it."""
        flag, text = figure.value, "true" if figure.value else "false"
        if figure.place.population is not None:
            truth, cause = figure.place.population == "positives", "the section's name says otherwise"
        else:
            votes = self._votes(figure.path[:-1])
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
        for figure in self.figures:
            asked = figure.place.asked
            inside = figure.path[: len(section)] == section and figure.place.population is None
            if inside and asked is not None and self._tells_populations_apart(figure, asked):
                view = self._view(figure, asked)
                for population in POPULATIONS:
                    expected = Expected(self._queries.figure(asked, replace(view, population=population)))
                    votes[population] += expected.agrees(figure.value)
        return votes

    def _tells_populations_apart(self, figure: Figure, asked: Asked) -> bool:
        known = isinstance(figure.value, Printed) and self._why_not(figure) is None
        return known and asked.figure not in (FLAG, "queries") and measure_of(asked).of_population
