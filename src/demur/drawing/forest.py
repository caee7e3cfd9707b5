"""Numbers with intervals as small SVG strips for tables: differences around zero, and values on a common scale."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from demur.drawing.picture import Frame, at, element, label, number_text, percent_text, shape, ticks

Interval = tuple[float, float]
_FURTHEST = 1e300
_FEW_TICKS = 3


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """A number with its interval, if any; a difference is drawn in the style of the favoured system."""

    label: str
    style: str
    value: float | None
    interval: Interval | None = None
    comparable: bool = True


def around_zero(rows: Iterable[IntervalRow]) -> Frame:
    """A symmetric scale around 0 that includes all differences and their intervals."""
    numbers = [abs(number) for row in rows if row.value is not None for number in (row.value, *(row.interval or ()))]
    reach = min(max(numbers, default=0.0) * 1.06, _FURTHEST) or 1.0
    return Frame(xs=(-reach, reach))


def difference_strip(row: IntervalRow, frame: Frame) -> str:
    """Draw a difference and its interval around zero: filled if it favours a system, hollow otherwise."""
    parts = [element("line", x1="50%", x2="50%", y2="100%", class_="zero"), *_interval(row, frame)]
    if row.value is not None:
        diamond = element("path", d="M0-6l6 6l-6 6l-6-6Z", class_=f"diamond {row.style}")
        parts.append(at(frame.across(row.value), 50, diamond))
    return _strip(parts)


def value_strip(row: IntervalRow, frame: Frame, ranges: Mapping[str, Interval] = MappingProxyType({})) -> str:
    """Draw a number and its interval in front of named reference ranges."""
    parts = []
    for name, (low, high) in ranges.items():
        x, width = frame.across(low), max(frame.across(high) - frame.across(low), 0)
        span = {"x": percent_text(x), "width": percent_text(width)}
        parts.append(element("rect", **span, height="100%", class_=f"range {name}"))
    parts += _interval(row, frame)
    if row.value is not None:
        small = row.style == "small"
        dot = element("circle", r=4, class_="dot small") if small else shape(row.style)
        parts.append(at(frame.across(row.value), 50, dot))
    return _strip(parts)


def bar_strip(share: float, style: str) -> str:
    """Draw a share as a bar from 0 to 100 %."""
    return _strip([element("rect", width=percent_text(100 * share), height="100%", class_=f"bar {style}")])


def scale_strip(frame: Frame) -> str:
    """Draw the tick labels of a scale, for the head of a column of strips."""
    numbers = ticks(*frame.xs)
    few = numbers[:: (len(numbers) + _FEW_TICKS - 1) // _FEW_TICKS]
    texts = [(frame.across(number), number_text(number)) for number in few]
    return _strip([label((x, 100), text, shift=(0, -5)) for x, text in texts])


def _strip(parts: Iterable[str]) -> str:
    """An SVG strip, hidden from screen readers because the numbers are beside it as text."""
    return element("svg", *parts, class_="strip", aria_hidden="true")


def _interval(row: IntervalRow, frame: Frame) -> Iterator[str]:
    if row.value is not None and row.interval is not None:
        low, high = (percent_text(frame.across(end)) for end in row.interval)
        yield element("line", x1=low, x2=high, y1="50%", y2="50%", class_=f"interval {row.style}")
