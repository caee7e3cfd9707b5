"""Raters and published points as rows of a table."""

import math

from demur.features.raters.gaps import gap_key, gap_verdict, system_key
from demur.features.raters.models import ExternalPoint
from demur.features.raters.recorded import margin_of
from demur.inference.estimates import deciding
from demur.inference.key import Key
from demur.results.table import Results
from demur.show.names import NamedSystem
from demur.show.text import UNDEFINED, four, interval_text, with_interval

HEADINGS = ("who", "coverage", "risk", "system there", "risk less the system's", "verdict")


def point_row(results: Results, point: ExternalPoint, system: NamedSystem, confidence: str) -> tuple[str, ...]:
    """A point as a row of a table."""
    gap, own = (results[key(point.name, system.system, confidence)] for key in (gap_key, system_key))
    cells = [with_interval(results, results[Key(point.name, name)]) for name in ("cmax", "risk")]
    at_coverage = "beyond Cmax" if math.isnan(own.value) else with_interval(results, own)
    if math.isnan(gap.value):
        return point.name, *cells, at_coverage, UNDEFINED, ""
    ends, verdict = deciding(gap), gap_verdict(gap, margin_of(results)) or "not tested"
    difference = four(gap.value) if ends is None else f"{four(gap.value)} {interval_text(ends)}"
    return point.name, *cells, at_coverage, difference, verdict
