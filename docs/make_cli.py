"""Write docs/cli.md: every command with its options, from the command line itself.

Run by `make docs`; a test fails when the page is not current.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from demur.cli import app

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).with_name("cli.md")
INTRODUCTION = """\
# The command line

This page is written by `make docs` from the commands themselves; `demur COMMAND --help` says the same.

Exit codes: 0 all is well; 2 something in the input or the call is wrong, and nothing was written; 1 a mistake of ours, with a traceback;
3 an audit found a figure that differs; 130 interrupted. What is wrong with a file or a value is one line on standard error; an option that does not exist gets a box that
names the nearest one. Files are written whole or not at all, and never over an input.
"""


def command_section(name: str, command: object) -> str:
    """One command: what it does, how it is called, its options."""
    text = inspect.cleandoc(getattr(command, "help", "") or "")
    about, *examples = [part.replace("\n", " ") for part in text.split("\n\n")]
    lines = [f"## `demur {name}`", "", about, ""]
    if examples:
        calls = [example.removeprefix("Example: ") for example in examples]
        lines += ["```console", *(f"$ {call}" for call in calls), "```", ""]
    lines += ["| option | | default |", "|---|---|---|"]
    for option in command.get_params(typer.Context(command)):  # type: ignore[attr-defined]
        if option.name == "help":
            continue
        spelled = " ".join(option.opts) if option.param_type_name == "option" else option.name.upper()
        default = "" if option.default in (None, False, ()) or callable(option.default) else f"`{option.default}`"
        needed = "required" if option.required else default
        lines.append(f"| `{spelled}` | {(option.help or '').replace('|', '/')} | {needed} |")
    return "\n".join([*lines, ""])


def commands(group: object, before: str = "") -> Iterator[tuple[str, object]]:
    """Every command by its full name, those of a group after one another."""
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        if hasattr(command, "commands"):
            yield from commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def page() -> str:
    """The whole page."""
    sections = (command_section(name, command) for name, command in commands(typer.main.get_command(app)))
    return "\n".join([INTRODUCTION, *sections])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print("wrote docs/cli.md")
