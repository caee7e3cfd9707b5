"""The command line. It parses, calls the library, prints, and turns a user's mistake into one line and exit code 2."""

from __future__ import annotations

import io
import shlex
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from demur import __version__
from demur.errors import UserError, literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from demur.report.kinds import Reportable

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
ColumnNames = Annotated[
    list[str] | None, typer.Option("--column", help="What a column of a table is called, ROLE=COLUMN; once for each.")
]
CalibrationFile = Annotated[Path | None, typer.Option(help="A file written by demur calibrate.")]
ReportPage = Annotated[
    Path | None, typer.Option("--report", help="A page to write as well: the report of the artifact.")
]
CreatedAt = Annotated[
    str | None, typer.Option(help="The time to record, such as 2026-01-31T12:00:00Z; the present if not given.")
]


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


def command_line() -> str:
    """What was typed, for the record."""
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


def named(pairs: list[str] | None, option: str) -> dict[str, str]:
    """What was given as NAME=VALUE, by name."""
    found: dict[str, str] = {}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if not (equals and name and value):
            raise UserError(f"{option} {literal(pair)}, expected a name and a column with = between them")
        if name in found:
            raise UserError(f"{option} {literal(name)} is given twice")
        found[name] = value
    return found


def under_outputs(name: str) -> Path:
    """Where a result goes that was given no place."""
    folder = Path("data/outputs")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder}: cannot be made ({error.strerror}); name a file with --output") from None
    return folder / name


def write_with_report(artifact: Reportable, path: Path, report: Path | None, inputs: list[str | Path]) -> list[Path]:
    """Write the artifact, and its page where one is asked for: both or neither."""
    if report is None:
        return [artifact.save(path, inputs=inputs)]
    from demur.report.html import write_report  # noqa: PLC0415
    from demur.strict_json import fingerprint  # noqa: PLC0415
    from demur.write import json_text, refuse_place  # noqa: PLC0415

    if report.resolve() == path.resolve():
        raise UserError(f"{report}: is the artifact's place; give the report another")
    refuse_place(path, inputs=inputs)
    sha256 = fingerprint(json_text(artifact.to_json()).encode())
    page = write_report(artifact, report, inputs=inputs, sha256=sha256)
    return [artifact.save(path, inputs=inputs), page]


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on a terminal, nothing anywhere else."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def in_order(*names: str) -> None:
    """List the commands in this order: what most people come for first, and no command left out."""

    def place(command: typer.models.CommandInfo) -> int:
        assert command.callback is not None  # noqa: S101  (every command has one)
        return names.index(command.name or command.callback.__name__)

    app.registered_commands.sort(key=place)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a sign is no reason to fail
    try:
        app(arguments)
    except UserError as error:
        typer.echo(f"demur: {error}", err=True)
        sys.exit(2)
    except OSError as error:  # files are read and written with errors of their own: this is the standard output
        typer.echo(f"demur: the output cannot be written ({error.strerror})", err=True)
        sys.exit(2)
