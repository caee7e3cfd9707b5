"""Coverage chart: how often the intervals of each number contain the true value, against the nominal 95 %."""

import math
from collections.abc import Iterator, Sequence

from demur.drawing.picture import Frame, Picture, element, label, marker, percent_text, ticks
from demur.drawing.system_styles import system_style
from demur.extensions.lab.study import METHODS, NOMINAL, Tally

_WIDTH, _ROW, _APART = 760, 26, 5
_MARGINS = (44.0, 24.0, 54.0, 210.0)
_HIGHEST_FLOOR = 0.8  # of the scale, so that a good result is not made to look dramatic
_REACH = 2  # Monte-Carlo standard errors, either way


def coverage_chart(tallies: Sequence[Tally], words: str) -> Picture:
    """Draw a point for each method and number, with two Monte-Carlo standard errors, and a line at 95 %."""
    shown = [tally for tally in tallies if any(tally.made.values())]
    shares = [tally.share(method) for tally in shown for method in METHODS if tally.made[method]]
    floor = min([_HIGHEST_FLOOR, *(math.floor(20 * share) / 20 for share in shares)])
    frame, rows = Frame(xs=(floor, 1.0)), _ROW * len(shown)
    parts = [label((0, 0), words, shift=(-_MARGINS[3], -26), anchor="start", kind="heading")]
    for share in ticks(floor, 1.0):
        x = percent_text(frame.across(share))
        parts.append(element("line", x1=x, x2=x, y2="100%", class_="grid"))
        parts.append(label((frame.across(share), 100), f"{share:.0%}", shift=(0, 18)))
    nominal = frame.across(NOMINAL)
    parts.append(element("line", x1=percent_text(nominal), x2=percent_text(nominal), y2="100%", class_="zero"))
    parts.append(label((nominal, 0), f"{NOMINAL:.0%}", shift=(0, -6)))
    name = f"share of intervals that hold the true value, ± {_REACH} Monte-Carlo standard errors"
    parts.append(label((50, 100), name, shift=(0, 38), kind="name"))
    for index, tally in enumerate(shown):
        parts += _row(frame, tally, _ROW * (index + 0.5), rows)
    keys = [(system_style(index).style, name) for index, name in enumerate(METHODS)]
    height = _MARGINS[0] + rows + _MARGINS[2]
    return Picture(_WIDTH, height, words, parts, "forest", keys, margins=_MARGINS)


def _row(frame: Frame, tally: Tally, middle: float, rows: int) -> Iterator[str]:
    yield label((0, 100 * middle / rows), tally.number, shift=(-10, 4), anchor="end", kind="row")
    for index, method in enumerate(METHODS):
        if not tally.made[method]:
            continue
        style, share = system_style(index).style, tally.share(method)
        error = _REACH * math.sqrt(share * (1 - share) / tally.made[method])
        low, high = (frame.across(min(max(end, frame.xs[0]), 1)) for end in (share - error, share + error))
        y = 100 * (middle + _APART * (2 * index - 1)) / rows
        ends = {"x1": percent_text(low), "x2": percent_text(high), "y1": percent_text(y), "y2": percent_text(y)}
        yield element("line", **ends, class_=f"interval {style}")
        yield marker(frame.across(share), y, style)
