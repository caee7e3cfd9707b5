"""`demur fields`: list the fields of a file and the confidences it supports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from demur.cli.app import DATA, app, fitted, tell
from demur.cli.sections import SectionsCommand, Typed, with_sections
from demur.errors import UserError, harmless, shown

if TYPE_CHECKING:
    from demur.confidences.calibration import AnyCalibration
    from demur.facts.items import Items
    from demur.read.profile import Field, Profile
    from demur.read.role_candidates import Given


@app.command(rich_help_panel=DATA, cls=SectionsCommand)
@with_sections("columns", "reading", settings=("calibration",))
def fields(
    file: Annotated[Path, typer.Argument(help="A table, a run file, a file of units, or the log of another tool.")],
    *,
    no_examples: Annotated[bool, typer.Option("--no-examples", help="Show no values of the file.")] = False,
    typed: Typed,
) -> None:
    """List the fields of a file, the confidences it supports, and why it does not support the others.

    Example: demur fields run.json --mode few_shot

    Example: demur fields capitals.eval --no-examples
    """
    from demur.read import read_inputs
    from demur.read.profile import items_profile
    from demur.read.tool_logs import import_hint, tool_of_log

    reading, columns, shown_values = typed.reading, typed.columns, not no_examples
    fit = fitted(typed.settings.calibration)
    tool = tool_of_log(file)
    if tool is not None:
        for name in typed.flags:
            raise UserError(f"{name} does not apply to {import_hint(tool, file)}")
        _show(file, _of_log(tool, file), examples=shown_values)
        tell(import_hint(tool, file))
        return
    profile = _of_table(file)
    if profile is not None:
        _show(file, profile, examples=shown_values)
        if not _understood(file, typed.given(loss="any", confidence=True), columns):
            return
    chosen: Any = {"modes": reading.mode, "experiments": reading.experiment, "instrument": reading.instrument}
    runs = read_inputs([file], columns=columns, options=reading, **chosen)
    if profile is None:
        _show(file, items_profile(runs[0]), examples=shown_values)
    _show_confidences(runs, fit)


def _of_log(tool: str, path: Path) -> Profile:
    from importlib import import_module

    from demur.extension import installed
    from demur.read.profile import Profile

    homes = {known: module for extension in installed().values() for known, module in extension.logs.items()}
    if tool not in homes:
        raise UserError(f"{path}: no extension that is installed reads the logs of {tool}")
    return Profile.of(import_module(homes[tool]).records(tool, path))


def _of_table(path: Path) -> Profile | None:
    """The fields of a table; None for a run file, and for a stream, which can be read only once."""
    from demur.read.profile import table_profile
    from demur.read.tables import format_of, opened_table

    if format_of(path) is None or not path.is_file():
        return None
    with opened_table(path) as (opened, _):
        return table_profile(opened)


def _understood(path: Path, given: Given, columns: dict[str, str]) -> bool:
    """Infer the columns and print them; print the open questions, and return whether there are none."""
    from demur.read.role_guessing import guess

    guessed = guess(path, given)
    columns |= guessed.columns
    if guessed.notes:
        typer.echo(harmless("; ".join(guessed.notes)))
    if guessed.questions:
        typer.echo(harmless(f"to evaluate it, say {'; '.join(question.about for question in guessed.questions)}"))
    return not guessed.questions


def _show(path: Path, profile: Profile, *, examples: bool) -> None:
    from demur.read.profile import MOST_FIELDS
    from demur.show.console import ConsoleText
    from demur.show.text import table

    heads = ("field", "type", "filled", "distinct", "examples")
    rows = [(shown(name), *_cells(field, profile.records)) for name, field in profile.fields.items()]
    width = len(heads) if examples else len(heads) - 1
    lines = [f"{shown(str(path))}: {profile.records} records", ""]
    lines += table([row[:width] for row in (heads, *rows)], to_the_left=(0, 1, 4))
    lines += [f"There are more than {MOST_FIELDS} fields: the others are not shown."] if profile.left_out else []
    typer.echo(ConsoleText([*lines, ""]))


def _cells(field: Field, records: int) -> tuple[str, ...]:
    share = f"{100 * field.filled / records:.3g} %" if records else "–"
    if share == "100 %" and field.filled < records:
        share = "< 100 %"
    return field.kind, share, field.distinct, ", ".join(field.examples)


def _show_confidences(runs: Sequence[Items], calibration: AnyCalibration | None) -> None:
    """Print the confidences that every system of a file supports."""
    from demur.confidences.serving import served
    from demur.show.console import variants_text

    reasons = [served(items, calibration) for items in runs]
    shared = {name: next((why[name] for why in reasons if why[name] is not None), None) for name in reasons[0]}
    if len(runs) > 1:
        labels = (shown(items.source.label) for items in runs if items.source)
        typer.echo(harmless(f"{len(runs)} systems: {', '.join(labels)}; the counts are of the first"))
    typer.echo(variants_text(runs[0], shared))
