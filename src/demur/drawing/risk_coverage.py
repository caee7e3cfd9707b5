"""Risk–coverage charts: curves as steps, with their bands, their ends and the orders they are held against."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from demur.drawing.picture import Frame, Picture, coordinate, element, label, line, marker, steps, visible

Kind = Literal["selective", "generalized"]

MOST_MARKERS = 40
_NEAR_THE_END = 0.85
_CMAX_ROW = 18


@dataclass(frozen=True, slots=True)
class RiskBand:
    """Intervals at each coverage and a band over all of them; stepped where it holds every operating point.

    The band over all of them begins where enough clusters have shown a loss: before that its ends are nan.
    """

    coverage: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    low_simultaneous: Sequence[float]
    high_simultaneous: Sequence[float]
    stepped: bool

    def parts(self) -> Iterator[tuple[str, list[float], list[float], list[float]]]:
        """The band over all coverages, then the intervals at each: name, coverages from where it begins, both ends."""
        both = {
            "simultaneous": (self.low_simultaneous, self.high_simultaneous),
            "pointwise": (self.low, self.high),
        }
        for name, (low, high) in both.items():
            first = next((index for index, end in enumerate(low) if not math.isnan(end)), len(low))
            if first == len(low):
                continue
            begin = 0.0 if first == 0 else self.coverage[first - 1] if self.stepped else self.coverage[first]
            yield name, [begin, *self.coverage[first:]], [low[first], *low[first:]], [high[first], *high[first:]]


@dataclass(frozen=True, slots=True)
class RiskCurve:
    """One system's risk at each coverage; `random` is the risk of a random order at coverage 0 and at Cmax."""

    label: str
    style: str
    coverage: Sequence[float]
    risk: Sequence[float]
    cmax: float
    random: tuple[float, float] | None = None
    oracle: Sequence[tuple[float, float]] = ()
    band: RiskBand | None = None

    @property
    def highest(self) -> float:
        """The highest point of the curve or of the intervals around it."""
        return max([*self.risk, *(self.band.high if self.band else ())], default=0.0)


def risk_coverage(
    curves: Sequence[RiskCurve],
    kind: Kind,
    *,
    top: float | None = None,
    units: str = "items that are answered",
    size: tuple[float, float] = (760, 400),
) -> Picture:
    """Curves of one kind of risk in one frame that reaches up to `top`, or to the highest of them."""
    high = max((curve.highest for curve in curves), default=0.0) if top is None else top
    low = min((float(min(curve.risk)) for curve in curves if len(curve.risk)), default=0.0)
    margin = _CMAX_ROW * max(len(curves), 2) + 4
    frame = Frame(*size, ys=(min(low, 0.0), (high if high > 0 else 1.0) * 1.04), top=margin)
    parts = [*frame.axes(f"coverage (share of all {units})", f"{kind} risk", percent=True)]
    for draw in (_band, _references, _steps):
        drawn = [(curve.style, [*draw(frame, curve)]) for curve in curves]
        parts += [element("g", *inside, class_=f"of-{style}") for style, inside in drawn if inside]
    for row, curve in enumerate(curves):
        name = "Cmax" if len(curves) == 1 else f"Cmax {curve.label}"
        parts.append(element("g", *_cmax(frame, curve, name, 13 + _CMAX_ROW * row), class_=f"of-{curve.style}"))
    parts += [element("circle", r=8, class_=f"here {curve.style}", visibility="hidden") for curve in curves]
    floor = frame.up(0)
    data = {
        "data_left": coordinate(frame.left),
        "data_right": coordinate(frame.across(1)),
        "data_floor": coordinate(floor),
        "data_unit": repr((floor - frame.up(frame.ys[1])) / frame.ys[1]),
    }
    keys = [(curve.style, curve.label) for curve in curves]
    words = f"{kind.capitalize()} risk against coverage, as steps. {'; '.join(map(_ends_in_words, curves))}."
    return Picture(*size, words, parts, "curves", keys, data)


def _ends_in_words(curve: RiskCurve) -> str:
    if not len(curve.coverage):
        return f"{curve.label or 'run'}: nothing is answered"
    first = f"{curve.risk[0]:.4g} at a coverage of {curve.coverage[0]:.1%}"
    return f"{curve.label or 'run'}: {first}, {curve.risk[-1]:.4g} at {curve.cmax:.1%}"


def _steps(frame: Frame, curve: RiskCurve) -> Iterator[str]:
    """Steps where each can be told from the next; of very many points a line, through those that can be told apart."""
    kept = visible(curve.coverage, curve.risk).tolist()
    if not kept:
        return
    spots = [(frame.across(curve.coverage[i]), frame.up(curve.risk[i])) for i in kept]
    start = frame.across(0)
    path = steps(spots, start) if len(kept) == len(curve.risk) else line([(start, spots[0][1]), *spots])
    yield element("path", d=path, class_=f"line {curve.style}")
    if len(spots) <= MOST_MARKERS:
        yield from (marker(x, y, curve.style) for x, y in spots)


def _band(frame: Frame, curve: RiskCurve) -> Iterator[str]:
    """The band that holds at all coverages at once, and on it the intervals at each of them."""
    if curve.band is not None:
        for name, coverages, *edges in curve.band.parts():
            low, high = (_edge(frame, coverages, heights, stepped=curve.band.stepped) for heights in edges)
            yield element("path", d=line([*low, *reversed(high)]) + "Z", class_=f"band {name} {curve.style}")


def _edge(
    frame: Frame, coverages: Sequence[float], heights: Sequence[float], *, stepped: bool
) -> list[tuple[float, float]]:
    """One edge of a band, from where it begins; what lies above the frame ends at it."""
    spots: list[tuple[float, float]] = []
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


def _cmax(frame: Frame, curve: RiskCurve, name: str, height: float) -> Iterator[str]:
    x = frame.across(curve.cmax)
    path = f"M{coordinate(x)} {coordinate(height + 4)}V{coordinate(frame.up(0))}"
    yield element("path", d=path, class_=f"cmax {curve.style}")
    anchor = "end" if curve.cmax > _NEAR_THE_END else "middle"
    yield label(x, height, f"{name} {curve.cmax:.1%}", anchor=anchor, kind="name")
