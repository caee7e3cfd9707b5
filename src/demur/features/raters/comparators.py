"""What systems are compared with besides each other: raters of the same units, published points and forced runs."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from demur.confidences.grading import grade
from demur.errors import UserError, literal, located, repeated, shown, unknown
from demur.facts.alignment import Alignment
from demur.facts.items import Items, Source
from demur.features.raters.answers import RaterAnswers
from demur.features.raters.points import NumbersOfPoint, point_of
from demur.features.raters.recorded import points_of
from demur.inference.views import CurveView
from demur.results.features import FeatureOptions
from demur.results.table import Results


@dataclass(frozen=True, slots=True)
class Comparators(FeatureOptions):
    """Raters of the same units, published points and forced runs, as read.

    A forced run is a system made to answer everything, under the name of that system. With a `margin` the verdict also
    says whether a system is worse by at most that. Below the `handover_threshold` the system hands over to raters.
    """

    feature: ClassVar[str] = "raters"

    raters: Mapping[str, RaterAnswers] = field(default_factory=dict)
    points: Sequence[NumbersOfPoint] = ()
    forced: Mapping[str, Items] = field(default_factory=dict)
    margin: float | None = None
    handover_threshold: float | None = None

    def __post_init__(self) -> None:
        for name, number in (("margin", self.margin), ("hand-over threshold", self.handover_threshold)):
            if number is not None and not math.isfinite(number):
                raise UserError(f"{name} {literal(number)}, expected a finite number")
        if self.margin is not None and not self.margin > 0:
            raise UserError(f"margin {literal(self.margin)}, expected a number above 0")
        if self.margin is not None and not (self.raters or self.points):
            raise UserError("a margin is for a comparison with raters or points: give one, or leave it out")
        if self.handover_threshold is not None and not self.raters:
            raise UserError("a hand-over threshold needs a rater to hand over to: give one, or leave it out")

    @property
    def needs_units(self) -> list[str]:
        """What in it needs single units."""
        named = {"raters, and what is handed over to them,": self.raters, "forced runs": self.forced}
        return [words for words, given in named.items() if given]

    @property
    def sources(self) -> list[Source]:
        """The files of the raters."""
        return [answers.source for answers in self.raters.values() if answers.source]

    @property
    def forced_runs(self) -> dict[str, Items]:
        """The forced runs by the names they have beside their systems."""
        return {f"{name}, forced": items for name, items in self.forced.items()}

    def check_names(self, systems: Collection[str]) -> None:
        """Refuse names that are in use, empty ones, and forced runs of systems that are not there."""
        names = [*systems, *self.raters, *self.forced_runs, *(point.name for point in self.points)]
        if double := repeated(names):
            raise UserError(f"two systems, raters or points are called {shown(double[0])}: give each a name of its own")
        if not all(name.strip() for name in names):
            raise UserError("a rater or a point has no name: give each one")
        for name in self.forced:
            if name not in systems:
                raise unknown("system with a forced run", name, systems)

    def views(self, alignment: Alignment, loss: str | None) -> dict[str, CurveView]:
        """The raters and forced runs on the compared units, each with all of its answers at one operating point."""
        like = next(iter(alignment.systems.values()))
        lost = {unit for items in alignment.systems.values() for unit in items.units_left_out}
        answers = {**self.raters, **{name: RaterAnswers.of_items(items) for name, items in self.forced_runs.items()}}
        views = {}
        for name, given in answers.items():
            with located(f"rater {shown(name)}"):
                rated = given.aligned(like, alignment.left_out, lost)
                own_loss = None if rated.losses is not None else loss
                views[name] = CurveView.of(grade(rated, loss=own_loss, confidence=np.zeros(len(rated))))
        return views


def recorded_comparators(results: Results, given: Comparators) -> Comparators:
    """What results were compared with, to compare again: published points as recorded, the data of others as given."""
    study: Any = results.selective
    answered = {*given.raters, *given.forced_runs}
    for point in points_of(results):
        if point.given is None and point.name not in answered:
            option = f"--rater {point.name}=FILE" if point.kind == "paired" else "--forced FILE"
            raise UserError(f"the file holds {shown(point.name)} beside its systems: give the data, {option}")
    points = [
        point_of(point.name, point.given, source=point.source, population=point.population, loss=point.loss)
        for point in points_of(results)
        if point.given is not None
    ]
    return replace(given, points=points, margin=study.margin, handover_threshold=study.handover_threshold)
