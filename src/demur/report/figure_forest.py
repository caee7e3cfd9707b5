"""Forest: the differences of two runs with their intervals, around the line at which there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from demur.drawing.looks import LOOKS
from demur.errors import UserError
from demur.report.figure_sheet import FONT, GREY, LETTER, sheet_of, text_of
from demur.report.forest import differences
from demur.report.numbers import level_of, runs_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from demur.artifact import Metrics
    from demur.drawing.forest import ForestRow

_ROW_MM, _MARGIN_MM = 4.2, 26.0


def _rows(metrics: Metrics) -> Iterator[tuple[str, ForestRow | None]]:
    """The name of each variant, and below it its differences but the one in coverage, which is no risk."""
    for variant in metrics.confidence_variants:
        yield text_of(variant), None
        for difference in differences(metrics, variant):
            if difference.drawn and difference.panel != "coverage":
                yield f"   {text_of(difference.name)}", difference.drawn


def forest(metrics: Metrics, width: float) -> Figure:
    """Differences with their intervals, and the line at which there is none."""
    if not metrics.comparison.enabled:
        raise UserError("a forest is of differences, and this artifact holds one run: ask for another kind of figure")
    rows = [*_rows(metrics)]
    labels = [label for label, _ in rows]
    sheet = sheet_of(width, len(rows) * _ROW_MM + _MARGIN_MM, "choose variants with --confidence")
    panel = sheet.subplots()
    for index, (_, row) in enumerate(rows):
        if row is not None:
            _difference(panel, -index, row)
    panel.axvline(0, color="black", linewidth=0.6)
    panel.set_yticks([-index for index in range(len(rows))], labels)
    panel.set_ylim(0.4 - len(rows), 0.6)
    panel.tick_params(axis="y", length=0, pad=LETTER * FONT * max(map(len, labels)))
    for label in panel.get_yticklabels():
        label.set_horizontalalignment("left")
    panel.spines["left"].set_visible(False)
    panel.set_xlabel(f"{_what(metrics)}\n← right is better      left is better →")
    sheet.legend(handles=[_mark(comparable=True), _mark(comparable=False)], loc="outside lower left")
    return sheet


def _what(metrics: Metrics) -> str:
    one = runs_of(next(iter(metrics.confidence_variants.values())))[0]
    return f"right − left, with its {level_of(one)}" if one.bootstrap else "right − left, nothing resampled"


def _mark(*, comparable: bool) -> Any:
    """A filled mark where a conclusion may be drawn, a hollow grey one where none may."""
    from matplotlib.lines import Line2D  # noqa: PLC0415

    label = "comparable" if comparable else "not comparable, or too little to decide on"
    return Line2D([], [], label=label, **_mark_style(comparable=comparable))


def _mark_style(*, comparable: bool) -> dict[str, Any]:
    colour, face = (LOOKS[0].colour, LOOKS[0].colour) if comparable else (GREY, "white")
    return {"marker": "o", "color": colour, "markerfacecolor": face, "linestyle": "-" if comparable else ":"}


def _difference(panel: Axes, height: float, row: ForestRow) -> None:
    style = _mark_style(comparable=row.comparable)
    if row.interval is not None:
        panel.plot(row.interval, [height, height], **(style | {"marker": ""}))
    panel.plot([row.value], [height], **style)
