"""What a report draws of one side, by plain loops: items, histogram and reliability."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from demur.audit.figures import Expected, Printed

if TYPE_CHECKING:
    from demur.audit.plain_units import Side

Path = tuple[str, ...]
Forecast = tuple[float, int]  # what was said, and whether it came true
BINS = 10
_LEAST = 1e-6


def by_item(side: Side) -> dict[Path, Expected]:
    """Each item over all participants: how often it is answered, how wrong the answers are, and which way."""
    items, divisor = side.items, side.divisor
    wrong = dict(zip(side.answered, side.numerators, strict=True))
    units_of: dict[int, list[int]] = {place: [] for place in range(len(items.item_names))}
    for unit, place in enumerate(items.item.tolist()):
        units_of[place].append(unit)
    found: dict[Path, Expected] = {}
    for name, here in zip(items.item_names, units_of.values(), strict=True):
        there = [unit for unit in here if unit in wrong]
        bias = sum(int(items.answer[unit]) - int(items.truth[unit]) for unit in there)
        loss, n, answered = sum(wrong[unit] for unit in there), len(here), len(there)
        found |= {
            ("by_item", name, "n"): Expected(n, exact=True, otherwise={"the answered only": answered}),
            ("by_item", name, "answered"): Expected(answered, exact=True),
            ("by_item", name, "coverage"): Expected(answered / n if n else 0.0),
            ("by_item", name, "risk"): Expected(
                loss / (answered * divisor) if answered else None,
                otherwise={
                    "loss not normalised": loss / answered if answered else None,
                    "abstentions counted as no loss": loss / (n * divisor) if n else None,
                },
            ),
            ("by_item", name, "bias"): Expected(
                bias / answered if answered else None,
                otherwise={"truth less answer": -bias / answered if answered else None},
            ),
        }
    return found


def histogram(side: Side, confidence: Sequence[float], reported: Any) -> dict[Path, list[float]]:
    """Right and wrong answers between the reported edges, which must divide the confidences into equal widths."""
    edges = reported.get("edges") if isinstance(reported, Mapping) else None
    if not isinstance(edges, list) or len(edges) < 2 or not all(isinstance(edge, Printed) for edge in edges):  # noqa: PLR2004
        return {}
    low, high, bars = min(confidence, default=0.0), max(confidence, default=0.0), len(edges) - 1
    if low == high:
        low, high = low - 0.5, high + 0.5
    right, wrong = [0] * bars, [0] * bars
    for said, loss in zip(confidence, side.numerators, strict=True):
        passed = sum(edge.value <= said for edge in edges[1:-1])
        (wrong if loss else right)[passed] += 1
    return {
        ("histogram", "edges"): [low + (high - low) * place / bars for place in range(bars + 1)],
        ("histogram", "right"): [float(count) for count in right],
        ("histogram", "wrong"): [float(count) for count in wrong],
    }


def reliability(side: Side, confidence: Sequence[float]) -> dict[Path, Expected]:
    """The confidence as a probability of being exactly right, in ten bins of equal width; 1 is in the last one."""
    if not confidence or any(not 0 <= said <= 1 for said in confidence):
        return {}
    forecasts = [(said, int(loss == 0)) for said, loss in zip(confidence, side.numerators, strict=True)]
    bins = _binned(forecasts, [place / BINS for place in range(1, BINS)])
    squares = [(said - came) ** 2 for said, came in forecasts]
    surprise = [-math.log(max(said if came else 1 - said, _LEAST)) for said, came in forecasts]
    open_ended = [(said, came) for said, came in forecasts if said < 1]
    dropped = _gaps(_binned(open_ended, [place * (1 / BINS) for place in range(1, BINS)]))  # edges as numpy spaces them
    found: dict[Path, Expected] = {
        ("reliability", "ece"): Expected(
            _gaps(bins) / len(forecasts),
            otherwise={
                "forecasts of exactly 1 dropped": dropped / len(forecasts),
                "forecasts of exactly 1 dropped, and not counted": dropped / len(open_ended) if open_ended else None,
            },
        ),
        ("reliability", "brier"): Expected(math.fsum(squares) / len(squares)),
        ("reliability", "nll"): Expected(math.fsum(surprise) / len(surprise)),
    }
    for number, place in enumerate(sorted(bins)):
        said, came = (math.fsum(column) for column in zip(*bins[place], strict=True))
        count, path = len(bins[place]), ("reliability", "bins", str(number))
        found |= {
            (*path, "low"): Expected(place / BINS),
            (*path, "high"): Expected((place + 1) / BINS),
            (*path, "count"): Expected(count, exact=True),
            (*path, "said"): Expected(said / count),
            (*path, "came_true"): Expected(came / count),
        }
    return found


def _binned(forecasts: Sequence[Forecast], edges: Sequence[float]) -> dict[int, list[Forecast]]:
    bins: dict[int, list[Forecast]] = {}
    for said, came in forecasts:
        bins.setdefault(sum(said >= edge for edge in edges), []).append((said, came))
    return bins


def _gaps(bins: Mapping[int, Sequence[Forecast]]) -> float:
    return math.fsum(abs(math.fsum(came - said for said, came in held)) for held in bins.values())
