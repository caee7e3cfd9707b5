"""Loading of results files of any kind."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from demur.confidences.calibration import Calibration, calibration_of
from demur.errors import IncompleteError, UserError
from demur.extension import tasks
from demur.files import strict_json
from demur.files.strict_reading import one_line
from demur.results import json_table, json_v1_read
from demur.results.table import Results
from demur.types import Json

_CONTRADICTIONS = (ArithmeticError, AttributeError, LookupError, RuntimeError, StopIteration, TypeError, ValueError)


@contextmanager
def coherent(where: object = "") -> Iterator[None]:
    """A context for decoding a file: numbers that contradict one another raise an error of one line.

    Each member is checked, and so are some that depend on one another; but a file that was changed by hand can
    contradict itself in more ways than can be listed.
    """
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            yield
    except IncompleteError as error:
        raise (error.in_file(str(where)) if where else error) from None
    except UserError:
        raise
    except _CONTRADICTIONS as error:
        what = f"its numbers do not fit together ({type(error).__name__}: {error}): evaluate the data again"
        raise UserError(f"{where}: {what}" if where else what) from error


def load(path: str | Path) -> Results:
    """Read a result file of `demur evaluate`, or of the task of an extension."""
    return strict_json.read_as(path, results_of)


def results_of(content: Any) -> Results:
    """Decode results from parsed JSON; inconsistent content is an error of one line."""
    members = content if isinstance(content, dict) else {}
    with coherent():
        return _decoded(members)


def _decoded(members: Json) -> Results:
    try:
        if members.get("schema_version") == "2":
            return json_table.decoded(members)
        if "confidence_variants" in members:
            return json_v1_read.decoded(members)
    except ValidationError as error:
        raise UserError(one_line(error)) from None
    commands = " or ".join(f"demur {name}" for name in ("evaluate", *tasks()))
    raise UserError(f"not a result file: expected what {commands} writes")


def load_any(path: str | Path) -> tuple[Results | Calibration, str]:
    """Read a file of results or of a calibration, and return its content with the SHA-256 of its bytes."""
    data = strict_json.read_bytes(path)
    try:
        content = strict_json.loads(strict_json.decode(data))
        calibration = isinstance(content, dict) and {"method", "model"} <= content.keys()
        return (calibration_of if calibration else results_of)(content), strict_json.fingerprint(data)
    except UserError as error:
        raise error.in_file(path) from None


def is_own(content: Any) -> bool:
    """Whether a parsed file was written by demur."""
    members = content if isinstance(content, dict) else {}
    tool = members.get("tool")
    return "schema_version" in members and isinstance(tool, dict) and tool.get("name") == "demur"
