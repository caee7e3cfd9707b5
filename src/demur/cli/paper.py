"""`demur table` and `demur figure`: an artifact made ready for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from demur.cli.app import app

MetricsFile = Annotated[Path, typer.Argument(help="An artifact written by demur evaluate.")]
Variants = Annotated[
    str | None, typer.Option("--confidence", help="Names of variants separated by commas; all if not given.")
]


@app.command()
def table(
    metrics: MetricsFile,
    form: Annotated[str, typer.Option("--format", help="latex, markdown or csv.")],
    output: Annotated[Path | None, typer.Option(help="The file to write; if not given, the table is printed.")] = None,
    confidence: Variants = None,
) -> None:
    """Print the numbers of an artifact as a table: for LaTeX, for Markdown, or one line a number as CSV.

    Example: demur table metrics.json --format latex --output table.tex
    """
    from demur.artifact import load  # noqa: PLC0415  (--help does not pay for any of these)
    from demur.report.numbers import narrowed  # noqa: PLC0415
    from demur.report.tables import table_text  # noqa: PLC0415
    from demur.write import write_whole  # noqa: PLC0415

    text = table_text(narrowed(load(metrics), confidence), form)
    if output is None:
        typer.echo(text, nl=False)
    else:
        typer.echo(f"wrote {write_whole(output, text, inputs=[metrics])}")


@app.command()
def figure(
    metrics: MetricsFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write: .pdf, .svg or .png.")],
    kind: Annotated[str, typer.Option(help="risk-coverage, forest or reliability.")] = "risk-coverage",
    width: Annotated[str, typer.Option(help="single (89 mm), double (183 mm), or millimetres.")] = "single",
    confidence: Variants = None,
) -> None:
    """Draw the curves, the differences or the reliability of an artifact, as wide as a column of a journal.

    Example: demur figure metrics.json -o curves.pdf --width double

    Example: demur figure metrics.json -o differences.svg --kind forest --confidence llm
    """
    from demur.artifact import load  # noqa: PLC0415  (--help does not pay for any of these)
    from demur.report.figure import figure_bytes, width_mm  # noqa: PLC0415
    from demur.report.numbers import narrowed  # noqa: PLC0415
    from demur.write import write_whole  # noqa: PLC0415

    wide, chosen = width_mm(width), narrowed(load(metrics), confidence)
    drawn = figure_bytes(chosen, output.suffix.lower(), kind=kind, width=wide)
    typer.echo(f"wrote {write_whole(output, drawn, inputs=[metrics])}")
