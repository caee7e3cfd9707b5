"""Limits on concurrent requests and requests per minute, waits before retries, and the end of a run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256

from demur.extensions.produce.failures import Stopped

_FIRST, _LONGEST, _LONGEST_REQUESTED = 0.5, 60.0, 300.0
_SLOW_FOR = 60.0  # seconds of fewer requests after a reply of "too many requests"
_POLL_SECONDS = 0.05


def seed_of(*parts: object) -> int:
    """A 31-bit seed that depends only on its arguments, not on the order of requests.

    >>> seed_of(7, "both", 300, "evidence", 1)
    1198734292
    """
    text = "|".join(map(str, parts))
    return int.from_bytes(sha256(text.encode()).digest()[:4]) >> 1


def backoff(attempt: int, retry_after: float | None, jitter: float) -> float:
    """The seconds to wait after an attempt, counted from 1; `jitter` is a random number from 0 to 1.

    >>> backoff(1, None, 1.0), backoff(3, None, 0.0), backoff(20, None, 1.0)
    (0.5, 1.0, 60.0)
    >>> backoff(1, 7.0, 0.0), backoff(1, 900.0, 0.0)
    (7.0, 300.0)
    """
    if retry_after is not None:
        return min(max(retry_after, 0.0), _LONGEST_REQUESTED)
    return float(min(_FIRST * 2 ** min(attempt - 1, 30), _LONGEST)) * (0.5 + jitter / 2)


@dataclass(slots=True)
class Pace:
    """The limits that all workers share. After `stop` no request is sent; `wait` replaces sleeping in tests."""

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
        """A context that begins when a request may be sent, by the limits on concurrency and rate."""
        while not self._take_slot():
            self.rest(_POLL_SECONDS)
        try:
            self.rest(self._seconds_until_allowed())
            yield
        finally:
            with self._lock:
                self._active -= 1

    def rest(self, seconds: float) -> None:
        """Wait for some seconds, or until the run is stopped."""
        if seconds > 0:
            (self.wait or self.stop.wait)(seconds)
        self.check()

    def check(self) -> None:
        """Raise `Stopped` after a stop, or when the time of the run is up."""
        if self.stop.is_set() or (self.deadline is not None and self.clock() > self.deadline):
            raise Stopped

    def slow_down(self) -> None:
        """Halve the number of concurrent requests for a while."""
        with self._lock:
            self._slow.append(self.clock() + _SLOW_FOR)

    def allowed(self) -> int:
        """The number of concurrent requests allowed now."""
        now = self.clock()
        self._slow = [until for until in self._slow if until > now]
        return max(1, self.concurrency >> len(self._slow))

    def _take_slot(self) -> bool:
        with self._lock:
            free = self._active < self.allowed()
            self._active += free
        return free

    def _seconds_until_allowed(self) -> float:
        """Reserve the next time at which a request may be sent; the seconds until then."""
        if not self.per_minute:
            return 0.0
        with self._lock:
            now = self.clock()
            due = max(now, self._next)
            self._next = due + 60 / self.per_minute
            return due - now
