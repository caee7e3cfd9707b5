"""A system measured at the coverage of a rater or a published point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from demur.inference.rules import Counted
from demur.inference.views import CurveView, JointView
from demur.quantities import Measure
from demur.sampling.coverage import Coverage
from demur.sampling.sample import Cut, Sample


@dataclass(frozen=True, eq=False)
class PointView(JointView):
    """A system measured at a fixed coverage, or at the Cmax of the second member in each replicate."""

    fixed: Coverage | None = None

    @property
    def own(self) -> CurveView:
        """The view of the system."""
        view: CurveView = self.members[0]
        return view

    @property
    def coverage(self) -> Coverage:
        """The coverage at which the system is measured."""
        return self.fixed or Coverage.of(self.members[1].curve.coverage_reached)

    def joined(self, samples: Sequence[Sample]) -> Cut:
        """The replicates of the system, and the coverage in each of them as a number of units."""
        own = samples[0]
        return Cut(own, own.position(self.fixed) if self.fixed else own.units * samples[1].answered / samples[1].units)

    def counted(self, measure: Measure) -> Counted:
        """How many clusters hold a loss up to the coverage, and what the number can be."""
        return self.own.counted(measure, self.coverage)
