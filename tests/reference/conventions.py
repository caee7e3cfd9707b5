"""What other tools report, by plain loops over the answered rows, in fractions where their formula has no logarithm."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from demur.audit.retrieval_figures.numbers import Number, total
from reference.registry import Loop, parsed
from reference.selective import PlainCurve, Unit

Losses = list[Fraction]
_EPSILON = 2.0**-52


class OtherTool(NamedTuple):
    """Another tool: how it orders equal confidences (plateau: it does not), and its functions of the losses.

    Where abstentions count, its numbers are multiplied by the share of the rows that are answered.
    """

    ties: str
    numbers: dict[str, Callable[..., Number | None]]
    zero_one_only: bool = False
    abstentions_count: bool = False


def answers(rows: Sequence[Unit]) -> list[Unit]:
    """The rows without abstentions."""
    return [row for row in rows if row.loss is not None]


def in_order(rows: Sequence[Unit], ties: str) -> Losses:
    """The losses of the answers, the most confident first, with equal confidences in one of four orders."""
    within: Callable[[int, Any], Any] = {
        "given.first": lambda index, _: index,
        "given.last": lambda index, _: -index,
        "best": lambda _, loss: loss,
        "worst": lambda _, loss: -loss,
    }[ties]
    numbered = [*enumerate(answers(rows))]
    numbered.sort(key=lambda pair: within(pair[0], pair[1].loss))
    numbered.sort(key=lambda pair: pair[1].confidence, reverse=True)  # stable: ties keep their order
    return [row.loss for _, row in numbered if row.loss is not None]


def number(tool: OtherTool, name: str, at: Sequence[Any], rows: Sequence[Unit], ties: str = "") -> Number | None:
    """A number of a tool, or under other `ties` than its own; None where it has none for these rows."""
    answered = answers(rows)
    refused = tool.zero_one_only and not is_zero_one([row.loss for row in answered])
    if not answered or refused or name not in tool.numbers:
        return None
    if tool.ties == "plateau":
        return tool.numbers[name](PlainCurve(answered), *at)
    value = tool.numbers[name](in_order(answered, ties or tool.ties), *at)
    return value * Fraction(len(answered), len(rows)) if tool.abstentions_count and value is not None else value


def loop_of(convention: str, quantity: str) -> Loop | None:
    """The loop for a number of another convention, over the curve of a system; None if the tool is unknown."""
    tool = TOOLS.get(convention)
    if tool is None:
        return None
    name, at = (quantity, ()) if quantity in tool.numbers else parsed(quantity)
    return lambda curve, *_: number(tool, name, at, curve.rows)


def is_zero_one(losses: Sequence[Fraction | None]) -> bool:
    """Whether every loss is 0 or 1."""
    return all(loss in (0, 1) for loss in losses)


def risks(losses: Losses) -> Losses:
    """The mean losses of the most confident answer, of the two most confident, and so on."""
    return [lost / rank for rank, lost in enumerate(accumulate(losses), 1)]


def _trapezoids(heights: Losses) -> Fraction:
    return Fraction(total((left + right) / 2 for left, right in pairwise(heights)))


def _per_interval(heights: Losses) -> Fraction | None:
    return _trapezoids(heights) / (len(heights) - 1) if len(heights) > 1 else None


def _joint(losses: Losses) -> Losses:
    return [lost / len(losses) for lost in accumulate(losses)]


def _mean(values: Losses) -> Fraction:
    return Fraction(total(values)) / len(values)


def _off_by_one(losses: Losses) -> Fraction:
    sums, n = [*accumulate(losses)], len(losses)
    return (sums[-1] / n + Fraction(total(lost / (k + 1) for k, lost in enumerate(sums[:-1], 1)))) / n


def _closed_form(error: Fraction, epsilon: float = 0.0) -> float | None:
    right = float(1 - error) + epsilon
    return float(error) + float(1 - error) * math.log(right) if right > 0 else None


def _excess(losses: Losses) -> float | None:
    optimal = _closed_form(_mean(losses))
    return None if optimal is None else float(_off_by_one(losses)) - optimal


def _risk_at(losses: Losses, coverage: Fraction) -> Fraction:
    return risks(losses)[math.ceil(len(losses) * float(coverage)) - 1]


def _coverage_at(losses: Losses, risk: Fraction) -> Fraction | None:
    within = [rank for rank, reached in enumerate(risks(losses), 1) if reached <= risk]
    return Fraction(within[-1], len(losses)) if within else None


def _log_weights(losses: Losses) -> float:
    n = len(losses)
    return math.fsum(float(loss) * -math.log(1 - (n - rank) / (n + 1)) for rank, loss in enumerate(losses)) / n


def _share_weights(losses: Losses) -> Fraction:
    n = len(losses)
    return Fraction(total((n - rank) * loss / n for rank, loss in enumerate(losses))) / n


def _rescaled(losses: Losses) -> Losses:
    """Losses from 0 to 1; where all are equal they are in the middle."""
    low, high = min(losses), max(losses)
    return [(loss - low) / (high - low) if high > low else Fraction(1, 2) for loss in losses]


def _sums(curve: PlainCurve) -> list[tuple[int, Fraction]]:
    n = len(curve.rows)
    return [(int(point.coverage * n), point.generalized * n) for point in curve.points]


def _hyperbolas(points: Sequence[tuple[int, Fraction]], n: int) -> float:
    area = float(points[0][1])
    for (k, lost), (m, more) in pairwise(points):
        area += float(more - lost) + float((lost * m - more * k) / (m - k)) * math.log(m / k)
    return 1000 * area / n


def _on_roc(curve: PlainCurve) -> float:
    """The area over the vertices of the lower convex hull of (answers, summed loss), which starts at no answer."""
    points, vertices = _sums(curve), [(0, Fraction(0))]
    while is_zero_one(curve.losses) and vertices[-1] != points[-1]:
        k, lost = vertices[-1]
        ahead = [point for point in points if point[0] > k]
        vertices.append(min(ahead, key=lambda point: ((point[1] - lost) / (point[0] - k), -point[0])))
    return _hyperbolas(vertices[1:] or points, len(curve.rows))


def _optimal(curve: PlainCurve) -> Number | None:
    if not is_zero_one(curve.losses):
        return 1000 * curve.oracle.aurc
    return 1000 * (_closed_form(_mean(curve.losses), _EPSILON) or 0.0)


def _optimal_generalized(curve: PlainCurve) -> Fraction:
    return 1000 * (_mean(curve.losses) ** 2 / 2 if is_zero_one(curve.losses) else curve.oracle.augrc)


_FD_SHIFTS: dict[str, Callable[..., Number | None]] = {
    "aurc": lambda curve: 1000 * curve.aurc,
    "augrc": lambda curve: 1000 * curve.augrc,
    "aurc_optimal": _optimal,
    "augrc_optimal": _optimal_generalized,
    "eaurc": lambda curve: float(1000 * curve.aurc) - float(_optimal(curve) or 0),
    "eaugrc": lambda curve: 1000 * curve.augrc - _optimal_generalized(curve),
    "aurc_achievable": _on_roc,
    "aurc_hyperbola": lambda curve: _hyperbolas(_sums(curve), len(curve.rows)),
}
_HYPERBOLAS = {"aurc": _FD_SHIFTS["aurc_hyperbola"]}


def _as_shares(numbers: Mapping[str, Callable[..., Number | None]]) -> dict[str, Callable[..., Number | None]]:
    def share(loop: Callable[..., Number | None]) -> Callable[..., Number | None]:
        return lambda curve: None if (value := loop(curve)) is None else value / 1000

    return {name: share(loop) for name, loop in numbers.items()}


TOOLS: dict[str, OtherTool] = {
    "fd-shifts": OtherTool("plateau", _FD_SHIFTS),
    "torch-uncertainty": OtherTool(
        "given.first",
        {
            "aurc": lambda losses: _per_interval(risks(losses)),
            "augrc": lambda losses: _per_interval(_joint(losses)),
            "risk@C": _risk_at,
            "coverage@risk=R": _coverage_at,
        },
        zero_one_only=True,
    ),
    "geifman": OtherTool("given.last", {"aurc": _off_by_one, "eaurc": _excess}),
    "prefix-mean": OtherTool("given.last", {"aurc": lambda losses: _mean(risks(losses))}),
    "ln": OtherTool("given.last", {"aurc": _log_weights}),
    "sele": OtherTool("given.last", {"aurc": _share_weights}),
    "item-by-item": OtherTool(
        "given.first", {"aurc": lambda losses: _trapezoids(risks(losses)) / len(losses)}, abstentions_count=True
    ),
}
# Known to be reported under these names, and emulated under others or not at all: an audit tells them.
ALSO_REPORTED: dict[str, OtherTool] = {
    "fd-shifts, by hyperbolas": OtherTool("plateau", _HYPERBOLAS),
    "fd-shifts, not × 1000": OtherTool("plateau", _as_shares(_FD_SHIFTS)),
    "fd-shifts, by hyperbolas, not × 1000": OtherTool("plateau", _as_shares(_HYPERBOLAS)),
    "lm-polygraph": OtherTool("given.first", {"aurc": lambda losses: _mean(risks(_rescaled(losses)))}),
    "a plot of torch-uncertainty": OtherTool(
        "given.first",
        {
            "aurc": lambda losses: _trapezoids(risks(losses)) / len(losses),
            "augrc": lambda losses: (
                _trapezoids([risk * (len(losses) - rank) / len(losses) for rank, risk in enumerate(risks(losses), 1)])
                / len(losses)
            ),
        },
        zero_one_only=True,
    ),
}


def with_abstentions(rows: Sequence[Unit], loss: Fraction) -> list[Unit]:
    """The rows with every abstention as an answer of this loss, less confident than all others."""
    lowest = min((row.confidence for row in answers(rows)), default=0) - 1
    return [row if row.loss is not None else Unit(loss, lowest) for row in rows]
