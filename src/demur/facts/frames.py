"""Data frames of any library as named columns, and the other way round; failures are one-line errors."""

import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

from demur.errors import UserError, literal, repeated


def columns_of(data: Any) -> dict[str, Any]:
    """Columns by name: those of a mapping unchanged, those of a pandas, polars or other frame as narwhals series."""
    columns = [*data.items()] if isinstance(data, Mapping) else [(series.name, series) for series in _series(data)]
    if twice := repeated(str(name) for name, _ in columns):
        same = " and ".join(literal(name) for name, _ in columns if str(name) == twice[0])
        raise UserError(f"the columns {same} have the same name as text: give each a name of its own")
    return {str(name): values for name, values in columns}


def is_frame(data: Any) -> bool:
    """Whether data are a frame of a library that narwhals knows."""
    if isinstance(data, (list, tuple)):
        return False
    import narwhals as nw  # noqa: PLC0415

    return nw.from_native(data, pass_through=True) is not data


def _series(frame: Any) -> list[Any]:
    import narwhals as nw  # noqa: PLC0415  (slow to import, and only frames need it)

    try:
        native = nw.from_native(frame)
    except TypeError:
        kind = type(frame).__name__
        raise UserError(f"a table is a path, a data frame or a dict of lists, not {kind}") from None
    except nw.exceptions.NarwhalsError as error:
        raise UserError(f"the frame cannot be read: {error}") from None
    if isinstance(native, nw.LazyFrame):
        try:
            native = native.collect()
        except Exception as error:  # each library raises its own exceptions for a wrong lazy plan
            raise UserError(f"the lazy frame cannot be collected: {error}") from error
    return [*native.iter_columns()]


def frame_of(columns: dict[str, list[Any]]) -> Any:
    """A data frame of polars, pandas or pyarrow: of one that is loaded already, or else of one that is installed."""
    import narwhals as nw  # noqa: PLC0415

    for name in sorted(("polars", "pandas", "pyarrow"), key=lambda name: name not in sys.modules):
        with suppress(ImportError):
            return nw.from_dict(columns, backend=import_module(name)).to_native()
    raise UserError("a data frame needs polars, pandas or pyarrow: install one of them, or use to_columns()")
