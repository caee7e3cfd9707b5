"""Fields of an estimate in the nested file: writing and reading."""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields
from typing import Any, ClassVar

from demur.files.strict_model import Count, Part, Share
from demur.inference.estimates import Estimate
from demur.inference.intervals import Interval
from demur.inference.key import Key
from demur.quantities import Measure
from demur.results.file_models import Many, Pair
from demur.types import Json

INTERVALS = {"ci95": "percentile", "ci95_recommended": "recommended", "ci": "requested"}
AT_ONCE = {"ci95_simultaneous": "simultaneous"}
_PARTS = tuple(field.name for field in fields(Interval))


class Ends(Part):
    """An interval and its method, the counts by which the method was chosen, and its limits before clipping."""

    model_config: ClassVar = {"json_schema_serialization_defaults_required": False}

    method: str
    low: float
    high: float
    decided_by: str | None = None
    count: Count | None = None
    degrees: float | None = None
    skipped: Share | None = None
    clipped: Many[str] | None = None
    unclipped: Pair | None = None
    note: str | None = None

    def model_dump(self, *, exclude: Collection[str] = ()) -> Json:
        """The members that are not null."""
        return {name: value for name, value in super().model_dump(exclude=exclude).items() if value is not None}

    def _mistakes(self) -> Iterator[str]:
        if self.low > self.high:
            yield f"the low end {self.low} lies above the high end {self.high}"


def written(row: Estimate, field: str) -> Any:
    """Convert a field of an estimate to its JSON value; null if it is undefined."""
    value = getattr(row, field)
    if isinstance(value, Interval):
        if field == "percentile":
            return value.ends
        parts = {name: getattr(value, name) for name in _PARTS}
        return {name: part for name, part in parts.items() if part != ""} | {"clipped": value.clipped or None}
    return None if value == "" or (isinstance(value, float) and math.isnan(value)) else value


def estimate_of(key: Key, members: Mapping[str, Any], undefined: str = "") -> Estimate:
    """Build an estimate from its members of the file; null means a field's default, or an undefined value."""
    present = {field: _read(field, value) for field, value in members.items() if value is not None}
    if "value" not in present:
        present |= {"value": math.nan, "undefined": undefined or Measure.of(key.quantity).quantity.undefined}
    return Estimate(key, **present)


def _read(field: str, value: Any) -> Any:
    """A field of an estimate from the file: an interval from its ends, and a count as a number."""
    if field not in (*INTERVALS.values(), *AT_ONCE.values()):
        return float(value) if field == "value" else value
    if isinstance(value, tuple):
        return Interval("percentile", *value)
    parts = {name: part for name, part in dict(value).items() if part is not None and name != "clipped"}
    if "unclipped" in parts:
        parts["unclipped"] = tuple(parts["unclipped"])
    return Interval(**parts)
