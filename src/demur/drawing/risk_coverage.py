"""Risk–coverage charts: step curves with bands, Cmax, and the curves of a random and the oracle ranking."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from demur.drawing.picture import (
    Frame,
    Picture,
    Spot,
    apart,
    at,
    element,
    end_label,
    line,
    marker,
    plane,
    steps,
    visible,
)

MOST_MARKERS = 40
_MIDDLE = 0.5
_MARGINS = (34.0, 20.0, 46.0, 52.0)
_HIGHEST = 1e300


@dataclass(frozen=True, slots=True)
class RiskBand:
    """Pointwise intervals and a simultaneous band of a risk curve; stepped if given at every operating point.

    The simultaneous band starts where enough clusters have a loss: before that its limits are nan.
    """

    coverage: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    low_simultaneous: Sequence[float]
    high_simultaneous: Sequence[float]
    stepped: bool

    def parts(self) -> Iterator[tuple[str, list[float], list[float], list[float]]]:
        """The simultaneous band, then the pointwise intervals: name, coverages, lower and upper limits."""
        both = {"simultaneous": (self.low_simultaneous, self.high_simultaneous), "pointwise": (self.low, self.high)}
        for name, (low, high) in both.items():
            first = next((index for index, end in enumerate(low) if not math.isnan(end)), len(low))
            if first == len(low):
                continue
            begin = 0.0 if first == 0 else self.coverage[first - 1] if self.stepped else self.coverage[first]
            yield name, [begin, *self.coverage[first:]], [low[first], *low[first:]], [high[first], *high[first:]]


@dataclass(frozen=True, slots=True)
class RiskCurve:
    """The risk of one system at each coverage; `random` is that of a random ranking at coverage 0 and at Cmax."""

    label: str
    style: str
    coverage: Sequence[float]
    risk: Sequence[float]
    cmax: float
    random: tuple[float, float] | None = None
    oracle: Sequence[tuple[float, float]] = ()
    band: RiskBand | None = None
    mark: tuple[float, float, str] | None = None  # coverage, risk and label of a marked point
    share: bool = False  # whether the risk is a share of the answers, in percent

    @property
    def highest(self) -> float:
        """The largest risk of the curve and of the intervals around it."""
        return max([*self.risk, *(self.band.high if self.band else ())], default=0.0)


def risk_coverage(
    curves: Sequence[RiskCurve],
    *,
    top: float | None = None,
    units: str = "items that are answered",
    size: tuple[float, float] = (760, 400),
) -> Picture:
    """Draw curves in one frame, which extends to `top` or to the highest of them."""
    frame = risk_frame(curves, top)
    parts = [element("rect", width="100%", height="100%", class_="area")]
    parts += frame.axes(
        f"coverage (share of all {units})",
        "selective risk",
        percent="xy" if any(curve.share for curve in curves) else "x",
    )
    paths = [path for draw in (_band, _references, _steps) for curve in curves for path in draw(frame, curve)]
    parts.append(plane(*paths))
    for curve in curves:
        spots = [*_spots(frame, curve)]
        parts += [marker(x, y, curve.style) for x, y in spots if len(spots) <= MOST_MARKERS]
    parts += _names(frame, curves, size[1] - _MARGINS[0] - _MARGINS[2])
    parts += [_mark(frame, curve.style, *curve.mark) for curve in curves if curve.mark]
    ring = element("circle", r=8)
    parts += [at(0, 0, ring, class_=f"here {curve.style}", visibility="hidden") for curve in curves]
    data = {"data_bottom": repr(float(frame.ys[0])), "data_top": repr(float(frame.ys[1]))}
    keys = [(curve.style, curve.label) for curve in curves]
    return Picture(*size, curves_in_words(curves), parts, "curves", keys, data, _MARGINS)


def risk_frame(curves: Sequence[RiskCurve], top: float | None = None) -> Frame:
    """The frame that fits these curves."""
    high = max((curve.highest for curve in curves), default=0.0) if top is None else top
    low = min((float(min(curve.risk)) for curve in curves if len(curve.risk)), default=0.0)
    return Frame(ys=(min(low, 0.0), min((high if high > 0 else 1.0) * 1.04, _HIGHEST)))


def curves_in_words(curves: Sequence[RiskCurve]) -> str:
    """A description of the curves for screen readers."""
    return f"Selective risk against coverage, as steps. {'; '.join(map(_ends_in_words, curves))}."


def _ends_in_words(curve: RiskCurve) -> str:
    if not len(curve.coverage):
        return f"{curve.label or 'run'}: nothing is answered"
    first = f"{curve.risk[0]:.4g} at a coverage of {curve.coverage[0]:.1%}"
    return f"{curve.label or 'run'}: {first}, {curve.risk[-1]:.4g} at {curve.cmax:.1%}"


def _spots(frame: Frame, curve: RiskCurve) -> Iterator[Spot]:
    for index in visible(curve.coverage, curve.risk).tolist():
        yield frame.across(curve.coverage[index]), frame.up(curve.risk[index])


def _steps(frame: Frame, curve: RiskCurve) -> Iterator[str]:
    spots = [*_spots(frame, curve)]
    if spots:
        path = steps(spots, 0) if len(spots) == len(curve.risk) else line([(0, spots[0][1]), *spots])
        yield element("path", d=path, class_=f"line {curve.style}")


def _band(frame: Frame, curve: RiskCurve) -> Iterator[str]:
    if curve.band is not None:
        for name, coverages, *edges in curve.band.parts():
            low, high = (_edge(frame, coverages, heights, stepped=curve.band.stepped) for heights in edges)
            yield element("path", d=line([*low, *reversed(high)]) + "Z", class_=f"band {name} {curve.style}")


def _edge(frame: Frame, coverages: Sequence[float], heights: Sequence[float], *, stepped: bool) -> list[Spot]:
    """One edge of a band, clipped to the top of the frame."""
    spots: list[Spot] = []
    for coverage, height in zip(coverages, heights, strict=True):
        up = frame.up(min(height, frame.ys[1]))
        if stepped and spots:
            spots.append((spots[-1][0], up))
        spots.append((frame.across(coverage), up))
    return spots


def _references(frame: Frame, curve: RiskCurve) -> Iterator[str]:
    random = [] if curve.random is None else [(0.0, curve.random[0]), (curve.cmax, curve.random[1])]
    for name, points in (("random", random), ("oracle", curve.oracle)):
        if points:
            path = line((frame.across(x), frame.up(y)) for x, y in points)
            yield element("path", d=path, class_=f"reference {name} {curve.style}")


def _names(frame: Frame, curves: Sequence[RiskCurve], plot: float) -> Iterator[str]:
    """A label with Cmax at the end of each curve, in a plot of so many pixels."""
    rising = sorted((curve for curve in curves if len(curve.coverage)), key=lambda curve: curve.risk[-1])
    for curve, y in zip(rising, apart((frame.up(curve.risk[-1]) for curve in rising), plot), strict=True):
        anchor, dx = ("end", 4) if curve.cmax > _MIDDLE else ("start", -4)
        tag = element("tspan", "●", class_=f"tag {curve.style}")
        text = f" {escape(curve.label)} {curve.cmax:.1%}" if curve.label else f" Cmax {curve.cmax:.1%}"
        yield end_label((frame.across(curve.cmax), y), tag, text, shift=(dx, -10), anchor=anchor)


def _mark(frame: Frame, style: str, coverage: float, risk: float, name: str) -> str:
    diamond = element("path", d="M0-11l11 11l-11 11l-11-11Z", class_=f"fixed {style}")
    text = element("text", escape(name), y=28, text_anchor="middle", class_="end")
    return at(frame.across(coverage), frame.up(risk), diamond, text)
