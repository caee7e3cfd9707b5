"""Forest: paired differences with their intervals around zero, each kind of number on a scale of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.artifact_numbers import DeltaNumbers, Ends, PairedNumbers
from demur.errors import harmless
from demur.report.numbers import UNDEFINED, differences_of, interval_text, nothing_common, title
from demur.report.svg import Frame, element, label, number_text, picture, place, ticks
from demur.verdict import LEFT, REACHED_AT, RIGHT, UNDECIDED, ends_of, which_is_better

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from demur.artifact import Metrics

_WIDTH, _ROW = 760, 30
_FURTHEST = 1e300
_BETTER = {LEFT: "left", RIGHT: "right"}


@dataclass(frozen=True, slots=True)
class Panel:
    """Differences on one scale: what they are of, what either side of zero means, whether a margin can be tried."""

    heading: str
    ways: tuple[str, str]
    margin: bool = False


_BETTER_WAYS = ("← right is better", "left is better →")
_PANELS = {
    "area": Panel("Areas up to a common coverage", _BETTER_WAYS),
    "risk": Panel("Risk at a coverage", _BETTER_WAYS, margin=True),
    "coverage": Panel("Share of the items answered", ("← left answers more", "right answers more →")),
}
_IN_WORDS = "Paired differences, right minus left, with intervals; the table beneath holds the same numbers."


@dataclass(frozen=True, slots=True)
class Difference:
    """One number of both runs and the difference between them."""

    panel: str
    name: str
    delta: float | None
    ends: Ends | None
    said: str
    favours: tuple[float | None, float | None]
    style: str = "neither"

    @property
    def has_margin(self) -> bool:
        """Whether a margin can be tried: on a risk of both runs at the same coverage."""
        return self.panel == "risk" and self.said in (LEFT, RIGHT, UNDECIDED)

    @property
    def interval(self) -> str:
        """The interval to three digits."""
        return interval_text(self.ends)

    @property
    def shown(self) -> str:
        """The difference to four digits."""
        return UNDEFINED if self.delta is None else f"{self.delta:.4g}"

    @property
    def shares(self) -> tuple[str, str]:
        """How many of the replicates favour each side."""
        left, right = (UNDEFINED if share is None else f"{share:.1%}" for share in self.favours)
        return left, right


@dataclass(frozen=True, slots=True)
class Forest:
    """The differences under one variant, drawn and listed."""

    svg: str
    rows: tuple[Difference, ...]

    @property
    def has_margin(self) -> bool:
        """Whether a margin can be tried on one of them."""
        return any(row.has_margin for row in self.rows)


def forests(metrics: Metrics) -> list[Forest] | None:
    """The forest of every variant, or nothing where nothing is compared."""
    if not metrics.comparison.enabled:
        return None
    found = []
    for name, pair in metrics.confidence_variants.items():
        rows = (*_rows(metrics, name, pair),) if isinstance(pair, PairedNumbers) else ()
        found.append(Forest(forest_picture(rows, _PANELS, _IN_WORDS), rows))
    return found


def _rows(metrics: Metrics, variant: str, pair: PairedNumbers) -> Iterator[Difference]:
    deltas = differences_of(metrics, variant)
    for key, panel in () if nothing_common(pair.left) else (("augrc_at_c", "area"), ("aurc_at_c", "area")):
        yield from _row(deltas.get(key), pair, panel, title(key, pair.left), which(key, deltas.get(key), pair))
    risks = deltas.get("mae_at_coverage")
    for coverage, delta in risks.items() if isinstance(risks, Mapping) else ():
        said = which("mae_at_coverage", delta, pair, coverage)
        yield from _row(delta, pair, "risk", f"risk at {harmless(coverage)}", said)
    yield from _row(deltas.get("cmax"), pair, "coverage", "Cmax", "")


def which(key: str, delta: object, pair: PairedNumbers, coverage: str | None = None) -> str:
    """Which side a difference speaks for, in words."""
    if not isinstance(delta, DeltaNumbers):
        return ""
    said = "beyond Cmax" if delta.delta is None else which_is_better(key, delta, pair, coverage)
    return f"not comparable: {said}" if said.startswith(REACHED_AT) else said


def _row(delta: object, pair: PairedNumbers, panel: str, name: str, said: str) -> Iterator[Difference]:
    if isinstance(delta, DeltaNumbers):
        favours = (delta.favours_left, delta.favours_right)
        yield Difference(panel, name, delta.delta, ends_of(delta, pair), said, favours, _BETTER.get(said, "neither"))


def forest_picture(rows: Sequence[Difference], panels: Mapping[str, Panel], words: str) -> str:
    """Differences around zero, panel by panel."""
    parts, height = [], 0.0
    for key, panel in panels.items():
        mine = [row for row in rows if row.panel == key and row.delta is not None]
        if mine:
            parts += [element("g", *_panel(panel, mine), transform=f"translate(0 {place(height)})")]
            height += 66 + _ROW * len(mine)
    return picture(_WIDTH, max(height, 1), words, parts, class_="forest")


def _panel(panel: Panel, rows: Sequence[Difference]) -> Iterator[str]:
    numbers = [number for row in rows for number in (row.delta, *_both(row.ends)) if number is not None]
    reach = min(max((abs(number) for number in numbers), default=0.0) * 1.06, _FURTHEST) or 1.0
    frame = Frame(_WIDTH, 40 + _ROW * len(rows), xs=(-reach, reach), left=190, right=20, bottom=0)
    floor, zero = 34 + _ROW * len(rows), frame.across(0)
    yield label(0, 16, panel.heading, anchor="start", kind="heading")
    yield label(zero - 10, 16, panel.ways[0], anchor="end")
    yield label(zero + 10, 16, panel.ways[1], anchor="start")
    if panel.margin:
        unit = {"data_zero": place(zero), "data_reach": place(frame.across(reach) - zero), "data_unit": repr(1 / reach)}
        yield element("rect", x=zero, y=24, width=0, height=floor - 24, class_="equal", **unit)
    yield element("path", d=f"M{place(zero)} 24V{floor}", class_="zero")
    for line, row in enumerate(rows):
        yield from _drawn(frame, row, 42 + _ROW * line)
    yield element("path", d=f"M{place(frame.left)} {floor}H{place(_WIDTH - frame.right)}", class_="axis")
    for number in ticks(-reach, reach):
        yield label(frame.across(number), floor + 17, number_text(number))


def _both(ends: Ends | None) -> tuple[float, ...]:
    return () if ends is None else (ends.low, ends.high)


def _drawn(frame: Frame, row: Difference, y: float) -> Iterator[str]:
    assert row.delta is not None  # noqa: S101  (what has no difference is not drawn)
    yield label(0, y + 4, row.name, anchor="start", kind="row")
    if row.ends is not None:
        low, high = frame.across(row.ends.low), frame.across(row.ends.high)
        path = f"M{place(low)} {place(y - 5)}v10m0 -5H{place(high)}m0 -5v10"
        yield element("path", d=path, class_=f"interval {row.style}")
    x = frame.across(row.delta)
    yield element("path", d=f"M{place(x)} {place(y - 6)}l6 6l-6 6l-6 -6Z", class_=f"diamond {row.style}")
