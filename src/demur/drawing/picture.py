"""Building blocks of SVG pictures: elements with escaped attributes, frames with axes, paths, markers, labels."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape

import numpy as np

from demur.drawing.system_styles import STYLES
from demur.types import Indices

_COLUMNS = 200
_FEW = 300
_MOST_TICKS = 5
_FAR_OUT = 1e6  # of the width of a picture: further, and no whole number of pixels
_FINEST = 1e-300
_KEY_ROW = 20
_APART = 17  # pixels between two labels, at least
_INK = "#000000"
_LINE = 2.2
_ACROSS, _UP = 20, 10  # units of a plane per percent
Spot = tuple[float, float]
MARGINS = (32.0, 20.0, 46.0, 52.0)


def visible(across: Sequence[float], up: Sequence[float]) -> Indices:
    """Indices of the points of a dense line to draw: the first, last, lowest and highest in each narrow column.

    A line through them covers the same pixels as one through all points.

    >>> len(visible([0, 0.5, 1], [1, 2, 3])), len(visible([n / 1e4 for n in range(10_000)], [0.5] * 10_000)) < 600
    (3, True)
    """
    xs, ys = np.asarray(across, dtype=float), np.asarray(up, dtype=float)
    if len(xs) <= _FEW:
        return np.arange(len(xs))
    column = np.floor(xs * _COLUMNS).astype(np.int64)
    starts = np.flatnonzero(np.diff(column, prepend=column[0] - 1))
    ends = np.append(starts[1:], len(xs)) - 1
    sizes = ends - starts + 1
    by_height = np.lexsort((ys, column))
    return np.unique(np.concatenate([starts, ends, by_height[starts], by_height[starts + sizes - 1]]))


def spread(count: int, most: int) -> Indices:
    """Indices spread evenly over `count` positions, at most `most`, both ends included.

    >>> spread(5, 10).tolist(), spread(100, 4).tolist()
    ([0, 1, 2, 3, 4], [0, 33, 66, 99])
    """
    if count <= most:
        return np.arange(count)
    return np.unique(np.round(np.linspace(0, count - 1, most)).astype(np.intp))


def coordinate(value: float) -> str:
    """Format a coordinate to one decimal.

    >>> coordinate(12.04), coordinate(3.25), coordinate(-0.01)
    ('12', '3.2', '0')
    """
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


def element(name: str, *inside: str, **attributes: float | str) -> str:
    """Format one SVG element; `class_` stands for class, and underscores in names become hyphens.

    >>> element("text", escape("<"), x=1.25, text_anchor="end", class_="tick")
    '<text x="1.2" text-anchor="end" class="tick">&lt;</text>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value) if isinstance(value, str) else coordinate(value)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{written}>{''.join(inside)}</{name}>" if inside else f"<{name}{written}/>"


def ticks(low: float, high: float) -> list[float]:
    """About five round numbers between low and high.

    >>> ticks(0, 1), ticks(-0.013, 0.021)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [-0.01, 0.0, 0.01, 0.02])
    """
    rough = (high - low) / _MOST_TICKS
    if not _FINEST < rough < math.inf:
        return [low]
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{number * step:.10g}") for number in range(first, last + 1)]


@dataclass(frozen=True, slots=True)
class Frame:
    """The plotting area with the numbers at its edges. Positions are in percent, so that it fits any width."""

    xs: tuple[float, float] = (0.0, 1.0)
    ys: tuple[float, float] = (0.0, 1.0)

    def across(self, value: float) -> float:
        """The horizontal position of a number in percent, from the left."""
        return 100 * _between(value, *self.xs)

    def up(self, value: float) -> float:
        """The vertical position of a number in percent, from the top."""
        return 100 - 100 * _between(value, *self.ys)

    def axes(
        self, across: str, up: str, *, percent: str = "", marks: Sequence[tuple[float, str]] = ()
    ) -> Iterable[str]:
        """Grid lines, tick labels and names of both axes; `percent` contains x or y for an axis of shares.

        `marks` replace the tick labels of the x axis, as positions and texts.
        """
        for number in ticks(*self.ys):
            y = percent_text(self.up(number))
            yield element("line", x2="100%", y1=y, y2=y, class_="grid")
            yield label((0, self.up(number)), number_text(number, "y" in percent), shift=(-8, 4), anchor="end")
        yield element("line", x2="100%", y1="100%", y2="100%", class_="axis")
        for number, text in marks or [(number, number_text(number, "x" in percent)) for number in ticks(*self.xs)]:
            yield label((self.across(number), 100), text, shift=(0, 19))
        yield label((50, 100), across, shift=(0, 40), kind="name")
        yield label((0, 0), up, shift=(8 - MARGINS[3], -10), anchor="start", kind="name")


