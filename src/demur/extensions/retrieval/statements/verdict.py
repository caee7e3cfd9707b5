"""The verdict: on rankings where there is evidence, and on the detection of queries without any."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from demur.extensions.retrieval.statements.detection import detection_statements
from demur.extensions.retrieval.statements.differences import (
    difference_statements,
    isolated_names,
    rankings_compared,
    reached,
)
from demur.extensions.retrieval.statements.population import queries
from demur.extensions.retrieval.study import study_of
from demur.inference.warnings import ResultWarning
from demur.results.table import Results
from demur.show.statements.statement import Statement
from demur.show.statements.verdict import Verdict
from demur.show.statements.warnings import bearing_warnings

_BEAR_ON_THE_VERDICT = (
    *("one_cluster", "few_clusters", "unequal_clusters", "few_resamples", "many_comparisons", "single_class"),
    *("abstained", "criterion_without_gold", "selected_not_ranked", "selection_bounds", "unjudged_topics"),
    "post_in_several_folds",
)


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
class Undecidable(Statement):
    """Why no difference can be decided."""

    reason: str

    @property
    def words(self) -> str:
        """The reason."""
        return f"no conclusion: {self.reason}"


def retrieval_verdict(results: Results) -> Verdict:
    """The verdict on the rankings where there is evidence."""
    study, names = study_of(results), isolated_names(results)
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
        headline = rankings_compared(results, names)
    basis: list[Statement] = [queries(study)]
    if judged and study.baseline is not None:
        basis += difference_statements(results, names)
    # The name of a system is not said where a warning is about a confidence, which all may share.
    about = [warning if warning.about.confidence is None else _nameless(warning) for warning in results.warnings]
    warnings = bearing_warnings(results, about, _BEAR_ON_THE_VERDICT, names)
    failures = tuple(map(ReturnedNothing, silent))
    return Verdict(headline, (*basis, *detection_statements(results, names)), failures, (*warnings,))


def _nameless(warning: ResultWarning) -> ResultWarning:
    return replace(warning, about=replace(warning.about, system=None))
