"""Pictures: what every chart becomes, of elements with every attribute escaped, frames, paths and labels."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape

import numpy as np

from demur.drawing.looks import LOOKS
from demur.types import Indices

_COLUMNS = 200
_FEW = 300
_MOST_TICKS = 5
_FINEST = 1e-300
_KEY_ROW = 20
_INK = "#000000"
_LINE = 2.2


def visible(across: Sequence[float], up: Sequence[float]) -> Indices:
    """Of points ordered from left to right: in each narrow column the first, the last, the lowest and the highest.

    What a line through them covers is the same as through all of them, and none is moved.

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
    """Positions spread evenly over a list, both ends among them; all of a list that is short enough.

    >>> spread(5, 10).tolist(), spread(100, 4).tolist()
    ([0, 1, 2, 3, 4], [0, 33, 66, 99])
    """
    if count <= most:
        return np.arange(count)
    return np.unique(np.round(np.linspace(0, count - 1, most)).astype(np.intp))


def coordinate(value: float) -> str:
    """A coordinate to a tenth.

    >>> coordinate(12.04), coordinate(3.25), coordinate(-0.01)
    ('12', '3.2', '0')
    """
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


def element(name: str, *inside: str, **attributes: float | str) -> str:
    """One element; `class_` is class, and an underscore inside a name is a hyphen.

    >>> element("text", escape("<"), x=1.25, text_anchor="end", class_="tick")
    '<text x="1.2" text-anchor="end" class="tick">&lt;</text>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value) if isinstance(value, str) else coordinate(value)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{written}>{''.join(inside)}</{name}>" if inside else f"<{name}{written}/>"


def ticks(low: float, high: float) -> list[float]:
    """Round numbers from low to high, five or so.

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
    """A plot inside its picture: where it lies, and which numbers its edges are."""

    width: float
    height: float
    xs: tuple[float, float] = (0.0, 1.0)
    ys: tuple[float, float] = (0.0, 1.0)
    left: float = 56
    right: float = 24
    top: float = 14
    bottom: float = 46

    def across(self, value: float) -> float:
        """Where a number lies from left to right."""
        low, high = self.xs
        return self.left + (value - low) / ((high - low) or 1) * (self.width - self.left - self.right)

    def up(self, value: float) -> float:
        """Where a number lies from bottom to top."""
        low, high = self.ys
        floor = self.height - self.bottom
        return floor - (value - low) / ((high - low) or 1) * (floor - self.top)

    def axes(self, across: str, up: str, *, percent: bool = False) -> Iterable[str]:
        """Grid lines, round numbers and the names of both axes."""
        floor, end = self.height - self.bottom, self.width - self.right
        for number in ticks(*self.ys):
            y = self.up(number)
            yield element("path", d=f"M{coordinate(self.left)} {coordinate(y)}H{coordinate(end)}", class_="grid")
            yield label(self.left - 8, y + 4, number_text(number), anchor="end")
        for number in ticks(*self.xs):
            x = self.across(number)
            yield element("path", d=f"M{coordinate(x)} {coordinate(floor)}v5", class_="axis")
            yield label(x, floor + 19, f"{number:.0%}" if percent else number_text(number))
        yield element("path", d=f"M{coordinate(self.left)} {coordinate(floor)}H{coordinate(end)}", class_="axis")
        yield label((self.left + end) / 2, self.height - 6, across, kind="name")
        middle = (self.top + floor) / 2
        turned = f"rotate(-90 13 {coordinate(middle)})"
        yield element("text", escape(up), x=13, y=middle, text_anchor="middle", transform=turned, class_="name")


def number_text(number: float) -> str:
    """A number of an axis, with a minus and not a hyphen.

    >>> number_text(-0.5)
    '−0.5'
    """
    return f"{number:g}".replace("-", "−")


def label(x: float, y: float, content: str, *, anchor: str = "middle", kind: str = "tick") -> str:
    """A word in its place."""
    return element("text", escape(content), x=x, y=y, text_anchor=anchor, class_=kind)


