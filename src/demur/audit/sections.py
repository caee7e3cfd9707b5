"""Sections: where in a reported file a figure stands, and what the names above it say of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from demur.audit.figures import Printed, flattened
from demur.audit.names import AVERAGINGS, SPREADS, Asked, Averaging, Spread, asked_for, needs_a_depth, plain_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Population = Literal["positives", "all"]

POPULATIONS: dict[str, Population] = {
    **dict.fromkeys(("positives_only", "positives", "with_positives"), "positives"),
    **dict.fromkeys(("all_queries", "all"), "all"),
}
_GROUPS = {
    **dict.fromkeys(("per_criterion", "by_criterion", "criteria"), "criterion"),
    **dict.fromkeys(("per_fold", "by_fold", "folds"), "fold"),
}
_WORDS: dict[str, Mapping[str, Any]] = {
    "population": POPULATIONS,
    "averaging": AVERAGINGS,
    "spread": SPREADS,
    "group": _GROUPS,
}
_WRAPPERS = frozenset({"metrics", "results", "systems", "summary", "overall", "counts", "queries"})
_TOPICS = frozenset({"ranking", "retrieval", "detection", "no_evidence", "calibration", "dynamic_k", "selection"})
_SAY_NOTHING = _WRAPPERS | _TOPICS
_ITSELF = ("value", "point", "estimate")
_ENDINGS = ("_topk", "_top_k", "_ids", "_ranked")
_DIGITS = r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?"
_MEAN_AND_STD = re.compile(rf"({_DIGITS})\s*(?:±|\+/?-)\s*({_DIGITS})")
_ONE_NUMBER = re.compile(_DIGITS)
_LONGEST_NUMBER = 60

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """What a name above a figure can be one of."""

    systems: tuple[str, ...]
    criteria: frozenset[str]
    folds: frozenset[str]

    def system(self, name: str) -> str | None:
        """The system a section is called after: by its name, or by the name without what its column adds."""
        exact = [system for system in self.systems if system == name]
        alike = [system for system in self.systems if _stem(system) == _stem(name)]
        return exact[0] if exact else alike[0] if len(alike) == 1 else None


@dataclass(frozen=True, slots=True)
class Place:
    """A figure with everything the path to it says.

    `group` waits for the name of a criterion or a fold, `stem` (such as recall) for a depth; `stranger` is the first
    name nobody knows.
    """

    asked: Asked | None = None
    system: str | None = None
    population: Population | None = None
    averaging: Averaging | None = None
    spread: Spread | None = None
    criterion: str | None = None
    fold: str | None = None
    group: str | None = None
    stem: str | None = None
    stranger: str | None = None

    def within(self, name: str, known: Known) -> Place:
        """The place one name further down."""
        plain = plain_name(name)
        if self.group and (member := _member(name, self.group, known)) is not None:
            return replace(self, group=None, **{self.group: member})
        if self.system is None and (system := known.system(name)) is not None:
            return replace(self, system=system)
        if plain.startswith("fold") and self.fold is None and (fold := _member(name, "fold", known)) is not None:
            return replace(self, fold=fold)
        for said, words in _WORDS.items():
            if plain in words and getattr(self, said) is None:
                return replace(self, **{said: words[plain]})
        return self if self.asked is not None and plain in _ITSELF else self._measuring(name)

    def _measuring(self, name: str) -> Place:
        """The place with the figure a name asks for, unless there is one or the two contradict each other."""
        asked = asked_for(name) or (asked_for(f"{self.stem}@{name.lstrip('@')}") if self.stem else None)
        if asked is None and self.stem is None and needs_a_depth(name):
            return replace(self, stem=name)
        said = asked and ((asked.averaging and self.averaging) or (asked.spread and self.spread))
        if asked is None or said or self.asked is not None:
            return replace(self, stranger=self.stranger or name)
        alone = replace(asked, averaging=None, spread=None)
        averaging, spread = asked.averaging or self.averaging, asked.spread or self.spread
        return replace(self, asked=alone, averaging=averaging, spread=spread)


def place_of(path: Path, known: Known) -> Place:
    """What a path says, from the outermost name to the figure's own."""
    place = Place()
    for name in path[:-1]:
        if plain_name(name) not in _SAY_NOTHING or known.system(name) is not None:
            place = place.within(name, known)
    return place.within(path[-1], known)


def _stem(name: str) -> str:
    plain = plain_name(name)
    return next((plain.removesuffix(ending) for ending in _ENDINGS if plain.endswith(ending)), plain)


def _member(name: str, group: str, known: Known) -> Any:
    """The criterion or fold of that name; folds are also called fold_3."""
    if group == "criterion":
        return name if name in known.criteria else None
    number = re.sub(r"^fold[\s_-]*", "", name, flags=re.IGNORECASE)
    return next((fold for fold in (name, number) if fold in known.folds), None)


def leaves(content: Any) -> Iterator[tuple[Path, Any]]:
    """Every figure with its path; digits in quotes are a number, and `0.81 ± 0.02` is a mean and a spread."""
    for path, value in flattened(content):
        text = value.strip() if isinstance(value, str) and len(value) <= _LONGEST_NUMBER else ""
        if both := _MEAN_AND_STD.fullmatch(text):
            yield (*path, "mean"), Printed.of(both[1])
            yield (*path, "std"), Printed.of(both[2])
        elif _ONE_NUMBER.fullmatch(text):
            yield path, Printed.of(text)
        else:
            yield path, value
