"""The request for an evaluation: its options by section, and its features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from demur.errors import UserError, literal, repeated
from demur.evaluation.reading import ReadingOptions
from demur.feature import hooks
from demur.results.features import FeatureOptions
from demur.results.settings import Settings
from demur.sampling.resample import Plan


@dataclass(frozen=True, slots=True)
class Request:
    """The options of an evaluation, each section checked; `features` are what is added to it."""

    columns: Mapping[str, str] = field(default_factory=dict)
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    settings: Settings = field(default_factory=Settings)
    plan: Plan = field(default_factory=Plan)
    features: Sequence[FeatureOptions] = ()
    command: str | None = None
    also_read: Sequence[str | Path] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.columns, Mapping) or not all(
            isinstance(name, str) for pair in self.columns.items() for name in pair
        ):
            expected = "roles with the names of their columns, {'cluster': 'document'}"
            raise UserError(f"columns {literal(self.columns)}, expected {expected}")
        given: Sequence[object] = self.features
        for feature in given:
            if not isinstance(feature, FeatureOptions):
                names = ", ".join(known.__name__ for known in hooks("options").values())
                raise UserError(
                    f"{literal(feature)} is none of {names}; give several systems in a list, evaluate([a, b])"
                )
        if twice := repeated(map(type, self.features)):
            raise UserError(f"{twice[0].__name__} is given twice: give one with all of them")

    @property
    def files(self) -> list[str | Path]:
        """The files that are read in addition to the data."""
        named = [self.reading.instrument, self.settings.calibration]
        paths = [*named, *(path for options in self.features for path in options.files)]
        files = [path for path in paths if isinstance(path, (str, Path)) and Path(path).is_file()]
        return [*files, *self.also_read]
