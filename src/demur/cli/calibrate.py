"""`demur calibrate`: fit a calibrator that turns a confidence into a probability."""

from pathlib import Path
from typing import Annotated

import typer

from demur.cli import options
from demur.cli.app import MEASURE, Delivery, app, command_line, listed, tell_notes
from demur.cli.sections import SectionsCommand, Typed, with_sections


@app.command(rich_help_panel=MEASURE, cls=SectionsCommand)
@with_sections("columns", "reading")
def calibrate(
    run: Annotated[Path, typer.Option("--input", help="The run to fit on: a run file or a long table.")],
    method: Annotated[str, typer.Option(help="{methods}.")],
    *,
    features: Annotated[str | None, typer.Option(help="Signals to fit on, by name, separated by commas.")] = None,
    variant: Annotated[str | None, typer.Option(help="A confidence variant to fit on, instead of features.")] = None,
    target: Annotated[
        str | None, typer.Option(help="{targets}; what the method usually predicts if not given.")
    ] = None,
    folds: Annotated[int, typer.Option(help="Folds of participants for the validation.")] = 5,
    output: options.Output = None,
    report: options.ReportPage = None,
    created_at: options.CreatedAt = None,
    typed: Typed,
) -> None:
    """Fit a calibrator on a run and write it as a JSON file, with how well it does on people it has not seen.

    Example: demur calibrate --input train.json --mode few_shot --method temperature --features verbalized_confidence

    Example: demur calibrate --input train.json --method isotonic --variant token_msp --target near_correct
    """
    from demur.confidences.fitting import calibrate as fit
    from demur.show.console import calibration_text

    items, _ = typed.understood(run, tell_notes, confidence="any", loss="any")
    calibration = fit(
        items,
        method=method,
        features=None if features is None else listed(features),
        variant=variant,
        target=target,
        folds=folds,
        created_at=created_at,
        command=command_line(),
    )
    delivery = Delivery(f"calibrator-{calibration.method}", output, report, [run, str(typed.reading.instrument)])
    delivery.of(calibration, lambda: calibration_text(calibration))
