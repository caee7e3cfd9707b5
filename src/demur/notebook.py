"""What a result looks like in a notebook: a small picture and a table, with every text escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_WIDTH, _HEIGHT, _MARGIN = 420, 220, 44
_MOST_POINTS_DRAWN = 400
_MOST_DOTS = 60
_MOST_ROWS = 12
_MOST_PICTURES = 4
_BLUE, _ORANGE = "#0072b2", "#d55e00"  # Okabe–Ito: told apart by colour-blind readers
_MARKS = ((_BLUE, "circle", ""), (_ORANGE, "square", "5 4"))


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]], caption: str) -> str:
    """A plain table. The cells are text: whatever markup they hold is shown, not obeyed.

    >>> html_table(["<b>"], [["1"]], "x")
    '<table><caption>x</caption><thead><tr><th>&lt;b&gt;</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def curve_html(coverage: Floats, risk: Floats, threshold: Floats, caption: str) -> str:
    """The working points as a picture and as a table; a long table keeps its two ends."""
    lines = (
        [(f"{c:.4g}", f"{r:.4g}", f"{t:.6g}") for c, r, t in zip(coverage, risk, threshold, strict=True)]
        if len(coverage) <= _MOST_ROWS
        else _two_ends(coverage, risk, threshold)
    )
    table = html_table(("coverage", "selective risk", "threshold"), lines, caption)
    return f"<div>{_curves_svg({'': (coverage, risk)})}{table}</div>" if len(coverage) else f"<div>{table}</div>"


def _two_ends(*columns: Floats) -> list[tuple[str, ...]]:
    half = _MOST_ROWS // 2
    rows = [tuple(f"{column[i]:.6g}" for column in columns) for i in (*range(half), *range(-half, 0))]
    return [*rows[:half], ("…",) * len(columns), *rows[half:]]


Points = tuple["Sequence[float] | Floats", "Sequence[float] | Floats"]


def curves_html(pictures: Mapping[str, Mapping[str, Points]], table: str) -> str:
    """A picture of each group of curves under its name, the first few of them, and a table below."""
    figures = [
        f'<figure style="margin:0 1em 0 0"><figcaption>{escape(name)}</figcaption>{_curves_svg(series)}</figure>'
        for name, series in [*pictures.items()][:_MOST_PICTURES]
    ]
    more = len(pictures) - len(figures)
    said = f"<p>… and {more} more, which <code>demur figure</code> draws</p>" if more else ""
    return f'<div><div style="display:flex;flex-wrap:wrap">{"".join(figures)}</div>{said}{table}</div>'


def _curves_svg(series: Mapping[str, Points]) -> str:
    """Points joined as the areas join them: flat from coverage 0 to the first, straight lines after it."""
    drawn = {label: _thinned(*points) for label, points in series.items() if len(points[0])}
    heights = [y for points in drawn.values() for _, y in points]
    low, top = min(0.0, *heights, 0.0), max(1e-12, *heights, 0.0)
    bottom, right = _HEIGHT - _MARGIN, _WIDTH - 12
    parts = [f'<path d="M{_MARGIN} 12V{bottom}H{right}" fill="none" stroke="currentColor"/>']
    for (colour, shape, dash), (label, points), place in zip(_MARKS, drawn.items(), range(2), strict=False):
        spots = [
            (round(_MARGIN + x * (right - _MARGIN), 1), round(bottom - (y - low) / (top - low) * (bottom - 12), 1))
            for x, y in points
        ]
        path = " ".join(f"{x},{y}" for x, y in spots)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashed}/>')
        if len(points) <= _MOST_DOTS:
            parts += [_mark(shape, colour, x, y, 3.0) for x, y in spots[1:]]
        if len(series) > 1:
            parts.append(_mark(shape, colour, right - 96, bottom - 30 + 16 * place, 4.0))
            parts.append(f'<text x="{right - 86}" y="{bottom - 26 + 16 * place}">{escape(label)}</text>')
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" role="img" '
        'aria-label="Selective risk against coverage" font-size="12" fill="currentColor">'
        f"{''.join(parts)}{_axis_labels(low, top, bottom, right)}</svg>"
    )


