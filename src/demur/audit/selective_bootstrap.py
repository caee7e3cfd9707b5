"""What our own draws give for the intervals, standard errors and rates of an artifact, and for paired differences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.audit.figures import Expected, Printed
from demur.audit.plain_intervals import MANY_CLUSTERS, Draws, Evidence, affine, ends, rate, std_error
from demur.audit.plain_replicates import NUMBERS, WITH_ERRORS, Pool, left_out, replicated
from demur.audit.plain_shares import favours, p_value
from demur.audit.selective_points import RISKS, Asked, Path
from demur.draws import weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from demur.audit.plain_curve import PlainCurve
    from demur.audit.plain_intervals import Ends
    from demur.audit.plain_units import Side

    Floats = NDArray[np.float64]

_ERROR_FREE = 0.05
_NOTHING = np.zeros(0)
_OTHER_SIDE = "the other side's figure"
_LEAVE_OUT = ("jackknife", "bca")
_ANALYTIC = ("studentised", "analytic", "analytic_log")
_SUMS_OF_FLOATS = ("aurc_full", "naurc", "naugrc", "eaurc", "eaugrc", "aurc_at_c", "augrc_at_c")
_METHOD_OF_ONE = {"cmax": "bootstrap_t", "aurc_full": "studentised", "augrc_full": "studentised"}
_METHOD_OF_TWO = dict.fromkeys(("cmax", "aurc_full", "augrc_full"), "bootstrap_t")


@dataclass(frozen=True, slots=True)
class Resampling:
    """The draws an artifact says it used, and how many of our own they are held against."""

    seed: int
    draws: Draws

    @classmethod
    def of(cls, reported: Any, resamples: int) -> Resampling:
        """From the member `bootstrap` of a side; only our own generator can be repeated."""
        said = reported if isinstance(reported, Mapping) else {}
        seed, number = _whole(said.get("seed")), _whole(said.get("n_resamples"))
        ours = said.get("kind") == "multinomial" and "engine" in said
        if ours and seed is not None and seed < 2**64 and number is not None and 0 < number <= resamples:
            return cls(seed, Draws(number, number, repeated=True))
        return cls(0 if seed is None or seed >= 2**64 else seed, Draws(number or None, resamples, repeated=False))

    def weights(self, clusters: int) -> Floats:
        """How often each replicate holds each cluster."""
        return weights(self.seed, np.arange(self.draws.own), clusters)


@dataclass(frozen=True, eq=False)
class Drawn:
    """One side under one confidence, and its replicates; `rival` is the side it shares a common coverage with."""

    side: Side
    curve: PlainCurve
    pool: Pool
    figures: Mapping[Path, float | None]
    asked: Asked
    resampling: Resampling
    rival: Pool | None = None
    studentised: bool = True

    def point(self, key: str) -> float | None:
        """The number itself."""
        return self.figures.get((key,) if key in NUMBERS else (RISKS, key))

    @cached_property
    def weights(self) -> Floats:
        """How often each replicate holds each cluster."""
        return self.resampling.weights(self.pool.clusters)

    def _cuts(self, drawn: Floats) -> Floats:
        """Where areas are cut, in units: the coverage asked for, or what both sides still answer."""
        if self.rival is not None:
            return np.minimum(self.pool.answered(drawn), self.rival.answered(drawn))
        return float(self.asked.cuts["aurc_at_c",]) * (drawn @ self.pool.units)

    @cached_property
    def values(self) -> dict[str, Floats]:
        """Every number in every replicate."""
        drawn, errors = self.weights, self.studentised and bool(self.curve.count)
        return replicated(self.pool, drawn, self._cuts(drawn), self.asked.by_key, errors=errors)

    @cached_property
    def left_out(self) -> dict[str, Floats]:
        """Every number with each cluster left out in turn."""
        if self.pool.clusters == 1:
            return {}
        drawn = left_out(self.pool.clusters)
        return replicated(self.pool, drawn, self._cuts(drawn), self.asked.by_key, errors=False)

    @cached_property
    def errors(self) -> dict[str, float]:
        """Analytic standard errors of the numbers that have one."""
        return self.pool.drawn(np.ones(self.pool.clusters)).errors() if self.curve.count else {}

    @property
    def _varies(self) -> bool:
        """Whether any answer has a loss; without one every replicate is 0, which is no interval."""
        return any(self.curve.losses) or self.pool.clusters == 1

    def evidence(self, key: str, method: str = "") -> Evidence:
        """All that is known about one number."""
        name = key if key in NUMBERS else f"mae {key}"
        return Evidence(
            point=self.point(key),
            values=self.values[name],
            clusters=self.pool.clusters,
            draws=self.resampling.draws,
            two_sided=self._varies or key == "cmax",
            error=self.errors.get(key),
            errors=self.values.get(f"error {key}") if key in WITH_ERRORS else None,
            left_out=self.left_out.get(name, _NOTHING) if method in _LEAVE_OUT else _NOTHING,
        )

    @property
    def short_domain_rate(self) -> float:
        """Share of the replicates that end before the coverage of the cut areas."""
        if self.rival is not None:
            return 0.0
        answered, units = self.pool.answered(self.weights), self.weights @ self.pool.units
        needed = [math.ceil(self.asked.cuts["aurc_at_c",] * int(total)) for total in units]
        return float(np.mean(answered < needed))

    def upper_bound(self, key: str) -> float | None:
        """One-sided 95 % where no answer has a loss: an error-prone cluster is rarer than 1 − 0.05^(1/P)."""
        if self._varies or self.side.largest is None or not self.curve.count:
            return None
        rare, cmax = float(1 - _ERROR_FREE ** (1 / self.pool.clusters)), self.curve.cmax
        if key == "augrc_full":
            return float(self.side.largest * rare * cmax)
        return self.side.largest * (rare * (1 + math.log(cmax / rare)) if rare < cmax else cmax)


def is_studentised(reported: Any, clusters: int) -> bool:
    """Whether any interval of a side is studentised, which takes an error of every replicate."""
    return any(
        _method(member, said.get(key), key, clusters, _METHOD_OF_ONE) == "studentised"
        for member in ("ci95_recommended", "ci")
        if isinstance(said := _at(reported, (member,)), Mapping)
        for key in WITH_ERRORS
    )


def bootstrap_figures(one: Drawn, reported: Mapping[str, Any], other: Drawn | None) -> dict[Path, Expected]:
    """What the draws give for everything under `bootstrap`."""
    found: dict[Path, Expected] = {
        ("bootstrap", "short_domain_rate"): rate(one.short_domain_rate, one.resampling.draws)
    }
    for key in ("aurc_full", "augrc_full"):
        found["bootstrap", "upper_bound95", key] = Expected(one.upper_bound(key))
    for key in (*NUMBERS, *one.asked.by_key):
        path = _path(key)
        evidence = one.evidence(key)
        rival_evidence = None if other is None else other.evidence(key)
        found |= _of_error(("bootstrap", "std_error", *path), evidence, rival_evidence, one.side)
        if key not in NUMBERS:
            ways = {} if rival_evidence is None else {_OTHER_SIDE: rival_evidence.drop_rate}
            found["bootstrap", "drop_rate", *path] = rate(evidence.drop_rate, one.resampling.draws, ways)
        for member in ("ci95", "ci95_recommended", "ci"):
            said = _at(reported, (member, *path))
            if member == "ci" and said is None:
                continue
            method, level = _method(member, said, key, one.pool.clusters, _METHOD_OF_ONE), _level(member, reported)
            pair = ends(one.evidence(key, method), method, level)
            rival = None if other is None else ends(other.evidence(key, method), method, level)
            found |= _of_ends(("bootstrap", member, *path), _explained(pair, rival, one.side), evidence)
    return found


def delta_figures(left: Drawn, right: Drawn, reported: Mapping[str, Any], ci: Any) -> dict[Path, Expected]:
    """What the draws give for the differences right − left of one variant; `ci` is what a side says of its own."""
    found: dict[Path, Expected] = {}
    for key in (*NUMBERS, *left.asked.by_key):
        path = _path(key)
        evidence = _difference(left, right, key, "")
        said = _at(reported, path)
        found |= {(*path, name): expected for name, expected in _delta_shares(evidence, key).items()}
        found |= _of_error((*path, "std_error"), evidence, None, left.side)
        found[*path, "drop_rate"] = rate(evidence.drop_rate, evidence.draws)
        for member in ("ci95", "ci95_recommended", "ci"):
            interval = _at(said, (member,))
            if member == "ci" and interval is None:
                continue
            method = _method(member, interval, key, left.pool.clusters, _METHOD_OF_TWO)
            pair = ends(_difference(left, right, key, method), method, _level(member, {"ci": ci}))
            turned = pair and (affine(pair[1], -1.0), affine(pair[0], -1.0))
            explained = _explained(pair, turned, left.side, way="left − right")
            found |= _of_ends((*path, member), explained, evidence)
    return found


def _difference(left: Drawn, right: Drawn, key: str, method: str) -> Evidence:
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


def _level(member: str, reported: Mapping[str, Any]) -> float:
    asked = reported.get(member) if member == "ci" else None
    level = asked.get("level") if isinstance(asked, Mapping) else None
    return level.value if isinstance(level, Printed) and 0 < level.value < 1 else 0.95


def _of_ends(path: Path, pair: Ends | None, evidence: Evidence) -> dict[Path, Expected]:
    """An interval in the shapes it is reported in: a pair, two named ends, or null."""
    if pair is None:
        return {}
    low, high = pair
    whole = Expected(None) if evidence.undecided else Expected(low.value, low.band)
    return {path: whole, (*path, "0"): low, (*path, "1"): high, (*path, "low"): low, (*path, "high"): high}


def _of_error(path: Path, evidence: Evidence, rival: Evidence | None, side: Side) -> dict[Path, Expected]:
    error, other = std_error(evidence), None if rival is None else std_error(rival)
    if error is None:
        return {}
    ways = {} if other is None else {_OTHER_SIDE: other.value}
    return {path: _scaled(replace(error, otherwise={**error.otherwise, **ways}), side)}


def _explained(pair: Ends | None, rival: Ends | None, side: Side, way: str = _OTHER_SIDE) -> Ends | None:
    """Ends with what the rival ones would be, and what a loss that is not normalised would make of them."""
    if pair is None:
        return None
    low, high = (
        replace(one, otherwise={**one.otherwise, way: other.value if other else None})
        for one, other in zip(pair, rival or (None, None), strict=True)
    )
    return _scaled(low, side), _scaled(high, side)


def _scaled(expected: Expected, side: Side) -> Expected:
    if side.divisor == 1 or expected.value is None:
        return expected
    name = f"× {side.divisor}: loss not normalised (abs, not abs_norm)"
    return replace(expected, otherwise={**expected.otherwise, name: expected.value * side.divisor})


def _whole(number: Any) -> int | None:
    return int(number.text) if isinstance(number, Printed) and number.text.isdigit() else None


def _at(content: Any, path: Path) -> Any:
    for part in path:
        content = content.get(part) if isinstance(content, Mapping) else None
    return content
