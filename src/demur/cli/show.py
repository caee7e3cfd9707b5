"""`demur report`, `demur table` and `demur figure`: present results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from demur.cli.app import SHOW, app, listed, printed_path, public, tell
from demur.errors import located

if TYPE_CHECKING:
    from demur.confidences.calibration import Calibration
    from demur.results.table import Results

ResultFile = Annotated[Path, typer.Argument(help="A file written by demur evaluate.")]
Confidences = Annotated[
    str | None, typer.Option("--confidence", help="Names of confidences separated by commas; all if not given.")
]


@app.command(rich_help_panel=SHOW)
def report(
    artifact: Annotated[Path, typer.Argument(help="A file of results, or of a calibration.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The page to write; if not given, beside the file, under its name."),
    ] = None,
    rule: Annotated[
        Path | None,
        typer.Option(help="A rule of demur choose: the page marks its threshold and states its promise."),
    ] = None,
) -> None:
    """Write results as one HTML page that fetches nothing and can be read without its script.

    Example: demur report metrics.json --output report.html

    Example: demur report metrics.json --rule rule.json
    """
    from demur.results.load import coherent, load_any
    from demur.show.html import report_html

    content, sha256 = load_any(artifact)
    chosen = None if rule is None else public("load_rule")(rule)
    with located(rule or artifact), coherent():
        page = report_html(content, sha256=sha256, rule=chosen)
    path = output or artifact.with_suffix(".html")
    _write(path, page, content, artifact, *([rule] if rule else []))


@app.command(rich_help_panel=SHOW)
def table(
    results: ResultFile,
    form: Annotated[
        str,
        typer.Option("--format", help="latex, markdown, csv, sentence for the text of a paper, or json-003."),
    ],
    rows: Annotated[
        str | None,
        typer.Option(help="Quantities separated by commas, as cmax,augrc@C_common,risk@0.5; or leaderboard."),
    ] = None,
    digits: Annotated[
        int | None, typer.Option(help="Decimals of every number; 4 (3 in sentences) if not given.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write; if not given, the table is printed.")
    ] = None,
    confidence: Confidences = None,
) -> None:
    """Print results as a table: for LaTeX, for Markdown, or as CSV with one row per number; or as sentences.

    json-003 is a block of JSON with the members metrics (aurc, augrc, their optima and excesses) and interpretation.

    Example: demur table metrics.json --format latex --output table.tex

    Example: demur table metrics.json --format markdown --rows cmax,augrc@C_common --digits 3

    Example: demur table metrics.json --format sentence

    Example: demur table metrics.json --format json-003 --confidence llm
    """
    from demur.results.load import coherent
    from demur.show.table_rows import Layout
    from demur.show.tables import table_text

    layout = Layout(() if rows is None else tuple(listed(rows)), digits)
    loaded = _of_answers(results)
    with coherent(results):
        text = table_text(loaded.narrowed(confidence), form, layout)
    if output is None:
        tell(text, nl=False)
    else:
        _write(output, text, loaded, results)


@app.command(rich_help_panel=SHOW)
def figure(
    results: ResultFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write: .pdf, .svg or .png.")],
    kind: Annotated[str, typer.Option(help="risk-coverage, forest or reliability.")] = "risk-coverage",
    width: Annotated[str, typer.Option(help="single (89 mm), double (183 mm), or millimetres.")] = "single",
    confidence: Confidences = None,
) -> None:
    """Draw the curves, the differences or the reliability of results, as wide as a column of a journal.

    Example: demur figure metrics.json -o curves.pdf --width double

    Example: demur figure metrics.json -o differences.svg --kind forest --confidence llm
    """
    from demur.files.write import check_target
    from demur.results.load import coherent
    from demur.show.figure import figure_bytes, width_mm

    check_target(output, [results])
    loaded = _of_answers(results)
    width_in_mm = width_mm(width)
    with coherent(results):
        drawn = figure_bytes(loaded.narrowed(confidence), output.suffix.lower(), kind=kind, width=width_in_mm)
    _write(output, drawn, loaded, results)


def _write(path: Path, shown: str | bytes, artifact: Results | Calibration, *files: Path) -> None:
    from demur.files.write import write_whole

    written = write_whole(path, shown, inputs=[*artifact.input_paths, *files], hashes=artifact.input_hashes)
    typer.echo(f"wrote {printed_path(written)}")


def _of_answers(path: Path) -> Results:
    """Load results of selective prediction; those of another task are refused."""
    from demur.results.load import load

    results = load(path)
    with located(path):
        _ = results.selective
    return results
