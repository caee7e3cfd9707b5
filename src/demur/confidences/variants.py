"""Variants: confidences computed from signals by registered functions of columns. Higher is more confident."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from demur.confidences.features import Need, first_problem, nulls_filled
from demur.errors import UserError, and_more, shown
from demur.facts.columns import Column
from demur.facts.items import Items
from demur.types import Floats

if TYPE_CHECKING:
    from demur.confidences.calibration import AnyCalibration

NEED_CALIBRATION = ("verbalized_calibrated", "calibrated")
DECIMALS = 12
_UNBOUNDED = (-math.inf, math.inf)
_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, eq=False)
class Confidence:
    """The confidence of every unit of a run, nan for abstentions, and the number of nulls replaced by signal.

    `inputs` are the columns that a `calibration` was applied to. With `lower_is_surer` the values are the negatives of
    a signal, so that higher is more confident in any case. With `is_probability` the confidence is the chance of being
    right, as the system estimates it.
    """

    name: str
    values: Floats
    nulls_filled: Mapping[str, int] = field(default_factory=dict)
    calibration: AnyCalibration | None = None
    inputs: Mapping[str, Floats] = field(default_factory=dict)
    lower_is_surer: bool = False
    is_probability: bool = False

    def turned(self) -> Confidence:
        """The confidence with the opposite sign, for a signal whose lower values mean more confident."""
        if self.name in VARIANTS or self.calibration is not None or self.name.startswith("secondary:"):
            raise UserError(f"{shown(self.name)} is more confident the higher it is: only a signal can be reversed")
        if self.is_probability:
            raise UserError(f"{shown(self.name)} is declared the chance of being right: it cannot be reversed")
        return replace(self, values=-self.values, lower_is_surer=True)


MERGED = "{inputs} different inputs become {outputs} different confidences: fewer operating points than before"


def distinct(columns: Iterable[Floats]) -> int:
    """The number of distinct rows of the columns: the largest possible number of operating points."""
    return len(np.unique(np.column_stack([*columns]), axis=0))


@dataclass(frozen=True, slots=True)
class Variant:
    """A registered function of signals; `low` and `high` bound its values, and those of a `composite` are rounded.

    Sums that are equal in exact arithmetic, such as 0.4·0.75 and 0.3·1, differ in their last bits; rounded to 12
    decimals they are equal, and one plateau.
    """

    name: str
    needs: tuple[Need, ...]
    function: Callable[..., Any]
    low: float = -math.inf
    high: float = math.inf
    composite: bool = False
    higher_is_more_confident: bool = True

    @property
    def meaning(self) -> str:
        """The first line of the function's docstring."""
        return (self.function.__doc__ or "").strip().partition("\n")[0].rstrip(".")

    @property
    def is_probability(self) -> bool:
        """Whether its values can be read as probabilities."""
        return self.higher_is_more_confident and self.low >= 0 and self.high <= 1

    def problem(self, items: Items) -> str | None:
        """The reason why a run does not support the variant: the first signal missing, null or not a number."""
        return first_problem(self.needs, items)

    def of(self, items: Items) -> Confidence:
        """Compute the confidence of a run without a `problem`, before rounding."""
        values = spread(self.name, items, self.function(*(need.numbers(items) for need in self.needs)))
        checked = np.round(values, DECIMALS) if self.composite else values
        outside = (checked < self.low) | (checked > self.high)
        if outside.any():
            unit = int(np.argmax(outside))
            declared = f"declared from {self.low:g} to {self.high:g}"
            raise UserError(f"{self.name}: {items.place(unit)}: {values[unit]:g}, {declared}")
        ranking = values if self.higher_is_more_confident else -values
        return Confidence(self.name, ranking, nulls_filled(self.needs, items), is_probability=self.is_probability)


VARIANTS: dict[str, Variant] = {}


def variant(
    name: str,
    *needs: str | Need,
    bounds: tuple[float, float] = _UNBOUNDED,
    composite: bool = False,
    higher_is_more_confident: bool = True,
) -> Callable[[_F], _F]:
    """Register the decorated function of signal columns as a confidence variant.

    The function gets one array per signal, of the answered units, with nulls replaced as the `Need` declares, and
    returns an array. Values out of bounds are an error. If higher is not more confident, the confidence is the negative
    of the result.

    >>> @variant("twice_the_evidence", "llm_evidence_count", bounds=(0, math.inf))
    ... def twice_the_evidence(count):
    ...     '''Two times the evidence.'''
    ...     return 2 * count
    >>> VARIANTS.pop("twice_the_evidence").meaning
    'Two times the evidence'
    """
    if not isinstance(name, str) or not name.isprintable() or not name or set(name) & set(":+, "):
        raise UserError(f"no variant can be called {shown(name)}: expected text without spaces and : + ,")
    if name in VARIANTS or name in ("default", "all", *NEED_CALIBRATION):
        raise UserError(f"no variant can be called {shown(name)}: the name is taken")

    def register(function: _F) -> _F:
        declared = tuple(Need(need) if isinstance(need, str) else need for need in needs)
        VARIANTS[name] = Variant(name, declared, function, *bounds, composite, higher_is_more_confident)
        return function

    return register


