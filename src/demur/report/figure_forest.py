"""Forest: the differences of two runs with their intervals, around the line at which there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from demur.artifact_numbers import DeltaNumbers, PairedNumbers
from demur.errors import UserError
from demur.report.figure_sheet import FONT, GREY, LETTER, LOOKS, sheet_of, text_of
from demur.report.numbers import differences_of, level_of, runs_of, title
from demur.verdict import LEFT, RIGHT, UNDECIDED, ends_of, which_is_better

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from demur.artifact import Metrics
    from demur.artifact_numbers import Ends

_ROW_MM, _MARGIN_MM = 4.2, 26.0


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a forest: a difference, or the name of the variant those below it are of."""

    label: str
    delta: DeltaNumbers | None = None
    ends: Ends | None = None
    fair: bool = True


def _lines(metrics: Metrics) -> Iterator[Line]:
    for variant, pair in metrics.confidence_variants.items():
        assert isinstance(pair, PairedNumbers)  # noqa: S101  (only comparisons are asked)
        yield Line(text_of(variant))
        found = differences_of(metrics, variant)
        risks = found.get("mae_at_coverage", {})
        assert isinstance(risks, Mapping)  # noqa: S101  (only the risks are nested)
        told: list[tuple[str, str | None, str, Any]]
        told = [(key, None, title(key, pair.left), found.get(key)) for key in ("augrc_at_c", "aurc_at_c")]
        told += [("mae_at_coverage", at, f"risk at {at}", delta) for at, delta in risks.items()]
        for key, at, label, delta in told:
            if isinstance(delta, DeltaNumbers) and delta.delta is not None:
                fair = which_is_better(key, delta, pair, at) in ("", LEFT, RIGHT, UNDECIDED)
                yield Line(f"   {text_of(label)}", delta, ends_of(delta, pair), fair)


def forest(metrics: Metrics, width: float) -> Figure:
    """Differences with their intervals, and the line at which there is none."""
    if not metrics.comparison.enabled:
        raise UserError("a forest is of differences, and this artifact holds one run: ask for another kind of figure")
    lines = [*_lines(metrics)]
    sheet = sheet_of(width, len(lines) * _ROW_MM + _MARGIN_MM, "choose variants with --confidence")
    panel = sheet.subplots()
    for place, line in enumerate(lines):
        _difference(panel, -place, line)
    panel.axvline(0, color="black", linewidth=0.6)
    panel.set_yticks([-place for place in range(len(lines))], [line.label for line in lines])
    panel.set_ylim(0.4 - len(lines), 0.6)
    longest = max(len(line.label) for line in lines)
    panel.tick_params(axis="y", length=0, pad=LETTER * FONT * longest)
    for label in panel.get_yticklabels():
        label.set_horizontalalignment("left")
    panel.spines["left"].set_visible(False)
    panel.set_xlabel(f"{_what(metrics)}\n← right is better      left is better →")
    sheet.legend(handles=[_mark(fair=True), _mark(fair=False)], loc="outside lower left")
    return sheet


def _what(metrics: Metrics) -> str:
    one = runs_of(next(iter(metrics.confidence_variants.values())))[0]
    return f"right − left, with its {level_of(one)}" if one.bootstrap else "right − left, nothing resampled"


def _mark(*, fair: bool) -> Any:
    """A filled mark where a conclusion may be drawn, a hollow grey one where none may."""
    from matplotlib.lines import Line2D  # noqa: PLC0415

    label = "comparable" if fair else "not comparable, or too little to decide on"
    return Line2D([], [], label=label, **_mark_style(fair=fair))


def _mark_style(*, fair: bool) -> dict[str, Any]:
    colour, face = (LOOKS[0].colour, LOOKS[0].colour) if fair else (GREY, "white")
    return {"marker": "o", "color": colour, "markerfacecolor": face, "linestyle": "-" if fair else ":"}


def _difference(panel: Axes, height: float, line: Line) -> None:
    if line.delta is None or line.delta.delta is None:
        return
    style = _mark_style(fair=line.fair)
    if line.ends is not None:
        panel.plot([line.ends.low, line.ends.high], [height, height], **(style | {"marker": ""}))
    panel.plot([line.delta.delta], [height], **style)
