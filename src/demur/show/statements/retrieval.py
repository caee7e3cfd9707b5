"""Retrieval: the verdict on rankings where there is evidence, and on the detection of queries without any."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from demur.drawing.labels import isolated
from demur.errors import shown
from demur.inference.estimates import Estimate, deciding
from demur.inference.key import Key
from demur.inference.warnings import FEW_WITH_GOLD, ResultWarning
from demur.quantities import Measure
from demur.results.study import RetrievalStudy, RetrievalSystem
from demur.results.table import Results
from demur.show.names import Pair, pairs_of
from demur.show.statements.decisions import Conclusion, DecidingInterval, Decision, Doubt, decide
from demur.show.statements.statement import Fact, Statement, counted
from demur.show.statements.verdict import Verdict
from demur.show.statements.warnings import bearing_warnings
from demur.show.text import listing, with_interval

_MOST_SENTENCES = 3
_MOST_GRADES = 10
_RULES = {"threshold": "the gate's threshold", "selected_ids": "the selection", "ranked_ids": "the list"}
_BEAR_ON_THE_VERDICT = (
    *("one_cluster", "few_clusters", "unequal_clusters", "few_resamples", "many_comparisons", "single_class"),
    *("abstained", "criterion_without_gold", "selected_not_ranked", "selection_bounds", "unjudged_topics"),
    "post_in_several_folds",
)


def primary(results: Results, system: str) -> Key:
    """The key of the number of the verdict: the nDCG over queries with gold, or the first metric chosen."""
    return Key(system, results.retrieval.settings.verdict_metric, among="with_gold")


def primary_difference(results: Results, pair: Pair) -> Key:
    """The difference from the baseline that the verdict rests on."""
    return replace(primary(results, pair.other.system), minus=pair.minus)


def chance_numbers(results: Results, system: str, *families: str) -> tuple[str, ...]:
    """All numbers of a system's probabilities, by which systems with the same probabilities are detected."""
    rows = results.where(system=system, confidence="prob", minus=None)
    chosen = [row for row in rows if Measure.of(row.key.quantity).quantity.of in families]
    return tuple(repr((row.key.quantity, row.key.group, row.value, row.recommended, row.threshold)) for row in chosen)


@dataclass(frozen=True, slots=True)
class Queries(Statement):
    """The queries, from how many posts and criteria they are, and how many have something to find."""

    queries: int
    with_gold: int
    posts: int
    criteria: int

    @property
    def words(self) -> str:
        """The counts; posts are not said where each query is a post of its own."""
        of = "" if self.posts == self.queries else f" of {counted(self.posts, 'post')}"
        if self.criteria > 1:
            of = f" of {counted(self.posts, 'post')} and {self.criteria} criteria"
        share = f"{self.with_gold / max(self.queries, 1):.1%}"
        return f"{self.queries} queries{of}: {self.with_gold} ({share}) have evidence to find"


def queries(study: RetrievalStudy) -> Queries:
    """The queries of a study."""
    return Queries(study.queries, study.with_gold, study.posts, len(study.criteria))


@dataclass(frozen=True, slots=True)
class GradedJudgments(Fact):
    """How many ids have each grade, and from which grade on they count as relevant."""

    grades: tuple[tuple[int, int], ...]
    level: int
    label: ClassVar[str] = "Graded judgments"

    @property
    def words(self) -> str:
        """The first grades, and what grades count for."""
        listed = ", ".join(f"{grade} ({ids} ids)" for grade, ids in self.grades[:_MOST_GRADES])
        more = len(self.grades) - _MOST_GRADES
        return f"{listed}{f' and {more} more' if more > 0 else ''}; {self.meaning}"

    @property
    def meaning(self) -> str:
        """What grades count for."""
        others = f"every other number counts ids of grade {self.level} or more as relevant"
        return f"grades are the gains of the nDCG, and {others}"


def graded_judgments(study: RetrievalStudy) -> GradedJudgments | None:
    """The grades of a study; None where judgments have none."""
    grades = tuple((judged.grade, judged.ids) for judged in study.judgments or ())
    return GradedJudgments(grades, study.settings.relevance_level) if grades else None


@dataclass(frozen=True, slots=True)
class ReferenceRanges(Fact):
    """The reference ranges that numbers are set beside."""

    name: str
    source: str
    label: ClassVar[str] = "Reference ranges"

    @property
    def words(self) -> str:
        """Their name and their source."""
        return f"{shown(self.name)}, from {shown(self.source)}"


def reference_ranges(study: RetrievalStudy) -> ReferenceRanges | None:
    """The reference ranges of a study, if any."""
    return None if study.reference is None else ReferenceRanges(study.reference.name, study.reference.source)


@dataclass(frozen=True, slots=True)
class EmptyDecisionBy(Statement):
    """What decides that there is no evidence, and how often that is right, wrong and missed."""

    rule: str
    counts: tuple[int, int, int] | None

    @property
    def words(self) -> str:
        """The rule, and the counts if they are known."""
        counts = "" if self.counts is None else " (TP {}, FP {}, FN {})".format(*self.counts)
        return f"{_RULES[self.rule]}{counts}"


def empty_decision(system: RetrievalSystem) -> EmptyDecisionBy:
    """What decides that there is no evidence, with its counts, which an early file lacks."""
    counts = system.empty_decision
    known = None if counts is None else (counts.true_positives, counts.false_positives, counts.false_negatives)
    return EmptyDecisionBy(system.empty_decision_by, known)


