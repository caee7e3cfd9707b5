"""Contexts: which number a reported figure is, inferred from its path in the file and its neighbours."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from demur.extensions.audit.figures import Printed
from demur.extensions.audit.reported.names import (
    AVERAGINGS,
    SPREADS,
    UNKNOWN,
    Averaging,
    ReportedQuantity,
    Spread,
    plain_name,
    quantity_at,
    quantity_named,
    spelled,
    split_affixes,
    stem_of,
)

Path = tuple[str, ...]
Population = Literal["positives", "all"]

_WORDS: dict[str, Mapping[str, Any]] = {
    "population": spelled({"positives": "positives_only positives with_positives", "all": "all_queries all"}),
    "averaging": AVERAGINGS,
    "spread": SPREADS,
    "group": spelled(
        {"criterion": "per_criterion by_criterion criteria", "fold": "per_fold by_fold folds fold_results"}
    ),
    "draws": spelled(
        {
            "interval": "ci95 ci ci_95 confidence_interval interval",
            "error": "std_error standard_error stderr se",
            "drop": "drop_rate",
        }
    ),
    "difference": dict.fromkeys(("deltas", "delta", "differences", "difference"), True),
    "aggregated": dict.fromkeys(("aggregated", "aggregate", "across_folds"), True),
}
_UNINFORMATIVE = spelled(
    {
        "wrapper": "metrics results systems summary overall counts queries runs modes",
        "topic": "ranking retrieval detection no_evidence calibration dynamic_k selection population interpretation "
        "selective selective_prediction confidence_variants variants reliability comparison bootstrap emulated",
    }
)
_ITSELF = ("value", "point", "estimate", "delta")
_AREAS = ("aurc@C", "augrc@C")
_ENDS = spelled({"low": "0 low lower", "high": "1 high upper"})
_ACHIEVED = ("achieved", "used")
_COVERAGE_OF_ENTRY = ("requested", "coverage", "target")
_BESIDE = spelled(
    {
        "system": "mode system run run_id",
        "confidence": "confidence confidence_variant variant",
        "loss": "loss",
        "skips": "skip_no_positives",
        "evaluated": "queries_evaluated num_queries_evaluated evaluated_queries",
    }
)
_KINDS = {"system": str, "confidence": str, "loss": str, "skips": bool, "evaluated": Printed}
_FOLD_OF_ENTRY = ("fold", "fold_id", "fold_index", "fold_idx")
_PAIR = 2
_ENDINGS = ("_topk", "_top_k", "_ids", "_ranked")
_DIGITS = r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?"
_MEAN_AND_STD = re.compile(rf"({_DIGITS})\s*(?:±|\+/?-)\s*({_DIGITS})")
_ONE_NUMBER = re.compile(_DIGITS)
_LONGEST_NUMBER = 60


@dataclass(frozen=True, slots=True)
class Known:
    """The names that may occur in the path of a figure: systems by alias, confidences, criteria, folds and tools.

    An area without a coverage is cut at `usual_coverage`, unless that is None.
    """

    systems: Mapping[str, str]
    is_confidence: Callable[[str], bool] = lambda _: False
    criteria: frozenset[str] = frozenset()
    folds: Path = ()  # in their order
    usual_coverage: Fraction | None = None
    conventions: frozenset[str] = frozenset()

    def system(self, name: str) -> str | None:
        """The system that a section is named after, by alias or without a suffix such as _topk; None if unknown."""
        alike = {system for alias, system in self.systems.items() if _stem(alias) == _stem(name)}
        return self.systems.get(name) or (alike.pop() if len(alike) == 1 else None)

    def member(self, name: str, group: str) -> str | None:
        """The criterion or fold of a name; folds may also be called fold_3. None if unknown."""
        if group == "criterion":
            return name if name in self.criteria else None
        number = re.sub(r"^fold[\s_-]*", "", name, flags=re.IGNORECASE)
        return next((fold for fold in (name, number) if fold in self.folds), None)


@dataclass(frozen=True, slots=True)
class Context:
    """Which number a figure is, inferred from its path and then from its neighbours in the file.

    `draws` says that it is an end of an interval, a standard error or a share of draws, `aggregated` that it is over
    the folds; `group` still needs the name of a criterion or a fold, `stem` (such as recall@K) a depth or a coverage;
    `stranger` is the first unknown name. `minus` is the system a difference subtracts, `shared` counts only
    participants that succeeded in every run, and `convention` is another convention: a tool, or a sentence.
    """

    quantity: ReportedQuantity = UNKNOWN
    system: str | None = None
    confidence: str | None = None
    population: Population | None = None
    averaging: Averaging | None = None
    spread: Spread | None = None
    criterion: str | None = None
    fold: str | None = None
    difference: bool = False
    aggregated: bool = False
    draws: str | None = None
    group: str | None = None
    stem: str | None = None
    stranger: str | None = None
    loss: str = "abs_norm"
    minus: str | None = None
    shared: bool = False
    convention: str = ""

    def within(self, name: str, known: Known) -> Context:
        """The context after one more name of the path."""
        if self.draws == "interval" and plain_name(name) in _ENDS and self.at_usual_coverage(known).quantity:
            return replace(self.at_usual_coverage(known), draws=_ENDS[plain_name(name)])
        section = self._section(name, known)
        return replace(self, **section) if section else self._part(plain_name(name), known) or self.measuring(name)

    def _section(self, name: str, known: Known) -> dict[str, Any]:
        """The fields that a name sets: the part of the data, the depth or the coverage of a figure."""
        plain = plain_name(name)
        if self.group and (member := known.member(name, self.group)) is not None:
            return {"group": None, self.group: member}
        if self.stem and (quantity := quantity_at(self.stem, name)):
            return {"quantity": quantity, "stem": None}
        if self.system is None and (system := known.system(name)) is not None:
            return {"system": system}
        if self.confidence is None and known.is_confidence(name):
            return {"confidence": name}
        if plain.startswith("fold") and self.fold is None and (fold := known.member(name, "fold")) is not None:
            return {"fold": fold}
        meanings = [(attribute, words[plain]) for attribute, words in _WORDS.items() if plain in words]
        meanings += [("convention", name)] if name in known.conventions else []
        return dict([(field, value) for field, value in meanings if (getattr(self, field) or value) == value][:1])

    def _part(self, plain: str, known: Known) -> Context | None:
        """The context for a name that repeats the figure above it, or denotes its achieved coverage."""
        quantity = self.quantity or self.at_usual_coverage(known).quantity
        if not quantity or plain in _ITSELF:
            return replace(self, quantity=quantity) if quantity else None
        if not quantity.name.endswith("@C"):
            return None
        if plain in _ACHIEVED:
            return replace(self, quantity=replace(quantity, achieved=True))
        return self if quantity_at(quantity.name, plain) == quantity or stem_of(plain) == quantity.name else None

    def at_usual_coverage(self, known: Known) -> Context:
        """The context, with the usual coverage for an area that lacks one."""
        if not self.quantity and self.stem in _AREAS and known.usual_coverage is not None:
            return replace(self, quantity=ReportedQuantity(self.stem, known.usual_coverage))
        return self

    def measuring(self, name: str) -> Context:
        """The context with the quantity that a name denotes, unless it has one or the two contradict each other."""
        affixes, bare = split_affixes(name)
        quantity, stem = quantity_named(bare), stem_of(name)
        clash = self.quantity or self.stem or any(getattr(self, attribute) for attribute in affixes)
        if clash or (quantity is None and stem is None):
            return replace(self, stranger=self.stranger or name)
        return replace(self, quantity=quantity or UNKNOWN, stem=stem, **affixes)


def context_of(path: Path, known: Known) -> Context:
    """The context of a path, read from the outermost name inwards."""
    context = Context()
    for name in path[:-1]:
        if plain_name(name) not in _UNINFORMATIVE or known.system(name) is not None:
            context = context.within(name, known)
    is_open = not (context.quantity or context.stem or context.group)
    if is_open and quantity_named(split_affixes(path[-1])[1]):  # a system may have the name of a quantity
        return context.measuring(path[-1])
    return context.within(path[-1], known).at_usual_coverage(known)


def _stem(name: str) -> str:
    plain = plain_name(name)
    return next((plain.removesuffix(ending) for ending in _ENDINGS if plain.endswith(ending)), plain)


class Figure(NamedTuple):
    """A leaf of a reported file, with its context and the neighbours that describe it."""

    path: Path
    value: Any
    context: Context
    beside: Mapping[str, Any]

    @property
    def is_figure(self) -> bool:
        """Whether there is anything to recompute; text, booleans and nulls count only where a figure is expected."""
        known = self.context.quantity and not (self.value is None and self.context.stranger)
        return bool(known) or isinstance(self.value, Printed)


def figures_of(content: Any, known: Known) -> Iterator[Figure]:
    """All leaves of a file; digits in quotes are a number, and `0.81 ± 0.02` is a mean and a spread."""
    waiting: list[tuple[Path, Path, Any, dict[str, Any]]] = [((), (), content, {})]
    while waiting:  # no recursion, as files may be nested deeply
        path, names, value, beside = waiting.pop()
        if isinstance(value, (Mapping, list)):
            described = beside | _descriptions(value, known) if isinstance(value, Mapping) else beside
            members = [*_members(names, value, known)]
            waiting += [((*path, *location), inner, member, described) for location, inner, member in reversed(members)]
            continue
        text = value.strip() if isinstance(value, str) and len(value) <= _LONGEST_NUMBER else ""
        both = _MEAN_AND_STD.fullmatch(text)
        parts = {("mean",): both[1], ("std",): both[2]} if both else {(): text}
        for part, digits in parts.items():
            number = Printed.of(digits) if _ONE_NUMBER.fullmatch(digits) else value
            yield Figure((*path, *part), number, context_of((*names, *part), known), beside)


def _members(names: Path, value: Any, known: Known) -> Iterator[tuple[Path, Path, Any]]:
    """The members of an object or a list: location in the file, names for the context, and value.

    An entry with its coverage, as `{"coverage": 0.6, "mae": 0.2}` or `[0.6, 0.2]`, is named by it. So is an entry of a
    list of folds; if the entries do not name their folds, they are those of the data in order.
    """
    if isinstance(value, Mapping):
        for name, inner in value.items():
            own_name, rest = _own_name(inner, _COVERAGE_OF_ENTRY if _takes_coverage(name) else ())
            yield (name,), (*names, name, *own_name), rest
        return
    above = names[-1] if names else ""
    of_coverages, of_folds = _takes_coverage(above), _WORDS["group"].get(plain_name(above)) == "fold"
    for index, inner in enumerate(value):
        if of_coverages and isinstance(inner, list) and len(inner) == _PAIR and isinstance(inner[0], Printed):
            yield (str(index), "1"), (*names, inner[0].text), inner[1]
            continue
        own_name, rest = _own_name(inner, _COVERAGE_OF_ENTRY if of_coverages else _FOLD_OF_ENTRY if of_folds else ())
        in_order = known.folds[index : index + 1] if len(value) == len(known.folds) else (f"entry {index}",)
        yield (str(index),), (*names, *(own_name or (in_order if of_folds else (str(index),)))), rest


def _own_name(entry: Any, members: Path) -> tuple[Path, Any]:
    """The name of an entry from one of its own members, and the entry without that member."""
    name = next(
        (name for name in members if isinstance(entry, Mapping) and isinstance(entry.get(name), (Printed, str))), ""
    )
    if not name:
        return (), entry
    text = getattr(entry[name], "text", entry[name])
    return (text,), {member: value for member, value in entry.items() if member != name}


def _takes_coverage(name: str) -> bool:
    return (stem_of(name) or "").endswith("@C")


def _descriptions(members: Mapping[str, Any], known: Known) -> dict[str, Any]:
    """The members of an object that describe every figure in it; of several for the same field, the first."""
    descriptions: dict[str, Any] = {}
    for name, value in members.items():
        field = _BESIDE.get(plain_name(name), "")
        plain = value.get("name") if field == "loss" and isinstance(value, Mapping) else value
        meaning = known.system(plain) if field == "system" and isinstance(plain, str) else plain
        if isinstance(meaning, _KINDS.get(field, ())):
            descriptions.setdefault(field, meaning)
    return descriptions
