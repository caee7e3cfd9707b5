"""Write docs/cli.md: every command with its options, from the command line itself.

Run by `make docs`; a test fails when the page is not current.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from demur.cli.commands import app

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).with_name("cli.md")
INTRODUCTION = """\
# The command line

This page is written by `make docs` from the commands themselves; `demur COMMAND --help` prints the same.

Exit codes: 0 success; 1 a bug in demur, with a traceback; 2 a mistake in the input or the call, and nothing was written, or standard output
cannot be written to; 3 an audit found a figure that differs, or a check of a rule raised an alarm; 4 participants of `demur produce` failed; 5 its endpoint
cannot do what was asked, or stopped answering; 130 interrupted. A mistake is one line on standard error.

Files are written whole or not at all, `--output` and `--report` both or neither, and never over an input: neither over a file the command
reads, nor over one that the results it shows were made from, which is known by its path or its SHA-256. A file that is replaced keeps its
mode. Paths may be any bytes; a file records those that are not UTF-8 as `\\xff`. Names, ids and times must be UTF-8 text.

Earlier spellings of commands keep working: `variants` (now `fields`), `simulate` without a noun (`simulate runs`), `simulate-queries`
(`simulate queries`), `study` without a noun (`study intervals`), and `--input FILE` for `evaluate FILE`.
"""


def command_section(name: str, command: Any) -> str:
    """One command: what it does, how it is called, its options."""
    about, *examples = [part.replace("\n", " ") for part in inspect.cleandoc(command.help or "").split("\n\n")]
    calls = [example.removeprefix("Example: ") for example in examples if example.startswith("Example: ")]
    more = [text for text in examples if not text.startswith("Example: ")]
    lines = [f"### `demur {name}`", "", " ".join([about, *more]), ""]
    if calls:
        lines += ["```console", *(f"$ {call}" for call in calls), "```", ""]
    if hasattr(command, "fill"):
        command.fill()
    options = [option for option in command.get_params(typer.Context(command)) if option.name != "help"]
    lines += ["| option | | default |", "|---|---|---|", *map(_option, options), ""]
    return "\n".join(lines)


def _option(option: Any) -> str:
    is_option = option.param_type_name == "option"
    spelled = " ".join(option.opts) if is_option else (option.metavar or option.name).upper()
    unset = option.default is False or option.default in (None, ()) or callable(option.default)
    default = "" if unset else f"`{option.default}`"
    words = option.help or ""
    return f"| `{spelled}` | {words.replace('|', '/')} | {'required' if option.required else default} |"


def _commands(group: Any) -> Iterator[tuple[str, str, Any]]:
    """Every command with its panel and full name; those of a group are named after it."""
    for name, command in group.commands.items():
        panel = getattr(command, "rich_help_panel", None)
        panel = panel if isinstance(panel, str) else ""
        if hasattr(command, "commands"):
            yield from ((panel, f"{name} {inner}", each) for _, inner, each in _commands(command))
        else:
            yield panel, name, command


def page() -> str:
    """The whole page: the commands in the groups of --help."""
    panels: dict[str, list[str]] = {}
    for panel, name, command in _commands(typer.main.get_command(app)):
        panels.setdefault(panel, []).append(command_section(name, command))
    return "\n".join([INTRODUCTION, *(part for panel, texts in panels.items() for part in (f"## {panel}\n", *texts))])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print("wrote docs/cli.md")
