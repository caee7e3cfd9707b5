"""Charts of confidences: reliability diagram, histogram and calibration map."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

from demur.drawing.picture import (
    MARGINS,
    Frame,
    Picture,
    at,
    element,
    label,
    line,
    marker,
    percent_text,
    plane,
    steps,
    visible,
)
from demur.drawing.risk_coverage import MOST_MARKERS
from demur.drawing.system_styles import STYLES

_SQUARE = 320
_WIDTH, _HEIGHT = 420, 240
_BESIDE = 86  # pixels for the abstentions beside a histogram
_ONLY = STYLES[0].style  # of a single series


@dataclass(frozen=True, slots=True)
class ReliabilityBins:
    """The bins of one system's forecasts: mean predicted, fraction correct and count of each."""

    label: str
    style: str
    mean_predicted: Sequence[float]
    fraction_correct: Sequence[float]
    count: Sequence[int]

    @classmethod
    def of(cls, label: str, style: str, points: Iterable[tuple[float, float, int]]) -> Self:
        """Build from points (mean predicted, fraction correct, count); empty bins are left out."""
        filled = [point for point in points if point[2]]
        return cls(label, style, [x for x, _, _ in filled], [y for _, y, _ in filled], [n for _, _, n in filled])

    @property
    def weight(self) -> list[float]:
        """The count of each bin relative to the largest one."""
        most = max(self.count, default=1) or 1
        return [count / most for count in self.count]


@dataclass(frozen=True, slots=True)
class ConfidenceBars:
    """The bars of a histogram: right and wrong answers of one system by confidence, and its abstentions."""

    style: str
    edges: Sequence[float]
    right: Sequence[int]
    wrong: Sequence[int]
    abstained: int

    @property
    def tallest(self) -> int:
        """The height of the tallest bar."""
        return max(self.abstained, *(right + wrong for right, wrong in zip(self.right, self.wrong, strict=True)))


def reliability_diagram(
    series: Sequence[ReliabilityBins],
    words: str,
    names: tuple[str, str] = ("what the confidence says", "share that was right"),
) -> Picture:
    """Draw the fraction correct against the mean predicted of each bin; larger bins have larger markers."""
    frame = Frame()
    parts = [*frame.axes(*names)]
    paths = [element("path", d=line([(0, 100), (100, 0)]), class_="zero")]
    for bins in series:
        ends = zip(bins.mean_predicted, bins.fraction_correct, strict=True)
        spots = [(frame.across(x), frame.up(y)) for x, y in ends]
        paths.append(element("path", d=line(spots), class_=f"line {bins.style}"))
        for (x, y), weight in zip(spots, bins.weight, strict=True):
            parts.append(marker(x, y, bins.style, 3 + 5 * weight**0.5))
    parts.append(plane(*paths))
    return Picture(_SQUARE, _SQUARE, words, parts, "square", [(bins.style, bins.label) for bins in series])


def histogram(bars: ConfidenceBars, top: int) -> Picture:
    """Draw answers by confidence, right below wrong, and abstentions, on a vertical scale up to `top`."""
    frame = Frame(xs=(bars.edges[0], bars.edges[-1]), ys=(0.0, float(top)))
    edges = [frame.across(edge) for edge in bars.edges]
    right = [_box(frame, ends, (0, count)) for ends, count in zip(pairwise(edges), bars.right, strict=True)]
    stacked = zip(pairwise(edges), bars.right, bars.wrong, strict=True)
    wrong = [_box(frame, ends, (below, below + count)) for ends, below, count in stacked]
    paths = [("".join(right), bars.style), ("".join(wrong), "wrong")]
    parts = [*frame.axes("confidence", "items")]
    parts.append(plane(*(element("path", d=path, class_=f"bar {kind}") for path, kind in paths if path)))
    height = 100 - frame.up(bars.abstained)
    top_end, tall = percent_text(100 - height), percent_text(height)
    column = element("rect", y=top_end, width=40, height=tall, class_="bar abstained")
    parts += [at(100, 0, element("g", column, transform="translate(22 0)"))]
    parts.append(label((100, 100), "abstained", shift=(42, 19)))
    words = f"Answers by confidence: {sum(bars.right)} right, {sum(bars.wrong)} wrong, {bars.abstained} abstained."
    margins = (MARGINS[0], _BESIDE, *MARGINS[2:])
    return Picture(_WIDTH, _HEIGHT, words, parts, "histogram", margins=margins)


def _box(frame: Frame, ends: tuple[float, float], stack: tuple[int, int]) -> str:
    foot, top = map(frame.up, stack)
    path = steps([(ends[0], foot), (ends[0] + 0.97 * (ends[1] - ends[0]), top), (ends[1], foot)], ends[0])
    return f"{path.rpartition('h')[0]}Z" if stack[0] != stack[1] else ""


def calibration_map(inputs: Sequence[float], outputs: Sequence[float], name: str, *, knots: bool) -> Picture:
    """Draw calibrated confidence against the input; a few `knots` are marked."""
    low, high = inputs[0], inputs[-1]
    margin = 0.0 if high > low else 0.5
    frame = Frame(xs=(low - margin, high + margin))
    shown = visible([(number - low) / ((high - low) or 1) for number in inputs], outputs).tolist()
    spots = [(frame.across(inputs[i]), frame.up(outputs[i])) for i in shown]
    ends = [(0.0, spots[0][1]), *spots, (100.0, spots[-1][1])]
    path = element("path", d=line(ends), class_=f"line {_ONLY}")
    parts = [*frame.axes(name, "calibrated confidence"), plane(path)]
    if knots and len(spots) <= MOST_MARKERS:
        parts += [marker(x, y, _ONLY) for x, y in spots]
    values = f"{outputs[0]:.4g} at {low:.4g}, {outputs[-1]:.4g} at {high:.4g}"
    words = f"Calibrated confidence against what goes in: {values}."
    return Picture(760, 360, words, parts, "curves")
