"""`demur schema`: the JSON Schemas of the files that demur writes and reads."""

from typing import Annotated

import typer

from demur.cli.app import MORE, app
from demur.errors import unknown

SCHEMAS = ("metrics", "results", "run", "calibrator", "rule")


@app.command(rich_help_panel=MORE)
def schema(name: Annotated[str, typer.Argument(help="metrics, results, run, calibrator or rule.")]) -> None:
    """Print the JSON Schema of a file demur writes or reads.

    Example: demur schema metrics > metrics.schema.json
    """
    from importlib.resources import files

    from demur.extension import tasks

    name = "results" if name in tasks() else name
    if name not in SCHEMAS:
        raise unknown("schema", name, SCHEMAS)
    typer.echo(files("demur").joinpath(f"schemas/{name}.schema.json").read_text(encoding="utf-8"), nl=False)
