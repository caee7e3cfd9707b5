"""The command line. It parses, calls the library, prints, and turns a user's mistake into one line and exit code 2."""

from __future__ import annotations

import sys
from contextlib import contextmanager
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


def main() -> None:
    """Run the command line."""
    try:
        app()
    except UserError as error:
        typer.echo(f"demur: {error}", err=True)
        sys.exit(2)
