"""What features say where the core asks all of them about a topic."""

from collections.abc import Iterator

from demur.results.features import features_in
from demur.results.table import Results
from demur.show.statements.statement import Statement


def said_by_features(results: Results, topic: str) -> Iterator[Statement]:
    """What the features that results hold something of say about a topic; `demur.feature` lists the topics."""
    for feature in features_in(results.study):
        if feature.statements:
            yield from feature.hook("statements")(results, topic)
