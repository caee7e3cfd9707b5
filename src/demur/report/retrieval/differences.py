"""Paired differences of systems: each against the baseline, on the same queries and in the same draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.drawing.forest import ForestPanel
from demur.report.forest import Difference, forest_picture
from demur.report.retrieval_names import better, number_title, place_title
from demur.report.sides import isolated
from demur.report.systems import depth_of, short
from demur.retrieval_verdict import ABOVE, BELOW, primary, which_way

if TYPE_CHECKING:
    from collections.abc import Iterator

    from demur.retrieval_artifact import DeltaEstimated, RetrievalMetrics

_MOST_IN_FULL = 2
_IN_WORDS = (
    "Paired differences, the system minus the baseline, with intervals; the table beneath holds the same numbers."
)
_STYLES = {"higher": {ABOVE: "right", BELOW: "left"}, "lower": {ABOVE: "left", BELOW: "right"}, "neither": {}}


@dataclass(frozen=True, slots=True)
class Against:
    """One system against the baseline: drawn at the depth of the verdict, and listed at all of them.

    Of many systems the other depths are only counted: the artifact holds them, and the page stays small.
    """

    name: str
    baseline: str
    svg: str
    drawn: tuple[tuple[str, Difference], ...]
    others: tuple[tuple[str, Difference], ...]
    more: int


def system_differences(metrics: RetrievalMetrics) -> list[Against] | None:
    """Every system against the baseline, or nothing where there is one system."""
    return [_against(metrics, name) for name in metrics.deltas] or None


def _against(metrics: RetrievalMetrics, name: str) -> Against:
    base, system = isolated(metrics.settings.baseline or ""), isolated(name)
    panels: dict[str, ForestPanel] = {}
    drawn, others = [], []
    for place, direction, number, delta in _listed(metrics, name):
        heading = place_title(place)
        row = _difference(metrics, (place, direction, number), delta, (base, system))
        if direction == "neither" or depth_of(number) not in ("", depth_of(primary(metrics))):
            others.append((heading, row))
            continue
        drawn.append((heading, row))
        winners = (base, system) if direction == "higher" else (system, base)
        ways = (f"← {short(winners[0])} is better", f"{short(winners[1])} is better →")
        panels.setdefault(row.panel, ForestPanel(short(heading), ways))
    svg = forest_picture([row for _, row in drawn], panels, _IN_WORDS)
    listed = others if len(metrics.deltas) <= _MOST_IN_FULL else []
    return Against(system, base, svg, tuple(drawn), tuple(listed), len(others) - len(listed))


def _listed(metrics: RetrievalMetrics, name: str) -> Iterator[tuple[str, str, str, DeltaEstimated]]:
    """Everything but the means over criteria, which the artifact holds."""
    for place, numbers in metrics.deltas[name].items():
        if not place.endswith("/macro"):
            for number, delta in numbers.items():
                yield place, better(number), number, delta


def _difference(
    metrics: RetrievalMetrics, what: tuple[str, str, str], delta: DeltaEstimated, names: tuple[str, str]
) -> Difference:
    place, direction, number = what
    way = which_way(metrics, delta)
    style = _STYLES[direction].get(way, "neither")
    winner = {"left": names[0], "right": names[1]}.get(style)
    above = delta.share_above
    shares = (None, None) if above is None or direction == "neither" else (1 - above, above)
    return Difference(
        panel=f"{place} {direction}",
        name=number_title(number),
        delta=delta.delta,
        ends=delta.ci95_recommended,
        said=f"{winner} is better" if winner else way,
        favours=shares if direction == "higher" else shares[::-1],
        style=style,
    )
