"""Rankings compared: every ranking number of every system, over the queries with gold and over all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.report.retrieval_names import number_title
from demur.report.svg import Frame, element, label, marker, number_text, picture, place, ticks
from demur.report.systems import cell, depth_of, short, systems_of
from demur.retrieval_verdict import primary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from demur.report.sides import Side
    from demur.retrieval_artifact import Estimated, Placed, RetrievalMetrics

    Row = tuple[Side, Estimated]

_WIDTH, _ROW, _HEADING = 760, 24, 26
_NAMES = {"positives_only": "with gold", "all_queries": "all"}


@dataclass(frozen=True, slots=True)
class RankingRow:
    """One number: of each system pooled, averaged over criteria, and where it falls among the reference ranges."""

    title: str
    cells: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Population:
    """The numbers over some of the queries, drawn and listed."""

    key: str
    name: str
    queries: int
    svg: str
    ranges: tuple[str, ...]
    rows: tuple[RankingRow, ...]


def rankings_compared(metrics: RetrievalMetrics) -> list[Population]:
    """Both populations; the reference ranges are about the queries with gold."""
    return [_population(metrics, key) for key in _NAMES]


def _population(metrics: RetrievalMetrics, key: str) -> Population:
    found = [getattr(one, key) for one in metrics.systems.values()]
    placed = [one for one in metrics.reference_ranges if key == "positives_only" and one.metric in found[0].micro]
    depth = depth_of(primary(metrics))
    drawn = [name for name in found[0].micro if depth_of(name) == depth]
    sides = systems_of(metrics)
    groups = {name: [*zip(sides, (one.micro[name] for one in found), strict=True)] for name in drawn}
    return Population(
        key=key,
        name=_NAMES[key],
        queries=found[0].queries,
        svg=_picture(groups, {one.metric: one for one in placed}, _NAMES[key]),
        ranges=tuple(_range_in_words(one) for one in {one.metric: one for one in placed}.values()),
        rows=tuple(
            RankingRow(
                number_title(name),
                tuple(
                    (cell(one.micro[name]), cell(one.macro[name]), _place(placed, system, name))
                    for system, one in zip(metrics.systems, found, strict=True)
                ),
            )
            for name in found[0].micro
        ),
    )


def _place(placed: Sequence[Placed], system: str, metric: str) -> str:
    return next((one.place for one in placed if (one.system, one.metric) == (system, metric)), "")


def _range_in_words(one: Placed) -> str:
    baseline, good = (f"{low:g} to {high:g}" for low, high in (one.baseline, one.good))
    return f"{number_title(one.metric)}: a baseline reaches {baseline}, a good system {good}"


def _picture(groups: Mapping[str, Sequence[Row]], ranges: Mapping[str, Placed], queries: str) -> str:
    """A dot and an interval for each system, metric by metric; the reference ranges lie behind them."""
    height = sum(_HEADING + _ROW * len(rows) for rows in groups.values()) + 40
    frame = Frame(_WIDTH, height, left=190, right=20)
    floor, top = height - 30, 6.0
    parts = [*_scale(frame, floor)]
    for name, rows in groups.items():
        bottom = top + _HEADING + _ROW * len(rows)
        parts += [*_ranges(frame, ranges.get(name), top + 4, bottom)]
        parts.append(label(0, top + 17, number_title(name), anchor="start", kind="heading"))
        for line, (side, one) in enumerate(rows):
            parts += [*_dot(frame, side, one, top + _HEADING + _ROW * (line + 0.5))]
        top = bottom
    words = f"Ranking numbers of every system over the queries ({queries}), with intervals; the table holds them all."
    return picture(_WIDTH, height, words, parts, class_="forest")


def _scale(frame: Frame, floor: float) -> Iterator[str]:
    for number in ticks(0, 1):
        x = frame.across(number)
        yield element("path", d=f"M{place(x)} 6V{place(floor)}", class_="grid")
        yield label(x, floor + 18, number_text(number))


def _ranges(frame: Frame, found: Placed | None, top: float, bottom: float) -> Iterator[str]:
    for name, (low, high) in {} if found is None else {"baseline": found.baseline, "good": found.good}.items():
        x, end = frame.across(low), frame.across(high)
        box = {"x": x, "y": top, "width": max(end - x, 0), "height": bottom - top - 2}
        yield element("rect", class_=f"range {name}", **box)
        yield label((x + end) / 2, top + 12, name)


def _dot(frame: Frame, side: Side, one: Estimated, y: float) -> Iterator[str]:
    yield label(12, y + 4, short(side.name), anchor="start", kind="row")
    if one.value is None:
        yield label(frame.left + 4, y + 4, one.reason or "", anchor="start")
        return
    if one.ci95_recommended is not None:
        low, high = (place(frame.across(end)) for end in (one.ci95_recommended.low, one.ci95_recommended.high))
        path = f"M{low} {place(y - 4)}v8m0 -4H{high}m0 -4v8"
        yield element("path", d=path, class_=f"interval {side.style}")
    yield marker(frame.across(one.value), y, side.style)
