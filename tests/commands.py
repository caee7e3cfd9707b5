"""The command line for the tests: in this process where that will do, as a real command where it matters."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import runpy
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import typer

from demur.cli import main
from demur.cli.commands import app

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
    return _called(folder, ["demur", *words], lambda: main(words))


def script(folder, name, *arguments) -> Outcome:
    """One of the scripts in a folder, without starting Python anew."""
    path = str(ROOT / "scripts" / name)
    return _called(folder, [path, *arguments], lambda: runpy.run_path(path, run_name="__main__"))


def _called(folder, argv, call) -> Outcome:
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", argv),
        mock.patch.object(sys.modules["demur.cli.app"], "app", COMMAND),
    ):
        try:
            call()
        except SystemExit as stop:
            code = stop.code or 0
    if isinstance(code, str):  # sys.exit with a message: Python prints it and ends with 1
        return Outcome(1, out.getvalue(), f"{err.getvalue()}{code}\n")
    return Outcome(code, out.getvalue(), err.getvalue())


def real_demur(folder, *arguments, **how) -> subprocess.CompletedProcess:
    """The installed console script, as a user calls it."""
    settings = {"cwd": folder, "capture_output": True, "text": True} | how
    return subprocess.run([DEMUR, *arguments], check=False, **settings)


def on_a_terminal(folder, *words, **variables):
    """What a command shows on a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([DEMUR, *words], cwd=folder, stdout=theirs, env={**os.environ, **variables}) as running:
        os.close(theirs)
        shown = b""
        while True:
            try:
                text = os.read(ours, 100_000)
            except OSError:  # Linux's end of a terminal
                break
            shown += text
    os.close(ours)
    assert running.returncode == 0
    return shown.decode().replace("\r\n", "\n")
