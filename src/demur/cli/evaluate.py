"""`demur evaluate`: every number of one system or of several, with its uncertainty."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from demur.cli import groups, options
from demur.cli.app import MEASURE, Delivery, app, check_flags, command_line, fitted, listed, named, progress_bar
from demur.cli.guessing import settled
from demur.errors import UserError
from demur.facts.instruments import BY_ITEMS


@app.command(rich_help_panel=MEASURE, cls=options.ListingCommand)
def evaluate(
    files: Annotated[
        list[str] | None,
        typer.Argument(help="Run files or long tables, FILE or NAME=FILE: one to evaluate, several to compare."),
    ] = None,
    inputs: Annotated[list[str] | None, typer.Option("--input", help="The same, as an option.")] = None,
    mode: Annotated[
        list[str] | None, typer.Option(help="Mode of the experiment: once for all inputs, or once per input.")
    ] = None,
    experiment: Annotated[
        list[int] | None, typer.Option(help="Index of the experiment, from 0: once for all inputs, or once per input.")
    ] = None,
    instrument: options.InstrumentName = BY_ITEMS,
    column: options.ColumnNames = None,
    score_range: options.ScoreRange = None,
    loss_max: options.LossMax = None,
    every_row_its_own_cluster: options.OwnClusters = False,
    noun: options.Noun = None,
    failed_units: options.FailedUnits = "drop",
    group: groups.Names = None,
    group_file: groups.File = None,
    threshold: groups.Threshold = None,
    at_coverage: groups.AtCoverage = None,
    min_clusters: groups.MinClusters = 10,
    max_groups: groups.MaxGroups = 30,
    stratify: groups.Stratify = None,
    repeats: options.Repeats = "units",
    probability: options.Probability = None,
    loss: options.LossName = None,
    confidence: Annotated[
        str, typer.Option(help="default (llm,total_evidence), all, or names of variants separated by commas.")
    ] = "default",
    lower_is_surer: options.LowerIsSurer = None,
    coverage_grid: Annotated[
        str, typer.Option(help="Coverages to report the risk at, separated by commas.")
    ] = "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9",
    area_coverage: Annotated[
        str | None, typer.Option(help="Where to cut the areas; 0.5, and the coverage all systems reach, if not given.")
    ] = None,
    baseline: options.Baseline = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A system to leave out, by its name; once for each.")
    ] = None,
    primary: Annotated[
        str | None, typer.Option(help="The confidence the verdict is on, named beforehand; the first if not given.")
    ] = None,
    bootstrap_resamples: options.Resamples = 10_000,
    seed: options.Seed = None,
    calibration: options.CalibrationFile = None,
    output: options.Output = None,
    report: options.ReportPage = None,
    intersection_only: Annotated[
        bool, typer.Option("--intersection-only", help="Compare systems on the participants they share.")
    ] = False,
    level: Annotated[float | None, typer.Option(help="Level of one more interval, such as 0.9.")] = None,
    interval: Annotated[
        str | None, typer.Option(help="Method of one more interval: recommended, percentile, bca, jackknife, …")
    ] = None,
    rater: options.Raters = None,
    point: options.Points = None,
    points: Annotated[
        Path | None, typer.Option(help="A TOML file of points: a table for each, with source and population.")
    ] = None,
    forced: options.Forced = None,
    margin: Annotated[
        float | None, typer.Option(help="Say whether a system's risk is above a rater's by no more than this.")
    ] = None,
    handover_threshold: Annotated[
        float | None,
        typer.Option(help="Hand over to each rater what is below this confidence, and test the two."),
    ] = None,
    abstention_cost: Annotated[
        list[str] | None,
        typer.Option(help="Price of an abstention as a share of the largest loss, 0.1 or 1:10; once for each price."),
    ] = None,
    cross_fit: Annotated[int, typer.Option(help="Folds of clusters for the cross-fitted cost.")] = 10,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    created_at: options.CreatedAt = None,
) -> None:
    """Evaluate a system that may abstain, or compare several on the same participants, and write every number down.

    Example: demur evaluate run.json --mode few_shot --seed 7

    Example: demur evaluate run.json run.json --mode zero_shot --mode few_shot --confidence all --seed 7

    Example: demur evaluate A=a.csv B=b.csv C=c.csv --baseline A --seed 7

    Example: demur evaluate scores.csv --group sex=Gender --group age=Age:18,40,65 --confidence sure --seed 7

    Example: demur evaluate run.json --mode few_shot --abstention-cost 0.1 --abstention-cost 1:3 --seed 7

    Example: demur evaluate scores.csv --column cluster=document --noun document --confidence sure --seed 7
    """
    from demur.inference.resample import Plan
    from demur.quantities.coverage import Coverage
    from demur.read import read_inputs
    from demur.read.guess import Given
    from demur.report.console import evaluation_text
    from demur.results.selective import Settings
    from demur.results.selective import evaluate as evaluated

    given = [*(files or ()), *(inputs or ())]
    if not given:
        raise UserError("nothing to evaluate: give a run file or a table, or several to compare")
    check_flags(bootstrap_resamples, seed or 0, created_at, as_json=as_json, quiet=quiet)
    labels = groups.Labels.of(group, group_file)
    grid = listed(coverage_grid, "[0-9.]+", "coverage grid:", "decimals such as 0.1,0.25,0.5")
    settings = Settings(
        loss=loss,
        confidence=confidence,
        grid=tuple(map(Coverage.of, grid)),
        area_coverage=area_coverage,
        level=level,
        interval=interval,
        baseline=baseline,
        primary=primary,
        lower_is_surer=tuple(lower_is_surer or ()),
        groups=groups.group_settings(labels, (threshold, at_coverage), (min_clusters, max_groups), stratify),
        abstention_costs=tuple(abstention_cost or ()),
        cross_fit=cross_fit,
        exclude=tuple(exclude or ()),
    )
    table = options.table_options(
        score_range, loss_max, noun, failed_units, repeats, probability, own_clusters=every_row_its_own_cluster
    )
    known = Given(named(column, "--column"), instrument, every_row_its_own_cluster, score_range, loss)
    known = replace(known, lower_is_surer=settings.lower_is_surer)
    understood = settled(given, known, confidence, seedless=seed is None and bootstrap_resamples > 0)
    with understood.explaining():
        runs = read_inputs(
            given,
            modes=mode or (),
            experiments=experiment or (),
            instrument=instrument,
            columns=understood.columns,
            options=labels.options(table),
        )
        runs = labels.joined(runs)
    understood = understood.of(runs)
    if not quiet:
        understood.tell()
    beside = options.beside(
        options.Asked(rater, point, points, forced, margin, handover_threshold), runs, named(column, "--column")
    )
    fit = fitted(calibration)
    read_too = [
        instrument,
        calibration,
        points,
        *(path for _, path in map(options.pair, [*(rater or ()), *(forced or ())])),
    ]
    with progress_bar("resamples") as advance:
        results = evaluated(
            *runs,
            settings=replace(settings, loss=understood.loss, confidence=understood.confidence),
            plan=Plan(bootstrap_resamples, seed=seed, progress=advance),
            calibration=fit,
            intersection_only=intersection_only,
            created_at=created_at,
            command=command_line(),
            also_read=[path for path in read_too if path and Path(path).is_file()],
            beside=beside,
        )
    protected = [str(path) for path in read_too if path]
    width = {"width": shutil.get_terminal_size().columns} if sys.stdout.isatty() else {}
    delivery = Delivery("metrics", output, report, protected, as_json, quiet, fit)
    delivery.of(results, lambda: evaluation_text(results, **width))
