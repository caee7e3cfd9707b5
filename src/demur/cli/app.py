"""What the commands share: they parse, call the library and print, and a mistake is one line and exit code 2."""

from __future__ import annotations

import codecs
import io
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from demur import __version__
from demur.cli.plain_values import Commands
from demur.errors import UserError, harmless, literal

if TYPE_CHECKING:
    from demur.confidences.calibration import AnyCalibration, Calibration
    from demur.results.table import Results

app = Commands(
    name="demur",
    help="Measure systems that may decline to answer: the whole risk–coverage trade-off, exactly.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
MEASURE, DATA, DECIDE, SHOW, TRUST, MORE = "Measure", "Data", "Decide", "Show", "Trust", "More"
_OUTPUTS = Path("data/outputs")  # where a result goes that was given no name
_SPELLINGS = {"variants": ("fields",), "simulate-queries": ("simulate", "queries")}
MODULES = {  # in the order the help lists them
    "evaluate": ("evaluate",),
    "retrieval": ("retrieval",),
    "calibrate": ("calibrate",),
    "fields": ("fields",),
    "imports": ("import",),
    "produce": ("produce",),
    "summarize": ("summarize",),
    "choose": ("choose",),
    "apply": ("apply",),
    "show": ("report", "table", "figure"),
    "audit": ("audit",),
    "convention": ("convention",),
    "study": ("study", "simulate", "schema", "demo"),
}
_FIRST = {"simulate": ("runs", "queries", "interviews"), "study": ("intervals", "participants")}


def _print_version(context: typer.Context, wanted: bool) -> None:  # noqa: FBT001  (typer's callback protocol)
    if wanted:
        lines = [f"demur {__version__}"]
        if context.params["verbose"]:
            from demur.inference.engines import about

            lines += [f"{name:<8}{what}" for name, what in about().items()]
        typer.echo("\n".join(lines))
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[  # noqa: ARG001  (its callback has seen to it)
        bool, typer.Option("--version", callback=_print_version, help="Print the version and exit.")
    ] = False,
    # Eager: it is known when the version is printed, wherever it stands.
    verbose: Annotated[
        bool, typer.Option("-v", is_eager=True, help="With --version: which engine computes, and with what.")
    ] = False,
) -> None:
    """Measure systems that may decline to answer: the whole risk–coverage trade-off, exactly."""
    if verbose:
        raise UserError("-v goes with --version alone: demur --version -v")


def command_line() -> str:
    r"""What was typed, for the record, as a shell takes it; bytes that are not UTF-8 are spelled $'\xff'."""
    return " ".join(map(_quoted, [Path(sys.argv[0]).name, *sys.argv[1:]]))


@dataclass(frozen=True, slots=True)
class Spoken:
    """How commands ask and tell: with a command to paste, and on the standard error."""

    quiet: bool = False
    noun: str = "command"

    def answer(self, words: Sequence[str]) -> str:
        """What was typed with some words more, as a command to paste."""
        return " ".join(map(_quoted, ["demur", *sys.argv[1:], *words]))

    def tell(self, notes: Sequence[str]) -> None:
        """Say what was taken that nobody had said."""
        if notes and not self.quiet:
            typer.echo(harmless(f"demur: {'; '.join(notes)}"), err=True)


def _quoted(word: str) -> str:
    if word.isprintable():
        return shlex.quote(word)
    # What a terminal would obey, and bytes that are not UTF-8, the shell makes itself of their numbers.
    signs = (f"\\{sign}" if sign in "\\'" else sign if sign.isprintable() else _spelled(sign) for sign in word)
    return f"$'{''.join(signs)}'"


def _spelled(sign: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(sign))


def named(
    pairs: list[str] | None, option: str, expected: str = "a name and a column with = between them"
) -> dict[str, str]:
    """What was given as NAME=VALUE, by name."""
    values: dict[str, str] = {}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if not (equals and name and value):
            raise UserError(f"{option} {literal(pair)}, expected {expected}")
        if name in values:
            raise UserError(f"{option} {literal(name)} is given twice")
        values[name] = value
    return values


def listed(text: str, pattern: str = ".*", name: str = "", expected: str = "") -> list[str]:
    """What was given separated by commas, each of it in the form that is expected."""
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if not re.fullmatch(pattern, part, re.DOTALL):
            raise UserError(f"{name} {literal(part)}, expected {expected}")
    return parts


def fitted(path: Path | None) -> AnyCalibration | None:
    """The calibration of a file, where one is given."""
    if path is None:
        return None
    from demur.confidences.calibration import load_calibration

    return load_calibration(path)


def check_flags(
    resamples: int, seed: int | None, created_at: str | None, threads: int | None, *, as_json: bool, quiet: bool
) -> None:
    """A wrong flag is told before a large file is read."""
    from demur.files.strict_model import checked_time
    from demur.inference.engines import engine_name
    from demur.inference.resample import Plan

    engine_name()
    Plan(resamples, seed=seed, threads=threads)
    checked_time(created_at)
    if as_json and quiet:
        raise UserError("--json prints and --quiet does not: give one of them")