def number_text(number: float, percent: bool = False) -> str:  # noqa: FBT001, FBT002
    """Format a number of an axis, with a minus sign rather than a hyphen.

    >>> number_text(-0.5), number_text(0.025, True)
    ('−0.5', '2.5%')
    """
    return (f"{100 * number:g}%" if percent else f"{number:g}").replace("-", "−")


def label(spot: Spot, content: str, *, shift: Spot = (0, 0), anchor: str = "middle", kind: str = "tick") -> str:
    """Draw a text at a position in percent, shifted by some pixels."""
    offset = {name: step for name, step in zip(("dx", "dy"), shift, strict=True) if step}
    end = {} if anchor == "middle" else {"text_anchor": anchor}  # the style sheets default to the middle
    x, y = map(percent_text, spot)
    return element("text", escape(content), x=x, y=y, **offset, **end, class_=kind)


def _between(value: float, low: float, high: float) -> float:
    """The position of a number between two others, as a share; halved first, so that the width cannot overflow.

    >>> _between(0.5, 0.0, 2.0), _between(1e308, -1e308, 1e308), _between(1e308, 0.0, 0.1)
    (0.25, 1.0, 1000000.0)
    """
    return max(-_FAR_OUT, min(_FAR_OUT, (value / 2 - low / 2) / ((high / 2 - low / 2) or 1)))


def percent_text(percent: float) -> str:
    """Format a position in percent.

    >>> percent_text(33.333), percent_text(100.0)
    ('33.33%', '100%')
    """
    return f"{round(percent, 2) + 0.0:g}%"


def at(x: float, y: float, *inside: str, **attributes: str | float) -> str:
    """Place elements of fixed size at a position in percent."""
    return element("svg", *inside, x=percent_text(x), y=percent_text(y), **attributes)


def plane(*paths: str) -> str:
    """Draw paths given in percent, stretched to the plot without stretching their strokes."""
    return element("svg", *paths, viewBox=f"0 0 {100 * _ACROSS} {100 * _UP}", preserveAspectRatio="none")


def marker(x: float, y: float, style: str, radius: float = 4) -> str:
    """Draw a system's marker at a position in percent; `style` is the CSS class of the system."""
    return at(x, y, shape(style, radius))


def shape(style: str, radius: float = 4) -> str:
    """Draw the marker of a style, centred at 0."""
    look = next(look for look in STYLES if look.style == style)
    if look.marker == "o":
        return element("circle", r=radius, class_=f"dot {style}")
    if look.marker == "s":
        return element("rect", x=-radius, y=-radius, width=2 * radius, height=2 * radius, class_=f"dot {style}")
    corners, first, inner = look.corners
    spots = []
    for corner in range(corners):
        angle = math.radians(first + 360 * corner / corners)
        reach = 1.3 * radius * (inner if corner % 2 else 1)
        spots.append(f"{coordinate(reach * math.cos(angle))} {coordinate(reach * math.sin(angle))}")
    return element("path", d=f"M{'L'.join(spots)}Z", class_=f"dot {style}")


def steps(spots: Iterable[Spot], start: float) -> str:
    """A step path through points; each height extends back to the previous point, the first to `start`.

    >>> steps([(10, 5), (20, 5), (30, 2.5)], start=0)
    'M0 50h200h200v-25h200'
    """
    path, last = "", (round(_ACROSS * start), 0)
    for point in map(_on_plane, spots):
        if not path:
            path, last = f"M{last[0]} {point[1]}", (last[0], point[1])
        path += f"v{point[1] - last[1]}" if point[1] != last[1] else ""
        path += f"h{point[0] - last[0]}" if point[0] != last[0] else ""
        last = point
    return path


