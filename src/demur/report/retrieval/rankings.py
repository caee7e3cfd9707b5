"""Rankings compared: every ranking number of every system, over the queries with gold and over all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.drawing.forest import DotGroup, IntervalRow, dot_plot
from demur.report.retrieval_names import number_title
from demur.report.systems import cell, depth_of, short, systems_of
from demur.retrieval_verdict import primary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demur.report.sides import Side
    from demur.retrieval_artifact import Estimated, Placed, RetrievalMetrics

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
    ranges = {one.metric: {"baseline": one.baseline, "good": one.good} for one in placed}
    groups = [
        DotGroup(
            number_title(name),
            [_row(side, one.micro[name]) for side, one in zip(sides, found, strict=True)],
            ranges.get(name, {}),
        )
        for name in drawn
    ]
    words = (
        f"Ranking numbers of every system over the queries ({_NAMES[key]}), with intervals; the table holds them all."
    )
    return Population(
        key=key,
        name=_NAMES[key],
        queries=found[0].queries,
        svg=dot_plot(groups, words).svg,
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


def _row(side: Side, one: Estimated) -> IntervalRow:
    ends = one.ci95_recommended
    interval = None if ends is None else (ends.low, ends.high)
    return IntervalRow(short(side.name), side.style, one.value, interval, one.reason or "")
