"""The gate of one system as a selective predictor: its curve by plain loops, and its numbers in every draw of posts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.audit.figures import Expected
from demur.audit.own_estimates import Number, estimated, uncertain
from demur.audit.plain_curve import PlainCurve
from demur.audit.plain_intervals import MANY_CLUSTERS, Evidence
from demur.audit.plain_replicates import WITH_ERRORS, Pool

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from demur.audit.own_queries import Facts, Path
    from demur.audit.plain_draws import Draws

    Floats = NDArray[np.float64]

_KEYS = {"cmax": "cmax", "aurc": "aurc_full", "augrc": "augrc_full", "eaurc": "eaurc", "eaugrc": "eaugrc"}
_METHODS = {"cmax": "bootstrap_t", "aurc": "studentised", "augrc": "studentised"}
_WHOLE = ("cmax", "mae")
_MOST_CELLS = 5 * 10**7


class Gate:
    """It answers the likelier queries first, is wrong where there is no gold, and abstains with an empty list."""

    def __init__(self, facts: Facts) -> None:
        self._units = np.bincount(facts.post, minlength=len(facts.posts))
        self._made_of = np.array([query.prob if query.hits else -1.0 for query in facts.judged], np.float64)
        self._answers = [
            (post, query.prob or 0.0, int(query.gold == 0))
            for post, query in zip(facts.post.tolist(), facts.judged, strict=True)
            if query.hits
        ]
        self.curve = PlainCurve.of([answer[1:] for answer in self._answers], len(facts.rows), 1)

    @property
    def can_be_drawn(self) -> bool:
        """Whether a table of posts by thresholds fits into memory."""
        return len(self._units) * len(self.curve.threshold) <= _MOST_CELLS

    @cached_property
    def _pool(self) -> Pool:
        return Pool.counted(self._units, self._answers, 1)

    @property
    def points(self) -> dict[str, float]:
        """By the data as they are."""
        curve, aurc, augrc = self.curve, self.curve.aurc(), self.curve.augrc()
        return {
            "cmax": curve.cmax,
            "mae": math.nan if curve.risk is None else curve.risk,
            "aurc": aurc,
            "augrc": augrc,
            "eaurc": aurc - curve.aurc_optimal,
            "eaugrc": augrc - curve.augrc_optimal,
        }

    def drawn(self, weights: Floats) -> dict[Path, Floats]:
        """In every draw; and, where an interval needs them, the standard errors there."""
        rows = []
        for drawn in weights if self.can_be_drawn else ():
            sample = self._pool.drawn(drawn)
            numbers = sample.numbers(cut=0.0)
            row = {name: numbers[key] for name, key in _KEYS.items()}
            row["mae"] = float(sample.loss[-1] / sample.count[-1]) if len(sample.count) else math.nan
            if self._studentised:
                errors = sample.errors()
                row |= {f"error {name}": errors[_KEYS[name]] for name in _METHODS}
            rows.append(row)
        return {(name,): np.array([row[name] for row in rows]) for name in rows[0]} if rows else {}

    @property
    def upper_bounds(self) -> dict[str, float | None]:
        """What stands in for the intervals of the areas where nothing that is answered lacks evidence."""
        if self._loses or not self.curve.count:
            return {"aurc": None, "augrc": None}
        return dict(zip(("aurc", "augrc"), self.curve.error_free_bounds(len(self._units), 1.0), strict=True))

    @property
    def _loses(self) -> bool:
        return any(self.curve.losses) or len(self._units) == 1

    def numbers(self, values: dict[Path, Floats]) -> dict[str, Number]:
        """Its numbers as those of other systems are taken from them."""
        return {
            name: Number(point, values.get((name,), np.zeros(0)), self._made_of, whole=name in _WHOLE)
            for name, point in self.points.items()
        }

    @property
    def _studentised(self) -> bool:
        return len(self._units) < MANY_CLUSTERS and bool(self.curve.count)

    def figures(self, values: dict[Path, Floats], draws: Draws | None, reported: Any) -> dict[Path, Expected]:
        """The members of every number, by the number's name."""
        clusters = len(self._units)
        found: dict[Path, Expected] = {}
        for name, point in self.points.items():
            if draws is None:
                members = estimated(Number(point, np.zeros(0), np.zeros(0)), clusters, None)
            elif (name,) in values:
                evidence = self._evidence(name, point, values, draws)
                members = {("value",): Expected(evidence.point)} | uncertain(evidence, _method(name, draws, reported))
            else:
                members = {("value",): Expected(None if math.isnan(point) else point)}
            found |= {(name, *member): expected for member, expected in members.items()}
        return found

    def _evidence(self, name: str, point: float, values: dict[Path, Floats], draws: Draws) -> Evidence:
        errors = values.get((f"error {name}",))
        return Evidence(
            point=None if math.isnan(point) else point,
            values=values[name,],
            clusters=len(self._units),
            draws=draws,
            two_sided=self._loses or name == "cmax",
            error=self._errors.get(_KEYS.get(name, "")) if errors is not None else None,
            errors=errors,
        )

    @cached_property
    def _errors(self) -> dict[str, float]:
        whole = self._pool.drawn(np.ones(len(self._units))).errors() if self.curve.count else {}
        return {key: whole[key] for key in WITH_ERRORS if key in whole}


def _method(name: str, draws: Draws, reported: Any) -> str:
    """The recommended method. Only the reported draws can tell whether an error was 0 in one of them."""
    usual = _METHODS.get(name, "expanded_percentile")
    for member in ("metrics", name, "ci95_recommended", "method"):
        reported = reported.get(member) if isinstance(reported, Mapping) else None
    fell_back = usual == "studentised" and reported == "analytic_log" and not draws.repeated
    return "analytic_log" if fell_back else usual
