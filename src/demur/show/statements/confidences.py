"""Confidences side by side: calibration errors, where right answers are, and how many differences favour whom."""

from __future__ import annotations

from dataclasses import dataclass

from demur.show.statements.statement import Statement
from demur.show.text import listing


@dataclass(frozen=True, slots=True)
class CalibrationError(Statement):
    """The expected calibration error, and what a calibrated system with the same clusters would show."""

    error: float
    if_calibrated: float | None

    @property
    def words(self) -> str:
        """Both numbers."""
        expected = "" if self.if_calibrated is None else f" (calibrated: about {self.if_calibrated:.3f})"
        return f"{self.error:.3f}{expected}"


@dataclass(frozen=True, slots=True)
class HistogramHalves(Statement):
    """The correct answers in the upper and in the lower half of the scale, each with all answers there."""

    upper: tuple[int, int]
    lower: tuple[int, int]
    abstained: int

    @property
    def words(self) -> str:
        """The counts."""
        halves = (("upper", self.upper), ("lower", self.lower))
        texts = [f"{right} of {number} answers in the {half} half of the scale" for half, (right, number) in halves]
        return f"correct: {listing(texts)}; {self.abstained} abstained"


@dataclass(frozen=True, slots=True)
class FairDifferences(Statement):
    """How many of the differences between comparable sides favour each system."""

    fair: int
    favoured: tuple[tuple[str, int], ...]

    @property
    def words(self) -> str:
        """The counts of each system, and that the others are undecided."""
        if not self.favoured:
            return f"none of the {self.fair} fair differences shows one system to be better"
        favour = listing(
            [f"{number} {'favours' if number == 1 else 'favour'} {name}" for name, number in self.favoured]
        )
        decided = sum(number for _, number in self.favoured)
        return f"of {self.fair} fair differences {favour}{'' if decided == self.fair else '; the others are undecided'}"
