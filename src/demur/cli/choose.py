"""`demur choose`: the threshold that meets a target, how sure that is, and the rule to use."""

from pathlib import Path
from typing import Annotated

import typer

from demur.cli import options
from demur.cli.app import DECIDE, app, command_line, fitted, print_json, printed_path, read_one
from demur.errors import UserError


@app.command(rich_help_panel=DECIDE, cls=options.ListingCommand)
def choose(
    file: Annotated[Path, typer.Argument(help="A run file or a long table.")],
    confidence: Annotated[str, typer.Option(help="What ranks the answers: a variant, or a signal by name.")],
    seed: Annotated[int, typer.Option(help="Seed of the folds and of a split: any integer, 0 or more.")],
    risk: Annotated[
        str | None, typer.Option("--risk", "--alpha", help="The largest coverage with this risk at most.")
    ] = None,
    coverage: Annotated[str | None, typer.Option(help="The operating point that reaches this coverage.")] = None,
    errors_per_100: Annotated[
        str | None, typer.Option(help="The largest coverage with so many errors per 100 units at most.")
    ] = None,
    abstention_cost: Annotated[
        str | None, typer.Option(help="The lowest cost, where an abstention costs this share of the largest loss.")
    ] = None,
    mode: options.Mode = None,
    experiment: options.Experiment = None,
    instrument: options.InstrumentName = "PHQ-8",
    column: options.ColumnNames = None,
    score_range: options.ScoreRange = None,
    loss_max: options.LossMax = None,
    every_row_its_own_cluster: options.OwnClusters = False,
    noun: options.Noun = None,
    failed_units: options.FailedUnits = "drop",
    loss: options.LossName = None,
    calibration: options.CalibrationFile = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The rule to write, for demur apply.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the rule instead of the words.")] = False,
    created_at: options.CreatedAt = None,
) -> None:
    """Choose the threshold that meets one target, and say how it does on participants it has not seen.

    Example: demur choose scores.csv --confidence sure --risk 0.1 --seed 7

    Example: demur choose scores.csv --confidence sure --errors-per-100 5 --seed 7 -o rule.json
    """
    from demur.confidences.grading import grade
    from demur.decide.choosing import choose as chosen
    from demur.decide.targets import DecisionTarget

    targets = {"risk": risk, "coverage": coverage, "errors_per_100": errors_per_100, "abstention_cost": abstention_cost}
    DecisionTarget.of(**targets)
    table = options.table_options(score_range, loss_max, noun, failed_units, own_clusters=every_row_its_own_cluster)
    items = read_one(file, mode, experiment, instrument, column, table)
    try:
        graded = grade(items, loss=loss, confidence=confidence, calibration=fitted(calibration))
    except UserError as error:
        raise error.in_file(file) from None
    rule = chosen(graded, **targets, seed=seed, created_at=created_at, command=command_line())
    written = rule.save(output, inputs=[file, instrument]) if output else None
    if as_json:
        print_json(rule.text)
        return
    typer.echo(str(rule))
    if written:
        typer.echo(f"wrote {printed_path(written)}")
