"""Selective prediction: stands in for the half of the audit that recomputes an artifact from its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from demur.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from demur.audit.figures import Finding
    from demur.items import Items


def runs_of(data: Sequence[str | Path], content: Any, instrument: str) -> list[Items]:
    """The runs an artifact was made of."""
    raise UserError(f"{data[0]}: run files cannot be audited yet ({type(content).__name__}, {instrument})")


def audited_selective(
    runs: Sequence[Items], content: Any, *, calibration: Any = None, resamples: int = 2000
) -> list[Finding]:
    """Every figure of an artifact, recomputed from the runs."""
    raise NotImplementedError(runs, content, calibration, resamples)
