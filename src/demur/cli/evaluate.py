"""`demur evaluate`, `demur demo` and `demur schema`: the main job, a tour of it, and what its files look like."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from demur.cli.app import (
    CalibrationFile,
    ColumnNames,
    CreatedAt,
    InstrumentName,
    ReportPage,
    app,
    command_line,
    named,
    progress_bar,
    under_outputs,
    write_with_report,
)
from demur.errors import UserError, literal, unknown

if TYPE_CHECKING:
    from demur.artifact import Metrics
    from demur.coverage import Coverage

SCHEMAS = ("metrics", "run", "calibrator", "retrieval")


@app.command()
def evaluate(  # noqa: PLR0913, PLR0917  (one parameter an option)
    inputs: Annotated[list[Path], typer.Option("--input", help="A run file or a long table; twice to compare two.")],
    mode: Annotated[
        list[str] | None, typer.Option(help="Mode of the experiment: one for all, or one an input.")
    ] = None,
    experiment: Annotated[
        list[int] | None, typer.Option(help="Index of the experiment, from 0: one for all, or one an input.")
    ] = None,
    instrument: InstrumentName = "PHQ-8",
    column: ColumnNames = None,
    loss: Annotated[str, typer.Option(help="abs, abs_norm or zero_one.")] = "abs_norm",
    confidence: Annotated[
        str, typer.Option(help="default (llm,total_evidence), all, or names of variants separated by commas.")
    ] = "default",
    coverage_grid: Annotated[
        str, typer.Option(help="Coverages to report the risk at, separated by commas.")
    ] = "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9",
    area_coverage: Annotated[
        str | None, typer.Option(help="Where to cut the areas; 0.5, and the common coverage of two runs, if not given.")
    ] = None,
    bootstrap_resamples: Annotated[int, typer.Option(help="Bootstrap resamples of participants; 0: none.")] = 10_000,
    seed: Annotated[
        int | None,
        typer.Option(help="Seed of the resampling: any integer, 0 or more. Required unless nothing is resampled."),
    ] = None,
    calibration: CalibrationFile = None,
    output: Annotated[
        Path | None, typer.Option(help="The artifact to write; if not given, one under data/outputs/ is named.")
    ] = None,
    report: ReportPage = None,
    intersection_only: Annotated[  # noqa: FBT002
        bool, typer.Option("--intersection-only", help="Compare two runs on the participants they share.")
    ] = False,
    level: Annotated[float | None, typer.Option(help="Level of one more interval, such as 0.9.")] = None,
    interval: Annotated[
        str | None, typer.Option(help="Method of one more interval: recommended, percentile, bca, jackknife, …")
    ] = None,
    as_json: Annotated[  # noqa: FBT002
        bool, typer.Option("--json", help="Print the artifact instead of the report.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing.")] = False,  # noqa: FBT002
    created_at: CreatedAt = None,
) -> None:
    """Evaluate a run that may abstain, or compare two on the same participants, and write every number down.

    Example: demur evaluate --input run.json --mode few_shot --seed 7

    Example: demur evaluate --input run.json --mode zero_shot --input run.json --mode few_shot --confidence all --seed 7
    """
    from demur.calibration import load_calibration  # noqa: PLC0415  (--help does not pay for any of these)
    from demur.coverage import Coverage  # noqa: PLC0415
    from demur.evaluation import Settings  # noqa: PLC0415
    from demur.evaluation import evaluate as evaluated  # noqa: PLC0415
    from demur.read import read_inputs  # noqa: PLC0415
    from demur.resample import Plan  # noqa: PLC0415
    from demur.results import metrics_artifact  # noqa: PLC0415
    from demur.strict_model import checked_time  # noqa: PLC0415

    settings = Settings(
        loss=loss,
        confidence=confidence,
        grid=_grid(coverage_grid),
        area_coverage=None if area_coverage is None else Coverage.of(area_coverage),
        level=level,
        interval=interval,
    )
    Plan(bootstrap_resamples, seed=seed)  # a wrong flag is told before a large file is read
    checked_time(created_at)
    if as_json and quiet:
        raise UserError("--json prints and --quiet does not: give one of them")
    runs = read_inputs(
        inputs,
        modes=mode or (),
        experiments=experiment or (),
        instrument=instrument,
        columns=named(column, "--column"),
    )
    with progress_bar("resamples") as advance:
        found = evaluated(
            *runs,
            settings=settings,
            plan=Plan(bootstrap_resamples, seed=seed, progress=advance),
            calibration=load_calibration(calibration) if calibration else None,
            intersection_only=intersection_only,
        )
    metrics = metrics_artifact(found, created_at=created_at, command=command_line())
    given: list[str | Path] = [*inputs, instrument, *([calibration] if calibration else [])]
    path = output or under_outputs(f"metrics-{metrics.fingerprint[:8]}.json")
    written = write_with_report(metrics, path, report, given)
    _print(metrics, written, as_json=as_json, quiet=quiet)


def _grid(text: str) -> tuple[Coverage, ...]:
    from demur.coverage import Coverage  # noqa: PLC0415

    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if not part or set(part) - set("0123456789."):
            raise UserError(f"coverage grid: {literal(part)}, expected decimals such as 0.1,0.25,0.5")
    return tuple(map(Coverage.of, parts))


def _print(metrics: Metrics, written: list[Path], *, as_json: bool, quiet: bool) -> None:
    from demur.report.console import evaluation_text, print_report  # noqa: PLC0415
    from demur.write import json_text  # noqa: PLC0415

    if quiet:
        return
    if as_json:
        typer.echo(json_text(metrics.to_json()), nl=False)
        return
    if sys.stdout.isatty():
        print_report(evaluation_text(metrics, width=shutil.get_terminal_size().columns))
    else:
        typer.echo(evaluation_text(metrics))
    for path in written:
        typer.echo(f"wrote {path}")


@app.command()
def demo(
    folder: Annotated[Path, typer.Option(help="Where to put the runs, the artifact and the page.")] = Path(
        "data/outputs/demo"
    ),
) -> None:
    """Simulate two systems that may abstain, evaluate and compare them, and say what the numbers mean.

    Example: demur demo
    """
    from demur.demo import demonstrate  # noqa: PLC0415
    from demur.report.console import evaluation_text  # noqa: PLC0415

    with progress_bar("resamples") as advance:
        shown = demonstrate(folder, progress=advance)
    typer.echo(evaluation_text(shown.metrics))
    typer.echo(f"\n{shown.explanation}\n\nRuns: {shown.run}\nArtifact: {shown.artifact}\nReport: {shown.page}")


@app.command()
def schema(
    name: Annotated[str, typer.Argument(help="metrics, run, calibrator or retrieval.")],
) -> None:
    """Print the JSON Schema of a file demur writes or reads.

    Example: demur schema metrics > metrics.schema.json
    """
    from importlib.resources import files  # noqa: PLC0415

    if name not in SCHEMAS:
        raise unknown("schema", name, SCHEMAS)
    typer.echo(files("demur").joinpath(f"schemas/{name}.schema.json").read_text(encoding="utf-8"), nl=False)
