"""`demur apply`: apply a rule to new rows, and monitor whether it still meets its target."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from demur.cli.app import DECIDE, app, fitted, printed_path, tell
from demur.cli.sections import SectionsCommand, Typed, with_sections
from demur.errors import UserError, located

_ALARM = 3


@app.command(rich_help_panel=DECIDE, cls=SectionsCommand)
@with_sections("columns", reading=("score_range",), settings=("calibration",))
def apply(
    rule: Annotated[Path, typer.Argument(help="A file written by demur choose.")],
    table: Annotated[Path, typer.Argument(help="New rows: .csv, .jsonl or .parquet.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The rows with their decisions: .csv for .csv, else .jsonl.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Watch the rule: coverage, and risk on labels.")] = False,
    confidence: Annotated[str | None, typer.Option(help="The signal the rule must be for.")] = None,
    noun: Annotated[str | None, typer.Option(help="What a cluster must be called in the rule.")] = None,
    direction: Annotated[str | None, typer.Option(help="What the rule must accept: at_least or at_most.")] = None,
    delta: Annotated[
        str | None, typer.Option(help="With --check, how often an alarm may be false; 0.05 if not given.")
    ] = None,
    max_units: Annotated[
        int | None, typer.Option(help="With --check, the units a cluster has at most, if the rule does not say.")
    ] = None,
    unlabelled: Annotated[
        bool, typer.Option("--unlabelled", help="An empty loss or score means no label yet, not an abstention.")
    ] = False,
    *,
    typed: Typed,
) -> None:
    """Accept or decline every row of a table by a rule; with --check, say whether the rule still holds.

    A row without a confidence is declined. An empty loss is an abstention, as in demur evaluate, unless a column
    abstained or --unlabelled says otherwise; where that is not clear, the command asks.

    A check reads the whole file, which must hold every row since the rule came into use, and may be repeated at any
    time. The exit code is 3 if it raises an alarm.

    Example: demur apply rule.json new.csv -o decisions.csv

    Example: demur apply rule.json labelled.csv --check
    """
    from demur.decide.applying import Reading, check_rule
    from demur.decide.applying import apply as applied
    from demur.decide.rule import load_rule
    from demur.decide.watching import Watch
    from demur.files.strict_json import fingerprint, read_bytes

    score_range, fit = typed.reading.score_range, typed.settings.calibration
    calibration = None if fit is None else str(fit)
    if output is None and not check:
        raise UserError("no file to write decisions to, and nothing to check: give -o FILE, or --check")
    if not check and (delta is not None or max_units is not None or score_range is not None):
        raise UserError("--delta, --max-units and --score-range go with --check, which is missing")
    loaded = load_rule(rule)
    expected = {"signal": confidence, "noun": noun, "direction": direction}
    with located(rule):
        check_rule(loaded, expected)
        watch = Watch(loaded, "0.05" if delta is None else delta, max_units) if check else None
    if calibration is not None:
        known = {file.sha256 for file in loaded.also_read}
        if fingerprint(read_bytes(calibration)) not in known:
            raise UserError(f"{calibration}: is not the calibration that {rule} was made with")
    reading = Reading(typed.columns, fitted(calibration), score_range or (0.0, 1.0), unlabelled)
    outcome = applied(loaded, table, output, reading=reading, watch=watch, inputs=[rule])
    tell(str(outcome))
    if output is not None:
        typer.echo(f"wrote {printed_path(output)}")
    if outcome.watched is not None and outcome.watched.raised:
        raise typer.Exit(_ALARM)