@dataclass(frozen=True, slots=True)
class Delivery:
    """Where a result goes: the file, its page and other files where they are asked for, and what is printed.

    Nothing is written over the inputs, those of the result, and those of the calibration it was made with.
    """

    kind: str
    output: Path | None
    report: Path | None
    inputs: Sequence[str | Path] = ()
    as_json: bool = False
    quiet: bool = False
    calibration: AnyCalibration | None = None
    beside: Mapping[Path, bytes] = field(default_factory=dict)

    def of(self, artifact: Results | Calibration, text: Callable[[], str]) -> None:
        """Write and print; what goes wrong with the words goes wrong before anything is written."""
        words = "" if self.quiet or self.as_json else text()
        written = self._write(artifact)
        if self.as_json:
            print_json(artifact.text)
        elif not self.quiet:
            if sys.stdout.isatty():
                from demur.report.console import print_report

                print_report(words)
            else:
                typer.echo(words)
            for path in written:
                typer.echo(f"wrote {printed_path(path)}")

    def _write(self, artifact: Results | Calibration) -> list[Path]:
        """The file, its page and what is asked for beside them: all or none."""
        from demur.files.write import write_all

        path = self.output or _OUTPUTS / f"{self.kind}-{artifact.fingerprint[:8]}.json"
        if self.output is None:
            try:
                _OUTPUTS.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise UserError(f"{_OUTPUTS}: cannot be made ({error.strerror}); name a file with --output") from None
        contents: dict[str | Path, str | bytes] = {path: artifact.text}
        if self.report is not None:
            from demur.files.strict_json import fingerprint
            from demur.report.html import report_html

            if self.report.resolve() == path.resolve():
                raise UserError(f"{self.report}: is the result file itself; give the report another name")
            contents[self.report] = report_html(artifact, sha256=fingerprint(artifact.text.encode()))
        for other, content in self.beside.items():
            if other.resolve() in {Path(taken).resolve() for taken in contents}:
                raise UserError(f"{other}: is the result file or its page; give another name")
            contents[other] = content
        made = [artifact, *([self.calibration] if self.calibration else [])]
        inputs = [*self.inputs, *(path for each in made for path in each.input_paths)]
        return write_all(contents, inputs=inputs, hashes={sha for each in made for sha in each.input_hashes})


def print_json(text: str) -> None:
    """Print a file as it is; for a terminal, and where the encoding is not UTF-8, with JSON's escapes of odd signs."""
    utf8 = codecs.lookup(sys.stdout.encoding or "utf-8").name == "utf-8"
    if sys.stdout.isatty() or not utf8:
        fine = str.isprintable if utf8 else str.isascii
        text = re.sub(r"[^\n -~]", lambda sign: sign[0] if fine(sign[0]) else json.dumps(sign[0])[1:-1], text)
    typer.echo(text, nl=False)


def printed_path(path: Path) -> str:
    """A path with nothing in it that a terminal would obey."""
    from demur.files.strict_json import shown_path

    return harmless(shown_path(path))


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on a terminal, nothing anywhere else."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def present_spelling(words: Sequence[str]) -> list[str]:
    """A command line with the present names of commands; earlier ones keep working.

    >>> present_spelling(["variants", "run.json"]), present_spelling(["simulate", "--seed", "1"])
    (['fields', 'run.json'], ['simulate', 'runs', '--seed', '1'])
    """
    first, *rest = words or [""]
    if first in _SPELLINGS:
        return [*_SPELLINGS[first], *rest]
    if first in _FIRST and (not rest or rest[0] not in (*_FIRST[first], "--help")):
        return [first, _FIRST[first][0], *rest]
    return list(words)


def load(words: Sequence[str]) -> None:
    """Import the command that is named, or all of them where none is: for the help, and to say what was meant."""
    known = (module for module, commands in MODULES.items() if words and words[0] in commands)
    import_module(f"demur.cli.{next(known, 'commands')}")


def run(words: Sequence[str]) -> int:
    """Run a command and give its exit code; a mistake is one line."""
    _prepare_streams()
    try:
        code: int | None = app([*words], standalone_mode=False)
    except UserError as error:
        message = str(error)
    except typer.TyperException as error:
        message = _usage(error)
    except MemoryError:
        message = "not enough memory; give it smaller files or fewer --bootstrap-resamples, or use a larger machine"
    except OSError as error:  # files are read and written with errors of their own: this is the standard output
        message = f"the output cannot be written ({error.strerror})"
        sys.stdout = None  # what is still in its buffer would fail again at the end
    else:
        return code or 0
    try:
        if message:
            typer.echo(f"demur: {message}", err=True)
    except OSError:  # nobody can be told, and the exit code says it all
        sys.stderr = None
    return 2


def _prepare_streams() -> None:
    """Streams and a width that what is printed can rely on."""
    if sys.stdout is None:  # closed: what is printed must fail, not vanish, nor end up in a file that is opened later
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a sign is no reason to fail
    if not os.environ.get("COLUMNS", "").strip("0"):  # no width at all: as if it were not set
        os.environ.pop("COLUMNS", None)


def _usage(error: typer.TyperException) -> str:
    """A call that is wrong, in one line with the value; nothing where the help was shown instead."""
    from pydantic import ValidationError

    from demur.files.strict_reading import one_line

    if isinstance(error, typer.BadParameter) and isinstance(error.__cause__, ValidationError) and error.param:
        return f"{error.param.opts[0]}: {one_line(error.__cause__)}"
    return harmless(error.format_message().strip())
