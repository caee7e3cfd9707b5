"""Pace: how many requests go out at once and per minute, how long to wait before another try, and when to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256

from demur.produce.failures import Stopped

_FIRST, _LONGEST, _LONGEST_ASKED = 0.5, 60.0, 300.0
_SLOW_FOR = 60.0  # seconds after the endpoint said that it has too much to do
_GLANCE = 0.05


def seed_of(*parts: object) -> int:
    """31 bits that follow from the parts: neither order nor concurrency enters.

    >>> seed_of(7, "both", 300, "evidence", 1)
    1198734292
    """
    text = "|".join(map(str, parts))
    return int.from_bytes(sha256(text.encode()).digest()[:4]) >> 1


def backoff(attempt: int, retry_after: float | None, jitter: float) -> float:
    """Seconds to wait after an attempt, from 1 on; `jitter` is from 0 to 1.

    >>> backoff(1, None, 1.0), backoff(3, None, 0.0), backoff(20, None, 1.0)
    (0.5, 1.0, 60.0)
    >>> backoff(1, 7.0, 0.0), backoff(1, 900.0, 0.0)
    (7.0, 300.0)
    """
    if retry_after is not None:
        return min(max(retry_after, 0.0), _LONGEST_ASKED)
    return float(min(_FIRST * 2 ** min(attempt - 1, 30), _LONGEST)) * (0.5 + jitter / 2)


@dataclass(slots=True)
class Pace:
    """Shared by all workers. After `stop` nothing new is begun; `wait` is how time passes."""

    concurrency: int
    per_minute: float = 0.0
    deadline: float | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    wait: Callable[[float], object] | None = None
    clock: Callable[[], float] = time.monotonic
    _active: int = 0
    _next: float = 0.0
    _slow: list[float] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def slot(self) -> Iterator[None]:
        """A request may go out: one of so many at once, and no sooner than the rate allows."""
        while not self._enter():
            self.rest(_GLANCE)
        try:
            self.rest(self._turn())
            yield
        finally:
            with self._lock:
                self._active -= 1

    def rest(self, seconds: float) -> None:
        """Let time pass; being stopped ends it."""
        if seconds > 0:
            (self.wait or self.stop.wait)(seconds)
        self.check()

    def check(self) -> None:
        """Nothing new is begun after a stop, or when the time of the run is up."""
        if self.stop.is_set() or (self.deadline is not None and self.clock() > self.deadline):
            raise Stopped

    def slow_down(self) -> None:
        """Half as many at once for a while."""
        with self._lock:
            self._slow.append(self.clock() + _SLOW_FOR)

    def allowed(self) -> int:
        """How many requests may be under way now."""
        now = self.clock()
        self._slow = [until for until in self._slow if until > now]
        return max(1, self.concurrency >> len(self._slow))

    def _enter(self) -> bool:
        with self._lock:
            free = self._active < self.allowed()
            self._active += free
        return free

    def _turn(self) -> float:
        """Seconds until the next request may go out, which is then taken."""
        if not self.per_minute:
            return 0.0
        with self._lock:
            now = self.clock()
            due = max(now, self._next)
            self._next = due + 60 / self.per_minute
            return due - now
