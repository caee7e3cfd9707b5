"""Progress on standard error: how far each mode is, how fast, what failed, and how long it may still take."""

from __future__ import annotations

import statistics
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from demur.produce.ledger import Ledger

_EVERY = {"bar": 0.5, "plain": 10.0}
_LAST = 20


class Tell(Protocol):
    """Says a line; `again` where the last one was."""

    def __call__(self, line: str, *, again: bool = False) -> None:
        """Say it."""


@dataclass(slots=True)
class ProgressLine:
    """One line about a run, told now and then: `plain` as lines, `bar` over and over in one place."""

    kind: str
    people: Sequence[str]
    modes: Sequence[str]
    ledger: Ledger
    tell: Tell
    clock: Callable[[], float] = time.monotonic
    _recent: deque[float] = field(default_factory=lambda: deque(maxlen=_LAST))
    _began: float = 0.0
    _told: float = 0.0
    _before: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        self._began = self._told = self.clock()
        self._before = self._spent()

    def finished(self, seconds: float | None = None) -> None:
        """A participant is finished, after so many seconds: tell, if it is time to."""
        if seconds is not None:
            self._recent.append(seconds)
        if self.kind in _EVERY and self.clock() - self._told >= _EVERY[self.kind]:
            self._told = self.clock()
            self.tell(self.line(), again=self.kind == "bar")

    def end(self) -> None:
        """The last word."""
        if self.kind in _EVERY:
            self.tell(self.line())

    def line(self) -> str:
        """How things stand, in one line."""
        final = {mode: sum(self.ledger.is_final((mode, person)) for person in self.people) for mode in self.modes}
        parts = [f"{mode} {count}/{len(self.people)}" for mode, count in final.items()]
        passed = max(self.clock() - self._began, 1e-9)
        requests, tokens = (now - before for now, before in zip(self._spent(), self._before, strict=True))
        parts += [f"{requests / passed:.1f} requests/s", f"{tokens / passed:.0f} tokens/s"]
        failed = Counter(failure["category"] for failure in self.ledger.failed.copy().values())
        if failed:
            parts.append("failed: " + ", ".join(f"{name} {count}" for name, count in sorted(failed.items())))
        left = len(self.people) - min(final.values(), default=0)
        if left and self._recent:
            parts.append(f"about {_spoken(left * statistics.median(self._recent))} left")
        return " · ".join(parts)

    def _spent(self) -> tuple[int, int]:
        usage = [*self.ledger.usage.values()]
        return sum(step.attempts for step in usage), sum(step.completion_tokens for step in usage)


def _spoken(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"  # noqa: PLR2004
