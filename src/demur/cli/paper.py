"""`demur table` and `demur figure`: an artifact made ready for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from demur.cli.app import app

MetricsFile = Annotated[Path, typer.Argument(help="An artifact written by demur evaluate.")]


@app.command()
def table(
    metrics: MetricsFile,
    form: Annotated[str, typer.Option("--format", help="latex, markdown or csv.")],
    output: Annotated[Path | None, typer.Option(help="The file to write; if not given, the table is printed.")] = None,
) -> None:
    """Print the numbers of an artifact as a table: for LaTeX, for Markdown, or one line a number as CSV.

    Example: demur table metrics.json --format latex --output table.tex
    """
    from demur.artifact import load  # noqa: PLC0415  (--help does not pay for any of these)
    from demur.report.tables import table_text  # noqa: PLC0415
    from demur.write import write_whole  # noqa: PLC0415

    text = table_text(load(metrics), form)
    if output is None:
        typer.echo(text, nl=False)
    else:
        typer.echo(f"wrote {write_whole(output, text, inputs=[metrics])}")
