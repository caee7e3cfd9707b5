"""Declarations: what the objects of a reported file say of the queries their figures are over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from demur.audit.figures import Printed
from demur.audit.names import Asked, asked_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from demur.audit.sections import Path

FLAG = "skip_no_positives"
EVALUATED = "queries_evaluated"


class Declarations:
    """The flags and counts of a file, looked for from a figure outwards."""

    def __init__(self, content: Any) -> None:
        self._content = content
        self._said: dict[Path, dict[str, Any]] = {}

    def skips(self, path: Path) -> bool | None:
        """Whether the nearest flag above a figure says that queries without gold were left out."""
        return next((said[FLAG] for said in self._above(path) if FLAG in said), None)

    def evaluated(self, path: Path) -> float | None:
        """How many queries the nearest count above a figure says were evaluated."""
        return next((said[EVALUATED].value for said in self._above(path) if EVALUATED in said), None)

    def _above(self, path: Path) -> list[dict[str, Any]]:
        inside, found = self._content, []
        for depth, name in enumerate(path):
            if isinstance(inside, Mapping):
                found.append(self._said_in(path[:depth], inside))
                inside = inside[name]
            elif isinstance(inside, list):
                inside = inside[int(name)]
        return found[::-1]

    def _said_in(self, where: Path, inside: Mapping[str, Any]) -> dict[str, Any]:
        if where not in self._said:
            self._said[where] = dict(_sayings(inside))
        return self._said[where]


def _sayings(inside: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for figure, kind in ((FLAG, bool), (EVALUATED, Printed)):
        for name, value in inside.items():
            if isinstance(value, kind) and asked_for(name) == Asked(figure):
                yield figure, value
