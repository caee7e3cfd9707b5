"""Fields of an estimate as the nested file holds them: writing and reading."""

import math
from dataclasses import fields
from typing import Any

from demur.inference.estimates import Estimate
from demur.inference.intervals import Interval

INTERVALS = {"ci95": "percentile", "ci95_recommended": "recommended", "ci": "requested"}
AT_ONCE = {"ci95_simultaneous": "simultaneous"}
_PARTS = tuple(field.name for field in fields(Interval))
_EARLIER_METHODS = {"bootstrap_t": "t_interval"}
_NULL = {
    "no_interval": "",
    "not_requested": "",
    **dict.fromkeys(("value", "std_error", "drop_rate", "p_value", "above", "below"), math.nan),
}


def written(row: Estimate, field: str) -> Any:
    """A field of an estimate as the file holds it: null where it is undefined."""
    value = getattr(row, field)
    if isinstance(value, Interval):
        if field == "percentile":
            return value.ends
        parts = {name: getattr(value, name) for name in _PARTS}
        return {name: part for name, part in parts.items() if part != ""} | {"clipped": value.clipped or None}
    return None if value == "" or (isinstance(value, float) and math.isnan(value)) else value


def read(field: str, value: Any) -> Any:
    """A field of an estimate from the file: an interval from its ends, and nan for a null number."""
    if value is None:
        return _NULL.get(field)
    if field not in (*INTERVALS.values(), *AT_ONCE.values()):
        return value
    if isinstance(value, tuple):
        return Interval("percentile", *value)
    parts = {name: part for name, part in dict(value).items() if part is not None and name != "clipped"}
    if "unclipped" in parts:
        parts["unclipped"] = tuple(parts["unclipped"])
    return Interval(**parts | {"method": present_method(parts["method"])})


def present_method(method: str) -> str:
    """The present name of a method; files of version 0.1 may have another."""
    return _EARLIER_METHODS.get(method, method)
