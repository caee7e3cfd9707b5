"""Write the JSON Schemas that ship with the package from the models that check the files.

Run by `make docs`; a test fails when a schema is not current.
"""

from __future__ import annotations

from pathlib import Path

from run_schema import run_schema

import demur
from demur.confidences.calibration import calibration_schema
from demur.decide.rule import rule_schema
from demur.files.write import json_text
from demur.results import json_table, json_v1

FOLDER = Path(demur.__file__).parent / "schemas"
SCHEMAS = {
    "metrics.schema.json": json_v1.schema,
    "results.schema.json": json_table.schema,
    "run.schema.json": run_schema,
    "calibrator.schema.json": calibration_schema,
    "rule.schema.json": rule_schema,
}

if __name__ == "__main__":
    for name, schema in SCHEMAS.items():
        (FOLDER / name).write_text(json_text(schema()), encoding="utf-8")
        print(f"wrote {name}")
