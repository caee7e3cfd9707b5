"""What a feature adds to an evaluation, in phases: it is asked for by its options, reads, and adds rows and a record.

Both classes add nothing by themselves: a feature overrides what it needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

from demur.feature import Feature, features, hooks
from demur.types import Json

if TYPE_CHECKING:
    from demur.facts.items import Items, Source
    from demur.inference.estimates import Estimate, Estimates
    from demur.inference.key import Key
    from demur.inference.rows import Contrast, Row
    from demur.inference.views import CurveView
    from demur.inference.warnings import ResultWarning
    from demur.read import TableOptions
    from demur.results.study import SelectiveStudy
    from demur.results.study_of_answers import Evaluation
    from demur.results.table import Results
    from demur.sampling.resample import Plan

T = TypeVar("T", bound="TableOptions")


class FeatureOptions:
    """What is asked of a feature: the base of the dataclass of its options, and of what they become on the way.

    `feature` is the name of the feature. Each step may return another object with more in it: `opened`, once before any
    data are read, and `read`, which is what an evaluation is given, after.
    """

    __slots__ = ()
    feature: ClassVar[str]

    @property
    def files(self) -> Sequence[str | Path]:
        """The files that it names, which are recorded and never overwritten; not every path need exist."""
        return ()

    @property
    def needs_units(self) -> Sequence[str]:
        """What in it needs single units, in words, so that a summary, which holds counts, is refused."""
        return ()

    @property
    def sources(self) -> Sequence[Source]:
        """The files that it was read from, of the data that results do not hold."""
        return ()

    def opened(self) -> FeatureOptions:
        """The same, with what its files tell before the data are read."""
        return self

    def reading(self, options: T) -> T:
        """The options that tables are read with, and what they add for the feature."""
        return options

    def joined(self, runs: list[Items]) -> list[Items]:
        """The facts of the runs, with those that the feature has read elsewhere."""
        return runs

    def read(self, runs: Sequence[Items], columns: Mapping[str, str]) -> FeatureOptions:  # noqa: ARG002
        """The same, with what is read besides the runs, of which the first has these columns by role."""
        return self


class Additions:
    """What a feature adds to one evaluation: nothing, unless it says otherwise."""

    @property
    def rows(self) -> Sequence[Row]:
        """Numbers of systems, which are compared with the baseline."""
        return ()

    @property
    def further_rows(self) -> Sequence[Row]:
        """Numbers that are not compared with the baseline."""
        return ()

    @property
    def contrasts(self) -> Sequence[Contrast]:
        """Differences besides those from the baseline."""
        return ()

    @property
    def counted(self) -> Sequence[Row | Contrast]:
        """Which of its further rows and contrasts get the warnings about few clusters."""
        return ()

    @property
    def strata(self) -> tuple[int, ...] | None:
        """The stratum of each cluster to draw within; None for no strata."""
        return None

    def finished(self, estimates: list[Estimate], contrasts: Sequence[Contrast]) -> list[Estimate]:  # noqa: ARG002
        """The estimates, with what needs no draws; `contrasts` are those of systems with the baseline."""
        return estimates

    def last(self, estimates: Mapping[Key, Estimate]) -> Iterable[Estimate]:  # noqa: ARG002
        """Rows that come last in the table, given what was estimated by key, before any feature finished it."""
        return ()

    def curve(self, view: CurveView) -> Json:  # noqa: ARG002
        """The feature's members of a curve."""
        return {}

    def record(self, estimates: Iterable[Estimate]) -> Json:  # noqa: ARG002
        """The feature's members of the study."""
        return {}

    def warnings(self, estimates: Estimates) -> Iterable[ResultWarning]:  # noqa: ARG002
        """The feature's warnings."""
        return ()


def additions(asked: Iterable[FeatureOptions], evaluation: Evaluation, plan: Plan) -> list[Additions]:
    """What the features that are asked for, and those of every evaluation, add to it, in their order."""
    options = {given.feature: given for given in asked}
    return [
        feature.hook("additions")(options.get(name), evaluation, plan)
        for name, feature in features().items()
        if feature.additions and (feature.always or name in options)
    ]


def asked_names(asked: Iterable[FeatureOptions]) -> tuple[str, ...]:
    """The names of the features of an evaluation: those that are asked for, and those that every evaluation has."""
    given = {options.feature for options in asked}
    return tuple(name for name, feature in features().items() if feature.always or name in given)


def features_in(study: object) -> list[Feature]:
    """The features that a study holds something of; none for retrieval."""
    if getattr(study, "task", None) != "selective":
        return []
    return [
        feature
        for feature in features().values()
        if feature.always or any(getattr(study, name, None) is not None for name in feature.study)
    ]


def asked_again(results: Results, given: Mapping[str, FeatureOptions]) -> list[FeatureOptions]:
    """What to ask of features to get these results again; `given` is what was read of data that they do not hold."""
    held = {feature.name for feature in features_in(results.study)}
    members = {name: file() for name, file in hooks("file").items() if name in held or name in given}
    found = (each.again(results, given.get(name)) for name, each in members.items())
    return [options for options in found if options is not None]


def recorded_features(study: SelectiveStudy) -> tuple[FeatureOptions, ...]:
    """What was asked of the features, as the record tells it."""
    found = (feature.hook("file")().recorded(study) for feature in features_in(study) if feature.file)
    return tuple(options for options in found if options is not None)
