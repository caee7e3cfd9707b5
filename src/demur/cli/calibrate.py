"""`demur variants` and `demur calibrate`: which confidence a run can serve, and what makes it a probability."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  (typer reads the annotations)
from typing import Annotated

import typer

from demur.cli.app import (
    CalibrationFile,
    ColumnNames,
    CreatedAt,
    Experiment,
    InstrumentName,
    Mode,
    ReportPage,
    app,
    command_line,
    named,
    under_outputs,
    write_with_report,
)


@app.command()
def variants(
    run: Annotated[Path, typer.Argument(help="A run file (.json) or a long table (.csv, .jsonl, .parquet).")],
    mode: Mode = None,
    experiment: Experiment = None,
    instrument: InstrumentName = "PHQ-8",
    column: ColumnNames = None,
    calibration: CalibrationFile = None,
) -> None:
    """List the confidence variants, which of them a run can serve, and why not the others.

    Example: demur variants run.json --mode few_shot
    """
    from demur.calibration import load_calibration  # noqa: PLC0415
    from demur.confidences import served  # noqa: PLC0415
    from demur.read import read_items  # noqa: PLC0415
    from demur.report.console import variants_text  # noqa: PLC0415

    columns = named(column, "--column")
    items = read_items(run, mode=mode, experiment=experiment, instrument=instrument, columns=columns)
    fitted = load_calibration(calibration) if calibration else None
    typer.echo(variants_text(items, served(items, fitted)))


@app.command()
def calibrate(  # noqa: PLR0913, PLR0917  (one parameter an option)
    run: Annotated[Path, typer.Option("--input", help="The run to fit on: a run file or a long table.")],
    method: Annotated[str, typer.Option(help="temperature, platt, logistic, isotonic or linear.")],
    mode: Mode = None,
    experiment: Experiment = None,
    instrument: InstrumentName = "PHQ-8",
    column: ColumnNames = None,
    features: Annotated[str | None, typer.Option(help="Signals to fit on, by name, separated by commas.")] = None,
    variant: Annotated[str | None, typer.Option(help="A confidence variant to fit on, instead of features.")] = None,
    target: Annotated[
        str | None,
        typer.Option(help="correctness (the default), near_correct, or loss (for linear only, and its default)."),
    ] = None,
    folds: Annotated[int, typer.Option(help="Folds of participants for the validation.")] = 5,
    output: Annotated[
        Path | None, typer.Option(help="The file to write; if not given, one under data/outputs/ is named.")
    ] = None,
    report: ReportPage = None,
    created_at: CreatedAt = None,
) -> None:
    """Fit a calibrator on a run and write it as a JSON file, with how well it does on people it has not seen.

    Example: demur calibrate --input train.json --mode few_shot --method temperature --features verbalized_confidence

    Example: demur calibrate --input train.json --method isotonic --variant token_msp --target near_correct
    """
    from demur.fitting import calibrate as fit  # noqa: PLC0415  (--help does not pay for it)
    from demur.read import read_items  # noqa: PLC0415
    from demur.report.console import calibration_text  # noqa: PLC0415

    made = fit(
        read_items(run, mode=mode, experiment=experiment, instrument=instrument, columns=named(column, "--column")),
        method=method,
        features=None if features is None else [name.strip() for name in features.split(",")],
        variant=variant,
        target=target,
        folds=folds,
        created_at=created_at,
        command=command_line(),
    )
    name = f"calibrator-{made.method}-{made.fingerprint[:8]}.json"
    written = write_with_report(made, output or under_outputs(name), report, [run, instrument])
    typer.echo(calibration_text(made))
    for path in written:
        typer.echo(f"wrote {path}")
