"""Members of result files that features add: models of the study, of a curve and of a run, for the features in a file.

A model has the members of the features that a file or an evaluation holds something of; those of the others are null,
so that nothing of a feature is imported that was not asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar

from demur.feature import features
from demur.files.strict_model import SPARSE, Part, Placed, extended
from demur.results.features import features_in
from demur.results.file_models import CurveRecord
from demur.results.study import SelectiveStudy
from demur.types import Json

if TYPE_CHECKING:
    from demur.inference.estimates import Estimate
    from demur.inference.key import Key
    from demur.results.features import FeatureOptions
    from demur.results.table import Results

P = TypeVar("P", bound=Part)
Place = Literal["study", "nested", "curve", "run", "table"]
_ABSENT = Placed(Annotated[None, SPARSE])


class FileMembers:
    """A feature's members of result files: none, unless it says otherwise.

    Those of the `study` are in both files, in the `nested` one perhaps at another place; those of a `curve` in the
    curves of the table file, and those of a `run` in the runs of the nested file; and those of the `table` file alone.
    """

    study: ClassVar[Mapping[str, Placed]] = {}
    nested: ClassVar[Mapping[str, Placed]] = {}
    curve: ClassVar[Mapping[str, Placed]] = {}
    run: ClassVar[Mapping[str, Placed]] = {}
    table: ClassVar[Mapping[str, Placed]] = {}

    def recorded(self, study: Any) -> FeatureOptions | None:  # noqa: ARG002
        """The options that the study tells of; None if it was not asked for."""
        return None

    def again(self, results: Results, given: FeatureOptions | None) -> FeatureOptions | None:  # noqa: ARG002
        """What to ask for to get these results again; `given` has the data that a file does not hold."""
        return self.recorded(results.study)

    def encoded(self, results: Results, system: str, confidence: str) -> Json:  # noqa: ARG002
        """The members of a run, from the rows."""
        return {}

    def decoded(self, system: str, confidence: str, run: Any) -> Iterable[Estimate]:  # noqa: ARG002
        """The rows of a run that its members hold."""
        return ()

    def curve_of(self, run: Any) -> Json:
        """The members of a curve from those of its run."""
        return {name: getattr(run, name) for name in self.curve}

    def holds(self, results: Results, key: Key) -> bool:  # noqa: ARG002
        """Whether a member of a run holds this number, so that it is not among the columns of the nested file."""
        return False

    def systems(self, study: Any) -> Iterable[str]:  # noqa: ARG002
        """The names besides those of systems that numbers may be of."""
        return ()

    def warned(self, results: Results) -> tuple[Sequence[Json], Iterable[str]]:  # noqa: ARG002
        """What warnings can be about besides systems and their numbers: columns of keys, and names of quantities."""
        return (), ()

    def encoded_table(self, results: Results) -> Json:  # noqa: ARG002
        """The members of the table file alone."""
        return {}

    def check_table(self, results: Results, file: Any) -> None:
        """Check the members of the table file alone against the rows."""


def file_members(names: Iterable[str]) -> list[FileMembers]:
    """The members of these features."""
    return [features()[name].hook("file")() for name in names if features()[name].file]


def members_in(results: Results) -> list[FileMembers]:
    """The members of the features that results hold something of."""
    return file_members(feature.name for feature in features_in(results.study))


def names_in(content: Mapping[str, Any]) -> tuple[str, ...]:
    """The features that the content of a file holds something of."""
    return tuple(
        name
        for name, feature in features().items()
        if feature.always or any(content.get(member) is not None for member in feature.study)
    )


def with_members(base: type[P], place: Place, names: Sequence[str]) -> type[P]:
    """A model with the members that features have at a place of a file."""
    known = {
        name: member
        for members in file_members(names)
        for name, member in getattr(members, place).items()  # each place is a mapping
    }
    absent = {name: _ABSENT for feature in features().values() for name in _light(place, feature) if name not in known}
    return extended(base, {**known, **absent})


def _light(place: Place, feature: Any) -> Sequence[str]:
    """The names of the members of a study or a curve, which are known without their models."""
    names: Sequence[str] = getattr(feature, place) if place in ("study", "curve") else ()
    return names


@cache
def study_model(names: tuple[str, ...]) -> type[SelectiveStudy]:
    """The model of a study with the members of these features."""
    return with_members(SelectiveStudy, "study", names)


@cache
def curve_model(names: tuple[str, ...]) -> type[CurveRecord]:
    """The model of a curve with the members of these features."""
    return with_members(CurveRecord, "curve", names)
