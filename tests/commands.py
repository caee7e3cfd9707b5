"""The command line for the tests: in this process where that will do, as a real command where it matters."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import typer

from demur.cli import app, main

ROOT = Path(__file__).parents[1]
DEMUR = Path(sys.executable).with_name("demur")


COMMAND = typer.main.get_command(app)  # built once: typer would build it anew for every call


@dataclass(frozen=True)
class Outcome:
    returncode: int
    stdout: str
    stderr: str


def demur(folder, *arguments) -> Outcome:
    """`demur …` in a folder, without starting Python anew."""
    words = [str(word) for word in arguments]
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["demur", *words]),
        mock.patch.object(sys.modules["demur.cli.app"], "app", COMMAND),
    ):
        try:
            main(words)
        except SystemExit as stop:
            code = stop.code or 0
    return Outcome(code, out.getvalue(), err.getvalue())


def real_demur(folder, *arguments, **how) -> subprocess.CompletedProcess:
    """The installed console script, as a user calls it."""
    settings = {"cwd": folder, "capture_output": True, "text": True} | how
    return subprocess.run([DEMUR, *arguments], check=False, **settings)


def script(folder, name, *arguments) -> subprocess.CompletedProcess:
    """One of the scripts, as a user calls it."""
    command = [sys.executable, ROOT / "scripts" / name, *arguments]
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
