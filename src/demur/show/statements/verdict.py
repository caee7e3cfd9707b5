"""The verdict of an evaluation: which system is better, what that is based on, and what limits it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from demur.errors import shown
from demur.inference.key import Key
from demur.results.study import AREA
from demur.results.table import Results
from demur.sampling.coverage import Coverage
from demur.show.names import NamedSystem, Pair, by_name, pairs_of, systems_of
from demur.show.statements.decisions import Conclusion, Decision, conclusion, decide
from demur.show.statements.leaderboard import best_systems, board_to_show
from demur.show.statements.population import Answered, answered, failures
from demur.show.statements.statement import Statement
from demur.show.statements.warnings import BearingWarning, bearing_warnings
from demur.show.text import level_of, listing, with_interval

_HALF = 0.5
_BEARING = (
    "one_cluster",
    "few_discordant_clusters",
    "few_clusters",
    "no_errors",
    "unequal_clusters",
    "few_resamples",
    "fitted_on_this_run",
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The main conclusion, its basis, failures that limit it, and the warnings that bear on it."""

    headline: Statement
    basis: tuple[Statement, ...]
    failures: tuple[Statement, ...] = ()
    warnings: tuple[BearingWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class NothingAnswered(Statement):
    """States that a single system answers nothing."""

    system: str
    starts_with_name: ClassVar[bool] = True

    @property
    def words(self) -> str:
        """The statement in words: there is nothing to measure or rank."""
        return f"{self.system} answered nothing: there is nothing to measure, and nothing to rank"


@dataclass(frozen=True, slots=True)
class CoverageRange(Statement):
    """States the range of coverage over which areas are compared: as requested, or as far as the systems reach."""

    requested: float | None
    ends: tuple[float | None, float | None]
    who: str

    @property
    def words(self) -> str:
        """The upper limit of the range in words."""
        if self.requested is not None and self.ends[0] != self.ends[1]:
            return f"cut at a coverage of {self.requested:.1%}"
        if self.requested is not None and self.ends[0] == self.requested:
            return f"up to a coverage of {self.requested:.1%}"
        return f"up to the coverage {self.who} reach ({self.ends[0] or 0.0:.1%})"


def coverage_range(results: Results, confidence: str, first: str, second: str) -> CoverageRange:
    """The range of coverage over which two systems are compared."""
    number, cut = results.selective.headline.quantity, results.selective.area_coverage
    start, end = (results[Key(system, number, confidence)].at for system in (first, second))
    silent = not all(results.curves[system, confidence].defined for system in results.systems)
    who = "both" if len(results.systems) == len((first, second)) else "all that answer" if silent else "all"
    return CoverageRange(None if cut is None else float(Coverage.of(cut)), (start, end), who)


@dataclass(frozen=True, slots=True)
class PairCompared(Statement):
    """States which of two systems is better by their main comparison, and over which range of coverage."""

    decision: Decision
    winner: str
    over: CoverageRange

    @property
    def starts_with_name(self) -> bool:
        """Whether the words start with the name of a system."""
        return bool(self.winner)

    @property
    def words(self) -> str:
        """The better system, or the reason why there is none."""
        decision = self.decision
        if decision.undecided:
            return "neither run is shown to be better"
        if not self.winner:
            return f"no conclusion: {decision.reason or 'there is no interval'}"
        if decision.doubt is not None:
            return f"{self.winner} looks better {self.over.words}, but {decision.doubt.words}"
        return f"{self.winner} makes fewer or smaller errors, over all thresholds {self.over.words}"


@dataclass(frozen=True, slots=True)
class AgainstBaseline(Statement):
    """States how the area of every other system compares with that of the baseline."""

    baseline: str
    decisions: tuple[tuple[Pair, Decision], ...]
    starts_with_name: ClassVar[bool] = True

    @property
    def words(self) -> str:
        """The systems with a lower area, those with a higher one, and those not shown to differ."""
        groups: dict[str, list[str]] = {"lower": [], "higher": [], "not shown to differ": []}
        for pair, decision in self.decisions:
            winner, doubt = decision.winner, f" ({decision.doubt.words})" if decision.doubt else ""
            group = "not shown to differ" if winner is None else "lower" if winner == pair.other.system else "higher"
            groups[group].append(f"{pair.other.name}{doubt}")
        text = "; ".join(f"{group}: {', '.join(members)}" for group, members in groups.items() if members)
        return f"AUGRC against {self.baseline} (lower is better): {text}"


@dataclass(frozen=True, slots=True)
class SilentSystems(Statement):
    """States which of several systems answer nothing."""

    systems: tuple[str, ...]
    others_compared: bool
    starts_with_name: ClassVar[bool] = True

    @property
    def words(self) -> str:
        """The systems, and what this means for them or for the comparison."""
        follows = "there is nothing to compare, and nothing to rank"
        if self.others_compared:
            follows = "not compared, and not ranked"
        return f"{listing(self.systems)} answered nothing: {follows}"


@dataclass(frozen=True, slots=True)
class DifferentShares(Statement):
    """States that systems answer different shares, so that their risks are not comparable."""

    answered: Answered
    risks: tuple[float, ...]
    starts_with_name: ClassVar[bool] = True

    @property
    def words(self) -> str:
        """The shares, the risks, and a caution against comparing them."""
        different = (
            f"their raw errors ({listing([thousandths(risk) for risk in self.risks])}) are about different items"
        )
        lowered = "declining hard cases lowers an error without one better answer"
        return f"{self.answered.words}, so {different}, and neither these nor the full areas may be compared: {lowered}"


@dataclass(frozen=True, slots=True)
class AreaDifference(Statement):
    """States the difference of two systems in their main comparison, and what it decides."""

    over: CoverageRange
    confidence: str
    difference: str
    pair: str
    conclusion: Conclusion

    @property
    def words(self) -> str:
        """The difference with its interval, followed by the conclusion."""
        number = (
            f"{self.over.words} the AUGRC under {shown(self.confidence)} differs by {self.difference} ({self.pair})"
        )
        return f"{number}: {self.conclusion.words}" if self.conclusion.words else number


@dataclass(frozen=True, slots=True)
class BetterOrder(Statement):
    """States that the system that is better over all thresholds has the larger risk of all answers."""

    loser: str

    @property
    def words(self) -> str:
        """The statement in words: only the order of its answers is better."""
        fewer = f"with everything answered {self.loser} makes the fewer or smaller errors"
        return f"{fewer}: what is better here is the order"


@dataclass(frozen=True, slots=True)
class RiskOfAnswers(Statement):
    """States the risk of all answers of one system."""

    risk: float
    definition: str

    @property
    def words(self) -> str:
        """The risk, and the loss that it is the mean of."""
        return f"the mean loss of its answers is {thousandths(self.risk)} ({shown(self.definition)})"


@dataclass(frozen=True, slots=True)
class RiskOfSurest(Statement):
    """States the risk of the most confident answers, compared with that of all answers."""

    coverage: float
    confidence: str
    risk: float
    risk_of_all: float

    @property
    def words(self) -> str:
        """The coverage, the risk there, and whether it is lower than that of all answers."""
        share = "half" if round(self.coverage, 3) == _HALF else f"{self.coverage:.1%} of the items"
        change = "lower" if self.risk < self.risk_of_all else "no lower"
        surest = f"on the {share} it is most confident about, by {shown(self.confidence)}"
        return f"{surest}, the error is {self.risk:.3f}: {change} than on all answers"


@dataclass(frozen=True, slots=True)
class AreaBetweenOrders(Statement):
    """States the area of one system, with those of a random ranking and of the best possible one."""

    area: float
    random: float
    optimal: float

    @property
    def words(self) -> str:
        """The three areas in words."""
        orders = f"a random order would give {self.random:.4g} and the best possible {self.optimal:.4g}"
        return f"the AUGRC is {self.area:.4g}; {orders} (lower is better)"


def verdict(results: Results) -> Verdict:
    """The verdict under the first confidence."""
    study, names = results.selective, {name: system.name for name, system in by_name(results).items()}
    confidence, pairs, only = study.confidences[0], pairs_of(results), results.systems[0]
    basis: Sequence[Statement] = ()
    if pairs:
        headline, basis = _headline(results, pairs), [*comparison(results, confidence)]
        if (board := board_to_show(results)) is not None:
            headline, basis = best_systems(results, board), [headline, *basis]
    elif results.curves[only, confidence].defined:
        headline, basis = answered(results), [*_one_system(results, only, confidence)]
    else:
        headline = NothingAnswered(names[only])
    failed = failures(results)
    warnings = bearing_warnings(
        results, results.about(confidence=confidence, group=None), _BEARING, names if pairs else {}
    )
    return Verdict(headline, tuple(basis), (failed,) if failed.often else (), tuple(warnings))


def _headline(results: Results, pairs: tuple[Pair, ...]) -> Statement:
    number, confidence = results.selective.headline, results.selective.confidences[0]
    decisions = [decide(results, pair.key(number.quantity, confidence)) for pair in pairs]
    if len(pairs) > 1:
        compared = [
            (pair, decision)
            for pair, decision in zip(pairs, decisions, strict=True)
            if all(results.curves[side.system, confidence].defined for side in (pair.first, pair.second))
        ]
        return AgainstBaseline(pairs[0].baseline.name, tuple(compared))
    decision, pair = decisions[0], pairs[0]
    winner = "" if decision.winner is None else pair.names[decision.winner]
    return PairCompared(decision, winner, coverage_range(results, confidence, pair.first.system, pair.second.system))


def _one_system(results: Results, system: str, confidence: str) -> Iterator[Statement]:
    """The risk of one system, its risk at a lower coverage, and its area."""
    study, curve = results.selective, results.curves[system, confidence]
    risk = results[Key(system, "risk", confidence)].value
    yield RiskOfAnswers(risk, study.loss.definition)
    rows = [results[Key(system, f"risk@{text}", confidence)] for text in study.coverages]
    reached = [(row.at, row.value) for row in rows if row.at is not None and row.at < curve.cmax]
    if reached and not math.isnan(risk):
        coverage, lower = min(reached, key=lambda point: abs(point[0] - curve.cmax / 2))
        yield RiskOfSurest(coverage, confidence, lower, risk)
    orders = ("", "_random", "_optimal")
    yield AreaBetweenOrders(*(results[Key(system, f"{AREA}{order}", confidence)].value for order in orders))


def comparison(results: Results, confidence: str) -> Iterator[Statement]:
    """The statements that compare each pair, with a caution if raw errors are not comparable."""
    systems = [system for system in systems_of(results) if results.curves[system.system, confidence].defined]
    silent = tuple(system.name for system in systems_of(results) if system not in systems)
    if silent:
        yield SilentSystems(silent, others_compared=len(systems) > 1)
    if len({results.curves[system.system, confidence].cmax for system in systems}) > 1:
        yield _different_shares(results, confidence, systems)
    for pair in pairs_of(results):
        if {pair.first, pair.second} <= {*systems}:
            yield from _pair(results, confidence, pair)


def _different_shares(results: Results, confidence: str, systems: Sequence[NamedSystem]) -> DifferentShares:
    counts = {own.name: own.answered for own in results.selective.systems}
    shares = Answered(results.selective.units, tuple((system.name, counts[system.system]) for system in systems))
    risks = (results[Key(system.system, "risk", confidence)].value for system in systems)
    return DifferentShares(shares, tuple(risks))


def _pair(results: Results, confidence: str, pair: Pair) -> Iterator[Statement]:
    both = (pair.first.system, pair.second.system)
    key = pair.key(results.selective.headline.quantity, confidence)
    over, concluded = coverage_range(results, confidence, *both), conclusion(results, key, pair.names)
    level = "" if results[key].requested is None else f"{level_of(results)}, "
    difference = with_interval(results, results[key])
    yield AreaDifference(over, confidence, difference, f"{level}{pair.other.name} − {pair.baseline.name}", concluded)
    winner = concluded.decision.winner
    if winner is not None:
        loser = both[1] if winner == both[0] else both[0]
        risks = {system: results[Key(system, "risk", confidence)].value for system in both}
        same = results.curves[both[0], confidence].cmax == results.curves[both[1], confidence].cmax
        if same and risks[winner] > risks[loser]:
            yield BetterOrder(pair.names[loser])


def thousandths(value: float) -> str:
    """A risk formatted with three decimals."""
    return "undefined" if math.isnan(value) else f"{value:.3f}"
