"""Figures for papers: as wide as a column, with fonts embedded, and the same bytes every time."""

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from demur.drawing.forest import IntervalRow
from demur.drawing.labels import shortened
from demur.drawing.risk_coverage import MOST_MARKERS, RiskCurve
from demur.drawing.system_styles import STYLES, SystemStyle, system_style
from demur.errors import UserError, literal, registered, shown, without_extra
from demur.facts.columns import written_number
from demur.results.pictures import reliability_bins, risk_curve
from demur.results.table import Results
from demur.show.differences import differences
from demur.show.names import pairs_of
from demur.show.text import interval_heading

try:
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties, findfont, get_font
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
except ImportError:
    raise without_extra("figures need matplotlib", "plot") from None

COLUMN_MM = {"single": 89.0, "double": 183.0}
_PAGE_MM, _NARROWEST = 247.0, 40.0
_PANEL_MM, _MARGIN_MM = 45.0, 16.0
_ROW_MM, _FOREST_MARGIN_MM = 4.2, 26.0
_INCH = 25.4
_BLUE, _GREY = STYLES[0].colour, "#777777"
_FONT, _SMALL = 7.0, 4.0
_LETTER = 0.56  # mean width of a letter over its height
_UNDATED: dict[str, Any] = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}, ".png": {"Software": None}}
_NOT_COMPARABLE = "not comparable, or too little to decide on"
# A filled mark for a comparable difference, a hollow grey one for others.
_MARKS: dict[str, dict[str, Any]] = {
    "comparable": {"marker": "o", "color": _BLUE, "markerfacecolor": _BLUE, "linestyle": "-"},
    _NOT_COMPARABLE: {"marker": "o", "color": _GREY, "markerfacecolor": "white", "linestyle": ":"},
}
_STYLE: dict[Any, Any] = {
    "font.size": _FONT,
    "axes.titlesize": _FONT,
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


def width_mm(text: str) -> float:
    """Parse a width in millimetres, or the name of a column width.

    >>> width_mm("single"), width_mm("120")
    (89.0, 120.0)
    """
    if text in COLUMN_MM:
        return COLUMN_MM[text]
    plain = text.removesuffix("mm").strip()
    number = written_number(plain)
    if number is None or not _NARROWEST <= number <= _PAGE_MM:
        allowed = f"single, double or millimetres from {_NARROWEST:g} to {_PAGE_MM:g}"
        raise UserError(f"width {literal(text)}, expected {allowed}")
    return number


def figure_bytes(results: Results, suffix: str, *, kind: str = "risk-coverage", width: float = 89.0) -> bytes:
    """Draw a figure and return the content of a file with this suffix; the same results give the same bytes."""
    draw = registered("kind of figure", kind, KINDS)
    if suffix not in _UNDATED:
        raise UserError(f"a figure ends in {', '.join(_UNDATED)}, not in {literal(suffix)}")
    data = io.BytesIO()
    with mpl.rc_context():
        mpl.rcdefaults()  # the user's own settings must not change a byte, or pass a name to LaTeX
        mpl.rcParams.update(_STYLE)
        sheet = draw(results, width)
        for key in sheet.legends:  # the layout leaves room for nothing else below the axes
            key.set_title(_caption(results, width), prop=FontProperties(size=_SMALL))
        sheet.savefig(data, format=suffix[1:], metadata=_UNDATED[suffix])
    return data.getvalue()


def _caption(results: Results, width: float) -> str:
    """The signature, broken into lines that end after a key."""
    fitting, lines = width / _INCH * 72 / (_LETTER * _SMALL), [""]
    *parts, last = results.selective.signature().parts
    for part in (*(f"{part}|" for part in parts), last):
        if lines[-1] and len(lines[-1] + part) > fitting:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def _line_style(look: SystemStyle) -> dict[str, Any]:
    return {"color": look.colour, "linestyle": (0, look.dash) if look.dash else "-"}


def text_of(name: str) -> str:
    r"""A name from a file, with characters that are not in the font escaped.

    >>> print(text_of("$x$"), text_of("字"))
    $x$ \u5b57
    """
    font = get_font(findfont("DejaVu Sans"))
    return "".join(sign if font.get_char_index(ord(sign)) else ascii(sign)[1:-1] for sign in shown(name))


def _sheet(width: float, height: float, advice: str) -> Figure:
    if height > _PAGE_MM:
        raise UserError(f"the figure would be {height:.0f} mm tall, and a page is {_PAGE_MM:.0f} mm: {advice}")
    return Figure(figsize=(width / _INCH, height / _INCH), layout="constrained")


def _panels(names: Sequence[str], width: float, across: str, *, shape: float) -> tuple[Figure, list[Axes]]:
    """A panel for each variant, as many side by side as there is room for."""
    columns = min(len(names), max(1, int(width // _PANEL_MM)))
    rows, panel_mm = -(-len(names) // columns), width / columns
    advice = "choose variants with --confidence, or --width double"
    sheet = _sheet(width, rows * panel_mm * shape + _MARGIN_MM, advice)
    axes = [*sheet.subplots(rows, columns, sharey=True, squeeze=False).flat]
    for unused in axes[len(names) :]:
        unused.remove()
    for index, (panel, name) in enumerate(zip(axes, map(text_of, names), strict=False)):
        fitting = panel_mm / _INCH * 72 / (_LETTER * max(len(name), 1))
        panel.set_title(name, loc="left", fontsize=min(_FONT, fitting))
        panel.set_xlim(0, 1)
        if index + columns >= len(names):
            panel.set_xlabel(across)
    return sheet, axes[: len(names)]


def _risk_coverage(results: Results, width: float) -> Figure:
    """Selective risk against coverage as a step function, with bands, Cmax and the random level."""
    confidences = results.selective.confidences
    sheet, axes = _panels(confidences, width, "coverage", shape=0.75)
    for panel, confidence in zip(axes, confidences, strict=True):
        for index, system in enumerate(results.systems):
            if results.curves[system, confidence].defined:
                _curve(panel, risk_curve(results, system, confidence), system_style(index))
        if not panel.lines:
            panel.text(0.5, 0.5, "nothing is answered", ha="center", transform=panel.transAxes)
    axes[0].set_ylim(bottom=0)
    sheet.supylabel(f"selective risk ({text_of(results.selective.loss.name)})", fontsize=_FONT)
    handles: list[Any] = [*_key(results)]
    handles.append(Line2D([], [], linestyle="-.", label="random order", color=_GREY, linewidth=0.6))
    handles.append(Line2D([], [], linestyle=":", label="Cmax", color=_GREY, linewidth=0.6))
    if any(record.bands for record in results.curves.values()):
        handles.append(Patch(color=_GREY, alpha=0.4, linewidth=0, label="95 % at each coverage"))
        handles.append(Patch(color=_GREY, alpha=0.15, linewidth=0, label="95 % over the whole curve"))
    sheet.legend(handles=handles, loc="outside lower center", ncols=2)
    return sheet


def _curve(panel: Axes, curve: RiskCurve, look: SystemStyle) -> None:
    coverage, risk, band = curve.coverage, curve.risk, curve.band
    if band:
        for name, coverages, low, high in band.parts():
            alpha = 0.1 if name == "simultaneous" else 0.2
            shade: dict[str, Any] = {"step": "pre" if band.stepped else None, "alpha": alpha, "linewidth": 0}
            panel.fill_between(coverages, low, high, color=look.colour, **shade)
    panel.plot([0, *coverage], [risk[0], *risk], drawstyle="steps-pre", zorder=3, **_line_style(look))
    marks = coverage if len(coverage) <= MOST_MARKERS else coverage[-1:]
    panel.plot(marks, risk[-len(marks) :], color=look.colour, linestyle="none", marker=look.marker, zorder=4)
    panel.vlines(curve.cmax, 0, risk[-1], color=look.colour, linewidth=0.6, linestyle=":")
    if curve.random is not None:
        panel.hlines(curve.random[1], 0, curve.cmax, color=look.colour, linewidth=0.6, linestyle="-.")


def _labels(results: Results) -> dict[str, str]:
    return dict(zip(results.systems, map(text_of, shortened(results.systems)), strict=True))


def _key(results: Results) -> Iterator[Any]:
    for index, label in enumerate(_labels(results).values()):
        look = system_style(index)
        yield Line2D([], [], marker=look.marker, label=label, **_line_style(look))


def _reliability(results: Results, width: float) -> Figure:
    """The fraction correct against the mean confidence, with larger marks for more answers."""
    tables = {
        confidence: [results.curves[system, confidence].reliability for system in results.systems]
        for confidence in results.selective.confidences
    }
    drawn = {confidence: by_system for confidence, by_system in tables.items() if any(by_system)}
    if not drawn:
        raise UserError("no confidence of these results is a probability, so there is no reliability to draw")
    sheet, axes = _panels([*drawn], width, "confidence", shape=0.95)
    for panel, by_system in zip(axes, drawn.values(), strict=True):
        panel.plot([0, 1], [0, 1], color=_GREY, linewidth=0.6, linestyle=":")
        for look, table in ((system_style(index), table) for index, table in enumerate(by_system) if table):
            bins = reliability_bins(table, "", look.style)
            across, up, sizes = bins.mean_predicted, bins.fraction_correct, [4 + 30 * weight for weight in bins.weight]
            panel.plot(across, up, linewidth=0.8, **_line_style(look))
            style: dict[str, Any] = {"color": look.colour, "marker": look.marker, "linewidth": 0, "clip_on": False}
            panel.scatter(across, up, s=sizes, zorder=3, **style)
        panel.set(ylim=(0, 1), aspect="equal")
    sheet.supylabel("share of exactly right answers", fontsize=_FONT)
    sheet.legend(handles=[*_key(results)], loc="outside lower center", ncols=2)
    return sheet


def _forest(results: Results, width: float) -> Figure:
    """Differences with their intervals, and the line of no difference."""
    if len(results.systems) == 1:
        raise UserError("a forest shows differences, and these are results of one run: choose another kind of figure")
    rows = [*_forest_rows(results)]
    sheet = _sheet(width, len(rows) * _ROW_MM + _FOREST_MARGIN_MM, "choose variants with --confidence")
    panel = sheet.subplots()
    for index, row in enumerate(rows):
        style = _MARKS["comparable" if row.comparable else _NOT_COMPARABLE]
        if row.interval is not None:
            panel.plot(row.interval, [-index, -index], **(style | {"marker": ""}))
        if row.value is not None:
            panel.plot([row.value], [-index], **style)
    panel.axvline(0, color="black", linewidth=0.6)
    panel.set_yticks([-index for index in range(len(rows))], [row.label for row in rows])
    panel.set_ylim(0.4 - len(rows), 0.6)
    panel.tick_params(axis="y", length=0, pad=_LETTER * _FONT * max(len(row.label) for row in rows))
    for label in panel.get_yticklabels():
        label.set_horizontalalignment("left")
    panel.spines["left"].set_visible(False)
    panel.set_xlabel(_across(results))
    marks = [Line2D([], [], label=label, **style) for label, style in _MARKS.items()]
    sheet.legend(handles=marks, loc="outside lower left")
    return sheet


def _forest_rows(results: Results) -> Iterator[IntervalRow]:
    """The name of each confidence, and below it its differences, except that in coverage, which is not a risk."""
    pairs, labels = pairs_of(results), _labels(results)
    for confidence in results.selective.confidences:
        for pair in pairs:
            suffix = f", {labels[pair.other.system]} − {labels[pair.baseline.system]}" if len(pairs) > 1 else ""
            yield IntervalRow(text_of(confidence) + suffix, "neither", None)
            for difference in differences(results, confidence, pair):
                if difference.drawn.value is not None and difference.panel != "coverage":
                    yield replace(difference.drawn, label=f"   {text_of(difference.name)}")


def _across(results: Results) -> str:
    """The label of the axis: which system is subtracted, and which direction is better."""
    (first, *others), labels = pairs_of(results), _labels(results)
    base, other = labels[first.baseline.system], labels[first.other.system]
    resampled = f"{'with its ' if results.study.bootstrap else ''}{interval_heading(results)}"
    if others:
        return f"difference from {base}, {resampled}\n← lower is better      {base} is better →"
    return f"{other} − {base}, {resampled}\n← {other} is better      {base} is better →"


KINDS: dict[str, Callable[[Results, float], Figure]] = {
    "risk-coverage": _risk_coverage,
    "forest": _forest,
    "reliability": _reliability,
}