def marker(x: float, y: float, style: str, radius: float = 4) -> str:
    """A point of a system, in the shape of its look."""
    look = next(look for look in LOOKS if look.style == style)
    if look.marker == "o":
        return element("circle", cx=x, cy=y, r=radius, class_=f"dot {style}")
    if look.marker == "s":
        return element("rect", x=x - radius, y=y - radius, width=2 * radius, height=2 * radius, class_=f"dot {style}")
    corners, first, inner = look.corners
    spots = []
    for corner in range(corners):
        angle = math.radians(first + 360 * corner / corners)
        reach = 1.3 * radius * (inner if corner % 2 else 1)
        spots.append((x + reach * math.cos(angle), y + reach * math.sin(angle)))
    return element("path", d=f"{line(spots)}Z", class_=f"dot {style}")


def steps(spots: Iterable[tuple[float, float]], start: float) -> str:
    """A path that holds each point's height from the point before it, the first one's from `start`.

    >>> steps([(10, 5), (20, 5), (30, 2.5)], start=0)
    'M0 5h10h10v-2.5h10'
    """
    path, here = "", (_tenths(start), 0)
    for x, y in spots:
        there = (_tenths(x), _tenths(y))
        if not path:
            path, here = f"M{_short(here[0])} {_short(there[1])}", (here[0], there[1])
        path += f"v{_short(there[1] - here[1])}" if there[1] != here[1] else ""
        path += f"h{_short(there[0] - here[0])}" if there[0] != here[0] else ""
        here = there
    return path


def line(spots: Iterable[tuple[float, float]]) -> str:
    """A path straight from point to point.

    >>> line([(1, 2), (3, 4.5), (2.5, 4.5)])
    'M1 2l2 2.5l-.5 0'
    """
    path, here = "", (0, 0)
    for x, y in spots:
        there = (_tenths(x), _tenths(y))
        path += f"{'l' if path else 'M'}{_short(there[0] - here[0])} {_short(there[1] - here[1])}"
        here = there
    return path


def _tenths(value: float) -> int:
    """Steps between rounded places add up to the rounded place, so that no path drifts."""
    return round(10 * value)


def _short(tenths: int) -> str:
    text = f"{tenths / 10:g}"
    return text.replace("0.", ".", 1) if abs(tenths) < 10 else text  # noqa: PLR2004


@cache
def _style() -> str:
    """The rules of a picture that stands alone; ink, and a black look, have the colour of the text around it."""
    from importlib.resources import files  # noqa: PLC0415  (slow to import, for a picture that few ask for)

    # Every rule is about what lies inside .demur: a style element in a notebook speaks to the whole notebook.
    rules = [files("demur.drawing").joinpath("picture.css").read_text("utf-8")]
    for look in LOOKS:
        dash = " ".join(f"{_LINE * part:.3g}" for part in look.dash) or "none"
        rules.append(f".demur .line.{look.style} {{ stroke-dasharray: {dash} }}\n")
        rules.append(f".demur .{look.style} {{ color: {look.colour if look.colour != _INK else 'inherit'} }}\n")
    return element("style", *rules)


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawn chart with its description, and the label of each system by its style."""

    width: float
    height: float
    words: str
    parts: Sequence[str]
    kind: str
    keys: Sequence[tuple[str, str]] = ()
    data: Mapping[str, str] = field(default_factory=dict)

    @property
    def svg(self) -> str:
        """For the page, whose style sheet knows the classes, and which says itself which system is which."""
        box = f"0 0 {coordinate(self.width)} {coordinate(self.height)}"
        attributes = {"viewBox": box, "role": "img", "aria_label": self.words, "class_": self.kind}
        return element("svg", *self.parts, **attributes, **self.data)

    def standalone(self, *, paper: bool = False) -> str:
        """For a notebook or a file, with its styles and a key; `paper` is white whatever lies around it."""
        keys = [(style, name) for style, name in self.keys if name]
        height = self.height + _KEY_ROW * len(keys)
        box = f"0 0 {coordinate(self.width)} {coordinate(height)}"
        attributes = {"viewBox": box, "width": coordinate(self.width), "role": "img", "aria_label": self.words}
        ground = [element("rect", width=self.width, height=height, fill="white")] if paper else []
        parts = [_style(), *ground, *self.parts]
        for row, (style, name) in enumerate(keys):
            y = self.height + _KEY_ROW * (row + 0.5)
            parts.append(element("path", d=f"M56 {coordinate(y)}h40", class_=f"line {style}"))
            parts += [marker(76, y, style), label(104, y + 4, name, anchor="start", kind="name")]
        return element("svg", *parts, xmlns="http://www.w3.org/2000/svg", **attributes, class_="demur")