@dataclass(frozen=True, slots=True)
class NothingToJudge(Statement):
    """Why there is no ranking to judge: no query has gold, or no system returned anything."""

    with_gold: int
    only: str

    @property
    def starts_with_name(self) -> bool:
        """Whether the only system is named first."""
        return bool(self.with_gold and self.only)

    @property
    def words(self) -> str:
        """The reason."""
        if not self.with_gold:
            return "no query has gold: there is nothing to find, and no ranking to judge"
        nothing = f"{self.only} returned nothing" if self.only else "no system returned anything"
        return f"{nothing}: there is nothing to judge"


@dataclass(frozen=True, slots=True)
class ReturnedNothing(Statement):
    """A system that returned nothing for any query."""

    system: str
    starts_with_name: ClassVar[bool] = True

    @property
    def words(self) -> str:
        """What that makes of its numbers."""
        return f"{self.system} returned nothing for any query: every ranking number of it is 0"


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
class Undecidable(Statement):
    """Why no difference can be decided."""

    reason: str

    @property
    def words(self) -> str:
        """The reason."""
        return f"no conclusion: {self.reason}"


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
class SingleClass(Statement):
    """Queries of which all have evidence, or none has."""

    @property
    def words(self) -> str:
        """What that makes of the numbers."""
        return "all queries have evidence, or none has: there is nothing to detect, and AUROC and rates are conventions"


@dataclass(frozen=True, slots=True)
class Detection(Statement):
    """How well a probability tells queries with evidence from those without; no system where all share it."""

    system: str
    auroc: str

    @property
    def words(self) -> str:
        """The AUROC."""
        subject = f"the probability{self.system and f' of {self.system}'}"
        return f"{subject} tells queries with evidence from those without with an AUROC of {self.auroc}"


def retrieval_verdict(results: Results) -> Verdict:
    """The verdict on the rankings where there is evidence."""
    study, names = results.retrieval, _names(results)
    silent = [names[system.name] for system in study.systems if system.abstained == study.queries]
    judged = bool(study.with_gold) and len(silent) < len(study.systems)
    headline: Statement
    if not judged:
        headline = NothingToJudge(study.with_gold, silent[0] if silent and len(names) == 1 else "")
    elif len(names) == 1:
        headline = reached(results, results.systems[0])
    elif results.why_nothing_decides:
        headline = Undecidable(results.why_nothing_decides)
    else:
        headline = _compared(results, names)
    basis: list[Statement] = [queries(study)]
    if judged and study.baseline is not None:
        basis += _differences(results, names)
    # The name of a system is not said where a warning is about a confidence, which all may share.
    about = [warning if warning.about.confidence is None else _nameless(warning) for warning in results.warnings]
    warnings = bearing_warnings(results, about, _BEAR_ON_THE_VERDICT, names)
    failures = tuple(map(ReturnedNothing, silent))
    return Verdict(headline, (*basis, *_detection(results, names)), failures, (*warnings,))


def _nameless(warning: ResultWarning) -> ResultWarning:
    return replace(warning, about=replace(warning.about, system=None))


def _value(results: Results, key: Key) -> str:
    estimate = results.get(key)
    return "undefined" if estimate is None else with_interval(results, estimate)


def reached(results: Results, system: str) -> Reached:
    """The number of the verdict that a system reaches."""
    key = primary(results, system)
    return Reached(isolated(system), Measure.of(key.quantity).title, _value(results, key))


def _compared(results: Results, names: dict[str, str]) -> RankingsCompared:
    pairs = pairs_of(results)
    few = results.retrieval.posts < FEW_WITH_GOLD or any(w.code == "few_clusters_with_gold" for w in results.warnings)
    better, worse, undecided, doubts = list[str](), list[str](), list[str](), list[Doubt]()
    for pair in pairs:
        decision = decide(results, primary_difference(results, pair))
        winner = decision.winner
        group = undecided if winner is None else better if winner == pair.other.system else worse
        group.append(names[pair.other.system])
        doubts += [] if decision.doubt is None else [decision.doubt]
    baseline, doubt = names[pairs[0].baseline.system], doubts[0] if doubts else None
    return RankingsCompared(baseline, tuple(better), tuple(worse), tuple(undecided), few, doubt)


def _differences(results: Results, names: dict[str, str]) -> Iterator[Statement]:
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
    return Conclusion(decide(results, key), _names(results), otherwise=side)


def _names(results: Results) -> dict[str, str]:
    return {name: isolated(name) for name in results.systems}


def side_of_zero(difference: Estimate | None) -> str:
    """On which side of 0 the deciding interval of a difference is; empty without one."""
    interval = None if difference is None else deciding(difference)
    if interval is None:
        return ""
    if interval.low <= 0 <= interval.high:
        return Decision(undecided=True).reason
    return "above" if interval.low > 0 else "below"


def _detection(results: Results, names: dict[str, str]) -> Iterator[Statement]:
    """How well the probabilities detect evidence: one statement where all systems share them."""
    rows = [row for row in results.where(quantity="auroc", group=None, minus=None) if not math.isnan(row.value)]
    if any(row.by_convention for row in rows):
        yield SingleClass()
        return
    different = {chance_numbers(results, row.key.system, "forecasts") for row in rows}
    shared = len(rows) == len(results.systems) and len(different) == 1
    for row in rows[: 1 if shared else _MOST_SENTENCES]:
        yield Detection("" if shared else names[row.key.system], with_interval(results, row))


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
