"""The command line. It parses, calls the library, prints, and turns a user's mistake into one line and exit code 2."""

from __future__ import annotations

import shlex
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from demur import __version__
from demur.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

app = typer.Typer(
    name="demur",
    help="Measure systems that may decline to answer: the whole risk–coverage trade-off, exactly.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


Mode = Annotated[str | None, typer.Option(help="Which experiment of a run file: its mode.")]
Experiment = Annotated[int | None, typer.Option(help="Which experiment of a run file: its index, from 0.")]
InstrumentName = Annotated[str, typer.Option(help="A name, or a .json or .toml file; none: a table's own items.")]
CalibrationFile = Annotated[Path | None, typer.Option(help="A file written by demur calibrate.")]


def _print_version(wanted: bool) -> None:  # noqa: FBT001  (typer's callback protocol)
    if wanted:
        typer.echo(f"demur {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[  # noqa: FBT002  (handled by its callback)
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Measure systems that may decline to answer: the whole risk–coverage trade-off, exactly."""


@app.command()
def study(  # noqa: PLR0913, PLR0917  (one parameter an option)
    seed: Annotated[int, typer.Option(help="Seed of the simulation: any integer, 0 or more.")],
    participants: Annotated[int, typer.Option(help="How many participants a data set has.")] = 41,
    datasets: Annotated[int, typer.Option(help="How many data sets to make.")] = 1000,
    resamples: Annotated[int, typer.Option(help="Bootstrap resamples of each data set.")] = 1000,
    correlation: Annotated[float, typer.Option(help="How much a person's items are alike, 0 to 1.")] = 0.6,
    loss: Annotated[str, typer.Option(help="abs, abs_norm or zero_one.")] = "abs_norm",
    confidence: Annotated[str, typer.Option(help="The signal that ranks the answers.")] = "llm_evidence_count",
    instrument: Annotated[str, typer.Option(help="A name, or a .json or .toml file.")] = "PHQ-8",
) -> None:
    """Measure how often intervals hold the truth, on made-up runs of your size.

    Example: demur study --participants 20 --datasets 1000 --seed 1
    """
    from demur.instruments import instrument as instrument_of  # noqa: PLC0415  (--help does not pay for it)
    from demur.study import Design, coverage, report  # noqa: PLC0415

    design = Design(
        participants=participants,
        loss=loss,
        confidence=confidence,
        correlation=correlation,
        instrument=instrument_of(instrument),
    )
    with _progress("data sets") as advance:
        tallies = coverage(design, datasets=datasets, seed=seed, n_resamples=resamples, progress=advance)
    size = f"--participants {participants} --datasets {datasets} --resamples {resamples} --seed {seed}"
    kind = f"--correlation {correlation} --loss {loss} --confidence {confidence} --instrument {design.instrument.name}"
    typer.echo(f"demur study {size} {kind}")
    typer.echo(report(design, tallies))


@app.command()
def variants(
    run: Annotated[Path, typer.Argument(help="A run file (.json) or a long table (.csv, .jsonl, .parquet).")],
    mode: Mode = None,
    experiment: Experiment = None,
    instrument: InstrumentName = "PHQ-8",
    calibration: CalibrationFile = None,
) -> None:
    """List the confidence variants, which of them a run can serve, and why not the others.

    Example: demur variants run.json --mode few_shot
    """
    from demur.calibration import load_calibration  # noqa: PLC0415
    from demur.confidences import served  # noqa: PLC0415
    from demur.console import variants_text  # noqa: PLC0415
    from demur.read import read_items  # noqa: PLC0415

    items = read_items(run, mode=mode, experiment=experiment, instrument=instrument)
    fitted = load_calibration(calibration) if calibration else None
    typer.echo(variants_text(items, served(items, fitted)))


@app.command()
def calibrate(  # noqa: PLR0913, PLR0917  (one parameter an option)
    run: Annotated[Path, typer.Option("--input", help="The run to fit on: a run file or a long table.")],
    method: Annotated[str, typer.Option(help="temperature, platt, logistic, isotonic or linear.")],
    mode: Mode = None,
    experiment: Experiment = None,
    instrument: InstrumentName = "PHQ-8",
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
    created_at: Annotated[
        str | None, typer.Option(help="The time to record, such as 2026-01-31T12:00:00Z; the present if not given.")
    ] = None,
) -> None:
    """Fit a calibrator on a run and write it as a JSON file, with how well it does on people it has not seen.

    Example: demur calibrate --input train.json --mode few_shot --method temperature --features verbalized_confidence

    Example: demur calibrate --input train.json --method isotonic --variant token_msp --target near_correct
    """
    from demur.console import calibration_text  # noqa: PLC0415
    from demur.fitting import calibrate as fit  # noqa: PLC0415  (--help does not pay for it)
    from demur.read import read_items  # noqa: PLC0415

    made = fit(
        read_items(run, mode=mode, experiment=experiment, instrument=instrument),
        method=method,
        features=None if features is None else [name.strip() for name in features.split(",")],
        variant=variant,
        target=target,
        folds=folds,
        created_at=created_at,
        command=_command(),
    )
    path = made.save(output or _under_outputs(f"calibrator-{made.method}-{made.fingerprint[:8]}.json"))
    typer.echo(calibration_text(made))
    typer.echo(f"wrote {path}")


def _command() -> str:
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


def _under_outputs(name: str) -> Path:
    folder = Path("data/outputs")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder}: cannot be made ({error.strerror}); name a file with --output") from None
    return folder / name


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on a terminal, nothing anywhere else."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    try:
        app(arguments)
    except UserError as error:
        typer.echo(f"demur: {error}", err=True)
        sys.exit(2)
