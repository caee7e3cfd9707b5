"""A log may hold several of what an import takes one of: scorers, filters, systems. They are counted, then told."""

from __future__ import annotations

from collections import Counter

from demur.errors import UserError, shown


class OneOf:
    """The one that was asked for, or else the only one there is.

    >>> filters = OneOf("filter", "--filter", None)
    >>> [filters.takes(name) for name in ("first", "first", "maj")]
    [True, True, False]
    >>> filters.check()
    Traceback (most recent call last):
    demur.errors.UserError: 2 filters: first, maj; choose one with --filter
    """

    def __init__(self, noun: str, option: str, asked: str | None) -> None:
        self._noun, self._option, self._asked = noun, option, asked
        self.chosen = asked
        self.counts: Counter[str] = Counter()
        self._second_at = ""

    def takes(self, name: str, where: str = "") -> bool:
        """Whether this is the one, so far as is known."""
        if self._asked is None and self.counts and name not in self.counts:
            self._second_at = self._second_at or where
        self.counts[name] += 1
        self.chosen = self.chosen if self.chosen is not None else name
        return name == self.chosen

    @property
    def is_guess(self) -> bool:
        """Whether none was asked for."""
        return self._asked is None

    def check(self, of: str = "") -> None:
        """After all were seen: it is there, and none had to be guessed. `of` says how many each could have been in."""
        if self._asked is not None:
            if self.counts and self._asked not in self.counts:
                there = ", ".join(map(shown, self.counts))
                raise UserError(f"no {self._noun} is called {shown(self._asked)}; there are: {there}")
            return
        if len(self.counts) > 1:
            shares = [f"{shown(name)} ({count} of {of})" if of else shown(name) for name, count in self.counts.items()]
            text = f"{len(self.counts)} {self._noun}s: {', '.join(shares)}; choose one with {self._option}"
            raise UserError(f"{self._second_at}: {text}" if self._second_at else text)
