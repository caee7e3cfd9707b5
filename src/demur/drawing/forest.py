"""Charts of numbers with intervals: differences around zero, and values of several systems beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.drawing.picture import Picture
from demur.drawing.svg import Frame, coordinate, element, label, marker, number_text, ticks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Interval = tuple[float, float]

_WIDTH = 760
_ROW, _DOT_ROW, _DOT_HEADING = 30, 24, 26
_FURTHEST = 1e300


@dataclass(frozen=True, slots=True)
class ForestRow:
    """A difference with its interval; the style is that of the system it favours, or `neither`."""

    label: str
    value: float
    interval: Interval | None
    style: str = "neither"
    comparable: bool = True


@dataclass(frozen=True, slots=True)
class ForestPanel:
    """Differences on one scale: what they are of, what either side of zero means, whether a margin can be tried."""

    heading: str
    ways: tuple[str, str]
    margin: bool = False
    rows: Sequence[ForestRow] = ()


@dataclass(frozen=True, slots=True)
class Dot:
    """A number of one system with its interval, or the reason why there is none."""

    label: str
    style: str
    value: float | None
    interval: Interval | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class DotGroup:
    """One number of every system, and ranges to hold it against by name."""

    heading: str
    dots: Sequence[Dot]
    ranges: Mapping[str, Interval]


def forest(panels: Sequence[ForestPanel], words: str) -> Picture:
    """Differences around zero, each panel on a scale of its own; panels without rows are left out."""
    parts, height = [], 0.0
    for panel in panels:
        if panel.rows:
            parts.append(element("g", *_panel(panel), transform=f"translate(0 {coordinate(height)})"))
            height += 66 + _ROW * len(panel.rows)
    return Picture(_WIDTH, max(height, 1), words, parts, "forest")


def _panel(panel: ForestPanel) -> Iterator[str]:
    numbers = [abs(number) for row in panel.rows for number in (row.value, *(row.interval or ()))]
    reach = min(max(numbers) * 1.06, _FURTHEST) or 1.0
    floor = 34 + _ROW * len(panel.rows)
    frame = Frame(_WIDTH, floor + 6, xs=(-reach, reach), left=190, right=20, bottom=0)
    zero = frame.across(0)
    yield label(0, 16, panel.heading, anchor="start", kind="heading")
    yield label(zero - 10, 16, panel.ways[0], anchor="end")
    yield label(zero + 10, 16, panel.ways[1], anchor="start")
    if panel.margin:
        data = {"data_zero": coordinate(zero), "data_reach": coordinate(frame.across(reach) - zero)}
        box = {"x": zero, "y": 24, "width": 0, "height": floor - 24}
        yield element("rect", **box, class_="equal", **data, data_unit=repr(1 / reach))
    yield element("path", d=f"M{coordinate(zero)} 24V{floor}", class_="zero")
    for index, row in enumerate(panel.rows):
        yield from _difference(frame, row, 42 + _ROW * index)
    yield element("path", d=f"M{coordinate(frame.left)} {floor}H{coordinate(_WIDTH - frame.right)}", class_="axis")
    for number in ticks(-reach, reach):
        yield label(frame.across(number), floor + 17, number_text(number))


def _difference(frame: Frame, row: ForestRow, y: float) -> Iterator[str]:
    yield label(0, y + 4, row.label, anchor="start", kind="row")
    yield from _interval(frame, row.interval, y, 5, row.style)
    x = frame.across(row.value)
    yield element("path", d=f"M{coordinate(x)} {coordinate(y - 6)}l6 6l-6 6l-6 -6Z", class_=f"diamond {row.style}")


def _interval(frame: Frame, interval: Interval | None, y: float, half: int, style: str) -> Iterator[str]:
    if interval is not None:
        low, high = (coordinate(frame.across(end)) for end in interval)
        path = f"M{low} {coordinate(y - half)}v{2 * half}m0 -{half}H{high}m0 -{half}v{2 * half}"
        yield element("path", d=path, class_=f"interval {style}")


def dot_plot(groups: Sequence[DotGroup], words: str) -> Picture:
    """A dot and an interval for each system on a scale from 0 to 1, group by group; the ranges lie behind them."""
    height = sum(_DOT_HEADING + _DOT_ROW * len(group.dots) for group in groups) + 40
    frame = Frame(_WIDTH, height, left=190, right=20)
    floor, top = height - 30, 6.0
    parts = []
    for number in ticks(0, 1):
        x = frame.across(number)
        parts.append(element("path", d=f"M{coordinate(x)} 6V{coordinate(floor)}", class_="grid"))
        parts.append(label(x, floor + 18, number_text(number)))
    for group in groups:
        bottom = top + _DOT_HEADING + _DOT_ROW * len(group.dots)
        parts += [*_ranges(frame, group.ranges, top + 4, bottom)]
        parts.append(label(0, top + 17, group.heading, anchor="start", kind="heading"))
        for index, dot in enumerate(group.dots):
            parts += [*_dot(frame, dot, top + _DOT_HEADING + _DOT_ROW * (index + 0.5))]
        top = bottom
    return Picture(_WIDTH, height, words, parts, "forest")


def _ranges(frame: Frame, ranges: Mapping[str, Interval], top: float, bottom: float) -> Iterator[str]:
    for name, (low, high) in ranges.items():
        x, end = frame.across(low), frame.across(high)
        box = {"x": x, "y": top, "width": max(end - x, 0), "height": bottom - top - 2}
        yield element("rect", class_=f"range {name}", **box)
        yield label((x + end) / 2, top + 12, name)


def _dot(frame: Frame, dot: Dot, y: float) -> Iterator[str]:
    yield label(12, y + 4, dot.label, anchor="start", kind="row")
    if dot.value is None:
        yield label(frame.left + 4, y + 4, dot.reason, anchor="start")
        return
    yield from _interval(frame, dot.interval, y, 4, dot.style)
    yield marker(frame.across(dot.value), y, dot.style)
