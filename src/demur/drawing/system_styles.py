"""The colour (Okabe–Ito), marker and dash that distinguish systems in every picture."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SystemStyle:
    """The style of a system: CSS class, colour, marker (named as in matplotlib), and dash in line widths.

    A marker other than a circle or a square has `corners`: their number, the angle of the first in degrees, and the
    relative radius of every second one.
    """

    style: str
    colour: str
    marker: str
    dash: tuple[float, ...] = ()
    corners: tuple[int, float, float] = (0, 0, 0)


STYLES = (
    SystemStyle("first", "#0072b2", "o"),
    SystemStyle("second", "#d55e00", "s", (4, 1.5)),
    SystemStyle("third", "#009e73", "^", (1, 1), (3, -90, 1)),
    SystemStyle("fourth", "#cc79a7", "D", (6, 1.5, 1, 1.5), (4, -90, 1)),
    SystemStyle("fifth", "#e69f00", "v", (2, 1), (3, 90, 1)),
    SystemStyle("sixth", "#56b4e9", "P", (8, 2), (8, -90, 0.45)),
    SystemStyle("seventh", "#000000", "X", (3, 1, 1, 1, 1, 1), (8, -45, 0.45)),
    SystemStyle("eighth", "#f0e442", "*", (5, 1, 2, 1), (10, -90, 0.45)),
)


def system_style(index: int) -> SystemStyle:
    """The style of the system at an index; styles repeat after the eighth.

    >>> system_style(1).style, system_style(8).style
    ('second', 'first')
    """
    return STYLES[index % len(STYLES)]
