"""The audit of reported figures: every leaf of a file held against the data, with the likely cause of a difference."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from demur.audit.figures import NO_CAUSE, Expected, Finding, Printed, finding, key_of, not_recognised
from demur.audit.reported.places import Holders, Path, Place, leaves, place_of
from demur.errors import UserError, and_more, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from demur.audit.reported.names import Asked
    from demur.audit.reported.places import Known

View = TypeVar("View")


class Figure(NamedTuple):
    """A leaf of a reported file, and what the path to it says."""

    path: Path
    value: Any
    place: Place

    @property
    def is_one(self) -> bool:
        """Whether there is anything to recompute: a text, a switch or a null is a figure only in place of one."""
        known = self.place.asked is not None and not (self.value is None and self.place.stranger)
        return known or isinstance(self.value, Printed)


class Audit(ABC, Generic[View]):
    """One reported file and the data it is about; a subclass knows what its figures are in the data.

    A `View` is a part of the data counted in one way: what a figure is over, and what it may have been over instead.
    """

    of_the_data: str  # what a section can be called after
    counts: frozenset[str]  # figures that are equal or differ
    settings: frozenset[str] = frozenset()  # members that are used and are no figures
    unbounded: frozenset[str] = frozenset()  # figures that are not a share even where they lie between 0 and 1

    def __init__(self, known: Known, content: Any) -> None:
        if not isinstance(content, Mapping):
            raise UserError(f"expected an object with a section for each {self.of_the_data}")
        self.known = known
        self.holders = Holders(content)
        placed = [Figure(leaf.path, leaf.value, place_of(leaf.names, known)) for leaf in leaves(content)]
        self.figures = [figure for figure in placed if figure.is_one and figure.path[-1] not in self.settings]
        if not self.figures:
            raise UserError("there are no figures in it")

    @abstractmethod
    def why_not(self, figure: Figure, asked: Asked) -> str | None:
        """Why a figure that has a known name cannot be recomputed."""

    @abstractmethod
    def view(self, figure: Figure, asked: Asked) -> View:
        """What a figure is over."""

    @abstractmethod
    def value(self, asked: Asked, view: View) -> float | None:
        """What a figure is in a view."""

    @abstractmethod
    def other_ways(self, asked: Asked, view: View) -> Iterator[tuple[str, float | None]]:
        """What known other ways of computing would give, the likelier first."""

    def last_resort(self, asked: Asked, view: View, reported: Any) -> str | None:  # noqa: ARG002
        """What may be wrong where no other way of computing explains a figure."""
        return None

    def flag(self, figure: Figure) -> Finding | None:  # noqa: ARG002
        """What became of a switch, if the figure is one."""
        return None

    def findings(self) -> list[Finding]:
        """What became of every figure."""
        found = [replace(self._finding(one), path=one.path) for one in self.figures]
        strangers = [one.place.stranger for one in self.figures if one.place.asked and not one.place.system]
        names = [*dict.fromkeys(name for name in strangers if name is not None)]
        if names and all(one.status == "not recognised" for one in found):
            there = ", ".join(map(shown, dict.fromkeys(self.known.systems.values())))
            missing = and_more(shown(names[0]), len(names))
            raise UserError(
                f"no section is called after a {self.of_the_data} of the data ({there}), but {missing}"
                f"{self.way_out('NAME')}"
            )
        return [self._explained(one, figure, found) for one, figure in zip(found, self.figures, strict=True)]

    def way_out(self, name: str) -> str:  # noqa: ARG002
        """How to say which of the data a section is about."""
        return ""

    def expected(self, asked: Asked, view: View) -> Expected:
        """What the data give for a figure."""
        exact, share = asked.figure in self.counts, asked.figure not in self.unbounded
        return Expected(self.value(asked, view), exact=exact and asked.spread is None, share=share)

    def _finding(self, figure: Figure) -> Finding:
        key, asked = key_of(figure.path), figure.place.asked
        reason = self._unreadable(figure) if asked is None else self._why_not(figure, asked)
        if reason is not None or asked is None:
            return not_recognised(key, figure.value, reason or "")
        switch = self.flag(figure)
        if switch is not None:
            return switch
        view = self.view(figure, asked)
        expected = self.expected(replace(asked, spread=figure.place.spread), view)
        if not expected.agrees(figure.value):  # other ways are tried only where it takes them to find a cause
            expected = replace(expected, otherwise=dict(self.other_ways(asked, view)))
        found = finding(key, figure.value, expected)
        if found.status == "differs" and found.cause is None:
            return replace(found, cause=self.last_resort(asked, view, figure.value))
        return found

    @staticmethod
    def _unreadable(figure: Figure) -> str:
        stem = figure.place.stem
        if stem is not None:
            return "it does not say at which K" if stem.endswith("@K") else "it does not say at which coverage"
        name = next((name for name in reversed(figure.path) if not name.isdecimal()), figure.path[-1])
        return f"no known figure is called {shown(name)}"

    def _why_not(self, figure: Figure, asked: Asked) -> str | None:
        if asked.figure != "skip_no_positives" and isinstance(figure.value, (str, bool)):
            return "not a number"
        return self.why_not(figure, asked)

    def _explained(self, one: Finding, figure: Figure, found: Sequence[Finding]) -> Finding:
        """A figure that differs for no cause so far: the value of another one in the file, or no known cause."""
        if one.status != "differs" or one.cause is not None:
            return one
        other = self._same_value(figure, found)
        return replace(one, cause=NO_CAUSE if other is None else f"this is the value of {shown(other)}")

    def _same_value(self, figure: Figure, found: Sequence[Finding]) -> str | None:
        """The figure whose value in the data is what is reported here: in the same table, or of the same name."""
        reported, path = figure.value, figure.path
        if not isinstance(reported, Printed) or not reported.telling:
            return None
        alike = [
            one
            for one, other in zip(found, self.figures, strict=True)
            if one.recomputed is not None
            and (other.place.asked is not None and other.place.asked.figure not in self.counts)
            and one.path != path
            and reported.agrees(one.recomputed)
        ]
        here = next((one.path[-1] for one in alike if one.path[:-1] == path[:-1]), None)
        return here or next((one.key for one in alike if one.path[-1] == path[-1]), None)
