"""Rankings compared: what systems reach where there is evidence, and what their differences decide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from demur.drawing.labels import isolated
from demur.extensions.retrieval.study import study_of
from demur.extensions.retrieval.warnings import FEW_WITH_GOLD
from demur.inference.estimates import Estimate
from demur.inference.key import Key
from demur.quantities import Measure
from demur.results.gaps import deciding
from demur.results.table import Results
from demur.show.names import Pair, pairs_of
from demur.show.statements.decisions import TOO_FEW, Conclusion, DecidingInterval, Decision, Doubt, decide
from demur.show.statements.statement import Statement
from demur.show.text import listing, with_interval

_MOST_SENTENCES = 3
TOO_FEW["clusters_with_gold"] = (FEW_WITH_GOLD, "hold gold")


def primary(results: Results, system: str) -> Key:
    """The key of the number of the verdict: the nDCG over queries with gold, or the first metric chosen."""
    return Key(system, study_of(results).settings.verdict_metric, among="with_gold")


def primary_difference(results: Results, pair: Pair) -> Key:
    """The difference from the baseline that the verdict rests on."""
    return replace(primary(results, pair.other.system), minus=pair.minus)


@dataclass(frozen=True, slots=True)
class Reached(Statement):
    """The number of the verdict that a system reaches where there is evidence."""

    system: str
    title: str
    value: str
    starts_with_name: ClassVar[bool] = True

    @property
    def words(self) -> str:
        """The number; nDCG, MRR and MAP are pronounced with a vowel."""
        article = "an" if self.title[0] in "nM" else "a"
        return f"{self.system} reaches {article} {self.title} of {self.value} where there is evidence"


@dataclass(frozen=True, slots=True)
class RankingsCompared(Statement):
    """Which systems rank the evidence better or worse than the baseline, and why that is doubtful, if it is."""

    baseline: str
    better: tuple[str, ...]
    worse: tuple[str, ...]
    undecided: tuple[str, ...]
    few_posts: bool
    doubt: Doubt | None

    @property
    def starts_with_name(self) -> bool:
        """Whether a system is named first."""
        return self._pair and bool(self.better or self.worse)

    @property
    def _pair(self) -> bool:
        return len((*self.better, *self.worse, *self.undecided)) == 1

    @property
    def words(self) -> str:
        """The better one of two systems, or all systems by how they compare with the baseline."""
        base, few = self.baseline, "too few posts stand behind that"
        if not (self.better or self.worse):
            subject, or_worse = ("neither", "") if self._pair else ("no", f" or worse than {base}")
            return f"{subject} system is shown to rank the evidence better{or_worse}"
        if self._pair:
            winner, loser = (self.better[0], base) if self.better else (base, self.worse[0])
            if self.few_posts or self.doubt is not None:
                reason = few if self.few_posts or self.doubt is None else self.doubt.words
                return f"{winner} looks better at ranking the evidence, but {reason}"
            return f"{winner} ranks the evidence better than {loser}"
        groups = {f"better than {base}": self.better, f"worse than {base}": self.worse}
        groups["not shown to differ"] = self.undecided
        text = "; ".join(f"{label}: {', '.join(members)}" for label, members in groups.items() if members)
        return f"ranking of the evidence, {text}{f'; {few}' if self.few_posts or self.doubt else ''}"


@dataclass(frozen=True, slots=True)
class RankingDifference(Statement):
    """What a system reaches, its paired difference from the baseline, and what that decides."""

    reached: Reached
    difference: str
    baseline: str
    conclusion: Conclusion
    starts_with_name: ClassVar[bool] = True

    @property
    def words(self) -> str:
        """The number, the difference and the conclusion."""
        paired = f"a paired difference from {self.baseline} of {self.difference}"
        return f"{self.reached.words}, {paired}: {self.conclusion.words}"


@dataclass(frozen=True, slots=True)
class MoreSystems(Statement):
    """How many more systems are compared in the same way."""

    systems: int

    @property
    def words(self) -> str:
        """The number."""
        return f"{self.systems} more systems are compared in the same way"


@dataclass(frozen=True, slots=True)
class HighestNumbers(Statement):
    """For how many numbers each system has the highest value, whether or not that is shown."""

    numbers: int
    by_system: tuple[tuple[str, int], ...]

    @property
    def words(self) -> str:
        """The counts."""
        counts = [f"{name} in {number}" for name, number in self.by_system]
        return f"highest of {self.numbers} numbers: {listing(counts)}"


@dataclass(frozen=True, slots=True)
class BetterOrWorse(Statement):
    """What a difference decides about a system in a word, for a table of many, and the note that explains it."""

    decision: Decision
    system: str

    @property
    def words(self) -> str:
        """The word; empty where nothing is decided by a single interval."""
        if self.decision.winner is not None:
            word = "better" if self.decision.winner == self.system else "worse"
            return f"looks {word}" if self.decision.doubt else word
        return "undecided" if self.decision.by.kind == "simultaneous" else ""

    @property
    def note(self) -> str:
        """What the word means; empty where it needs no note."""
        if self.decision.doubt is not None:
            return f"looks better or worse: {self.decision.doubt.words}"
        if self.words != "undecided":
            return ""
        interval = DecidingInterval("simultaneous").words
        return f"undecided: the {interval}, which allows for looking at all differences, includes 0"


def _value(results: Results, key: Key) -> str:
    estimate = results.get(key)
    return "undefined" if estimate is None else with_interval(results, estimate)


def reached(results: Results, system: str) -> Reached:
    """The number of the verdict that a system reaches."""
    key = primary(results, system)
    return Reached(isolated(system), Measure.of(key.quantity).title, _value(results, key))


def rankings_compared(results: Results, names: Mapping[str, str]) -> RankingsCompared:
    """Every other system compared with the baseline by the number of the verdict."""
    pairs = pairs_of(results)
    few = study_of(results).posts < FEW_WITH_GOLD or any(w.code == "few_clusters_with_gold" for w in results.warnings)
    better, worse, undecided, doubts = list[str](), list[str](), list[str](), list[Doubt]()
    for pair in pairs:
        decision = decide(results, primary_difference(results, pair))
        winner = decision.winner
        group = undecided if winner is None else better if winner == pair.other.system else worse
        group.append(names[pair.other.system])
        doubts += [] if decision.doubt is None else [decision.doubt]
    baseline, doubt = names[pairs[0].baseline.system], doubts[0] if doubts else None
    return RankingsCompared(baseline, tuple(better), tuple(worse), tuple(undecided), few, doubt)


def difference_statements(results: Results, names: Mapping[str, str]) -> Iterator[Statement]:
    """The baseline, and the differences of the first other systems."""
    pairs = pairs_of(results)
    baseline = pairs[0].baseline.system
    yield reached(results, baseline)
    for pair in pairs[:_MOST_SENTENCES]:
        key = primary_difference(results, pair)
        concluded = retrieval_conclusion(results, key)
        own, difference = reached(results, pair.other.system), _value(results, key)
        yield RankingDifference(own, difference, names[baseline], concluded)
    if len(pairs) > _MOST_SENTENCES:
        yield MoreSystems(len(pairs) - _MOST_SENTENCES)


def retrieval_conclusion(results: Results, key: Key) -> Conclusion:
    """What a difference decides; where neither direction is better, on which side of 0 it is."""
    side = results.why_nothing_decides or side_of_zero(results.get(key)) or "there is no interval"
    return Conclusion(decide(results, key), isolated_names(results), otherwise=side)


def isolated_names(results: Results) -> dict[str, str]:
    """The names of the systems for sentences, by their identity."""
    return {name: isolated(name) for name in results.systems}


def side_of_zero(difference: Estimate | None) -> str:
    """On which side of 0 the deciding interval of a difference is; empty without one."""
    interval = None if difference is None else deciding(difference)
    if interval is None:
        return ""
    if interval.low <= 0 <= interval.high:
        return Decision(undecided=True).reason
    return "above" if interval.low > 0 else "below"
