"""What a verdict says, as the sentences that every medium shows."""

from typing import NamedTuple


class Said(NamedTuple):
    headline: str
    sentences: tuple[str, ...]
    failures: tuple[str, ...]
    warnings: tuple[str, ...]


def said(verdict):
    """The sentences of a verdict."""
    parts = (verdict.basis, verdict.failures, verdict.warnings)
    return Said(verdict.headline.sentence, *(tuple(statement.sentence for statement in part) for part in parts))
