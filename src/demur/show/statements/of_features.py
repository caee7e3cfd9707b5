"""What features say on the topics of the core: how clusters were resampled, whom a system is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from demur.feature import features
from demur.results.features import features_in
from demur.show.statements.statement import Statement

if TYPE_CHECKING:
    from demur.results.table import Results

Topic = Literal["resampling", "compared_with", "for_whom"]


@dataclass(frozen=True, slots=True)
class NotAsked(Statement):
    """Nothing was asked of a feature that has something to say on a topic."""

    advice: str

    @property
    def words(self) -> str:
        """What was not given, and how it is."""
        return self.advice


def said_by_features(results: Results, topic: Topic) -> list[Statement]:
    """What the features that results hold something of say on a topic."""
    present = [feature.hook("statements") for feature in features_in(results.study) if feature.statements]
    return [statement for said in present for statement in said(results, topic)]


def not_asked(topic: Topic) -> list[NotAsked]:
    """What could be asked of features to have more said on a topic."""
    return [NotAsked(feature.advice[topic]) for feature in features().values() if topic in feature.advice]