def _thinned(coverage: Sequence[float] | Floats, risk: Sequence[float] | Floats) -> list[tuple[float, float]]:
    """The points to draw, from coverage 0 on, with the last one whatever is left out."""
    places = [*range(0, len(coverage) - 1, -(-len(coverage) // _MOST_POINTS_DRAWN)), len(coverage) - 1]
    return [(0.0, float(risk[0])), *((float(coverage[place]), float(risk[place])) for place in places)]


def _axis_labels(low: float, top: float, bottom: int, right: int) -> str:
    return (
        f'<text x="{_MARGIN}" y="{bottom + 16}" text-anchor="middle">0</text>'
        f'<text x="{right}" y="{bottom + 16}" text-anchor="end">1</text>'
        f'<text x="{(_MARGIN + right) // 2}" y="{bottom + 32}" text-anchor="middle">coverage</text>'
        f'<text x="{_MARGIN - 6}" y="16" text-anchor="end">{top:.3g}</text>'
        f'<text x="{_MARGIN - 6}" y="{bottom}" text-anchor="end">{low:.3g}</text>'
        f'<text x="14" y="{bottom // 2}" text-anchor="middle" transform="rotate(-90 14 {bottom // 2})">'
        "selective risk</text>"
    )


_SIDE = 300


def reliability_svg(series: Mapping[str, Sequence[tuple[float, float, int]]], *, paper: bool = False) -> str:
    """Reliability diagram of one series or two: points (said, came true, how many), larger where there are more.

    On `paper` it brings its own white ground; otherwise it takes the colours of the page around it.
    """
    size, bottom, right = _SIDE + _MARGIN + 12, _SIDE + 12, _SIDE + _MARGIN
    ground = f'<rect width="{size}" height="{bottom + 40}" fill="white"/>' if paper else ""
    parts = [
        ground,
        f'<path d="M{_MARGIN} 12V{bottom}H{right}" fill="none" stroke="currentColor"/>',
        f'<path d="M{_MARGIN} {bottom}L{right} 12" stroke="currentColor" stroke-opacity="0.4" stroke-dasharray="2 3"/>',
    ]
    for (colour, shape, dash), (label, points), place in zip(_MARKS, series.items(), range(2), strict=False):
        most = max((count for _, _, count in points), default=1)
        spots = [(_MARGIN + x * _SIDE, bottom - y * _SIDE, 3 + 5 * (count / most) ** 0.5) for x, y, count in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in spots)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5" stroke-dasharray="{dash}"/>'
        )
        key = (_MARGIN + 16, 24 + 18 * place, 5.0)
        parts += [_mark(shape, colour, *spot) for spot in (*spots, key)]
        parts.append(f'<text x="{_MARGIN + 28}" y="{28 + 18 * place}">{escape(label)}</text>')
    for tick in (0.0, 0.5, 1.0):
        x, y = _MARGIN + tick * _SIDE, bottom - tick * _SIDE
        parts.append(f'<text x="{x:g}" y="{bottom + 16}" text-anchor="middle">{tick:g}</text>')
        parts.append(f'<text x="{_MARGIN - 6}" y="{y + 4:g}" text-anchor="end">{tick:g}</text>')
    middle = 12 + _SIDE // 2
    parts.append(f'<text x="{_MARGIN + _SIDE // 2}" y="{bottom + 34}" text-anchor="middle">what was said</text>')
    parts.append(f'<text x="12" y="{middle}" text-anchor="middle" transform="rotate(-90 12 {middle})">came true</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {bottom + 40}" width="{size}" role="img" '
        'aria-label="Share that came true against what was said" font-family="sans-serif" font-size="12" '
        f'fill="currentColor">{"".join(parts)}</svg>'
    )


def _mark(shape: str, colour: str, x: float, y: float, radius: float) -> str:
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{colour}"/>'
    side = 2 * radius
    corner = f'x="{x - radius:.1f}" y="{y - radius:.1f}"'
    return f'<rect {corner} width="{side:.1f}" height="{side:.1f}" fill="{colour}"/>'
