"""`demur schema` and `demur demo`."""

from pathlib import Path
from typing import Annotated

import typer

from demur.cli.app import MORE, app, progress_bar
from demur.errors import unknown

SCHEMAS = ("metrics", "results", "run", "calibrator")
_EARLIER = {"retrieval": "results"}


@app.command(rich_help_panel=MORE)
def schema(name: Annotated[str, typer.Argument(help="metrics, results, run or calibrator.")]) -> None:
    """Print the JSON Schema of a file demur writes or reads.

    Example: demur schema metrics > metrics.schema.json
    """
    from importlib.resources import files

    name = _EARLIER.get(name, name)
    if name not in SCHEMAS:
        raise unknown("schema", name, SCHEMAS)
    typer.echo(files("demur").joinpath(f"schemas/{name}.schema.json").read_text(encoding="utf-8"), nl=False)


@app.command(rich_help_panel=MORE)
def demo(
    folder: Annotated[Path, typer.Option(help="Where to put the runs, the results and the page.")] = Path(
        "data/outputs/demo"
    ),
) -> None:
    """Simulate two systems that may abstain, evaluate and compare them, and say what the numbers mean.

    Example: demur demo
    """
    from demur.report.console import evaluation_text
    from demur.simulate.demo import demonstrate

    with progress_bar("resamples") as advance:
        shown = demonstrate(folder, progress=advance)
    typer.echo(evaluation_text(shown.results))
    typer.echo(f"\n{shown.explanation}\n\nRuns: {shown.run}\nResults: {shown.artifact}\nReport: {shown.page}")
