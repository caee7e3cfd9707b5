"""Everything a retrieval artifact holds of one system, from its queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.audit.detection_loops import has_evidence_rate
from demur.audit.figures import Expected
from demur.audit.own_detection import LOOPS, RATES, Detection, thresholds
from demur.audit.own_estimates import Number, estimated
from demur.audit.own_gate import Gate
from demur.audit.own_means import Means
from demur.audit.ranked_loops import mean, selected_size
from demur.audit.selective_points import arrays_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from demur.audit.own_queries import Asked, Facts, Path
    from demur.audit.plain_draws import Draws
    from demur.audit.selective_draws import Resampling

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

_PERCENTILES = (5, 25, 50, 75, 95)
_CELLS = 4 * 10**6
_NOTHING = np.zeros(0)


class OneSystem:
    """One system: its queries, what was asked, and the draws; None where nothing was drawn."""

    def __init__(self, facts: Facts, asked: Asked, resampling: Resampling | None, reported: Mapping[str, Any]) -> None:
        self.facts, self._asked, self._resampling = facts, asked, resampling
        self._reported = reported
        policies = reported.get("policies")
        self._means = Means(facts, asked, [*policies] if isinstance(policies, Mapping) else [])
        self._detection = Detection(facts) if facts.having("prob") else None
        self._gate = Gate(facts) if facts.having("prob") else None

    @property
    def draws(self) -> Draws | None:
        """How many draws were reported, and how many are ours."""
        return None if self._resampling is None else self._resampling.draws

    @property
    def clusters(self) -> int:
        """How many posts there are."""
        return len(self.facts.posts)

    @cached_property
    def numbers(self) -> dict[Path, Number]:
        """Every number that comes with its uncertainty, but those of the gate, by its path."""
        values, whole = self._drawn(self._means.drawn), self._means.whole
        found = {
            path: Number(point, values.get(path, _NOTHING), self._means.made_of[path], whole=path in whole)
            for path, point in self._means.points.items()
        }
        if self._detection is not None:
            found |= {("detection", *path): number for path, number in self._told(self._detection).items()}
        return found

    def _told(self, detection: Detection) -> dict[Path, Number]:
        values, one_class = self._drawn(detection.drawn), detection.one_class
        prob = np.array([query.prob for query in self.facts.judged], np.float64)
        return {
            path: Number(
                point,
                values.get(path, _NOTHING),
                prob,
                whole=path[-1].startswith("tpr") and path[0] != "macro",
                by_convention=path[:-1] in one_class,
            )
            for path, point in detection.points.items()
        }

    def _drawn(self, numbers: Callable[[Floats], dict[Path, Floats]]) -> dict[Path, Floats]:
        """Numbers of every draw, so many draws at a time that they fit into memory."""
        if self._resampling is None:
            return {}
        own = self._resampling.draws.own
        step = max(1, _CELLS // len(self.facts.rows))
        parts = [
            numbers(self._resampling.weights(self.clusters, range(start, min(start + step, own))))
            for start in range(0, own, step)
        ]
        return {path: np.concatenate([part[path] for part in parts]) for path in parts[0]}

    @cached_property
    def figures(self) -> dict[Path, Expected]:
        """Every figure by its path within the system."""
        found = self._counts() | self._candidates() | self._folds()
        for path, number in self.numbers.items():
            members = estimated(number, self.clusters, self.draws)
            found |= {(*path, *member): expected for member, expected in members.items()}
        if self._gate is not None:
            of_gate = self._gate.figures(self._gate_values, self.draws, self._reported.get("gate"))
            found |= {("gate", "metrics", *path): expected for path, expected in of_gate.items()}
            bounds = self._gate.upper_bounds.items()
            found |= {("gate", "upper_bound95", name): Expected(bound) for name, bound in bounds}
        return found

    @property
    def compared(self) -> dict[Path, Number]:
        """The numbers that are held against those of another system: none of a single criterion."""
        found = {path: number for path, number in self.numbers.items() if "per_criterion" not in path}
        if self._gate is None or not self._gate.can_be_drawn:
            return found
        return found | {("gate", name): number for name, number in self._gate.numbers(self._gate_values).items()}

    @cached_property
    def _gate_values(self) -> dict[Path, Floats]:
        return {} if self._gate is None else self._drawn(self._gate.drawn)

    @property
    def columns(self) -> dict[Path, list[float]]:
        """The columns of the gate's curve."""
        if self._gate is None:
            return {}
        return {("gate", *path): column for path, column in arrays_of(self._gate.curve).items()}

    @property
    def gate_can_be_drawn(self) -> bool:
        """Whether the gate's numbers have draws; there may be no gate."""
        return self._gate is None or self._gate.can_be_drawn

    @property
    def flags(self) -> dict[Path, bool]:
        """Whether the numbers of detection are conventions, and whether the gate answers anything."""
        if self._detection is None or self._gate is None:
            return {}
        one_class = ("micro",) in self._detection.one_class
        return {("detection", "single_class"): one_class, ("gate", "defined"): bool(self._gate.curve.count)}

    @cached_property
    def breaches(self) -> dict[tuple[str, str], tuple[int, int, int, int]]:
        """Selections that break the bounds, by post and criterion: shown, candidates, fewest and most allowed."""
        bounds, found = self._asked.bounds, {}
        for place in np.argsort(self.facts.post, kind="stable").tolist():
            query = self.facts.judged[place]
            shown, candidates = selected_size(query), len(query.hits)
            if bounds.broken_by(shown, candidates):
                found[query.post, query.criterion] = (shown, candidates, *bounds.of(candidates))
        return found

    def _counts(self) -> dict[Path, Expected]:
        facts = self.facts
        found: dict[Path, int] = {("queries_abstained",): sum(not query.hits for query in facts.judged)}
        for name, among in facts.populations.items():
            found[name, "queries"] = int(among.sum())
            for criterion, here in facts.criteria.items():
                found[name, "per_criterion", criterion, "queries"] = int((among & here).sum())
        if facts.having("selected"):
            found["dynamic_k", "abstained"] = sum(selected_size(query) == 0 for query in facts.judged)
        counted = {path: Expected(count, exact=True) for path, count in found.items()}
        if self._detection is None:
            return counted
        lines = {("threshold_at_fpr", *path): value for path, value in thresholds(facts.judged, RATES).items()}
        lines["has_evidence_rate",] = has_evidence_rate(facts.judged)
        return counted | {("detection", *path): Expected(value) for path, value in lines.items()}

    def _candidates(self) -> dict[Path, Expected]:
        sizes = sorted(len(query.hits) for query in self.facts.judged)
        found = {
            "minimum": Expected(sizes[0], exact=True),
            "maximum": Expected(sizes[-1], exact=True),
            "mean": Expected(mean(map(float, sizes))),
        }
        for which in _PERCENTILES:
            place = Fraction(which, 100) * (len(sizes) - 1)
            below = math.floor(place)
            above = min(below + 1, len(sizes) - 1)
            found[f"p{which}"] = Expected(float(sizes[below] + (place - below) * (sizes[above] - sizes[below])))
        return {("candidates", name): expected for name, expected in found.items()}

    def _folds(self) -> dict[Path, Expected]:
        """Every number of pooled queries in every fold, and how it varies over folds."""
        inside: dict[str, dict[Path, float | None]] = {}
        for fold, here in self.facts.folds.items():
            inside[fold] = {
                path: None if math.isnan(value) else value for path, value in self._means.within(here).items()
            }
            if self._detection is not None:
                queries = self.facts.within(here)
                inside[fold] |= {("detection", name): loop(queries) for name, loop in LOOPS.items()}
        found: dict[Path, Expected] = {}
        for path in next(iter(inside.values()), {}):
            if not {"per_criterion", "macro"} & {*path}:
                place = grouped(part for part in path if part != "micro")
                found |= _over_folds(("folds", *place), {fold: numbers[path] for fold, numbers in inside.items()})
        return found


def grouped(path: Iterable[str]) -> Path:
    """The path of a number where all that it is of stands in one word, and its name after it."""
    *group, name = (part for part in path if part != "metrics")
    return "/".join(group), name


def _over_folds(place: Path, each: Mapping[str, float | None]) -> dict[Path, Expected]:
    """A number in every fold, its mean and its spread (ddof 0), which there are if every fold has a number."""
    values = [value for value in each.values() if value is not None]
    middle = mean(values) if values and len(values) == len(each) else None
    squares = None if middle is None else math.fsum((value - middle) ** 2 for value in values)
    spread = None if squares is None else math.sqrt(squares / len(values))
    found = {(*place, "values", fold): Expected(value) for fold, value in each.items()}
    if not each:
        return found
    ways = {"ddof 1: divided by one fold less": math.sqrt(squares / (len(values) - 1))} if squares and spread else {}
    return found | {(*place, "mean"): Expected(middle), (*place, "std"): Expected(spread, otherwise=ways)}
