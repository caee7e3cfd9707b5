"""Every selective metric again, from its definition, in fractions. Slow on purpose; shares no code with demur.

A unit is `(loss, confidence)`, the loss a Fraction or None for an abstention.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import NamedTuple


class Unit(NamedTuple):
    loss: Fraction | None
    confidence: object


class Point(NamedTuple):
    coverage: Fraction
    risk: Fraction
    generalized: Fraction
    threshold: object


def answered(units):
    return [unit for unit in units if unit.loss is not None]


def points(units):
    found = []
    for threshold in sorted({unit.confidence for unit in answered(units)}, reverse=True):
        accepted = [unit.loss for unit in answered(units) if unit.confidence >= threshold]
        total = sum(accepted, Fraction(0))
        found.append(Point(Fraction(len(accepted), len(units)), total / len(accepted), total / len(units), threshold))
    return found


def area(xs, ys, end):
    """Trapezoids from 0 to `end`, the last height interpolated."""
    total = Fraction(0)
    for (x0, y0), (x1, y1) in zip(zip(xs, ys), list(zip(xs, ys))[1:]):
        if x1 <= end:
            total += (x1 - x0) * (y0 + y1) / 2
        elif x0 < end:
            cut = y0 + (y1 - y0) * (end - x0) / (x1 - x0)
            total += (end - x0) * (y0 + cut) / 2
    return total


def aurc_of(found, end=Fraction(1)):
    if not found:
        return Fraction(0)
    return area([Fraction(0), *(p.coverage for p in found)], [found[0].risk, *(p.risk for p in found)], end)


def augrc_of(found, end=Fraction(1)):
    return area([Fraction(0), *(p.coverage for p in found)], [Fraction(0), *(p.generalized for p in found)], end)


def best_order(units):
    """The same losses, the smallest the surest, no two equally sure."""
    losses = sorted(unit.loss for unit in answered(units))
    ranked = [Unit(loss, -rank) for rank, loss in enumerate(losses)]
    return ranked + [Unit(None, None)] * (len(units) - len(losses))


def hull(found):
    """Gift wrapping: from each vertex to the point seen at the lowest slope, the farthest of equals."""
    vertices = found[:1]
    while vertices and vertices[-1] is not found[-1]:
        here = vertices[-1]
        ahead = found[found.index(here) + 1 :]
        vertices.append(min(ahead, key=lambda p: ((p.risk - here.risk) / (p.coverage - here.coverage), -p.coverage)))
    return vertices


def cmax(units):
    return Fraction(len(answered(units)), len(units))


def overall_risk(units):
    losses = [unit.loss for unit in answered(units)]
    return sum(losses, Fraction(0)) / len(losses) if losses else None


def mae_at(units, target):
    return next((p.risk for p in points(units) if p.coverage >= target), None)


def ratio(part, whole, factor=1):
    return factor * part / whole if whole else None


def harmonic(units):
    """Mean over the orders of each plateau of the weights H_K − H_{i−1}."""
    losses = answered(units)
    total, rank = Fraction(0), 0
    for point in points(units):
        plateau = [unit.loss for unit in losses if unit.confidence == point.threshold]
        weights = [
            sum((Fraction(1, m) for m in range(i, len(losses) + 1)), Fraction(0))
            for i in range(rank + 1, rank + len(plateau) + 1)
        ]
        total += sum(plateau, Fraction(0)) / len(plateau) * sum(weights)
        rank += len(plateau)
    return total / len(units)


def sele(units):
    them = answered(units)
    total = sum((one.loss * sum(other.confidence <= one.confidence for other in them) for one in them), Fraction(0))
    return total / (len(units) * len(them)) if them else Fraction(0)


def metrics(units, targets=()):
    """Every number by the name demur gives it; None where it is undefined."""
    found, best = points(units), points(best_order(units))
    aurc, augrc = aurc_of(found), augrc_of(found)
    optimal, g_optimal, achievable = aurc_of(best), augrc_of(best), aurc_of(hull(found))
    risk, reached = overall_risk(units), cmax(units)
    values = {
        "cmax": reached,
        "mae": risk,
        "aurc": aurc,
        "augrc": augrc,
        "naurc": ratio(aurc, reached),
        "naugrc": ratio(augrc, reached),
        "aurc_optimal": optimal,
        "augrc_optimal": g_optimal,
        "eaurc": aurc - optimal,
        "eaugrc": augrc - g_optimal,
        "aurc_achievable": achievable,
        "aurc_gap_pct": ratio(aurc - optimal, optimal, 100),
        "augrc_gap_pct": ratio(augrc - g_optimal, g_optimal, 100),
        "achievable_gain_pct": ratio(aurc - achievable, aurc, 100),
        "aurc_random": reached * (risk or 0),
        "augrc_random": reached**2 * (risk or 0) / 2,
        "aurc_harmonic": harmonic(units),
        "aurc_sele": sele(units),
    }
    for target in targets:
        values[f"aurc@{target}"] = aurc_of(found, Fraction(target))
        values[f"augrc@{target}"] = augrc_of(found, Fraction(target))
        values[f"mae@{target}"] = mae_at(units, Fraction(target))
    return values


def large_aurc(loss_sums, counts, units):
    """AURC from cumulative integers at sizes where adding fractions one by one would take minutes."""
    common = lcm(*counts)
    risks = [total * (common // count) for total, count in zip(loss_sums, counts)]
    doubled = 2 * counts[0] * risks[0]
    for j in range(1, len(counts)):
        doubled += (counts[j] - counts[j - 1]) * (risks[j] + risks[j - 1])
    return Fraction(doubled, 2 * common * units)
