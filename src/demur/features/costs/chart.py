"""The chart of costs per unit against the price of an abstention, with the cheapest threshold and without any."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from demur.drawing.picture import (
    MARGINS,
    Frame,
    Picture,
    Spot,
    apart,
    at,
    element,
    end_label,
    line,
    percent_text,
    plane,
    shape,
)

_LOWEST = 0.01
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_PIECES = 60
_SIZE = (760, 320)
_BESIDE = 4  # pixels between the intervals of two systems at one price
RequestedPrice = tuple[float, float, tuple[float, float] | None]  # a price, its cost, and the interval of the cost


@dataclass(frozen=True, slots=True)
class CostLine:
    """One system's lowest cost: straight between `vertices` of price and cost, the first at 0 and the last at 1.

    Answering everything is the straight line from `of_all` at the price 0 to the last vertex.
    """

    label: str
    style: str
    vertices: Sequence[tuple[float, float]]
    of_all: float
    requested: Sequence[RequestedPrice] = ()

    def cost(self, price: float) -> float:
        """The lowest cost at a price."""
        return _between(self.vertices, price)

    def cost_of_all(self, price: float) -> float:
        """The cost of answering everything."""
        return self.of_all + price * (self.vertices[-1][1] - self.of_all)

    @property
    def highest(self) -> float:
        """The highest point of the line, of answering everything, and of the intervals."""
        ends = [interval[1] for _, _, interval in self.requested if interval is not None]
        return max(self.vertices[-1][1], self.of_all, *ends, 0.0)


def cost_chart(lines: Sequence[CostLine]) -> Picture:
    """Costs on a log scale of prices, from 0.01 or the lowest positive requested price to 1."""
    positive = [price for curve in lines for price, _, _ in curve.requested if price > 0]
    low = min([_LOWEST, *positive])
    frame = Frame((math.log10(low), 0.0), (0.0, 1.08 * max((curve.highest for curve in lines), default=0.0) or 1.0))
    parts = [*frame.axes("price of an abstention (worst error = 1, log)", "cost per unit", marks=_marks(low))]
    declined = min(1.0, frame.ys[1])  # where declining everything leaves the frame
    paths = [*_paths(frame, lines, low, declined)]
    parts.append(plane(*paths))
    for index, curve in enumerate(lines):
        parts += _requested(frame, curve, _BESIDE * (index - (len(lines) - 1) / 2))
    parts += _names(frame, lines)
    spot = _spot(frame, declined, declined)
    parts.append(end_label(spot, "decline all", shift=(-8, 12), anchor="end"))
    return Picture(*_SIZE, _words(lines), parts, "curves", [(curve.style, curve.label) for curve in lines])


def _between(vertices: Sequence[tuple[float, float]], price: float) -> float:
    for (left, low), (right, high) in pairwise(vertices):
        if left <= price <= right and right > left:
            return low + (price - left) / (right - left) * (high - low)
    return vertices[-1][1]


def _marks(low: float) -> list[tuple[float, str]]:
    """The tick labels of the price axis; below 0.01 only some powers of ten."""
    tens = range(math.ceil(math.log10(low)), -2)
    few = [10.0**power for power in tens[:: len(tens) // 4 + 1]]
    return [(math.log10(price), f"{price:g}") for price in (*few, *_TICKS)]


def _spot(frame: Frame, price: float, cost: float) -> Spot:
    return frame.across(math.log10(price)), frame.up(cost)


def _paths(frame: Frame, lines: Sequence[CostLine], low: float, declined: float) -> Iterator[str]:
    vertices = {price for curve in lines for price, _ in curve.vertices if low < price <= 1}
    prices = sorted({*(low ** (piece / _PIECES) for piece in range(_PIECES + 1)), *vertices})
    yield _path(frame, [*(price for price in prices if price < declined), declined], float, "zero")
    for curve in lines:
        yield _path(frame, prices, curve.cost_of_all, f"reference random {curve.style}")
        yield _path(frame, prices, curve.cost, f"line {curve.style}")


def _path(frame: Frame, prices: Sequence[float], cost: Callable[[float], float], kind: str) -> str:
    """A path in short pieces, as a line that is straight in the price is curved on a log scale."""
    return element("path", d=line(_spot(frame, price, cost(price)) for price in prices), class_=kind)


def _requested(frame: Frame, curve: CostLine, shift: float) -> Iterator[str]:
    """The requested prices as markers, with intervals `shift` pixels beside those of other systems."""
    for price, cost, interval in curve.requested:
        if price <= 0:
            continue  # not on a log scale; the table has it
        x, y = _spot(frame, price, cost)
        if interval is not None:
            low, high = (percent_text(frame.up(end)) for end in interval)
            bar = element("line", y1=low, y2=high, class_=f"interval {curve.style}")
            yield at(x, 0, element("g", bar, transform=f"translate({shift:g} 0)"))
        yield at(x, y, shape(curve.style))


def _names(frame: Frame, lines: Sequence[CostLine]) -> Iterator[str]:
    """Labels of the lines for answering everything at the left, and of the lowest costs at the right."""
    low, plot = 10 ** frame.xs[0], _SIZE[1] - MARGINS[0] - MARGINS[2]
    of_all = sorted(lines, key=lambda curve: curve.of_all)
    for curve, y in zip(of_all, apart((frame.up(curve.cost_of_all(low)) for curve in of_all), plot), strict=True):
        name = f"{curve.label} answers all" if curve.label else "answer all"
        yield end_label((0, y), _tag(curve), escape(name), shift=(6, -7), anchor="start")
    lowest = sorted(lines, key=lambda curve: curve.cost(1.0))
    for curve, y in zip(lowest, apart([100.0] * len(lowest), plot), strict=True):
        yield end_label((100, y), _tag(curve), escape(curve.label or "lowest cost"), shift=(0, -10), anchor="end")


def _tag(curve: CostLine) -> str:
    return element("tspan", "● ", class_=f"tag {curve.style}")


def _words(lines: Sequence[CostLine]) -> str:
    """The chart in words, for screen readers: the cost at each requested price."""
    described = []
    for curve in lines:
        costs = ", ".join(f"{cost:.4g} at {price:.4g}" for price, cost, _ in curve.requested)
        described.append(f"{curve.label or 'lowest cost'}: {costs or f'{curve.cost(1.0):.4g} at 1'}")
    return f"Cost per unit against the price of an abstention, on a log scale. {'; '.join(described)}."
