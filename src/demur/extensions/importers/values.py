"""Kinds of values in the records of a log, and their conversion to text."""

import json
import math
from collections.abc import Mapping
from typing import Any, TypeGuard

from demur.types import Json


def as_text(value: Any) -> str | None:
    """Format a text, number or truth value as text; None for anything else.

    >>> as_text(3), as_text(True), as_text("a"), as_text([1])
    ('3', 'true', 'a', None)
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (int, float)) else value if isinstance(value, str) else None


def answer_text(answer: Any) -> str | None:
    """Format an answer as text, and lists and objects as JSON."""
    return answer if answer is None or isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a number, and not a truth value."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_nan(value: Any) -> bool:
    """Whether a value is the number NaN."""
    return isinstance(value, float) and math.isnan(value)


def object_at(record: Any, name: str) -> Json:
    """The member of a record if it is an object, and otherwise an empty object."""
    value = record.get(name) if isinstance(record, Mapping) else None
    return value if isinstance(value, dict) else {}
