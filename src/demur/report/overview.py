"""Overview: the verdict with its cards, and who was counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.artifact_numbers import DeltaNumbers, PairedNumbers
from demur.errors import shown
from demur.report.forest import which
from demur.report.numbers import (
    UNDEFINED,
    bound_of,
    differences_of,
    ends_at,
    interval_text,
    level_of,
    measured,
    nothing_common,
    runs_of,
    title,
)
from demur.report.sides import sides_of
from demur.verdict import LEFT, RIGHT, Verdict, ends_of, three, verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from demur.artifact import Metrics
    from demur.artifact_numbers import VariantNumbers
    from demur.report.sides import Side


@dataclass(frozen=True, slots=True)
class Figure:
    """A number on a card, whose it is, and its interval."""

    side: Side | None
    value: str
    interval: str


@dataclass(frozen=True, slots=True)
class Card:
    """A number, or one of each run, with what it means."""

    title: str
    figures: tuple[Figure, ...]
    note: str


@dataclass(frozen=True, slots=True)
class Overview:
    """What the artifact says, and the numbers it rests on."""

    verdict: Verdict
    variant: str
    cards: tuple[Card, ...]


def overview(metrics: Metrics) -> Overview:
    """The verdict under the first variant."""
    names = tuple(side.name for side in sides_of(metrics))
    variant, entry = next(iter(metrics.confidence_variants.items()), ("", None))
    cards = () if entry is None else (*_cards(metrics, variant, entry),)
    return Overview(verdict(metrics, names), variant, cards)


def _cards(metrics: Metrics, variant: str, entry: VariantNumbers | PairedNumbers) -> Iterator[Card]:
    runs, sides = runs_of(entry), sides_of(metrics)
    interval = level_of(runs[0]) if runs[0].bootstrap else "no resamples, no intervals"
    yield Card("Share of the items answered", _figures(runs, sides, "cmax"), f"Cmax; {interval}")
    errors = tuple(
        Figure(side, UNDEFINED if one.mae is None else f"{one.mae:.4g}", "no interval stored")
        for side, one in zip(sides, runs, strict=True)
    )
    unequal = len({one.cmax for one in runs}) > 1
    note = "about different items: not to be compared" if unequal else f"mean loss, {shown(metrics.loss.name)}"
    yield Card("Risk of all answers", errors, note)
    if isinstance(entry, PairedNumbers) and nothing_common(entry.left):
        return
    key = "augrc_at_c" if isinstance(entry, PairedNumbers) else "augrc_full"
    yield Card(
        title(key, runs[0]),
        _figures(runs, sides, key),
        "errors that are accepted, over all thresholds; lower is better",
    )
    delta = differences_of(metrics, variant).get("augrc_at_c")
    if isinstance(delta, DeltaNumbers) and isinstance(entry, PairedNumbers):
        difference = UNDEFINED if delta.delta is None else f"{delta.delta:.4g}"
        figure = Figure(None, difference, interval_text(ends_of(delta, entry)))
        said = which("augrc_at_c", delta, entry)
        winner = {LEFT: sides[0], RIGHT: sides[-1]}.get(said)
        note = f"{winner.name} is better" if winner else said or "nothing was resampled"
        yield Card("Difference, right − left", (figure,), note)
    else:
        yield Card("Excess over the best order", _figures(runs, sides, "eaugrc"), "eAUGRC; 0 cannot be improved")


def _figures(runs: tuple[VariantNumbers, ...], sides: tuple[Side, ...], key: str) -> tuple[Figure, ...]:
    return tuple(_figure(one, side, key) for side, one in zip(sides, runs, strict=True))


def _figure(one: VariantNumbers, side: Side, key: str) -> Figure:
    value, ends, bound = measured(one, key), ends_at(one, key), bound_of(one, key)
    if value is None:
        return Figure(side, UNDEFINED, "nothing is answered")
    if key == "cmax":
        return Figure(side, f"{value:.1%}", "" if ends is None else f"[{ends.low:.1%}, {ends.high:.1%}]")
    interval = interval_text(ends) if bound is None else f"at most {three(bound)}"
    return Figure(side, f"{value:.4g}", "" if ends is None and bound is None else interval)


@dataclass(frozen=True, slots=True)
class Answers:
    """How many of the items a run answered."""

    side: Side
    answered: int
    abstained: int
    failed: int

    @property
    def share(self) -> str:
        """The share answered, as the width of a bar."""
        return f"{100 * self.answered / max(self.answered + self.abstained, 1):.2f}"


@dataclass(frozen=True, slots=True)
class Counted:
    """From everyone to the answers that were counted."""

    total: int
    failed: int
    included: int
    items: int
    left_only: int | None
    right_only: int | None
    answers: tuple[Answers, ...]


def counted(metrics: Metrics) -> Counted:
    """Who was counted, and who was not."""
    people, compared = metrics.population, metrics.comparison
    answered = people.items_predicted
    counts = (answered,) if isinstance(answered, int) else (answered.left, answered.right)
    failed = (compared.participants_failed_left, compared.participants_failed_right)
    sides = sides_of(metrics)
    return Counted(
        total=people.participants_total,
        failed=people.participants_failed,
        included=people.participants_included,
        items=people.items_total,
        left_only=compared.participants_left_only,
        right_only=compared.participants_right_only,
        answers=tuple(
            Answers(side, count, people.items_total - count, missing or 0)
            for side, count, missing in zip(sides, counts, failed, strict=False)
        ),
    )
