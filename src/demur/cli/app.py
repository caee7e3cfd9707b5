"""The application and the helpers that its commands share; a user's mistake is one line and exit code 2."""

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
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from demur import __version__
from demur.cli.plain_values import Commands
from demur.errors import UserError, as_line, harmless, literal
from demur.options import Answer, enter, flag_of, option_of

if TYPE_CHECKING:
    from demur.confidences.calibration import AnyCalibration, Calibration
    from demur.results.table import Results

app = Commands(
    name="demur",
    help="Measure systems that may decline to answer: the whole risk–coverage trade-off, exactly.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
PANELS = MEASURE, DATA, DECIDE, SHOW, TRUST, MORE = "Measure", "Data", "Decide", "Show", "Trust", "More"
_BLANKS: dict[type, str] = {int: "N", float: "NUMBER", Path: "FILE", str: "NAME"}
_OUTPUTS = Path("data/outputs")  # for a result without --output


def _print_version(context: typer.Context, wanted: bool) -> None:  # noqa: FBT001  (typer's callback protocol)
    if wanted:
        lines = [f"demur {__version__}"]
        if context.params["verbose"]:
            from demur.sampling.engine import about

            lines += [f"{name:<8}{description}" for name, description in about().items()]
        typer.echo("\n".join(lines))
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[  # noqa: ARG001  (its callback prints)
        bool, typer.Option("--version", callback=_print_version, help="Print the version and exit.")
    ] = False,
    # Eager: its value is known when the version is printed, whichever comes first.
    verbose: Annotated[
        bool, typer.Option("-v", is_eager=True, help="With --version: which engine computes, and with what.")
    ] = False,
) -> None:
    """Measure systems that may decline to answer: the whole risk–coverage trade-off, exactly."""
    if verbose:
        raise UserError("-v goes with --version alone: demur --version -v")


def command_line() -> str:
    r"""The command as typed, quoted for a shell; bytes that are not UTF-8 are spelled $'\xff'."""
    return " ".join(map(_quoted, [Path(sys.argv[0]).name, *sys.argv[1:]]))


def _script() -> str:
    """The path of the script that was started in place of `demur` itself; empty if none was."""
    started = Path(sys.argv[0])
    return sys.argv[0] if started.suffix == ".py" and started.name != "__main__.py" else ""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Spells options in messages as they are typed on the command line, so that suggestions can be pasted."""

    noun: str = "command"

    def option(self, name: str, value: str = "") -> str:
        """An option as it is typed, with its value."""
        return f"{flag_of(name)} {_quoted(value)}" if value else flag_of(name)

    def blank(self, name: str) -> str:
        """An option as it is typed, with a placeholder for its value."""
        known = option_of(name)
        kind = known.metavar or _BLANKS.get(known.kind, "") if known else ""
        return f"{flag_of(name)} {kind}".strip()

    def column(self, role: str, name: str) -> str:
        """The option that maps a role to a column."""
        return f"{flag_of('columns')} {_quoted(f'{role}={name}')}"

    def again(self, answers: Sequence[Answer]) -> str:
        """The command as typed with these options added, ready to paste."""
        script = _script()
        words = [*(["python", script] if script else ["demur"]), *sys.argv[1:]]
        for answer in answers:
            value = f"{answer.role}={answer.value}" if answer.role else answer.value
            words += [flag_of(answer.name), *([str(value)] if value is not True else [])]
        return " ".join(map(_quoted, words))


def tell_notes(notes: Sequence[str], *, quiet: bool = False) -> None:
    """Print what was inferred from the data to standard error."""
    if notes and not quiet:
        typer.echo(harmless(f"demur: {'; '.join(notes)}"), err=True)


def _quoted(word: str) -> str:
    if word.isprintable():
        return shlex.quote(word)
    # Control characters, and bytes that are not UTF-8, are written as escapes that the shell decodes.
    signs = (f"\\{sign}" if sign in "\\'" else sign if sign.isprintable() else _spelled(sign) for sign in word)
    return f"$'{''.join(signs)}'"


def _spelled(sign: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(sign))


def listed(text: str, pattern: str = ".*", name: str = "", expected: str = "") -> list[str]:
    """Split a comma-separated value, and check that each part matches the pattern."""
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if not re.fullmatch(pattern, part, re.DOTALL):
            raise UserError(f"{name} {literal(part)}, expected {expected}")
    return parts


def fitted(path: AnyCalibration | str | Path | None) -> AnyCalibration | None:
    """Load a calibration file, if one is given."""
    if not isinstance(path, (str, Path)):
        return path
    from demur.confidences.calibration import load_calibration

    return load_calibration(path)


def check_flags(*, as_json: bool, quiet: bool) -> None:
    """Raise an error for contradictory flags or an unknown engine, before a large file is read."""
    from demur.sampling.engine import engine_name

    engine_name()
    if as_json and quiet:
        raise UserError("--json prints and --quiet does not: give one of them")


@dataclass(frozen=True, slots=True)
class Delivery:
    """Writes a result to its file, its page and further files, and prints it.

    The inputs, those of the result and those of its calibration are never overwritten.
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
        """Write and print a result; the text is composed first, so that an error in it leaves nothing written."""
        words = "" if self.quiet or self.as_json else text()
        written = self._write(artifact)
        if self.as_json:
            print_json(artifact.text)
        elif not self.quiet:
            if sys.stdout.isatty():
                from demur.show.console import print_report

                print_report(words)
            else:
                tell(words)
            for path in written:
                typer.echo(f"wrote {printed_path(path)}")

    def _write(self, artifact: Results | Calibration) -> list[Path]:
        """Write the file, its page and the files beside them: all or none."""
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
            from demur.show.html import report_html

            if self.report.resolve() == path.resolve():
                raise UserError(f"{self.report}: is the result file itself; give the report another name")
            contents[self.report] = report_html(artifact, sha256=fingerprint(artifact.text.encode()))
        for other, content in self.beside.items():
            if other.resolve() in {Path(target).resolve() for target in contents}:
                raise UserError(f"{other}: is the result file or its page; give another name")
            contents[other] = content
        sources = [artifact, *([self.calibration] if self.calibration else [])]
        inputs = [*self.inputs, *(path for source in sources for path in source.input_paths)]
        return write_all(contents, inputs=inputs, hashes={sha for source in sources for sha in source.input_hashes})


