"""Write the JSON Schemas that ship with the package from the models that check the files.

Run by `make docs`; a test fails when a schema is not current.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from run_schema import run_schema

import demur
from demur.confidences.calibration import Calibration
from demur.extensions.decide.rule import Rule
from demur.files.strict_reading import schema_of
from demur.files.write import json_text
from demur.results import json_table, json_v1

FOLDER = Path(demur.__file__).parent / "schemas"
SCHEMAS = {
    "metrics.schema.json": json_v1.schema,
    "results.schema.json": json_table.schema,
    "run.schema.json": run_schema,
    "calibrator.schema.json": partial(schema_of, Calibration),
    "rule.schema.json": partial(schema_of, Rule),
}

if __name__ == "__main__":
    for name, schema in SCHEMAS.items():
        (FOLDER / name).write_text(json_text(schema()), encoding="utf-8")
        print(f"wrote {name}")
