"""Sheets: the paper a figure is drawn on, its panels, its letters and its lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from demur.drawing.looks import Look
from demur.errors import UserError, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAGE_MM = 247.0
GREY = "#777777"
_PANEL_MM, _MARGIN_MM = 45.0, 16.0
_INCH = 25.4
FONT = 7.0
LETTER = 0.56  # how wide a letter is, of its height
STYLE: dict[Any, Any] = {
    "font.size": FONT,
    "axes.titlesize": FONT,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 3,
    "legend.frameon": False,
    "text.parse_math": False,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "demur",
}


def line_style(look: Look) -> dict[str, Any]:
    """The colour and the dash of a system's line."""
    return {"color": look.colour, "linestyle": (0, look.dash) if look.dash else "-"}


def text_of(name: str) -> str:
    r"""A name from a file as it is drawn: signs that are not in the font are spelled out.

    >>> print(text_of("$x$"), text_of("字"))
    $x$ \u5b57
    """
    from matplotlib.font_manager import findfont, get_font  # noqa: PLC0415

    font = get_font(findfont("DejaVu Sans"))
    return "".join(sign if font.get_char_index(ord(sign)) else ascii(sign)[1:-1] for sign in shown(name))


def sheet_of(width: float, height: float, way_out: str) -> Figure:
    """A sheet of so many millimetres, if a page holds it."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    if height > PAGE_MM:
        raise UserError(f"the figure would be {height:.0f} mm tall, and a page is {PAGE_MM:.0f} mm: {way_out}")
    return Figure(figsize=(width / _INCH, height / _INCH), layout="constrained")


def panels(names: Sequence[str], width: float, across: str, *, shape: float) -> tuple[Figure, list[Axes]]:
    """A panel for each variant, as many side by side as there is room for."""
    columns = min(len(names), max(1, int(width // _PANEL_MM)))
    rows, panel_mm = -(-len(names) // columns), width / columns
    sheet = sheet_of(
        width, rows * panel_mm * shape + _MARGIN_MM, "choose variants with --confidence, or --width double"
    )
    axes = [*sheet.subplots(rows, columns, sharey=True, squeeze=False).flat]
    for unused in axes[len(names) :]:
        unused.remove()
    for index, (panel, name) in enumerate(zip(axes, map(text_of, names), strict=False)):
        fitting = panel_mm / _INCH * 72 / (LETTER * max(len(name), 1))
        panel.set_title(name, loc="left", fontsize=min(FONT, fitting))
        panel.set_xlim(0, 1)
        if index + columns >= len(names):
            panel.set_xlabel(across)
    return sheet, axes[: len(names)]
