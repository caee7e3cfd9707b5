"""Rankings: the facts of one system that ranks candidates for queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Query:
    """One criterion asked of one post: what is right, and what the system ranked, believed and selected."""

    post: str
    criterion: str
    gold: tuple[str, ...]
    ranked: tuple[str, ...]
    scores: tuple[float, ...] | None = None
    prob: float | None = None
    selected: tuple[str, ...] | None = None
    fold: str | None = None


@dataclass(frozen=True, slots=True)
class Rankings:
    """The queries of one system."""

    rows: tuple[Query, ...]

    def queries(self) -> Iterator[Query]:
        """Each query once."""
        return iter(self.rows)
