"""What our own draws give for the intervals, standard errors and rates of an artifact, and for paired differences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.audit.figures import Expected, Printed
from demur.audit.plain_intervals import MANY_CLUSTERS, Evidence, affine, ends, rate, std_error
from demur.audit.plain_replicates import NUMBERS, WITH_ERRORS
from demur.audit.plain_shares import favours, p_value
from demur.audit.selective_points import RISKS, Path

if TYPE_CHECKING:
    from demur.audit.plain_intervals import Ends
    from demur.audit.plain_units import Side
    from demur.audit.selective_draws import Drawn

_INTERVALS = ("ci95", "ci95_recommended", "ci")
_OTHER_SIDE = "the other side's figure"
_ANALYTIC = ("studentised", "analytic", "analytic_log")
_SUMS_OF_FLOATS = ("aurc_full", "naurc", "naugrc", "eaurc", "eaugrc", "aurc_at_c", "augrc_at_c")
_METHOD_OF_ONE = {"cmax": "bootstrap_t", "aurc_full": "studentised", "augrc_full": "studentised"}
_METHOD_OF_TWO = dict.fromkeys(("cmax", "aurc_full", "augrc_full"), "bootstrap_t")


def is_studentised(reported: Any, clusters: int) -> bool:
    """Whether any interval of a side is studentised, which takes an error of every replicate."""
    return any(
        _method(member, said.get(key), key, clusters, _METHOD_OF_ONE) == "studentised"
        for member in ("ci95_recommended", "ci")
        if isinstance(said := _at(reported, (member,)), Mapping)
        for key in WITH_ERRORS
    )


def bootstrap_figures(one: Drawn, reported: Mapping[str, Any], other: Drawn | None) -> dict[Path, Expected]:
    """What the draws give for everything under `bootstrap`; `other` is the other side, whose figures it may hold."""
    found: dict[Path, Expected] = {("short_domain_rate",): rate(one.short_domain_rate, one.resampling.draws)}
    found |= {("upper_bound95", key): Expected(one.upper_bound(key)) for key in ("aurc_full", "augrc_full")}
    for key in (*NUMBERS, *one.asked.by_key):
        path = _path(key)
        evidence, rival = one.evidence(key), None if other is None else other.evidence(key)
        said = _at(reported, ("std_error", *path))
        found |= _of_error(("std_error", *path), (evidence, rival), one.side, said)
        if key not in NUMBERS:
            ways = {} if rival is None else {_OTHER_SIDE: rival.drop_rate}
            found["drop_rate", *path] = rate(evidence.drop_rate, one.resampling.draws, ways)
        found |= _side_intervals(key, one, reported, other)
    return {("bootstrap", *path): expected for path, expected in found.items()}


def _side_intervals(key: str, one: Drawn, reported: Mapping[str, Any], other: Drawn | None) -> dict[Path, Expected]:
    found: dict[Path, Expected] = {}
    for member in _INTERVALS:
        path = (member, *_path(key))
        said, level = _at(reported, path), _level(member, reported.get("ci"))
        if member == "ci" and said is None:
            continue
        method = _method(member, said, key, one.pool.clusters, _METHOD_OF_ONE)
        pair = ends(one.evidence(key, method), method, level)
        rival = None if other is None else ends(other.evidence(key, method), method, level)
        found |= _of_ends(path, _explained(pair, rival, one.side), one.evidence(key))
    return found


def delta_figures(left: Drawn, right: Drawn, reported: Mapping[str, Any], ci: Any) -> dict[Path, Expected]:
    """What the draws give for the differences right − left of one variant; `ci` is what a side says of its own."""
    found: dict[Path, Expected] = {}
    for key in (*NUMBERS, *left.asked.by_key):
        path, evidence = _path(key), _difference(left, right, key)
        said = _at(reported, path)
        found |= {(*path, name): expected for name, expected in _delta_shares(evidence, key).items()}
        found |= _of_error((*path, "std_error"), (evidence, None), left.side, _at(said, ("std_error",)))
        found[*path, "drop_rate"] = rate(evidence.drop_rate, evidence.draws)
        for member in _INTERVALS:
            interval = _at(said, (member,))
            if member == "ci" and interval is None:
                continue
            method = _method(member, interval, key, left.pool.clusters, _METHOD_OF_TWO)
            pair = ends(_difference(left, right, key, method), method, _level(member, ci))
            turned = pair and (affine(pair[1], -1.0), affine(pair[0], -1.0))
            found |= _of_ends((*path, member), _explained(pair, turned, left.side, way="left − right"), evidence)
    return found


def _difference(left: Drawn, right: Drawn, key: str, method: str = "") -> Evidence:
    one, other = left.evidence(key, method), right.evidence(key, method)
    difference = Evidence(
        point=None if one.point is None or other.point is None else other.point - one.point,
        values=other.values - one.values,
        clusters=one.clusters,
        draws=one.draws,
        left_out=other.left_out - one.left_out,
    )
    if method not in _ANALYTIC or one.error is None or other.error is None:
        return difference
    whole, *drawn = (
        left.pool.drawn(row).errors_apart(right.pool.drawn(row))[key]
        for row in (np.ones(left.pool.clusters), *left.weights)
    )
    return replace(difference, error=whole, errors=np.array(drawn))


def _delta_shares(evidence: Evidence, key: str) -> dict[str, Expected]:
    """How the replicates of a difference fall; null where there is no interval, or nothing to resample."""
    names = ("p_value", "favours_left", "favours_right")
    if evidence.undecided:
        return {}
    if not evidence.has_interval or evidence.clusters == 1:
        return dict.fromkeys(names, Expected(None))
    floats, less_is_better = key in _SUMS_OF_FLOATS, key != "cmax"
    return {
        "p_value": p_value(evidence, sums_of_floats=floats),
        "favours_left": favours(evidence, below_zero=not less_is_better, sums_of_floats=floats),
        "favours_right": favours(evidence, below_zero=less_is_better, sums_of_floats=floats),
    }


def _path(key: str) -> Path:
    return (key,) if key in NUMBERS else (RISKS, key)


def _method(member: str, said: Any, key: str, clusters: int, usual: Mapping[str, str]) -> str:
    """The method an interval names; the one that is recommended where it names none."""
    if member == "ci95":
        return "percentile"
    if isinstance(said, Mapping) and isinstance(said.get("method"), str):
        return str(said["method"])
    return "percentile" if clusters >= MANY_CLUSTERS else usual.get(key, "expanded_percentile")


def _level(member: str, asked: Any) -> float:
    """The level of an interval: 95 %, unless it is one more that was asked for."""
    level = _at(asked, ("level",)) if member == "ci" else None
    return level.value if isinstance(level, Printed) and 0 < level.value < 1 else 0.95


def _of_ends(path: Path, pair: Ends | None, evidence: Evidence) -> dict[Path, Expected]:
    """An interval in the shapes it is reported in: a pair, two named ends, or null."""
    if pair is None:
        return {}
    low, high = pair
    whole = Expected(None) if evidence.undecided else Expected(low.value, low.band)
    return {path: whole, (*path, "0"): low, (*path, "1"): high, (*path, "low"): low, (*path, "high"): high}


def _of_error(path: Path, known: tuple[Evidence, Evidence | None], side: Side, said: Any) -> dict[Path, Expected]:
    """A standard error; of too few draws it may be anything that losses so large can give."""
    evidence, rival = known
    error, other = std_error(evidence), None if rival is None else std_error(rival)
    if error is not None:
        ways = {} if other is None else {_OTHER_SIDE: other.value}
        return {path: scaled(replace(error, otherwise={**error.otherwise, **ways}), side)}
    if said is None or side.largest is None:
        return {}
    most = math.sqrt(2) * side.largest
    few = float(np.std(evidence.reached, ddof=1)) if len(evidence.reached) > 1 else most / 2
    return {path: Expected(few, band=(0.0, most))}


def _explained(pair: Ends | None, rival: Ends | None, side: Side, way: str = _OTHER_SIDE) -> Ends | None:
    """Ends with what the rival ones would be, and what a loss that is not normalised would make of them."""
    if pair is None:
        return None
    low, high = (
        replace(one, otherwise={**one.otherwise, way: other.value if other else None})
        for one, other in zip(pair, rival or (None, None), strict=True)
    )
    return scaled(low, side), scaled(high, side)


def scaled(expected: Expected, side: Side) -> Expected:
    """What is expected, with what a loss that is not normalised would make of it."""
    if side.divisor == 1 or expected.value is None:
        return expected
    name = f"× {side.divisor}: loss not normalised (abs, not abs_norm)"
    return replace(expected, otherwise={**expected.otherwise, name: expected.value * side.divisor})


def _at(content: Any, path: Path) -> Any:
    for part in path:
        content = content.get(part) if isinstance(content, Mapping) else None
    return content