def public(name: str) -> Any:
    """Look up a public name of demur; a name of an extension that is not installed is an error."""
    import demur

    try:
        return getattr(demur, name)
    except AttributeError as error:
        raise UserError(str(error)) from None


def print_json(text: str) -> None:
    """Print JSON; on a terminal, or where the encoding is not UTF-8, unprintable characters are escaped."""
    utf8 = codecs.lookup(sys.stdout.encoding or "utf-8").name == "utf-8"
    if sys.stdout.isatty() or not utf8:
        is_safe = str.isprintable if utf8 else str.isascii
        text = re.sub(r"[^\n -~]", lambda match: match[0] if is_safe(match[0]) else json.dumps(match[0])[1:-1], text)
    typer.echo(text, nl=False)


def tell(text: str, *, nl: bool = True) -> None:
    """Print text that may contain text from files: control and bidirectional characters are escaped."""
    from demur.drawing.labels import inert

    typer.echo("\n".join(map(inert, text.split("\n"))), nl=nl)


def printed_path(path: Path) -> str:
    """A path with its control characters escaped."""
    from demur.files.strict_json import shown_path

    return harmless(shown_path(path))


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """A context with a progress bar on a terminal, and without one anywhere else."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def run(words: Sequence[str]) -> int:
    """Run a command and return its exit code; a `UserError` prints one line and returns 2."""
    _prepare_streams()
    leave = enter(CommandLine())
    try:
        # A script has chosen its command: in the usage, its name followed by the command would be wrong.
        code: int | None = app([*words], prog_name="demur" if _script() else None, standalone_mode=False)
    except UserError as error:
        message = str(error)
    except typer.TyperException as error:
        message = _usage(error)
    except MemoryError:
        message = "not enough memory; give it smaller files or fewer --resamples, or use a larger machine"
    except OSError as error:  # files raise UserError, so this is the standard output
        message = f"the output cannot be written ({error.strerror})"
        sys.stdout = None  # flushing its buffer at exit would fail again
    else:
        return code or 0
    finally:
        leave()
    try:
        if message:
            typer.echo(f"demur: {message}", err=True)
    except OSError:  # the exit code has to do
        sys.stderr = None
    return 2


def _prepare_streams() -> None:
    """Make closed streams, unencodable characters and a width of 0 harmless."""
    if sys.stdout is None:  # closed: printing must fail, not vanish or end up in a file that is opened later
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a character the terminal lacks is no reason to fail
    if not os.environ.get("COLUMNS", "").strip("0"):  # a width of 0 means unset
        os.environ.pop("COLUMNS", None)


def _usage(error: typer.TyperException) -> str:
    """A usage error in one line with the value; empty where the help was shown instead."""
    from pydantic import ValidationError

    from demur.files.strict_reading import one_line

    if isinstance(error, typer.BadParameter) and isinstance(error.__cause__, ValidationError) and error.param:
        return as_line(f"{error.param.opts[0]}: {one_line(error.__cause__)}")
    return as_line(error.format_message().strip())
