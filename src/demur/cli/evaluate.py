"""`demur evaluate`: measure one system, or compare several, with intervals."""

import shutil
import sys
from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

import typer

from demur.cli import options
from demur.cli.app import MEASURE, Delivery, Spoken, app, check_flags, command_line, fitted, listed, named, progress_bar

USUAL: Any = None  # an option that was not typed; `demur.evaluate` holds its default
_DELIVERY = {"files", "inputs", "output", "report", "as_json", "quiet"}


class _EvaluateCommand(options.ListingCommand):
    """The command, whose parameters are called as the keywords of `demur.evaluate`; its help shows their defaults."""

    def fill(self) -> None:
        """Write the registered names and the defaults into the help of the options."""
        from demur.evaluation import evaluate

        super().fill()
        defaults = {name: parameter.default for name, parameter in signature(evaluate).parameters.items()}
        for param in self.params:
            value = defaults.get(param.name or "")
            if param.default is None and value not in (None, ()):
                param.default = value


@app.command(rich_help_panel=MEASURE, cls=_EvaluateCommand)
def evaluate(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            help="Run files, long tables, summaries or folders of parts, FILE or NAME=FILE: several to compare."
        ),
    ] = None,
    inputs: Annotated[list[str] | None, typer.Option("--input", help="The same, as an option.")] = None,
    mode: Annotated[
        list[str] | None, typer.Option(help="Mode of the experiment: once for all inputs, or once per input.")
    ] = None,
    experiment: Annotated[
        list[int] | None, typer.Option(help="Index of the experiment, from 0: once for all inputs, or once per input.")
    ] = None,
    instrument: options.InstrumentName = USUAL,
    columns: options.ColumnNames = None,
    score_range: options.ScoreRange = None,
    loss_max: options.LossMax = None,
    every_row_its_own_cluster: options.OwnClusters = False,
    noun: options.Noun = None,
    failed_units: options.FailedUnits = USUAL,
    group: options.GroupNames = None,
    groups: Annotated[
        Path | None, typer.Option(help="A table with the columns cluster, perhaps item, and labels of groups.")
    ] = None,
    threshold: Annotated[float | None, typer.Option(help="The threshold that all groups share.")] = None,
    at_coverage: Annotated[
        str | None, typer.Option(help="Set it by the coverage it reaches; if not given, the coverage areas are cut at.")
    ] = None,
    min_clusters: Annotated[int, typer.Option(help="Groups in fewer clusters are shown but not judged.")] = USUAL,
    max_groups: Annotated[int, typer.Option(help="The largest number of levels of a group.")] = USUAL,
    stratify: Annotated[
        str | None, typer.Option(metavar="NAME", help="Draw clusters within the levels of this group.")
    ] = None,
    repeats: options.Repeats = USUAL,
    probability: options.Probability = None,
    loss: options.LossName = None,
    confidence: Annotated[
        str, typer.Option(help="default (llm,total_evidence), all, or names of variants separated by commas.")
    ] = USUAL,
    lower_is_surer: options.LowerIsSurer = None,
    coverages: Annotated[
        str, typer.Option("--coverage-grid", help="Coverages to report the risk at, separated by commas.")
    ] = USUAL,
    area_coverage: Annotated[
        str | None, typer.Option(help="Coverage to cut areas at; if not given, 0.5, or what all systems reach.")
    ] = None,
    baseline: options.Baseline = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="The name of a system to leave out; repeatable.")
    ] = None,
    primary: Annotated[
        str | None, typer.Option(help="The confidence of the verdict, chosen beforehand; the first if not given.")
    ] = None,
    resamples: options.Resamples = USUAL,
    seed: options.Seed = None,
    threads: options.Threads = None,
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
    raters: options.Raters = None,
    point: Annotated[
        list[str] | None,
        typer.Option(help='A published point, "NAME: coverage=0.9, risk=0.2, ci=0.1..0.3", or with counts.'),
    ] = None,
    points: Annotated[
        Path | None, typer.Option(help="A TOML file of points: a table for each, with source and population.")
    ] = None,
    forced: options.Forced = None,
    margin: Annotated[
        float | None, typer.Option(help="Test whether a system's risk exceeds a rater's by at most this.")
    ] = None,
    handover_threshold: Annotated[
        float | None,
        typer.Option(help="Hand over units below this confidence to each rater, and test the result."),
    ] = None,
    abstention_costs: Annotated[
        list[str] | None,
        typer.Option(
            "--abstention-cost", help="Price of an abstention as a share of the largest loss, 0.1 or 1:10; repeatable."
        ),
    ] = None,
    cross_fit: Annotated[int, typer.Option(help="Folds of clusters for the cross-fitted cost.")] = USUAL,
    conventions: Annotated[
        list[str] | None,
        typer.Option("--convention", help="Add what another tool would report: {conventions}; repeatable."),
    ] = None,
    workers: options.WorkerNames = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    created_at: options.CreatedAt = None,
) -> None:
    """Evaluate a system that may abstain, or compare several on the same participants, and write every number.

    Example: demur evaluate run.json --mode few_shot --seed 7

    Example: demur evaluate run.json run.json --mode zero_shot --mode few_shot --confidence all --seed 7

    Example: demur evaluate A=a.csv B=b.csv C=c.csv --baseline A --seed 7

    Example: demur evaluate scores.csv --group sex=Gender --group age=Age:18,40,65 --confidence sure --seed 7

    Example: demur evaluate run.json --mode few_shot --abstention-cost 0.1 --abstention-cost 1:3 --seed 7

    Example: demur evaluate scores.csv --convention fd-shifts --convention torch-uncertainty --confidence sure --seed 7

    Example: demur evaluate A=parts/ --workers 4 --confidence sure --seed 7

    Example: demur evaluate scores.csv --column cluster=document --noun document --confidence sure --seed 7
    """
    typed = {name: value for name, value in locals().items() if value is not None and value is not False}
    from demur.evaluation.answering import evaluate_data, files_read
    from demur.show.console import evaluation_text

    check_flags(resamples or 0, seed or 0, created_at, threads, as_json=as_json, quiet=quiet)
    request = _request(typed)
    with progress_bar("resamples") as advance:
        request |= {"progress": advance, "command": command_line()}
        results = evaluate_data([*(files or ()), *(inputs or ())], request, Spoken(quiet=quiet))
    width = {"width": shutil.get_terminal_size().columns} if sys.stdout.isatty() else {}
    delivery = Delivery("metrics", output, report, files_read(request), as_json, quiet, fitted(calibration))
    delivery.of(results, lambda: evaluation_text(results, **width))


def _request(typed: Mapping[str, Any]) -> dict[str, Any]:
    """The typed options as keywords of `demur.evaluate`, which fills in the defaults of the others."""
    request = {name: value for name, value in typed.items() if name not in {*_DELIVERY, "point"}}
    parsed = {
        "columns": named(typed.get("columns"), "--column"),
        "group": options.groups(typed.get("group")),
        "raters": options.raters(typed.get("raters")),
        "points": [*typed.get("point", ()), *([typed["points"]] if "points" in typed else [])],
        "forced": options.forced(typed.get("forced")),
    }
    if "coverages" in typed:
        expected = "decimals such as 0.1,0.25,0.5"
        parsed["coverages"] = listed(typed["coverages"], "[0-9.]+", "coverage grid:", expected)
    return request | {name: value for name, value in parsed.items() if value}