_COUNT = Need("llm_evidence_count")
_SIMILARITY = Need("retrieval_similarity_mean", null=0.0)
_NEAREST = Need("retrieval_similarity_max", null=0.0)
_SPOKEN = Need("verbalized_confidence", null=3.0)
_AGREEMENT = Need("consistency_modal_confidence")
_SHARE = (0.0, 1.0)


def evidence_share(count: Floats) -> Floats:
    """Evidence as a share: three pieces or more count as 1."""
    return np.minimum(count, 3) / 3


def _unchanged(name: str, need: Need, meaning: str, bounds: tuple[float, float] = _UNBOUNDED) -> None:
    """Register a signal that is used as a confidence unchanged."""

    def function(signal: Floats) -> Floats:
        return signal

    function.__doc__ = meaning
    variant(name, need, bounds=bounds)(function)


_unchanged("llm", _COUNT, "Pieces of evidence the model quoted.", (0, math.inf))


@variant("total_evidence", _COUNT, Need("keyword_evidence_count", absent=0.0), bounds=(0, math.inf))
def total_evidence(count: Floats, keywords: Floats) -> Floats:
    """Pieces of evidence quoted, and found by keyword where the run counted those."""
    return count + keywords


_unchanged("retrieval_similarity_mean", _SIMILARITY, "Mean similarity of the retrieved references.")
_unchanged("retrieval_similarity_max", _NEAREST, "Similarity of the nearest retrieved reference.")


@variant("hybrid_evidence_similarity", _COUNT, _SIMILARITY, bounds=_SHARE, composite=True)
def hybrid_evidence_similarity(count: Floats, similarity: Floats) -> Floats:
    """0.5 evidence share + 0.5 mean similarity, clipped to 0–1."""
    return 0.5 * evidence_share(count) + 0.5 * np.clip(similarity, 0, 1)


@variant("verbalized", _SPOKEN, bounds=_SHARE)
def spoken_share(spoken: Floats) -> Floats:
    """What the model said of its own confidence, from 1–5 to 0–1.

    >>> spoken_share(np.array([1.0, 3.0, 5.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.clip((spoken - 1) / 4, 0, 1)


@variant("hybrid_verbalized", _SPOKEN, _COUNT, _SIMILARITY, bounds=_SHARE, composite=True)
def hybrid_verbalized(spoken: Floats, count: Floats, similarity: Floats) -> Floats:
    """0.4 verbalized + 0.3 evidence share + 0.3 mean similarity, clipped to 0–1."""
    return 0.4 * spoken_share(spoken) + 0.3 * evidence_share(count) + 0.3 * np.clip(similarity, 0, 1)


_unchanged("token_msp", Need("token_msp"), "Mean probability of the generated tokens.", _SHARE)


@variant("token_pe", "token_pe", bounds=_SHARE)
def token_pe(entropy: Floats) -> Floats:
    """1 / (1 + mean entropy of the tokens)."""
    return 1 / (1 + entropy)


@variant("token_energy", "token_energy", bounds=_SHARE)
def token_energy(energy: Floats) -> Floats:
    """exp(mean log mass of the most likely tokens), at most 1."""
    return np.exp(np.minimum(energy, 0))


_unchanged("consistency", _AGREEMENT, "Share of the samples that agree with the most frequent answer.", _SHARE)


@variant("consistency_inverse_std", "consistency_score_std", bounds=_SHARE)
def consistency_inverse_std(spread: Floats) -> Floats:
    """1 / (1 + standard deviation of the sampled scores)."""
    return 1 / (1 + spread)


@variant("hybrid_consistency", _AGREEMENT, _COUNT, _SIMILARITY, bounds=_SHARE, composite=True)
def hybrid_consistency(agreement: Floats, count: Floats, similarity: Floats) -> Floats:
    """0.4 agreement + 0.3 evidence share + 0.3 mean similarity, clipped to 0–1."""
    return 0.4 * agreement + 0.3 * evidence_share(count) + 0.3 * np.clip(similarity, 0, 1)


def check_probabilities(items: Items, name: str, values: Floats, hint: str) -> None:
    """Raise an error, which ends in a hint, unless the values of the answered units are probabilities."""
    outside = np.flatnonzero((values < 0) | (values > 1))
    if outside.size:
        unit = items.place(int(np.flatnonzero(items.answered)[outside[0]]))
        text = f"{unit}: {shown(name)} {values[outside[0]]:g}, expected a number from 0 to 1"
        raise UserError(and_more(text, outside.size) + hint)


def spread(name: str, items: Items, answers: Any) -> Floats:
    """Distribute finite values of the answered units over all units; the other units get nan."""
    column = Column.from_sequence(answers)
    answered = np.flatnonzero(items.answered)
    if len(column) != len(answered):
        raise UserError(f"{name}: {len(column)} values, expected one for each of {len(answered)} answered units")
    column.refuse(~column.usable(), name, "a finite number", lambda index: items.place(int(answered[index])))
    values = np.full(len(items), np.nan)
    values[answered] = column.values
    return values
