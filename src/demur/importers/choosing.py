"""Chooses one of several scorers, filters or systems in a log; if none was requested, there must be only one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from demur.errors import UserError, shown


def no_such(noun: str, name: str, names: Iterable[str]) -> UserError:
    """The error for a scorer, metric, filter or system that is not in the log."""
    return UserError(f"no {noun} is called {shown(name)}; there are: {', '.join(map(shown, names))}")


class OneOf:
    """The requested scorer, filter or system, or else the only one in the log.

    >>> filters = OneOf("filter", "--filter", None)
    >>> [filters.takes(name) for name in ("first", "first", "maj")]
    [True, True, False]
    >>> filters.check()
    Traceback (most recent call last):
    demur.errors.UserError: 2 filters: first, maj; choose one with --filter
    """

    def __init__(self, noun: str, option: str, requested: str | None) -> None:
        self._noun, self._option, self._requested = noun, option, requested
        self.chosen = requested
        self.counts: Counter[str] = Counter()
        self._second_at = ""

    def takes(self, name: str, where: str = "") -> bool:
        """Whether this name is chosen: it was requested, or is the first in the log."""
        if self._requested is None and self.counts and name not in self.counts:
            self._second_at = self._second_at or where
        self.counts[name] += 1
        self.chosen = self.chosen if self.chosen is not None else name
        return name == self.chosen

    @property
    def is_guess(self) -> bool:
        """Whether none was requested."""
        return self._requested is None

    def check(self, of: str = "") -> None:
        """Check, at the end of the log, that the requested one or only one occurred; `of` is, say, "40 samples"."""
        if self._requested is not None:
            if self.counts and self._requested not in self.counts:
                raise no_such(self._noun, self._requested, self.counts)
            return
        if len(self.counts) > 1:
            shares = [f"{shown(name)} ({count} of {of})" if of else shown(name) for name, count in self.counts.items()]
            text = f"{len(self.counts)} {self._noun}s: {', '.join(shares)}; choose one with {self._option}"
            raise UserError(f"{self._second_at}: {text}" if self._second_at else text)
