"""The command line. It parses, calls the library, prints, and turns a user's mistake into one line and exit code 2."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from demur import __version__
from demur.errors import UserError

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


def main() -> None:
    """Run the command line."""
    try:
        app()
    except UserError as error:
        typer.echo(f"demur: {error}", err=True)
        sys.exit(2)
