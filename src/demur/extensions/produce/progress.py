"""Progress on standard error: cases done, speed, failures, and the remaining time."""

from __future__ import annotations

import statistics
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from demur.extensions.produce.journal import Journal

_SECONDS_BETWEEN = {"bar": 0.5, "plain": 10.0}
_MOST_RECENT = 20


class Tell(Protocol):
    """A function that shows a line; with `again` it replaces the last one."""

    def __call__(self, line: str, *, again: bool = False) -> None:
        """Show a line."""


@dataclass(slots=True)
class ProgressLine:
    """Shows the progress of a run at intervals: `plain` as separate lines, `bar` as one line that is replaced."""

    kind: str
    people: Sequence[str]
    modes: Sequence[str]
    journal: Journal
    tell: Tell
    clock: Callable[[], float] = time.monotonic
    _recent: deque[float] = field(default_factory=lambda: deque(maxlen=_MOST_RECENT))
    _began: float = 0.0
    _shown: float = 0.0
    _before: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        self._began = self._shown = self.clock()
        self._before = self._spent()

    def finished(self, seconds: float | None = None) -> None:
        """Record that a participant took some seconds, or that time has passed, and show the line if it is due."""
        if seconds is not None:
            self._recent.append(seconds)
        if self.kind in _SECONDS_BETWEEN and self.clock() - self._shown >= _SECONDS_BETWEEN[self.kind]:
            self._shown = self.clock()
            self.tell(self.line(), again=self.kind == "bar")

    def end(self) -> None:
        """Show the last line."""
        if self.kind in _SECONDS_BETWEEN:
            self.tell(self.line())

    def line(self) -> str:
        """The state of the run in one line."""
        final = {mode: sum(self.journal.is_final((mode, person)) for person in self.people) for mode in self.modes}
        parts = [f"{mode} {count}/{len(self.people)}" for mode, count in final.items()]
        passed = max(self.clock() - self._began, 1e-9)
        requests, tokens = (now - before for now, before in zip(self._spent(), self._before, strict=True))
        parts += [f"{requests / passed:.1f} requests/s", f"{tokens / passed:.0f} tokens/s"]
        failed = Counter(failure["category"] for failure in self.journal.failed.copy().values())
        if failed:
            parts.append("failed: " + ", ".join(f"{name} {count}" for name, count in sorted(failed.items())))
        left = len(self.people) - min(final.values(), default=0)
        if left and self._recent:
            parts.append(f"about {_duration(left * statistics.median(self._recent))} left")
        return " · ".join(parts)

    def _spent(self) -> tuple[int, int]:
        usage = [*self.journal.usage.values()]
        return sum(step.attempts for step in usage), sum(step.completion_tokens for step in usage)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"  # noqa: PLR2004
