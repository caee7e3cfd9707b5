"""The request for an evaluation: its options by section, and its features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from demur.errors import UserError, literal, repeated
from demur.evaluation.raters import Raters
from demur.evaluation.reading import ReadingOptions
from demur.results.costs import Costs
from demur.results.emulated import Conventions
from demur.results.groups import Groups
from demur.results.settings import Settings
from demur.sampling.resample import Plan

Feature = Groups | Raters | Costs | Conventions
FEATURES: Mapping[str, type[Any]] = {
    "groups": Groups,
    "raters": Raters,
    "costs": Costs,
    "conventions": Conventions,
}


@dataclass(frozen=True, slots=True)
class Request:
    """The options of an evaluation, each section checked; `features` are what is added to it."""

    columns: Mapping[str, str] = field(default_factory=dict)
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    settings: Settings = field(default_factory=Settings)
    plan: Plan = field(default_factory=Plan)
    features: Sequence[object] = ()
    command: str | None = None
    also_read: Sequence[str | Path] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.columns, Mapping) or not all(
            isinstance(name, str) for pair in self.columns.items() for name in pair
        ):
            expected = "roles with the names of their columns, {'cluster': 'document'}"
            raise UserError(f"columns {literal(self.columns)}, expected {expected}")
        for feature in self.features:
            if not isinstance(feature, Feature):
                names = ", ".join(known.__name__ for known in FEATURES.values())
                raise UserError(
                    f"{literal(feature)} is none of {names}; give several systems in a list, evaluate([a, b])"
                )
        if twice := repeated(map(type, self.features)):
            raise UserError(f"{twice[0].__name__} is given twice: give one with all of them")

    def feature(self, kind: type[Any]) -> Any:
        """The feature of a type: as given, else that of the settings, else one that requests nothing."""
        settings = self.settings
        of_settings = (settings.groups, settings.costs, settings.conventions)
        return next((known for known in (*self.features, *of_settings) if isinstance(known, kind)), kind())

    @property
    def files(self) -> list[str | Path]:
        """The files that are read in addition to the data."""
        named = [self.reading.instrument, self.settings.calibration, self.feature(Groups).table]
        paths = [*named, *self.feature(Raters).files]
        files = [path for path in paths if isinstance(path, (str, Path)) and Path(path).is_file()]
        return [*files, *self.also_read]

    def with_features(self, names: Sequence[str]) -> Settings:
        """The settings with their features filled in; `names` are those of all groups."""
        groups, costs, conventions = map(self.feature, (Groups, Costs, Conventions))
        return replace(self.settings, groups=groups.named(names), costs=costs, conventions=conventions)
