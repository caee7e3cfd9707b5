"""`demur report`: an artifact as a page for people."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  (typer reads the annotations)
from typing import Annotated

import typer

from demur.cli.app import app


@app.command()
def report(
    artifact: Annotated[Path, typer.Argument(help="An artifact of demur evaluate, retrieval or calibrate.")],
    output: Annotated[
        Path | None, typer.Option(help="The page to write; if not given, beside the artifact, under its name.")
    ] = None,
) -> None:
    """Write an artifact as one HTML page: nothing is fetched, and it can be read without its script.

    Example: demur report metrics.json --output report.html
    """
    from demur.report.html import write_report  # noqa: PLC0415  (--help does not pay for it)
    from demur.report.kinds import read_reportable  # noqa: PLC0415

    content, sha256 = read_reportable(artifact)
    page = write_report(content, output or artifact.with_suffix(".html"), inputs=[artifact], sha256=sha256)
    typer.echo(f"wrote {page}")
