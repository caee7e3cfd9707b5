"""Design: the features a calibrator is fitted on and applied to, as columns. Named ones are found by name."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from demur.columns import Column, check_lengths
from demur.errors import UserError, and_more, shown
from demur.frames import columns_of
from demur.types import Floats


def columns_by_name(features: Any, names: Sequence[str] | None = None) -> tuple[tuple[str, ...] | None, list[Floats]]:
    """The names of the features, if they have any, and their columns; of these names only, if some are given."""
    named = _named(features)
    if named is None:
        return None, _unnamed(features)
    wanted = tuple(named) if names is None else tuple(names)
    if not wanted:
        raise UserError("there are no features")
    missing = [name for name in wanted if name not in named]
    if missing:
        raise UserError(and_more(f"the feature {shown(missing[0])} is missing", len(missing)))
    columns = [_numbers(shown(name), named[name]) for name in wanted]
    check_lengths(dict(zip(wanted, columns, strict=True)))
    return wanted, columns


def _named(features: Any) -> Mapping[str, Any] | None:
    if isinstance(features, Mapping):
        return {str(name): column for name, column in features.items()}
    return columns_of(features) if hasattr(features, "columns") else None


def columns_named(features: Any, names: tuple[str, ...] | None, count: int) -> list[Floats]:
    """The columns of these names, in this order; of features that never had a name, as many as there were."""
    given, columns = columns_by_name(features, names)
    if names is None:
        if len(columns) != count:
            raise UserError(f"{len(columns)} features, expected {count}")
        if given is not None and count > 1:
            raise UserError("this calibrator was fitted on a matrix without names: which feature is which is not known")
    elif given is None:
        raise UserError(f"the features are {', '.join(map(shown, names))}: give them by name, as a dict or a frame")
    return columns


def _unnamed(features: Any) -> list[Floats]:
    try:
        shape = np.shape(features)
    except ValueError:  # rows of different lengths
        shape = ()
    if len(shape) == 1:
        return [_numbers("feature", features)]
    if len(shape) != 2 or not shape[1]:  # noqa: PLR2004
        raise UserError(
            f"features of shape {shape}, expected one column, or one row per unit and one column per feature"
        )
    return [_numbers(f"feature {number}", column) for number, column in enumerate(np.asarray(features).T, 1)]


def _numbers(name: str, values: Any) -> Floats:
    column = Column.from_sequence(values)
    column.refuse(~column.usable(), name, "a finite number", lambda row: f"row {row + 1}")
    if not len(column):
        raise UserError("there are no units to calibrate on")
    return column.values


def in_one_order(columns: Sequence[Floats], outcome: Floats) -> tuple[list[Floats], Floats]:
    """Rows sorted by their values, so that a fit does not depend on the order they came in."""
    check_lengths({"features": columns[0], "targets": outcome})
    order = np.lexsort((outcome, *columns))
    return [column[order] for column in columns], outcome[order]
