"""The draws an artifact says it used, and the replicates of one side on our own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.audit.figures import Printed
from demur.audit.plain_draws import Draws
from demur.audit.plain_intervals import Evidence
from demur.audit.plain_replicates import NUMBERS, WITH_ERRORS, Pool, left_out, replicated
from demur.audit.selective_points import RISKS, Asked, Path
from demur.draws import weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from demur.audit.plain_curve import PlainCurve
    from demur.audit.plain_units import Side

    Floats = NDArray[np.float64]

_NOTHING = np.zeros(0)
_LEAVE_OUT = ("jackknife", "bca")


@dataclass(frozen=True, slots=True)
class Resampling:
    """The draws an artifact says it used, and how many of our own they are held against."""

    seed: int
    draws: Draws

    @classmethod
    def of(cls, reported: Any, resamples: int) -> Resampling:
        """From a member `bootstrap`; only our own generator, which names its engine or cluster, can be repeated."""
        said = reported if isinstance(reported, Mapping) else {}
        seed, number = _whole(said.get("seed")), _whole(said.get("n_resamples"))
        ours = said.get("kind") == "multinomial" and bool(said.keys() & {"engine", "cluster"})
        if ours and seed is not None and seed < 2**64 and number is not None and 0 < number <= resamples:
            return cls(seed, Draws(number, number, repeated=True))
        return cls(0 if seed is None or seed >= 2**64 else seed, Draws(number or None, resamples, repeated=False))

    def weights(self, clusters: int, some: range | None = None) -> Floats:
        """How often each replicate, or each of some, holds each cluster."""
        return weights(self.seed, np.arange(self.draws.own) if some is None else np.array(some), clusters)


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
    def varies(self) -> bool:
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
            two_sided=self.varies or key == "cmax",
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
        """One-sided 95 % where no answer has a loss."""
        if self.varies or self.side.largest is None or not self.curve.count:
            return None
        aurc, augrc = self.curve.error_free_bounds(self.pool.clusters, self.side.largest)
        return augrc if key == "augrc_full" else aurc


def _whole(number: Any) -> int | None:
    return int(number.text) if isinstance(number, Printed) and number.text.isdigit() else None
