"""Settings of an evaluation, which say what to compute, with all values checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from demur.errors import UserError, repeated, shown
from demur.files.strict_model import checked_time
from demur.inference.uncertainty import Request
from demur.options import flag_value_of, names_of, number_of, option, section, text_of
from demur.quantities import Measure
from demur.quantities.losses import check_loss
from demur.quantities.registry import COMMON
from demur.results.study import reported
from demur.sampling.coverage import Coverage

if TYPE_CHECKING:
    from demur.confidences.calibration import AnyCalibration
    from demur.results.table import Results

TENTHS = tuple(Coverage.of(f"0.{tenth}") for tenth in range(1, 10))
HALF = Coverage.of("0.5")


@section("settings")
@dataclass(frozen=True, slots=True)
class Settings:
    """What to compute. Without a `loss` it is the one a table gives, zero_one of texts, and abs_norm of scores.

    Without `area_coverage` areas are cut at 0.5, and at the common coverage of several systems.

    `level` and `interval` request one more interval of every number, beside those at 95 %. Systems are compared with
    the `baseline`, the first if none is named, and the verdict is on the `primary` confidence, the first if none is
    named. A signal in `lower_is_surer` ranks its lowest values first. Systems to `exclude` are left out by name, as if
    they had not been given.
    """

    loss: str | None = option(
        None, "{losses}; if not given, that of the table, zero_one for texts, abs_norm otherwise.", everyday=True
    )
    confidence: str | Sequence[str] = option(
        "default",
        "default (llm,total_evidence), all, or names of variants separated by commas.",
        everyday=True,
        also=(list,),
    )
    lower_is_surer: str | Sequence[str] = option(
        (), "A confidence whose lower values mean more confident.", metavar="COLUMN", repeated=True, everyday=True
    )
    coverages: str | float | Coverage | Sequence[Coverage | str | float] = option(
        TENTHS,
        "Coverages to report the risk at, separated by commas.",
        flag="--coverage-grid",
        everyday=True,
        also=(float, list),
    )
    area_coverage: Coverage | str | float | None = option(
        None, "Coverage to cut areas at; if not given, 0.5, or what all systems reach.", everyday=True, also=(float,)
    )
    baseline: str | None = option(
        None, "The system the others are compared with; the first if not given.", everyday=True
    )
    intersection_only: bool = option(
        default=False, description="Compare systems on the participants they share.", kind=bool, everyday=True
    )
    calibration: AnyCalibration | str | Path | None = option(
        None, "A file written by demur calibrate, or by another script.", kind=Path, everyday=True, file=True
    )
    primary: str | None = option(None, "The confidence of the verdict, chosen beforehand; the first if not given.")
    exclude: str | Sequence[str] = option((), "The name of a system to leave out.", metavar="NAME", repeated=True)
    level: float | None = option(None, "Level of one more interval, such as 0.9.", kind=float)
    interval: str | None = option(None, "Method of one more interval: recommended, percentile, bca, jackknife, …")
    created_at: str | None = option(None, "The time to record, such as 2026-01-31T12:00:00Z; now if not given.")

    def __post_init__(self) -> None:
        check_loss(self.loss)
        for name in ("baseline", "primary", "interval"):
            text_of(name, getattr(self, name))
        for name in ("lower_is_surer", "exclude"):
            object.__setattr__(self, name, names_of(name, getattr(self, name)))
        flag_value_of("intersection_only", self.intersection_only)
        number_of("level", self.level)
        checked_time(self.created_at)
        if not isinstance(self.confidence, str):
            names = names_of("confidence", self.confidence)  # one without a comma is the same as a text
            one = len(names) == 1 and "," not in names[0]
            object.__setattr__(self, "confidence", names[0] if one else names)
        object.__setattr__(self, "coverages", tuple(Coverage.of(target).plain for target in _listed(self.coverages)))
        if duplicates := repeated(self.lower_is_surer):
            raise UserError(f"{shown(duplicates[0])} is given twice: say once that lower is surer")
        if self.area_coverage is not None:
            object.__setattr__(self, "area_coverage", Coverage.of(self.area_coverage).plain)
        values = [target.value for target in self.targets]
        if len(set(values)) < len(values):
            raise UserError("the coverage grid has a coverage twice")
        Request.of(self.interval, self.level)

    @property
    def targets(self) -> tuple[Coverage, ...]:
        """The coverages at which the risk is reported."""
        return tuple(map(Coverage.of, _listed(self.coverages)))

    @property
    def request(self) -> Request | None:
        """The additional interval that was requested; None if there is none."""
        return Request.of(self.interval, self.level)

    def cut(self, systems: int) -> str:
        """The coverage at which areas end, as spelled in names of quantities."""
        if self.area_coverage is None:
            return HALF.text if systems == 1 else COMMON
        return Coverage.of(self.area_coverage).text

    def measures(self, systems: int) -> list[Measure]:
        """All reported quantities, in the order of the registry."""
        coverages = [target.text for target in self.targets]
        return [Measure.of(name, "curve") for _, name, _ in reported(self.cut(systems), coverages)]


def recorded_settings(results: Results) -> Settings:
    """The settings that results were computed with, from their record."""
    study = results.selective
    return Settings(
        loss=study.loss.name,
        confidence=study.confidences,
        lower_is_surer=results.lower_is_surer,
        coverages=study.coverages,
        area_coverage=study.area_coverage,
        baseline=study.baseline,
        intersection_only=study.intersection_only,
        exclude=study.excluded or (),
        level=study.requested.level if study.requested else None,
        interval=study.requested.interval if study.requested else None,
    )


def _listed(given: str | float | Coverage | Sequence[Coverage | str | float]) -> list[Coverage | str | float]:
    if isinstance(given, str):
        return [part.strip() for part in given.split(",")]
    return [*given] if isinstance(given, Sequence) else [given]
