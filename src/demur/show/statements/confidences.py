"""Statements that compare confidences: calibration errors, where right answers are, whom differences favour."""

from __future__ import annotations

from dataclasses import dataclass

from demur.show.statements.statement import Statement
from demur.show.text import listing


@dataclass(frozen=True, slots=True)
class CalibrationError(Statement):
    """States the expected calibration error, and that of a calibrated system with the same clusters."""

    error: float
    if_calibrated: float | None

    @property
    def words(self) -> str:
        """The two errors in words."""
        expected = "" if self.if_calibrated is None else f" (calibrated: about {self.if_calibrated:.3f})"
        return f"{self.error:.3f}{expected}"


@dataclass(frozen=True, slots=True)
class HistogramHalves(Statement):
    """States how many answers are correct in the upper and in the lower half of the scale."""

    upper: tuple[int, int]
    lower: tuple[int, int]
    abstained: int

    @property
    def words(self) -> str:
        """The counts in words."""
        halves = (("upper", self.upper), ("lower", self.lower))
        texts = [f"{right} of {number} answers in the {half} half of the scale" for half, (right, number) in halves]
        return f"correct: {listing(texts)}; {self.abstained} abstained"


@dataclass(frozen=True, slots=True)
class FairDifferences(Statement):
    """States how many of the differences between comparable sides favour each system."""

    fair: int
    favoured: tuple[tuple[str, int], ...]

    @property
    def words(self) -> str:
        """The count of each system, and that of undecided differences, in words."""
        if not self.favoured:
            return f"none of the {self.fair} fair differences shows one system to be better"
        favour = listing(
            [f"{number} {'favours' if number == 1 else 'favour'} {name}" for name, number in self.favoured]
        )
        decided = sum(number for _, number in self.favoured)
        return f"of {self.fair} fair differences {favour}{'' if decided == self.fair else '; the others are undecided'}"
