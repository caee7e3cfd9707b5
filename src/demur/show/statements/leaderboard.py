"""The leaderboard: which systems are best, what the ranks rest on, and who sets the common coverage."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from demur.drawing.labels import isolated
from demur.inference.key import Key
from demur.results.leaderboard import Leaderboard, Standing, leaderboard_of, pair_key
from demur.results.table import Results
from demur.show.names import by_name
from demur.show.statements.decisions import Doubt, decide
from demur.show.statements.statement import Statement
from demur.show.text import UNDEFINED, listing

_FEWEST = 3
_PAIR = 2
_MUCH_FARTHER = 1.2
_FEW_CLUSTERS = 20


def board_to_show(results: Results) -> Leaderboard | None:
    """The leaderboard of three or more systems; None for fewer."""
    return leaderboard_of(results) if len(results.systems) >= _FEWEST else None


@dataclass(frozen=True, slots=True)
class Rank(Statement):
    """The ranks that a system may have, or where its curve ends if it has none."""

    ranks: tuple[int, int] | None
    reaches: float
    needed: float

    @property
    def words(self) -> str:
        """The rank, or the range of ranks."""
        return self.text(UNDEFINED)

    def text(self, dash: str) -> str:
        """The rank, or the range of ranks, with the dash of a medium."""
        if self.ranks is None:
            return dash
        low, high = self.ranks
        return f"{low}" if low == high else f"{low}{dash}{high}"

    @property
    def why_none(self) -> str:
        """Why there is no rank; empty where there is one."""
        if self.ranks is not None:
            return ""
        return f"ends at {self.reaches:.1%}, before {self.needed:.1%}" if self.reaches else "nothing is answered"


def rank(board: Leaderboard, standing: Standing) -> Rank:
    """The rank of a standing."""
    return Rank(standing.ranks, standing.reaches, board.coverage)


@dataclass(frozen=True, slots=True)
class BestSystems(Statement):
    """The best of all ranked systems, or those tied for best, with the doubts about that."""

    best: tuple[str, ...]
    ranked: int
    undecided: str
    doubts: tuple[Doubt, ...]
    beats_all: bool

    @property
    def starts_with_name(self) -> bool:
        """Whether a system is named first."""
        return self.ranked >= _PAIR and not self.undecided and len(self.best) < self.ranked

    @property
    def words(self) -> str:
        """The best systems, and what that means for the others."""
        best, total = listing(self.best) if self.best else "", self.ranked
        if total < _PAIR:
            return "no two systems can be compared, so none is ranked"
        if self.undecided:
            return f"no system is ranked above another: {self.undecided}"
        if len(self.best) == total:
            return f"all {total} systems are tied for best: none is shown to be worse than another"
        if self.doubts:
            looks = "looks the" if len(self.best) == 1 else "look tied for"
            return f"{best} {looks} best of {total} systems, but {listing([doubt.words for doubt in self.doubts])}"
        if len(self.best) > 1:
            return f"{best} are tied for best of {total} systems: none of them is shown to be worse than another"
        others = "each of the others is shown to be worse" + ("" if self.beats_all else " than it or than another")
        return f"{best} is the best of {total} systems: {others}"


def best_systems(results: Results, board: Leaderboard) -> BestSystems:
    """The best systems of a leaderboard."""
    names = by_name(results)
    beaten = bool(board.best) and all(board.best[0] in each.worse_than for each in board.ranked if not each.best)
    best = tuple(names[system].name for system in board.best)
    return BestSystems(best, len(board.ranked), board.undecided, tuple(_doubts(results, board)), beaten)


def _doubts(results: Results, board: Leaderboard) -> Counter[Doubt]:
    """The reasons to doubt the shown differences, each with the number of differences."""
    doubts = (decide(results, key).doubt for key in _shown(results, board))
    return Counter(doubt for doubt in doubts if doubt is not None)


def _shown(results: Results, board: Leaderboard) -> list[Key]:
    keys = (pair_key(results, ranked.system, other) for ranked in board.ranked for other in ranked.worse_than)
    return [key for key in keys if key is not None]


@dataclass(frozen=True, slots=True)
class RanksRestOn(Statement):
    """The intervals that the ranks rest on."""

    differences: int
    clusters: int

    @property
    def words(self) -> str:
        """The intervals, and of how many differences at once."""
        few = self.clusters < _FEW_CLUSTERS
        method = "Bonferroni-adjusted t intervals" if few else "the max-t bootstrap"
        intervals = f"95 % intervals for all {self.differences} differences at once ({method})"
        return f"the ranks are those that {intervals} do not rule out"


@dataclass(frozen=True, slots=True)
class DoubtedDifferences(Statement):
    """How many of the shown differences are doubtful for one reason."""

    doubt: Doubt
    doubted: int
    shown: int

    @property
    def words(self) -> str:
        """The number and the reason."""
        return f"in {self.doubted} of the {self.shown} differences shown, {self.doubt.words}: treat those with care"


@dataclass(frozen=True, slots=True)
class CommonCoverage(Statement):
    """The coverage that all systems of a leaderboard reach."""

    coverage: float
    systems: int

    @property
    def words(self) -> str:
        """What it depends on."""
        common = f"C_common ({self.coverage:.1%}) is the smallest Cmax of these {self.systems} systems"
        return f"{common}: adding or leaving out a system changes every area and every difference"


@dataclass(frozen=True, slots=True)
class SetsCommonCoverage(Statement):
    """The system that answers least, where the others would compare much farther without it."""

    name: str
    system: str
    without: float
    starts_with_name: ClassVar[bool] = True

    @property
    def words(self) -> str:
        """What it sets, and how to leave it out."""
        option = f"--exclude {isolated(shlex.quote(self.system))}"
        farther = f"without {self.name} the others compare up to {self.without:.1%} ({option})"
        return f"{self.name} answers least and sets it; {farther}. --area-coverage fixes the coverage beforehand"


def ranks_rest_on(results: Results, board: Leaderboard) -> RanksRestOn | None:
    """What the ranks rest on; None where there is nothing to rank, or nothing is decided."""
    pairs = len(board.ranked) * (len(board.ranked) - 1) // 2
    return RanksRestOn(pairs, results.selective.clusters_included) if pairs > 1 and not board.undecided else None


def leaderboard_statements(results: Results, board: Leaderboard) -> Iterator[Statement]:
    """The basis of the ranks, doubts about them, and the effect of adding or excluding a system."""
    if (basis := ranks_rest_on(results, board)) is not None:
        yield basis
    shown = len(_shown(results, board))
    yield from (DoubtedDifferences(doubt, number, shown) for doubt, number in _doubts(results, board).items())
    if board.common_to:
        yield CommonCoverage(board.coverage, len(board.common_to))
    standing, without = board.shortest or (board.standings[0], 0.0)
    if without >= _MUCH_FARTHER * board.coverage > 0:
        yield SetsCommonCoverage(by_name(results)[standing.system].name, standing.system, without)
