"""What was evaluated: the queries, the grades of their judgments, and the reference ranges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from demur.errors import shown
from demur.extensions.retrieval.study import RetrievalStudy
from demur.show.statements.statement import Fact, Statement, counted

_MOST_GRADES = 10


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
