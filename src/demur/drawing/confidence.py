"""Charts of confidences: how reliable they are, how they are spread, and what a calibrator makes of them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

from demur.drawing.looks import LOOKS
from demur.drawing.picture import Frame, Picture, element, label, line, marker, visible
from demur.drawing.risk_coverage import MOST_MARKERS

_SQUARE = 340
_WIDTH, _HEIGHT = 480, 250
_ONLY = LOOKS[0].style  # of what stands alone in its picture


@dataclass(frozen=True, slots=True)
class ReliabilityBins:
    """Of each bin of one system's forecasts: their mean, the share that came true, and how many there are."""

    label: str
    style: str
    mean_predicted: Sequence[float]
    fraction_correct: Sequence[float]
    count: Sequence[int]

    @classmethod
    def of(cls, label: str, style: str, points: Iterable[tuple[float, float, int]]) -> Self:
        """From points (mean predicted, fraction correct, count); empty bins are left out."""
        filled = [point for point in points if point[2]]
        return cls(label, style, [x for x, _, _ in filled], [y for _, y, _ in filled], [n for _, _, n in filled])

    @property
    def weight(self) -> list[float]:
        """How many forecasts a bin holds, of the most that one does."""
        most = max(self.count, default=1) or 1
        return [count / most for count in self.count]


@dataclass(frozen=True, slots=True)
class ConfidenceBars:
    """One system's right and wrong answers between each edge and the next, and its abstentions."""

    style: str
    edges: Sequence[float]
    right: Sequence[int]
    wrong: Sequence[int]
    abstained: int

    @property
    def tallest(self) -> int:
        """The most that one bar holds."""
        return max(self.abstained, *(right + wrong for right, wrong in zip(self.right, self.wrong, strict=True)))


def reliability_diagram(
    series: Sequence[ReliabilityBins],
    words: str,
    names: tuple[str, str] = ("what the confidence says", "share that was right"),
) -> Picture:
    """The share that came true against the mean forecast of each bin, larger where a bin holds more."""
    frame = Frame(_SQUARE, _SQUARE)
    diagonal = line([(frame.across(0), frame.up(0)), (frame.across(1), frame.up(1))])
    parts = [*frame.axes(*names), element("path", d=diagonal, class_="zero")]
    for bins in series:
        ends = zip(bins.mean_predicted, bins.fraction_correct, strict=True)
        spots = [(frame.across(x), frame.up(y)) for x, y in ends]
        parts.append(element("path", d=line(spots), class_=f"line {bins.style}"))
        for (x, y), weight in zip(spots, bins.weight, strict=True):
            parts.append(marker(x, y, bins.style, 3 + 5 * weight**0.5))
    return Picture(_SQUARE, _SQUARE, words, parts, "square", [(bins.style, bins.label) for bins in series])


def histogram(bars: ConfidenceBars, top: int) -> Picture:
    """Answers by confidence, right below wrong, and the abstentions beside them, on a scale up to `top`."""
    frame = Frame(_WIDTH, _HEIGHT, xs=(bars.edges[0], bars.edges[-1]), ys=(0.0, float(top)), right=96)
    beside = Frame(_WIDTH, _HEIGHT, ys=frame.ys, left=_WIDTH - 70, right=22)
    parts = [*frame.axes("confidence", "items"), *_bar(beside, (0.0, 1.0), [(bars.abstained, "abstained")])]
    parts.append(label(_WIDTH - 46, _HEIGHT - 27, "abstained"))
    for edges, right, wrong in zip(pairwise(bars.edges), bars.right, bars.wrong, strict=True):
        parts += [*_bar(frame, edges, [(right, bars.style), (wrong, "wrong")])]
    words = f"Answers by confidence: {sum(bars.right)} right, {sum(bars.wrong)} wrong, {bars.abstained} abstained."
    return Picture(_WIDTH, _HEIGHT, words, parts, "histogram")


def _bar(frame: Frame, edges: tuple[float, float], stack: Sequence[tuple[int, str]]) -> Iterator[str]:
    x, end, base = frame.across(edges[0]), frame.across(edges[1]), 0
    for count, kind in stack:
        if count:
            top = frame.up(base + count)
            box = {"x": x + 0.5, "y": top, "width": max(end - x - 1, 1), "height": frame.up(base) - top}
            yield element("rect", class_=f"bar {kind}", **box)
        base += count


def calibration_map(inputs: Sequence[float], outputs: Sequence[float], name: str, *, knots: bool) -> Picture:
    """Calibrated confidence against what goes in, flat beyond the ends; `knots` are marked where they are few."""
    low, high = inputs[0], inputs[-1]
    margin = 0.0 if high > low else 0.5
    frame = Frame(760, 360, xs=(low - margin, high + margin))
    kept = visible([(number - low) / ((high - low) or 1) for number in inputs], outputs).tolist()
    spots = [(frame.across(inputs[i]), frame.up(outputs[i])) for i in kept]
    ends = [(frame.across(low - margin), spots[0][1]), *spots, (frame.across(high + margin), spots[-1][1])]
    parts = [*frame.axes(name, "calibrated confidence"), element("path", d=line(ends), class_=f"line {_ONLY}")]
    if knots and len(spots) <= MOST_MARKERS:
        parts += [marker(x, y, _ONLY) for x, y in spots]
    values = f"{outputs[0]:.4g} at {low:.4g}, {outputs[-1]:.4g} at {high:.4g}"
    words = f"Calibrated confidence against what goes in: {values}."
    return Picture(frame.width, frame.height, words, parts, "curves")
