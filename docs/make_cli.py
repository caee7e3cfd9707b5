"""Write docs/cli.md: every command with its options, from the command line itself.

Run by `make docs`; a test fails when the page is not current.
"""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from demur.cli.commands import app
from demur.feature import hooks
from demur.options import declared, flag_of, sections
from demur.sampling.coverage import Coverage

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
(`simulate queries`), `study` without a noun (`study intervals`), `--input FILE` for `evaluate FILE`, `--bootstrap-resamples` for
`--resamples`, and `--points FILE` for `--point FILE`.

`demur evaluate --help` shows what is needed every day, `--help-all` everything. `demur --install-completion` teaches the shell to complete
commands and options, and `demur --show-completion` prints what it installs.
"""
SECTIONS_INTRODUCTION = """\
## demur.toml

The options of `demur evaluate` may stand in a file `demur.toml`, in the folder the command is run in or the nearest one above it:

```toml
[columns]
cluster = "document"

[plan]
resamples = 2000

[groups]
sex = "Gender"
age = ["Age", [18, 40, 65]]

[raters]
"Dr A" = "dr_a.csv"
```

The command names the file that it uses on standard error and records it in the results (`also_read`). What is typed wins over the file: an
option replaces the key of its name; of columns, groups and raters, one that is typed replaces the one of the same name. Keys of `[columns]` are roles;
in `[groups]` and `[raters]` a key that is none of the list is a name of yours, and `labels = ["item"]` names groups that the data have already. A path is taken from the folder of the file. An unknown
section or key, or a value of another kind, is an error, and nothing is evaluated. Python does not read the file: there each section is a class
with these arguments, for example `demur.evaluate(data, demur.Groups(sex="Gender"), plan=demur.Plan(resamples=2000))`.
"""
ORDER = ("reading", "settings", "plan", *hooks("options"))
_DEFAULTS = {f"{name}_{field.name}": field.default for name, kind in sections().items() for field in fields(kind)}


def command_section(name: str, command: Any) -> str:
    """One command: what it does, how it is called, its options."""
    about, *examples = [part.replace("\n", " ") for part in inspect.cleandoc(command.help or "").split("\n\n")]
    calls = [example.removeprefix("Example: ") for example in examples if example.startswith("Example: ")]
    more = [text for text in examples if not text.startswith("Example: ")]
    lines = [f"### `demur {name}`", "", " ".join([about, *more]), ""]
    if calls:
        lines += ["```console", *(f"$ {call}" for call in calls), "```", ""]
    options = [option for option in command.get_params(typer.Context(command)) if option.name != "help"]
    if hasattr(command, "fill"):
        command.fill()
    lines += ["| option | | default |", "|---|---|---|", *map(_option, options), ""]
    return "\n".join(lines)


def _option(option: Any) -> str:
    is_option = option.param_type_name == "option"
    spelled = " ".join(option.opts) if is_option else (option.metavar or option.name).upper()
    default = _default(_DEFAULTS.get(option.name, option.default))
    words = option.help or ""
    return f"| `{spelled}` | {words.replace('|', '/')} | {'required' if option.required else default} |"


def _default(value: Any) -> str:
    """The default of an option; empty if it is none, or nothing that could be typed."""
    if isinstance(value, tuple) and all(isinstance(each, Coverage) for each in value):
        value = ",".join(each.text for each in value)
    known = isinstance(value, (str, int, float, Path)) and value is not False and value not in ("", b"")
    return f"`{value}`" if known else ""


def sections_section() -> str:
    """The sections of `demur.toml`, with their keys and the options that they are."""
    lines = [SECTIONS_INTRODUCTION]
    known = sections()
    for name in ORDER:
        kind = known[name]
        lines += [f"### `[{name}]`, `{kind.__name__}`", "", "| key | option | default |", "|---|---|---|"]
        defaults = {field.name: field.default for field in fields(kind)}
        for key, option in declared(kind).items():
            spelled = " ".join(f"`{flag}`" for flag in (flag_of(key), *option.aliases))
            lines.append(f"| `{key}` | {spelled} | {_default(defaults[key])} |")
        lines.append("")
    return "\n".join(lines)


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
    parts = (part for panel, texts in panels.items() for part in (f"## {panel}\n", *texts))
    return "\n".join([INTRODUCTION, *parts, sections_section()])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print("wrote docs/cli.md")
