"""The colour (Okabe–Ito), marker and dash that distinguish systems in every picture."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Look:
    """The style of a system: CSS class, colour, marker (named as in matplotlib), and dash in line widths.

    A marker other than a circle or a square has `corners`: their number, the angle of the first in degrees, and the
    relative radius of every second one.
    """

    style: str
    colour: str
    marker: str
    dash: tuple[float, ...] = ()
    corners: tuple[int, float, float] = (0, 0, 0)


LOOKS = (
    Look("first", "#0072b2", "o"),
    Look("second", "#d55e00", "s", (4, 1.5)),
    Look("third", "#009e73", "^", (1, 1), (3, -90, 1)),
    Look("fourth", "#cc79a7", "D", (6, 1.5, 1, 1.5), (4, -90, 1)),
    Look("fifth", "#e69f00", "v", (2, 1), (3, 90, 1)),
    Look("sixth", "#56b4e9", "P", (8, 2), (8, -90, 0.45)),
    Look("seventh", "#000000", "X", (3, 1, 1, 1, 1, 1), (8, -45, 0.45)),
    Look("eighth", "#f0e442", "*", (5, 1, 2, 1), (10, -90, 0.45)),
)


def look_at(index: int) -> Look:
    """The style of the system at an index; styles repeat after the eighth.

    >>> look_at(1).style, look_at(8).style
    ('second', 'first')
    """
    return LOOKS[index % len(LOOKS)]
