"""Signals compared: every variant side by side at a common coverage, and whether its confidence means what it says."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from demur.artifact_numbers import DeltaNumbers, PairedNumbers
from demur.report.forest import which
from demur.report.numbers import UNDEFINED, bound_of, differences_of, ends_at, nothing_common, runs_of, title
from demur.report.sides import sides_of
from demur.report.svg import Frame, element, label, line, marker, picture
from demur.verdict import ends_of, with_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from demur.artifact import Metrics
    from demur.artifact_numbers import Histogram, Reliable, VariantNumbers
    from demur.report.sides import Side

_SQUARE = 340
_WIDTH, _HEIGHT = 480, 250


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
    top = max((_tallest(one.histogram) for one in runs if one.histogram), default=0) or 1
    return SignalPictures(
        reliability=_reliability(both) if any(one.reliability for one in runs) else None,
        histograms=tuple(
            (side, _histogram(one.histogram, side, top), one.histogram.abstained) for side, one in both if one.histogram
        ),
    )


def _reliability(both: Sequence[tuple[Side, VariantNumbers]]) -> str:
    frame = Frame(_SQUARE, _SQUARE)
    diagonal = line([(frame.across(0), frame.up(0)), (frame.across(1), frame.up(1))])
    parts = [
        *frame.axes("what the confidence says", "share that was right"),
        element("path", d=diagonal, class_="zero"),
    ]
    said = []
    for side, one in both:
        if one.reliability:
            parts += [*_bins(frame, one.reliability, side)]
            said.append(f"{side.word}: expected calibration error {one.reliability.ece:.3f}")
    words = f"Reliability: share that was right against what the confidence says. {'; '.join(said)}."
    return picture(_SQUARE, _SQUARE, words, parts, class_="square")


def _bins(frame: Frame, found: Reliable, side: Side) -> Iterator[str]:
    """The bins that hold answers, larger where they hold more."""
    bins = [each for each in found.bins if each.count]
    spots = [(frame.across(each.said), frame.up(each.came_true)) for each in bins]
    yield element("path", d=line(spots), class_=f"line {side.style}")
    most = max((each.count for each in bins), default=1)
    for (x, y), each in zip(spots, bins, strict=True):
        yield marker(x, y, side.style, 3 + 5 * (each.count / most) ** 0.5)


def _tallest(found: Histogram) -> int:
    return max(found.abstained, *(right + wrong for right, wrong in zip(found.right, found.wrong, strict=True)))


def _histogram(found: Histogram, side: Side, top: int) -> str:
    """Answers by confidence, on the scale of the other run's."""
    low, high = found.edges[0], found.edges[-1]
    frame = Frame(_WIDTH, _HEIGHT, xs=(low, high), ys=(0.0, float(top)), right=96)
    away = Frame(_WIDTH, _HEIGHT, ys=frame.ys, left=_WIDTH - 70, right=22)
    parts = [*frame.axes("confidence", "items"), *_bar(away, (0.0, 1.0), [(found.abstained, "abstained")])]
    parts.append(label(_WIDTH - 46, _HEIGHT - 27, "abstained"))
    for edges, right, wrong in zip(pairwise(found.edges), found.right, found.wrong, strict=True):
        parts += [*_bar(frame, edges, [(right, side.style), (wrong, "wrong")])]
    words = f"Answers by confidence: {sum(found.right)} right, {sum(found.wrong)} wrong, {found.abstained} abstained."
    return picture(_WIDTH, _HEIGHT, words, parts, class_="histogram")


def _bar(frame: Frame, edges: tuple[float, float], stack: Sequence[tuple[int, str]]) -> Iterator[str]:
    x, end = frame.across(edges[0]), frame.across(edges[1])
    base = 0
    for count, kind in stack:
        if count:
            top = frame.up(base + count)
            box = {"x": x + 0.5, "y": top, "width": max(end - x - 1, 1), "height": frame.up(base) - top}
            yield element("rect", class_=f"bar {kind}", **box)
        base += count
