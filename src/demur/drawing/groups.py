"""A chart of groups: the risk of each with its interval, beside a bar of its coverage; small groups are grey."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from demur.drawing.picture import Frame, Picture, coordinate, element, label, marker, number_text, ticks

_WIDTH, _ROW, _TOP, _FOOT = 760, 30, 34, 30


@dataclass(frozen=True, slots=True)
class ServedRow:
    """A group: its risk at the threshold, its interval if it is judged, its coverage there, and how many it is."""

    label: str
    risk: float
    interval: tuple[float, float] | None
    coverage: float
    small: bool
    note: str = ""


def served(rows: Sequence[ServedRow], overall: tuple[float, float], style: str) -> Picture:
    """Rows in their order; lines mark the coverage and the risk of all units."""
    numbers = [number for row in rows for number in (row.risk, *(row.interval or ())) if not math.isnan(number)]
    highest = max([*numbers, 0.0 if math.isnan(overall[1]) else overall[1]], default=0.0) or 1.0
    height = _TOP + _ROW * len(rows) + _FOOT
    risk = Frame(_WIDTH, height, xs=(min([*numbers, 0.0]), highest * 1.04), left=190, right=250)
    coverage = Frame(_WIDTH, height, left=560, right=20)
    floor = height - _FOOT
    parts = [*_scale(risk, floor, "risk", percent=False), *_scale(coverage, floor, "coverage", percent=True)]
    for frame, value in ((coverage, overall[0]), (risk, overall[1])):
        if not math.isnan(value):
            x = coordinate(frame.across(value))
            parts.append(element("path", d=f"M{x} {_TOP - 8}V{coordinate(floor)}", class_="zero"))
    for index, row in enumerate(rows):
        parts += _row(row, (risk, coverage), _TOP + _ROW * (index + 0.5), style)
    words = "Risk of each group at the shared threshold, with intervals that hold for all of them, and its coverage."
    return Picture(_WIDTH, height, f"{words} The table beneath holds the same numbers.", parts, "forest")


def _scale(frame: Frame, floor: float, name: str, *, percent: bool) -> Iterator[str]:
    left, right = frame.left, frame.width - frame.right
    yield label((left + right) / 2, 14, name, kind="heading")
    for number in ticks(*frame.xs)[:: 2 if percent else 1]:
        x = frame.across(number)
        yield element("path", d=f"M{coordinate(x)} {_TOP - 8}V{coordinate(floor)}", class_="grid")
        yield label(x, floor + 18, f"{number:.0%}" if percent else number_text(number))


def _row(row: ServedRow, frames: tuple[Frame, Frame], y: float, style: str) -> Iterator[str]:
    risk, coverage = frames
    look = "small" if row.small else style
    yield label(0, y + 4, f"{row.label} {row.note}".strip(), anchor="start", kind="row")
    start = coverage.across(0)
    box = {"x": start, "y": y - 7, "width": max(coverage.across(row.coverage) - start, 0), "height": 14}
    yield element("rect", **box, class_=f"bar {look}")
    if math.isnan(row.risk):
        yield label(risk.left + 4, y + 4, "nothing accepted", anchor="start")
        return
    if row.interval is not None:
        low, high = (coordinate(risk.across(end)) for end in row.interval)
        path = f"M{low} {coordinate(y - 5)}v10m0 -5H{high}m0 -5v10"
        yield element("path", d=path, class_=f"interval {look}")
    x = risk.across(row.risk)
    yield element("circle", cx=x, cy=y, r=4, class_="dot small") if row.small else marker(x, y, style)
