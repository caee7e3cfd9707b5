"""`demur choose`: the threshold that meets a target, how sure that is, and the rule to use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from demur.cli import options
from demur.cli.app import DECIDE, app, command_line, fitted, named, print_json, printed_path
from demur.cli.spoken import Spoken
from demur.errors import UserError, literal, located, registered, shown
from demur.facts.instruments import BY_ITEMS

if TYPE_CHECKING:
    from demur.decide.rule import Rule
    from demur.quantities.graded import Graded


@app.command(rich_help_panel=DECIDE, cls=options.ListingCommand)
def choose(
    file: Annotated[Path, typer.Argument(help="A run file, a long table or a summary.")],
    confidence: Annotated[
        str, typer.Option(help="What ranks the answers: a variant, or a signal by name; the one signal of a table.")
    ] = "default",
    seed: Annotated[
        int | None, typer.Option(help="Seed of the folds and of a split: any integer, 0 or more. Required.")
    ] = None,
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
    certify: Annotated[str | None, typer.Option(metavar="METHOD", help="Guarantee it: {certifiers}.")] = None,
    grid: Annotated[
        str | None, typer.Option(help="Thresholds to certify, declared before the data were seen: 0.9,0.8,0.7.")
    ] = None,
    delta: Annotated[
        str | None, typer.Option(help="How often a wrong threshold may be certified; 0.1 if not given.")
    ] = None,
    max_units: Annotated[
        int | None, typer.Option(help="Units a participant has at most, by design; the items of the instrument.")
    ] = None,
    tune: Annotated[
        Path | None, typer.Option(help="Data of other people, to find the first threshold to certify on.")
    ] = None,
    split: Annotated[bool, typer.Option("--split", help="Tune on half of the clusters, certify on the rest.")] = False,
    mode: options.Mode = None,
    experiment: options.Experiment = None,
    instrument: options.InstrumentName = BY_ITEMS,
    column: options.ColumnNames = None,
    score_range: options.ScoreRange = None,
    loss_max: options.LossMax = None,
    every_row_its_own_cluster: options.OwnClusters = False,
    noun: options.Noun = None,
    failed_units: options.FailedUnits = "drop",
    lower_is_surer: options.LowerIsSurer = None,
    loss: options.LossName = None,
    calibration: options.CalibrationFile = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The rule to write, for demur apply.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the rule instead of the words.")] = False,
    created_at: options.CreatedAt = None,
) -> None:
    """Choose the threshold that meets one target, and say how it does on participants it has not seen.

    Example: demur choose scores.csv --confidence sure --risk 0.1 --seed 7

    Example: demur choose scores.csv --confidence sure --errors-per-100 5 --seed 7 -o rule.json

    Example: demur choose run.json --confidence verbalized --risk 0.2 --certify guarded_t --seed 7 -o rule.json
    """
    from demur.decide.choosing import choose as chosen
    from demur.evaluation.guessing import settled
    from demur.read.guess import Given

    targets: dict[str, Any] = {"risk": risk, "coverage": coverage}
    targets |= {"errors_per_100": errors_per_100, "abstention_cost": abstention_cost}
    fixed = _Fixed(certify, grid, delta, max_units, split=split)
    fixed.check(targets, tune)
    table = options.table_options(score_range, loss_max, noun, failed_units, own_clusters=every_row_its_own_cluster)
    fit = fitted(calibration)
    given = Given(named(column, "--column"), instrument, every_row_its_own_cluster, score_range, loss)
    given, voice = replace(given, lower_is_surer=tuple(lower_is_surer or ())), Spoken(quiet=as_json)
    understood = settled([str(file)], given, confidence, voice, seedless=seed is None)

    def graded(path: Path) -> Graded:
        from demur.confidences.grading import grade
        from demur.confidences.serving import can_serve
        from demur.confidences.serving import confidence as confidence_of
        from demur.read import read_items

        [columns] = understood.columns
        how: Any = {"mode": mode, "experiment": experiment, "instrument": instrument, "options": table}
        with understood.explaining():
            items = read_items(path, columns=columns, counts=True, **how)
        known = understood.of([items])
        voice.tell(known.notes if path == file else ())
        if lower_is_surer and {*lower_is_surer} != {known.confidence}:
            expected = f"expected the confidence, {shown(known.confidence)}"
            raise UserError(f"--lower-is-surer {literal(lower_is_surer[0])}, {expected}")
        with located(path):
            if known.confidence == "default":
                raise UserError(f"say what ranks the answers, --confidence NAME; {can_serve(items, ())}")
            made = confidence_of(items, known.confidence, fit)
            return grade(items, loss=known.loss, confidence=made.turned() if lower_is_surer else made)

    origin: dict[str, Any] = {"seed": seed, "created_at": created_at, "command": command_line()}
    if certify is None:
        rule = chosen(graded(file), **targets, max_units=max_units, **origin)
    else:
        rule = fixed.certified(graded(file), targets, graded(tune) if tune else None, origin)
    rule = rule.read_beside([path for path in (instrument, calibration) if path and Path(path).is_file()])
    _deliver(rule, output, [file, instrument], as_json=as_json)


@dataclass(frozen=True, slots=True)
class _Fixed:
    """What is fixed before a certification."""

    method: str | None
    grid: str | None
    delta: str | None
    max_units: int | None
    split: bool

    def check(self, targets: Mapping[str, str | None], tune: Path | None) -> None:
        """A wrong option is told before a large file is read."""
        from demur.decide.certifiers import CERTIFIERS
        from demur.decide.targets import DecisionTarget

        DecisionTarget.of(**targets)
        if self.method is not None:
            registered("certification method", self.method, CERTIFIERS)
            if targets["coverage"] or targets["abstention_cost"]:
                raise UserError("a guarantee is of a limit: give --risk or --errors-per-100 with --certify")
            return
        given = {"--grid": self.grid, "--delta": self.delta, "--tune": tune, "--split": self.split or None}
        if idle := [name for name, value in given.items() if value is not None]:
            raise UserError(f"{idle[0]} goes with --certify METHOD, which is missing")

    def certified(self, graded: Graded, targets: Mapping[str, str | None], tune: Graded | None, origin: Any) -> Rule:
        from demur.decide.certifying import certify

        return certify(
            graded,
            method=self.method or "",
            risk=targets["risk"],
            errors_per_100=targets["errors_per_100"],
            grid=None if self.grid is None else self.grid.split(","),
            delta=self.delta or "0.1",
            max_units=self.max_units,
            tune=tune,
            split=self.split,
            **origin,
        )


def _deliver(rule: Rule, output: Path | None, inputs: list[str | Path], *, as_json: bool) -> None:
    """Write the rule, where it is asked for, and print it."""
    written = rule.save(output, inputs=inputs) if output else None
    if as_json:
        print_json(rule.text)
        return
    typer.echo(str(rule))
    if written:
        typer.echo(f"wrote {printed_path(written)}")
