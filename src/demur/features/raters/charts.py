"""Charts of raters and published points among the curves of systems, and of handing over to a rater."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape

from demur.drawing.forest import Interval
from demur.drawing.picture import (
    MARGINS,
    Frame,
    Picture,
    apart,
    at,
    element,
    end_label,
    line,
    marker,
    percent_text,
    plane,
    visible,
)
from demur.drawing.risk_coverage import MOST_MARKERS, RiskCurve, curves_in_words, risk_coverage, risk_frame

_SHAPES = {
    "paired": "M0-7l7 7l-7 7l-7-7Z",
    "forced": "M-6-5h12l-6 11Z",
    "counts": "M-5-5h10v10h-10Z",
    "published": "M-6 5h12l-6-11Z",
}
_MIDDLE = 0.5
_HIGHER = 1.25  # height of the frame relative to the curves, at least
_SIZE = (760, 400)
_SMALL = (420, 240)


@dataclass(frozen=True, slots=True)
class OutsidePoint:
    """The coverage and risk of a rater or publication with intervals, and the risk of each system at that coverage."""

    label: str
    kind: str
    coverage: float
    risk: float
    coverage_interval: Interval | None = None
    risk_interval: Interval | None = None
    systems: Sequence[tuple[str, float]] = ()


@dataclass(frozen=True, slots=True)
class Handover:
    """Hand-over of declined units to a rater: the shares handed over, all first, and the joint risks."""

    style: str
    rater: str
    share: Sequence[float]
    risk: Sequence[float]
    percent: bool = False  # whether the risk is a share of the answers


def points_chart(curves: Sequence[RiskCurve], points: Sequence[OutsidePoint]) -> Picture:
    """Points in the frame of the curves, each with a thin line to the systems at the same coverage.

    Only the points are labelled; the systems are named in the legend.
    """
    heights = [_HIGHER * max(curve.risk) for curve in curves if len(curve.risk)]
    heights += [height for point in points for height in (point.risk, *(point.risk_interval or ()))]
    top = max(heights, default=0.0)
    unnamed = [replace(curve, label="") for curve in curves]
    frame, picture = risk_frame(curves, top), risk_coverage(unnamed, top=top, size=_SIZE)
    marks = [part for draw in (_lines, _bars, _shape) for point in points for part in draw(frame, point)]
    described = "; ".join(f"{point.label}: {point.risk:.4g} at a coverage of {point.coverage:.1%}" for point in points)
    parts = [*picture.parts, *marks, *_names(frame, points)]
    words = f"{curves_in_words(curves)} Beside them {described}."
    return replace(picture, parts=parts, words=words, keys=[(curve.style, curve.label) for curve in curves], data={})


def _lines(frame: Frame, point: OutsidePoint) -> Iterator[str]:
    x = frame.across(point.coverage)
    for style, risk in point.systems:
        ends = {"y1": percent_text(frame.up(point.risk)), "y2": percent_text(frame.up(risk))}
        yield element("line", x1=percent_text(x), x2=percent_text(x), **ends, class_=f"reference {style}")
        yield at(x, frame.up(risk), element("path", d="M-6 0h12", class_=f"reference {style}"))


def _bars(frame: Frame, point: OutsidePoint) -> Iterator[str]:
    x, y = percent_text(frame.across(point.coverage)), percent_text(frame.up(point.risk))
    if point.coverage_interval is not None:
        left, right = (percent_text(frame.across(end)) for end in point.coverage_interval)
        yield element("line", x1=left, x2=right, y1=y, y2=y, class_="interval neither")
    if point.risk_interval is not None:
        low, high = (percent_text(frame.up(end)) for end in point.risk_interval)
        yield element("line", x1=x, x2=x, y1=low, y2=high, class_="interval neither")


def _shape(frame: Frame, point: OutsidePoint) -> Iterator[str]:
    kind = "diamond" if point.risk_interval is not None else "diamond neither"
    yield at(frame.across(point.coverage), frame.up(point.risk), element("path", d=_SHAPES[point.kind], class_=kind))


def _names(frame: Frame, points: Iterable[OutsidePoint]) -> Iterator[str]:
    """A label beside each point."""
    rising = sorted(points, key=lambda point: point.risk)
    heights = apart((frame.up(point.risk) for point in rising), _SIZE[1] - MARGINS[0] - MARGINS[2])
    for point, y in zip(rising, heights, strict=True):
        anchor, dx = ("end", -11) if point.coverage >= _MIDDLE else ("start", 11)
        yield end_label((frame.across(point.coverage), y), escape(point.label), shift=(dx, -5), anchor=anchor)


def handover_chart(curve: Handover) -> Picture:
    """The risk of system and rater together against the share handed over, beside the rater alone."""
    frame = Frame(ys=(0.0, 1.08 * max(curve.risk, default=0.0) or 1.0))
    parts = [*frame.axes("share handed over", "risk together", percent="xy" if curve.percent else "x")]
    rising = sorted(zip(curve.share, curve.risk, strict=True))
    shown = visible([share for share, _ in rising], [risk for _, risk in rising]).tolist()
    spots = [(frame.across(rising[index][0]), frame.up(rising[index][1])) for index in shown]
    paths = [element("path", d=line(spots), class_=f"line {curve.style}")] if spots else []
    words = "Nothing is answered together."
    if rising:
        (least, low), (most, alone) = rising[0], rising[-1]
        height = frame.up(alone)
        paths.append(element("path", d=line([(0, height), (100, height)]), class_="zero"))
        words = f"Risk of system and rater together against the share handed over: {low:.4g} at {least:.1%}, "
        words += f"{alone:.4g} at {most:.1%}."
    parts.append(plane(*paths))
    parts += [marker(x, y, curve.style) for x, y in spots if len(spots) <= MOST_MARKERS]
    if rising:
        text = f"{escape(curve.rater)} alone"
        parts.append(element("text", text, x="100%", y=percent_text(height), dy=-9, text_anchor="end", class_="end"))
    return Picture(*_SMALL, words, parts, "histogram")
