"""Loading: a result file of any kind, of this version or an earlier one."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from demur.confidences.calibration import Calibration, calibration_of
from demur.errors import UserError
from demur.files import strict_json
from demur.files.strict_reading import one_line
from demur.results import json_table, json_v1_read
from demur.results.json_retrieval_v1 import decoded as earlier_retrieval
from demur.results.table import Results


def load(path: str | Path) -> Results:
    """Read a result file of `demur evaluate` or `demur retrieval`."""
    return strict_json.read_as(path, results_of)


def results_of(content: Any) -> Results:
    """Results from parsed JSON; inconsistent content is an error of one line."""
    members = content if isinstance(content, dict) else {}
    try:
        if members.get("schema_version") == "2":
            return json_table.decoded(members)
        if "confidence_variants" in members:
            return json_v1_read.decoded(members)
        if members.get("kind") == "retrieval":
            return earlier_retrieval(members)
    except ValidationError as error:
        raise UserError(one_line(error)) from None
    raise UserError("not a result file: expected what demur evaluate or demur retrieval writes")


def load_any(path: str | Path) -> tuple[Results | Calibration, str]:
    """Results or a calibration, whichever the file holds, and the SHA-256 of its bytes."""
    data = strict_json.read_bytes(path)
    try:
        content = strict_json.loads(strict_json.decode(data))
        calibration = isinstance(content, dict) and {"method", "model"} <= content.keys()
        return (calibration_of if calibration else results_of)(content), strict_json.fingerprint(data)
    except UserError as error:
        raise error.in_file(path) from None
