"""`demur evaluate`: measure one system, or compare several, with intervals."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from typing import Annotated

import typer

from demur.cli import options
from demur.cli.app import MEASURE, Delivery, app, check_flags, command_line, fitted, progress_bar, tell_notes
from demur.cli.sections import FEATURES, SectionsCommand, Typed, with_file, with_sections


@app.command(rich_help_panel=MEASURE, cls=SectionsCommand)
@with_sections("columns", "reading", "settings", "plan", FEATURES)
def evaluate(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            help="Run files, long tables, summaries or folders of parts, FILE or NAME=FILE: several to compare."
        ),
    ] = None,
    inputs: Annotated[list[str] | None, typer.Option("--input", hidden=True, help="The same, as an option.")] = None,
    *,
    output: options.Output = None,
    report: options.ReportPage = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    typed: Typed,
) -> None:
    """Evaluate a system that may abstain, or compare several on the same participants, and write every number.

    Options may also stand in demur.toml, in this folder or one above it, by their sections: docs/cli.md has them.

    Example: demur evaluate run.json --mode few_shot

    Example: demur evaluate run.json run.json --mode zero_shot --mode few_shot --confidence all --seed 7

    Example: demur evaluate A=a.csv B=b.csv C=c.csv --baseline A

    Example: demur evaluate A=parts/ --workers 4 --confidence sure

    Example: demur evaluate scores.csv --column cluster=document --noun document --confidence sure
    """
    from demur.evaluation.answering import evaluate_data
    from demur.show.console import evaluation_text

    check_flags(as_json=as_json, quiet=quiet)
    typed, path = with_file(typed)
    request = typed.request(command=command_line(), also_read=[path] if path else [])
    if path is not None:
        tell_notes([f"options of {path}"], quiet=quiet)
    with progress_bar("resamples") as advance:
        request = replace(request, plan=replace(request.plan, progress=advance))
        data = [*(files or ()), *(inputs or ())]
        results = evaluate_data(data, request, lambda notes: tell_notes(notes, quiet=quiet))
    width = {"width": shutil.get_terminal_size().columns} if sys.stdout.isatty() else {}
    fit = fitted(request.settings.calibration)
    delivery = Delivery("metrics", output, report, request.files, as_json, quiet, fit)
    delivery.of(results, lambda: evaluation_text(results, **width))
