"""Figures of results for a paper: as wide as a column, fonts embedded, the same bytes every time."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from demur.drawing.confidence import ReliabilityBins
from demur.drawing.forest import IntervalRow
from demur.drawing.looks import LOOKS, Look, look_at
from demur.drawing.risk_coverage import MOST_MARKERS, RiskBand, RiskCurve
from demur.errors import UserError, literal, unknown
from demur.report.differences import differences
from demur.report.figure_sheet import FONT, GREY, LETTER, PAGE_MM, STYLE, line_style, panels, sheet_of, text_of
from demur.report.names import Pair, pairs_of, systems_of
from demur.report.text import level_of
from demur.results.pictures import reliability_bins, risk_curve
from demur.results.table import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMN_MM = {"single": 89.0, "double": 183.0}
SUFFIXES = (".pdf", ".svg", ".png")
_NARROWEST = 40.0
_ROW_MM, _FOREST_MARGIN_MM = 4.2, 26.0
_UNDATED: Mapping[str, Mapping[str, Any]] = {
    ".pdf": {"CreationDate": None},
    ".svg": {"Date": None},
    ".png": {"Software": None},
}


def width_mm(text: str) -> float:
    """A width by name, or in millimetres.

    >>> width_mm("single"), width_mm("120")
    (89.0, 120.0)
    """
    if text in COLUMN_MM:
        return COLUMN_MM[text]
    plain = text.removesuffix("mm").strip()
    if not plain.replace(".", "", 1).isdecimal() or not _NARROWEST <= float(plain) <= PAGE_MM:
        allowed = f"single, double or millimetres from {_NARROWEST:g} to {PAGE_MM:g}"
        raise UserError(f"width {literal(text)}, expected {allowed}")
    return float(plain)


def figure_bytes(results: Results, suffix: str, *, kind: str = "risk-coverage", width: float = 89.0) -> bytes:
    """The content of a file of this suffix; the same results give the same bytes."""
    if kind not in KINDS:
        raise unknown("kind of figure", kind, KINDS)
    if suffix not in SUFFIXES:
        raise UserError(f"a figure ends in {', '.join(SUFFIXES)}, not in {literal(suffix)}")
    try:
        import matplotlib as mpl  # noqa: PLC0415  (an extra, and slow to import)
    except ImportError:
        raise UserError("figures need matplotlib: pip install 'demur[plot]'") from None
    data = io.BytesIO()
    with mpl.rc_context():
        mpl.rcdefaults()  # somebody's own settings must not change a byte, or hand a name to LaTeX
        mpl.rcParams.update(STYLE)
        KINDS[kind](results, width).savefig(data, format=suffix[1:], metadata=dict(_UNDATED[suffix]))
    return data.getvalue()


def _labels(results: Results) -> list[str]:
    systems = [*zip(systems_of(results), results.study.inputs, strict=True)]
    if len(systems) == 1:
        return [systems[0][1].mode or "run"]
    return [f"{system.word}: {source.mode}" if source.mode else system.word for system, source in systems]


def _risk_coverage(results: Results, width: float) -> Figure:
    """Selective risk against coverage, as the steps it is, with its bands, its end and a random order."""
    confidences = results.selective.confidences
    sheet, axes = panels(confidences, width, "coverage", shape=0.75)
    for panel, confidence in zip(axes, confidences, strict=True):
        for index, system in enumerate(results.systems):
            if results.curves[system, confidence].defined:
                _curve(panel, risk_curve(results, system, confidence, "selective"), look_at(index))
        if not panel.lines:
            panel.text(0.5, 0.5, "nothing is answered", ha="center", transform=panel.transAxes)
    axes[0].set_ylim(bottom=0)
    sheet.supylabel(f"selective risk ({text_of(results.selective.loss.name)})", fontsize=FONT)
    sheet.legend(handles=_key(results), loc="outside lower center", ncols=2)
    return sheet


def _curve(panel: Axes, curve: RiskCurve, look: Look) -> None:
    if curve.band:
        _shade(panel, curve.band, look)
    coverage, risk = curve.coverage, curve.risk
    panel.plot([0, *coverage], [risk[0], *risk], drawstyle="steps-pre", zorder=3, **line_style(look))
    marks = coverage if len(coverage) <= MOST_MARKERS else coverage[-1:]
    panel.plot(marks, risk[-len(marks) :], color=look.colour, linestyle="none", marker=look.marker, zorder=4)
    panel.vlines(curve.cmax, 0, risk[-1], color=look.colour, linewidth=0.6, linestyle=":")
    if curve.random is not None:
        panel.hlines(curve.random[1], 0, curve.cmax, color=look.colour, linewidth=0.6, linestyle="-.")


def _shade(panel: Axes, band: RiskBand, look: Look) -> None:
    coverage = [0, *band.coverage]
    step: Literal["pre"] | None = "pre" if band.stepped else None
    for low, high, alpha in ((band.low_simultaneous, band.high_simultaneous, 0.1), (band.low, band.high, 0.2)):
        ends = [low[0], *low], [high[0], *high]
        panel.fill_between(coverage, *ends, step=step, color=look.colour, alpha=alpha, linewidth=0)


def _key(results: Results) -> list[Any]:
    """What the lines and the shades are."""
    from matplotlib.lines import Line2D  # noqa: PLC0415
    from matplotlib.patches import Patch  # noqa: PLC0415

    runs = [
        Line2D([], [], marker=look_at(index).marker, label=text_of(name), **line_style(look_at(index)))
        for index, name in enumerate(_labels(results))
    ]
    thin: dict[str, Any] = {"color": GREY, "linewidth": 0.6}
    lines = [Line2D([], [], linestyle="-.", label="random order", **thin)]
    lines += [Line2D([], [], linestyle=":", label="Cmax", **thin)]
    shades = [
        Patch(color=GREY, alpha=0.4, linewidth=0, label="95 % at each coverage"),
        Patch(color=GREY, alpha=0.15, linewidth=0, label="95 % over the whole curve"),
    ]
    has_bands = any(record.bands for record in results.curves.values())
    return [*runs, *lines, *(shades if has_bands else [])]


def _reliability(results: Results, width: float) -> Figure:
    """The share that was right against the mean confidence, larger where there are more answers."""
    tables = {
        confidence: [results.curves[system, confidence].reliability for system in results.systems]
        for confidence in results.selective.confidences
    }
    drawn = {confidence: each for confidence, each in tables.items() if any(each)}
    if not drawn:
        raise UserError("no confidence of these results is a probability, so there is no reliability to draw")
    sheet, axes = panels([*drawn], width, "confidence", shape=0.95)
    for panel, by_system in zip(axes, drawn.values(), strict=True):
        panel.plot([0, 1], [0, 1], color=GREY, linewidth=0.6, linestyle=":")
        for index, table in enumerate(by_system):
            if table is not None:
                _points(panel, reliability_bins(table, "", look_at(index).style), look_at(index))
        panel.set(ylim=(0, 1), aspect="equal")
    sheet.supylabel("share of exactly right answers", fontsize=FONT)
    sheet.legend(handles=_key(results)[: len(results.systems)], loc="outside lower center", ncols=2)
    return sheet


def _points(panel: Axes, bins: ReliabilityBins, look: Look) -> None:
    across, up = bins.mean_predicted, bins.fraction_correct
    panel.plot(across, up, linewidth=0.8, **line_style(look))
    sizes = [4 + 30 * weight for weight in bins.weight]
    panel.scatter(across, up, s=sizes, color=look.colour, marker=look.marker, linewidth=0, clip_on=False, zorder=3)


def _rows(results: Results) -> Iterator[IntervalRow]:
    """The name of each confidence, and below it its differences but the one in coverage, which is not a risk."""
    pairs = pairs_of(results)
    for confidence in results.selective.confidences:
        for pair in pairs:
            heading = confidence if len(pairs) == 1 else f"{confidence}, {pair.label}"
            yield IntervalRow(text_of(heading), "neither", None)
            for each in differences(results, confidence, pair):
                if each.drawn.value is not None and each.panel != "coverage":
                    yield replace(each.drawn, label=f"   {text_of(each.name)}")


def _forest(results: Results, width: float) -> Figure:
    """Differences with their intervals, and the line at which there is none."""
    pairs = pairs_of(results)
    if not pairs:
        raise UserError("a forest is of differences, and these are results of one run: ask for another kind of figure")
    rows = [*_rows(results)]
    labels = [row.label for row in rows]
    sheet = sheet_of(width, len(rows) * _ROW_MM + _FOREST_MARGIN_MM, "choose variants with --confidence")
    panel = sheet.subplots()
    for index, row in enumerate(rows):
        style = _mark_style(comparable=row.comparable)
        if row.interval is not None:
            panel.plot(row.interval, [-index, -index], **(style | {"marker": ""}))
        if row.value is not None:
            panel.plot([row.value], [-index], **style)
    panel.axvline(0, color="black", linewidth=0.6)
    panel.set_yticks([-index for index in range(len(rows))], labels)
    panel.set_ylim(0.4 - len(rows), 0.6)
    panel.tick_params(axis="y", length=0, pad=LETTER * FONT * max(map(len, labels)))
    for label in panel.get_yticklabels():
        label.set_horizontalalignment("left")
    panel.spines["left"].set_visible(False)
    resampled = f"with its {level_of(results)}" if results.study.bootstrap else "nothing resampled"
    panel.set_xlabel(_across(pairs, resampled))
    sheet.legend(handles=[_mark(comparable=True), _mark(comparable=False)], loc="outside lower left")
    return sheet


def _across(pairs: Sequence[Pair], resampled: str) -> str:
    """What is subtracted from what, and which way is better."""
    base = text_of(pairs[0].baseline.word)
    if len(pairs) > 1:
        return f"difference from {base}, {resampled}\n← lower is better      {base} is better →"
    other = text_of(pairs[0].other.word)
    return f"{text_of(pairs[0].label)}, {resampled}\n← {other} is better      {base} is better →"


def _mark(*, comparable: bool) -> Any:
    """A filled mark where a conclusion may be drawn, a hollow grey one where none may."""
    from matplotlib.lines import Line2D  # noqa: PLC0415

    label = "comparable" if comparable else "not comparable, or too little to decide on"
    return Line2D([], [], label=label, **_mark_style(comparable=comparable))


def _mark_style(*, comparable: bool) -> dict[str, Any]:
    colour, face = (LOOKS[0].colour, LOOKS[0].colour) if comparable else (GREY, "white")
    return {"marker": "o", "color": colour, "markerfacecolor": face, "linestyle": "-" if comparable else ":"}


KINDS: dict[str, Callable[[Results, float], Figure]] = {
    "risk-coverage": _risk_coverage,
    "forest": _forest,
    "reliability": _reliability,
}
