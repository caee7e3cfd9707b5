"""Numbers in the conventions of other tools: rows of their own beside ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from demur.features.conventions.emulations import EMULATIONS, Answers
from demur.features.conventions.options import Conventions
from demur.inference.estimates import Estimate
from demur.inference.key import Key
from demur.results.features import Additions
from demur.results.study_of_answers import Evaluation
from demur.sampling.resample import Plan
from demur.types import Json

NO_INTERVAL = "a number of another convention is a point alone"


class EmulatedNumbers(Additions):
    """What other tools would report: every number of their conventions, of every system under every confidence."""

    def __init__(self, conventions: Conventions, evaluation: Evaluation, plan: Plan) -> None:  # noqa: ARG002
        self.names, self.evaluation = conventions.names, evaluation

    def last(self, estimates: Mapping[Key, Estimate]) -> Iterator[Estimate]:  # noqa: ARG002
        """The numbers, which have no interval."""
        coverages = [target.text for target in self.evaluation.settings.targets]
        for confidence, by_system in self.evaluation.views.items() if self.names else ():
            for system, view in by_system.items():
                answers = Answers.of(view.graded)
                for emulation in (EMULATIONS[name] for name in self.names):
                    for name in emulation.names(coverages):
                        key = Key(system, name, confidence, convention=emulation.name)
                        number = emulation.emulated(name, answers)
                        yield Estimate(key, no_interval=NO_INTERVAL, **number._asdict())

    def record(self, estimates: Iterable[Estimate]) -> Json:  # noqa: ARG002
        """The names of the conventions."""
        return {"conventions": self.names} if self.names else {}
