"""Charts of numbers with intervals: differences around zero, and values of several systems beside each other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from demur.drawing.picture import Frame, Picture, coordinate, element, label, marker, number_text, ticks

Interval = tuple[float, float]

_WIDTH = 760
_ROW, _DOT_ROW, _DOT_HEADING = 30, 24, 26
_TOP = 42  # of a panel: its heading, and below it what either side of zero means
_FURTHEST = 1e300


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """A number with its interval, or the reason why there is none; a difference has the style of whom it favours."""

    label: str
    style: str
    value: float | None
    interval: Interval | None = None
    reason: str = ""
    comparable: bool = True


@dataclass(frozen=True, slots=True)
class ForestPanel:
    """Differences on one scale: what they are of, what either side of zero means, whether a margin can be tried."""

    heading: str
    ways: tuple[str, str]
    margin: bool = False
    rows: Sequence[IntervalRow] = ()


@dataclass(frozen=True, slots=True)
class DotGroup:
    """One number of every system, and ranges to hold it against by name."""

    heading: str
    rows: Sequence[IntervalRow]
    ranges: Mapping[str, Interval]


def forest(panels: Sequence[ForestPanel], what: str) -> Picture:
    """Differences around zero, each panel on a scale of its own; what has no difference is left out."""
    parts, height = [], 0.0
    for panel in panels:
        rows = [(row, row.value) for row in panel.rows if row.value is not None]
        if rows:
            parts.append(element("g", *_panel(panel, rows), transform=f"translate(0 {coordinate(height)})"))
            height += _TOP + 42 + _ROW * len(rows)
    words = f"Paired differences, {what}, with intervals; the table beneath holds the same numbers."
    return Picture(_WIDTH, max(height, 1), words, parts, "forest")


def _panel(panel: ForestPanel, rows: Sequence[tuple[IntervalRow, float]]) -> Iterator[str]:
    numbers = [abs(number) for row, value in rows for number in (value, *(row.interval or ()))]
    reach = min(max(numbers) * 1.06, _FURTHEST) or 1.0
    floor = _TOP + 10 + _ROW * len(rows)
    frame = Frame(_WIDTH, floor + 6, xs=(-reach, reach), left=190, right=20, bottom=0)
    zero = frame.across(0)
    yield label(0, 16, panel.heading, anchor="start", kind="heading")
    yield label(zero - 10, _TOP - 8, panel.ways[0], anchor="end")
    yield label(zero + 10, _TOP - 8, panel.ways[1], anchor="start")
    if panel.margin:
        data = {"data_zero": coordinate(zero), "data_reach": coordinate(frame.across(reach) - zero)}
        box = {"x": zero, "y": _TOP, "width": 0, "height": floor - _TOP}
        yield element("rect", **box, class_="equal", **data, data_unit=repr(1 / reach))
    yield element("path", d=f"M{coordinate(zero)} {_TOP}V{floor}", class_="zero")
    for index, (row, value) in enumerate(rows):
        x, y = frame.across(value), _TOP + 18 + _ROW * index
        yield label(0, y + 4, row.label, anchor="start", kind="row")
        yield from _interval(frame, row, y, 5)
        yield element("path", d=f"M{coordinate(x)} {y - 6}l6 6l-6 6l-6 -6Z", class_=f"diamond {row.style}")
    yield element("path", d=f"M{coordinate(frame.left)} {floor}H{coordinate(_WIDTH - frame.right)}", class_="axis")
    for number in ticks(-reach, reach):
        yield label(frame.across(number), floor + 17, number_text(number))


def _interval(frame: Frame, row: IntervalRow, y: float, half: int) -> Iterator[str]:
    if row.interval is not None:
        low, high = (coordinate(frame.across(end)) for end in row.interval)
        path = f"M{low} {coordinate(y - half)}v{2 * half}m0 -{half}H{high}m0 -{half}v{2 * half}"
        yield element("path", d=path, class_=f"interval {row.style}")


def dot_plot(groups: Sequence[DotGroup], words: str) -> Picture:
    """A dot and an interval for each system on a scale from 0 to 1, group by group; the ranges lie behind them."""
    height = sum(_DOT_HEADING + _DOT_ROW * len(group.rows) for group in groups) + 40
    frame = Frame(_WIDTH, height, left=190, right=20)
    floor, top = height - 30, 6.0
    parts = []
    for number in ticks(0, 1):
        x = frame.across(number)
        parts.append(element("path", d=f"M{coordinate(x)} 6V{coordinate(floor)}", class_="grid"))
        parts.append(label(x, floor + 18, number_text(number)))
    for group in groups:
        parts += [*_dots(frame, group, top)]
        top += _DOT_HEADING + _DOT_ROW * len(group.rows)
    return Picture(_WIDTH, height, words, parts, "forest")


def _dots(frame: Frame, group: DotGroup, top: float) -> Iterator[str]:
    height = _DOT_HEADING + _DOT_ROW * len(group.rows)
    for name, (low, high) in group.ranges.items():
        x, end = frame.across(low), frame.across(high)
        box = {"x": x, "y": top + 4, "width": max(end - x, 0), "height": height - 6}
        yield element("rect", class_=f"range {name}", **box)
        yield label((x + end) / 2, top + 16, name)
    yield label(0, top + 17, group.heading, anchor="start", kind="heading")
    for index, row in enumerate(group.rows):
        y = top + _DOT_HEADING + _DOT_ROW * (index + 0.5)
        yield label(12, y + 4, row.label, anchor="start", kind="row")
        if row.value is None:
            yield label(frame.left + 4, y + 4, row.reason, anchor="start")
        else:
            yield from _interval(frame, row, y, 4)
            yield marker(frame.across(row.value), y, row.style)