def line(spots: Iterable[Spot]) -> str:
    """A path of straight lines from point to point.

    >>> line([(1, 2), (3, 4.5), (2.5, 4.5)])
    'M20 20l40 25h-10'
    """
    path, last = "", (0, 0)
    for point in map(_on_plane, spots):
        across, up = point[0] - last[0], point[1] - last[1]
        straight = f"h{across}" if not up else f"v{up}" if not across else f"l{across} {up}"
        path += straight if path else f"M{across} {up}"
        last = point
    return path


def _on_plane(spot: Spot) -> tuple[int, int]:
    """A position rounded to the grid of a plane; steps between rounded positions do not accumulate errors."""
    return round(_ACROSS * spot[0]), round(_UP * spot[1])


@cache
def _style() -> str:
    """The CSS of a standalone picture; black has the colour of the surrounding text."""
    from importlib.resources import files  # noqa: PLC0415  (slow to import, and seldom needed)

    # All rules are scoped to .demur, as a style element in a notebook applies to the whole notebook.
    rules = [files("demur.drawing").joinpath("picture.css").read_text("utf-8")]
    for look in STYLES:
        dash = " ".join(f"{_LINE * part:.3g}" for part in look.dash) or "none"
        rules.append(f".demur .line.{look.style} {{ stroke-dasharray: {dash} }}\n")
        rules.append(f".demur .{look.style} {{ color: {look.colour if look.colour != _INK else 'inherit'} }}\n")
    return element("style", *rules)


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawn chart with its description, its margins (top, right, bottom, left) and the labels of the systems."""

    width: float
    height: float
    words: str
    parts: Sequence[str]
    kind: str
    keys: Sequence[tuple[str, str]] = ()
    data: Mapping[str, str] = field(default_factory=dict)
    margins: tuple[float, float, float, float] = MARGINS

    @property
    def svg(self) -> str:
        """The SVG for the page, whose style sheet defines the classes; it fills the available width."""
        padding = " ".join(f"{coordinate(margin)}px" for margin in self.margins)
        style = f"height:{coordinate(self.height)}px;padding:{padding}"
        attributes = {"role": "img", "aria_label": self.words, "class_": f"chart {self.kind}", "style": style}
        return element("svg", *self.parts, **attributes, **self.data)

    def standalone(self, *, paper: bool = False) -> str:
        """The SVG for a notebook or a file, with styles and a legend; `paper` adds a white background."""
        keys = [(style, name) for style, name in self.keys if name]
        height = self.height + _KEY_ROW * len(keys)
        box = f"0 0 {coordinate(self.width)} {coordinate(height)}"
        attributes = {"viewBox": box, "width": coordinate(self.width), "role": "img", "aria_label": self.words}
        background = [element("rect", width=self.width, height=height, fill="white")] if paper else []
        top, right, bottom, left = self.margins
        inner = {"x": left, "y": top, "width": self.width - left - right, "height": self.height - top - bottom}
        parts = [_style(), *background, element("svg", *self.parts, **inner)]
        for row, (style, name) in enumerate(keys):
            y = coordinate(self.height + _KEY_ROW * (row + 0.5))
            mark = [element("path", d="M-20 0h40", class_=f"line {style}"), shape(style)]
            text = element("text", escape(name), x=28, dy=4, text_anchor="start", class_="name")
            parts.append(element("g", *mark, text, transform=f"translate(76 {y})"))
        return element("svg", *parts, xmlns="http://www.w3.org/2000/svg", **attributes, class_="demur")


def end_label(spot: Spot, *inside: str, shift: Spot, anchor: str) -> str:
    """Draw the name of a line or a point at a position in percent, shifted by some pixels."""
    (x, y), (dx, dy) = map(percent_text, spot), shift
    return element("text", *inside, x=x, y=y, dx=dx, dy=dy, text_anchor=anchor, class_="end")


def apart(heights: Iterable[float], plot: float) -> Iterator[float]:
    """Heights of labels in percent, lowest first, moved up where they would overlap in a plot `plot` pixels high.

    >>> [*apart([90, 90, 20], 170)]
    [90, 80.0, 20]
    """
    floor = 100.0
    for height in heights:
        y = min(height, floor)
        floor = y - 100 * _APART / plot
        yield y
