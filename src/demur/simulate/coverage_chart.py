"""Coverage chart: how often the intervals of each number hold the truth, against the 95 % they promise."""

import math
from collections.abc import Iterator, Sequence

from demur.drawing.looks import look_at
from demur.drawing.picture import Frame, Picture, coordinate, element, label, marker, ticks
from demur.simulate.study import METHODS, NOMINAL, Tally

_WIDTH, _ROW, _LEFT, _TOP, _APART = 760, 26, 210, 44, 5
_HIGHEST_FLOOR = 0.8  # of the scale, so that a good result is not made to look dramatic
_REACH = 2  # Monte-Carlo standard errors, either way


def coverage_chart(tallies: Sequence[Tally], words: str) -> Picture:
    """A point for each method and number, with two Monte-Carlo standard errors; the line is at 95 %."""
    shown = [tally for tally in tallies if any(tally.made.values())]
    shares = [tally.share(method) for tally in shown for method in METHODS if tally.made[method]]
    floor = min([_HIGHEST_FLOOR, *(math.floor(20 * share) / 20 for share in shares)])
    height = _TOP + _ROW * len(shown) + 54
    frame = Frame(_WIDTH, height, xs=(floor, 1.0), left=_LEFT, right=24, top=_TOP, bottom=54)
    base = height - frame.bottom
    parts = [label(0, 18, words, anchor="start", kind="heading")]
    for share in ticks(floor, 1.0):
        x = frame.across(share)
        parts.append(element("path", d=f"M{coordinate(x)} {_TOP}V{coordinate(base)}", class_="grid"))
        parts.append(label(x, base + 18, f"{share:.0%}"))
    nominal = frame.across(NOMINAL)
    parts.append(element("path", d=f"M{coordinate(nominal)} {_TOP}V{coordinate(base)}", class_="zero"))
    parts.append(label(nominal, _TOP - 6, f"{NOMINAL:.0%}"))
    name = f"share of intervals that hold the true value, ± {_REACH} Monte-Carlo standard errors"
    parts.append(label((_LEFT + _WIDTH) / 2, base + 38, name, kind="name"))
    for index, tally in enumerate(shown):
        parts += _row(frame, tally, _TOP + _ROW * (index + 0.5))
    keys = [(look_at(index).style, name) for index, name in enumerate(METHODS)]
    return Picture(_WIDTH, height, words, parts, "forest", keys)


def _row(frame: Frame, tally: Tally, y: float) -> Iterator[str]:
    yield label(frame.left - 10, y + 4, tally.number, anchor="end", kind="row")
    for index, method in enumerate(METHODS):
        if not tally.made[method]:
            continue
        style, share = look_at(index).style, tally.share(method)
        error = _REACH * math.sqrt(share * (1 - share) / tally.made[method])
        low, high = (frame.across(min(max(end, frame.xs[0]), 1)) for end in (share - error, share + error))
        place = y + _APART * (2 * index - 1)
        yield element(
            "path", d=f"M{coordinate(low)} {coordinate(place)}H{coordinate(high)}", class_=f"interval {style}"
        )
        yield marker(frame.across(share), place, style)
