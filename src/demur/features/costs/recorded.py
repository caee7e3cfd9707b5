"""What results record of costs: the prices of an abstention, and the prices at which the cheapest threshold changes."""

from collections.abc import Mapping, Sequence
from typing import Any

from demur.results.file_models import CurveRecord
from demur.results.table import Results


def prices_of(results: Results) -> tuple[str, ...]:
    """The prices that costs are reported at."""
    study: Any = results.selective
    return study.abstention_costs or ()


def switches_of(record: CurveRecord) -> Sequence[Mapping[str, float | None]]:
    """The prices at which the cheapest threshold changes, with both thresholds."""
    curve: Any = record
    return curve.switches or ()
