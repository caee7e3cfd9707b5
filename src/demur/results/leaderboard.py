"""Leaderboard: the ranks that each system may have, given which pairs of systems differ significantly.

Every pair is compared by one number, with intervals that hold for all pairs at once. Systems that are shown to be
worse than no other are tied for best, whatever the order of their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

from demur.errors import harmless
from demur.inference.estimates import Estimate, deciding
from demur.inference.key import Key, Minus
from demur.inference.rows import Row
from demur.inference.views import SharedView
from demur.results.table import Results, turned
from demur.types import Json

_PAIR = 2


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """A system: its number, the lowest and the highest rank it may have, and the systems it is shown to be worse than.

    The ranks are None where it is not ranked: it answers nothing, or ends before the coverage the areas are cut at.
    """

    system: str
    estimate: Estimate
    reaches: float
    ranks: tuple[int, int] | None
    worse_than: tuple[str, ...] = ()

    @property
    def best(self) -> bool:
        """Whether it is ranked and shown to be worse than no other."""
        return self.ranks is not None and not self.worse_than


@dataclass(frozen=True, slots=True, eq=False)
class Leaderboard:
    """Systems in the order of their numbers, those that are not ranked last; `coverage` is how far the areas go.

    `common_to` are the systems that determine the common coverage; none where a coverage was requested.
    `undecided` says why no pair can be decided, if so.
    """

    number: Key
    coverage: float
    common_to: tuple[str, ...]
    standings: tuple[Standing, ...]
    undecided: str
    library: str = ""

    @property
    def ranked(self) -> tuple[Standing, ...]:
        """The systems that are compared."""
        return tuple(standing for standing in self.standings if standing.ranks is not None)

    @property
    def best(self) -> tuple[str, ...]:
        """The systems that are shown to be worse than no other: the best one, or those tied for it."""
        return tuple(standing.system for standing in self.standings if standing.best)

    @property
    def shortest(self) -> tuple[Standing, float] | None:
        """The single system whose Cmax limits the common coverage, and what the limit would be without it."""
        if not self.common_to or len(self.ranked) <= _PAIR:
            return None
        first, second, *_ = sorted(self.ranked, key=lambda standing: standing.reaches)
        return (first, second.reaches) if second.reaches > first.reaches else None

    def to_columns(self) -> dict[str, list[Any]]:
        """One row per system: its number with its recommended interval, its ranks, and whether it may be the best."""
        rows = [_cells(self, standing) for standing in self.standings]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def to_frame(self) -> Any:
        """The leaderboard as a data frame, of the kind that the data came in if they came in one."""
        from demur.facts.frames import frame_of  # noqa: PLC0415  (frames are optional)

        return frame_of(self.to_columns(), self.library)

    def to_json(self) -> Json:
        """The leaderboard as a file holds it, beside the estimates."""
        return {
            "quantity": self.number.quantity,
            "confidence": self.number.confidence,
            "coverage": self.coverage,
            "common_to": list(self.common_to),
            "best": list(self.best),
            "standings": [
                {"system": entry.system, "ranks": entry.ranks and list(entry.ranks), "worse_than": [*entry.worse_than]}
                for entry in self.standings
            ],
        }

    def __repr__(self) -> str:
        lines = [f"{self.number.quantity} under {self.number.confidence}; best: {', '.join(self.best) or 'nobody'}"]
        for standing in self.standings:
            ranks = "not ranked" if standing.ranks is None else "rank {}–{}".format(*standing.ranks)
            lines.append(f"{standing.system}  {standing.estimate!r}  {ranks}")
        return "\n".join(map(harmless, lines))


def _cells(board: Leaderboard, standing: Standing) -> dict[str, Any]:
    estimate, interval = standing.estimate, standing.estimate.recommended
    ranks = standing.ranks or (None, None)
    return {
        "system": standing.system,
        "quantity": board.number.quantity,
        "confidence": board.number.confidence,
        "coverage": board.coverage,
        "value": estimate.value if standing.ranks else None,
        "low": interval.low if standing.ranks and interval else None,
        "high": interval.high if standing.ranks and interval else None,
        "cmax": standing.reaches,
        "rank_low": ranks[0],
        "rank_high": ranks[1],
        "best": standing.best,
        "worse_than": [*standing.worse_than],
    }


def rows_to_rank(rows: Sequence[Row], number: Key) -> list[Row]:
    """The rows of a number that can be compared: systems that answer, with areas over the same range."""
    named = [row for row in rows if replace(row.key, system="") == number]
    ends = {row.key: _end(row) for row in named}
    farthest = max(ends.values(), default=Fraction(0))
    return [row for row in named if ends[row.key] == farthest > 0]


def _end(row: Row) -> Fraction:
    """The coverage an area extends to; 0 where nothing is answered."""
    view: Any = row.view
    if not view.own.curve.defined:
        return Fraction(0)
    if isinstance(view, SharedView):
        return view.reached.value if view.reached else Fraction(0)
    cut = row.measure.coverage
    reached: Fraction = view.curve.coverage_reached
    return reached if cut is None else min(cut.value, reached)


def leaderboard_of(results: Results) -> Leaderboard | None:
    """The leaderboard; None for a single system, or where a number or a pairwise difference is missing."""
    study = results.selective
    number = study.headline
    keys = {name: replace(number, system=name) for name in results.systems}
    if not {*keys.values()} <= {row.key for row in results}:
        return None
    estimates = {name: results[key] for name, key in keys.items()}
    defined = [name for name in results.systems if results.curves[name, number.confidence].defined]
    farthest = max((estimates[name].at or 0.0 for name in defined), default=0.0)
    ranked = [name for name in defined if estimates[name].at == farthest > 0]
    deltas = {pair: pair_difference(results, *pair) for pair in combinations(ranked, 2)}
    if len(results.systems) == 1 or None in deltas.values():
        return None
    undecided = results.why_nothing_decides
    worse = {} if undecided else _worse(ranked, {pair: delta for pair, delta in deltas.items() if delta is not None})
    standings = [
        Standing(
            name,
            estimates[name],
            results.curves[name, number.confidence].cmax,
            _ranks(name, ranked, worse) if name in ranked else None,
            tuple(worse.get(name, ())),
        )
        for name in sorted(results.systems, key=lambda name: (name not in ranked, estimates[name].value))
    ]
    common = tuple(defined) if study.area_coverage is None and len(defined) > 1 else ()
    return Leaderboard(number, farthest, common, tuple(standings), undecided, results.library)


def pair_key(results: Results, system: str, other: str) -> Key | None:
    """The key of the difference of two systems in the headline number, in the direction the results hold."""
    number = results.selective.headline
    directions = ((system, other), (other, system))
    keys = (replace(number, system=first, minus=Minus("system", second)) for first, second in directions)
    return next((key for key in keys if results.get(key)), None)


def pair_difference(results: Results, system: str, other: str) -> Estimate | None:
    """The headline number of a system minus that of another."""
    key = pair_key(results, system, other)
    if key is None or key.system == system:
        return None if key is None else results[key]
    return turned(results[key])


def _worse(ranked: Sequence[str], differences: Mapping[tuple[str, str], Estimate]) -> dict[str, list[str]]:
    """For each system, those with a smaller number by an interval that excludes 0."""
    worse: dict[str, list[str]] = {name: [] for name in ranked}
    for (system, other), estimate in differences.items():
        interval = deciding(estimate)
        if interval is not None and interval.low > 0:
            worse[system].append(other)
        if interval is not None and interval.high < 0:
            worse[other].append(system)
    return worse


def _ranks(name: str, ranked: Sequence[str], worse: Mapping[str, Sequence[str]]) -> tuple[int, int]:
    behind = sum(name in others for others in worse.values())
    return 1 + len(worse.get(name, ())), len(ranked) - behind
