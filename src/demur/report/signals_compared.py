"""Signals compared: every variant side by side at a common coverage, and whether its confidence means what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.artifact_numbers import DeltaNumbers, PairedNumbers
from demur.drawing.confidence import ConfidenceBars, histogram, reliability_diagram
from demur.picture_data import reliability_bins
from demur.report.forest import which
from demur.report.numbers import UNDEFINED, bound_of, differences_of, ends_at, nothing_common, runs_of, title
from demur.report.sides import sides_of
from demur.verdict import ends_of, with_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demur.artifact import Metrics
    from demur.artifact_numbers import VariantNumbers
    from demur.report.sides import Side


@dataclass(frozen=True, slots=True)
class SignalRow:
    """One variant: of each run its working points, its area at the common coverage and its ECE; and the difference."""

    name: str
    points: tuple[int, ...]
    areas: tuple[str, ...]
    ece: str
    difference: str
    said: str


@dataclass(frozen=True, slots=True)
class SignalPictures:
    """One variant's confidences: how reliable, and how they are spread."""

    reliability: str | None
    histograms: tuple[tuple[Side, str, int], ...]


@dataclass(frozen=True, slots=True)
class Signals:
    """All variants, and the pictures of each."""

    area: str
    rows: tuple[SignalRow, ...]
    pictures: tuple[SignalPictures, ...]


def signals(metrics: Metrics) -> Signals:
    """Every variant side by side."""
    entries = {name: runs_of(entry) for name, entry in metrics.confidence_variants.items()}
    first = next(iter(entries.values()), None)
    return Signals(
        area="" if first is None or nothing_common(first[0]) else title("augrc_at_c", first[0]),
        rows=tuple(_row(metrics, name, runs) for name, runs in entries.items()),
        pictures=tuple(_pictures(runs, sides_of(metrics)) for runs in entries.values()),
    )


def _row(metrics: Metrics, name: str, runs: Sequence[VariantNumbers]) -> SignalRow:
    entry, delta = metrics.confidence_variants[name], differences_of(metrics, name).get("augrc_at_c")
    difference = said = ""
    if isinstance(entry, PairedNumbers) and isinstance(delta, DeltaNumbers) and not nothing_common(entry.left):
        difference, said = with_interval(delta.delta, ends_of(delta, entry)), which("augrc_at_c", delta, entry)
    return SignalRow(
        name=name,
        points=tuple(len(one.curve.coverage) for one in runs),
        areas=tuple(_area(one) for one in runs),
        ece=_ece(runs, sides_of(metrics)),
        difference=difference,
        said=said,
    )


def _ece(runs: Sequence[VariantNumbers], sides: Sequence[Side]) -> str:
    """The calibration error of each run whose confidence is a probability, with the side where there are two."""
    if not any(one.reliability for one in runs):
        return UNDEFINED
    values = [f"{one.reliability.ece:.3f}" if one.reliability else UNDEFINED for one in runs]
    if len(runs) == 1:
        return values[0]
    return ", ".join(f"{side.word} {value}" for side, value in zip(sides, values, strict=True))


def _area(one: VariantNumbers) -> str:
    if not one.defined:
        return "nothing is answered"
    if nothing_common(one):
        return UNDEFINED
    return with_interval(one.augrc_at_c.value, ends_at(one, "augrc_at_c"), bound_of(one, "augrc_at_c"))


def _pictures(runs: Sequence[VariantNumbers], sides: Sequence[Side]) -> SignalPictures:
    both = [*zip(sides, runs, strict=True)]
    bars = [
        (side, ConfidenceBars(side.style, counts.edges, counts.right, counts.wrong, counts.abstained))
        for side, one in both
        if (counts := one.histogram)
    ]
    top = max((each.tallest for _, each in bars), default=0) or 1
    return SignalPictures(
        reliability=_reliability(both) if any(one.reliability for one in runs) else None,
        histograms=tuple((side, histogram(each, top).svg, each.abstained) for side, each in bars),
    )


def _reliability(both: Sequence[tuple[Side, VariantNumbers]]) -> str:
    drawn = [(side.word, side.style, one.reliability) for side, one in both if one.reliability]
    errors = "; ".join(f"{word}: expected calibration error {each.ece:.3f}" for word, _, each in drawn)
    words = f"Reliability: share that was right against what the confidence says. {errors}."
    return reliability_diagram([reliability_bins(each, word, style) for word, style, each in drawn], words).svg
