"""`demur choose`: choose or certify the threshold that meets a target, and write it as a rule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from demur.cli import options
from demur.cli.app import DECIDE, app, command_line, fitted, print_json, printed_path, tell, tell_notes
from demur.cli.sections import SectionsCommand, Typed, with_sections
from demur.errors import UserError, literal, located, shown

if TYPE_CHECKING:
    from demur.confidences.calibration import AnyCalibration
    from demur.evaluation.guessing import Settled
    from demur.extensions.decide.rule import Rule
    from demur.facts.items import Items
    from demur.sampling.graded import Graded


_UNCERTIFIED = 4


def _certifiers() -> Iterable[str]:
    from demur.extensions.decide.certifiers import CERTIFIERS

    return CERTIFIERS


options.REGISTERED["{certifiers}"] = _certifiers


@dataclass(frozen=True, slots=True, kw_only=True)
class _Targets:
    """The target of a threshold: exactly one of these."""

    risk: Annotated[
        str | None, typer.Option("--risk", "--alpha", help="The largest coverage with this risk at most.")
    ] = None
    coverage: Annotated[str | None, typer.Option(help="The operating point that reaches this coverage.")] = None
    errors_per_100: Annotated[
        str | None, typer.Option(help="The largest coverage with so many errors per 100 units at most.")
    ] = None
    abstention_cost: Annotated[
        str | None, typer.Option(help="The lowest cost, where an abstention costs this share of the largest loss.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fixed:
    """The options of a certification, fixed before the data are seen."""

    certify: Annotated[str | None, typer.Option(metavar="METHOD", help="Guarantee it: {certifiers}.")] = None
    grid: Annotated[
        str | None, typer.Option(help="Thresholds to certify, declared before the data were seen: 0.9,0.8,0.7.")
    ] = None
    delta: Annotated[
        str | None, typer.Option(help="How often a wrong threshold may be certified; 0.1 if not given.")
    ] = None
    max_units: Annotated[
        int | None, typer.Option(help="Units a participant has at most, by design; the items of the instrument.")
    ] = None
    tune: Annotated[
        Path | None, typer.Option(help="Data of other people, to find the first threshold to certify on.")
    ] = None
    split: Annotated[bool, typer.Option("--split", help="Tune on half of the clusters, certify on the rest.")] = False
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Write a rule even if nothing is certified: it declines everything.")
    ] = False

    def check(self, targets: _Targets) -> None:
        """Check the options before a large file is read."""
        from demur.extensions.decide.certifying import limit_of
        from demur.extensions.decide.targets import DecisionTarget

        DecisionTarget.of(**asdict(targets))
        if self.certify is not None:
            if targets.coverage or targets.abstention_cost:
                raise UserError("only a limit can be guaranteed: give --risk or --errors-per-100 with --certify")
            limit_of(self.certify, targets.risk, targets.errors_per_100)
            return
        for option in options.typed(self, ("grid", "delta", "tune", "split", "allow_empty")):
            raise UserError(f"{option} goes with --certify METHOD, which is missing")

    def rule(self, graded: Graded, targets: _Targets, tune: Graded | None, origin: Any) -> Rule:
        """The rule for a target: certified if requested, otherwise the empirical threshold."""
        from demur.extensions.decide.certifying import certify
        from demur.extensions.decide.choosing import choose

        if self.certify is None:
            return choose(graded, **asdict(targets), max_units=self.max_units, **origin)
        return certify(
            graded,
            method=self.certify,
            risk=targets.risk,
            errors_per_100=targets.errors_per_100,
            grid=None if self.grid is None else self.grid.split(","),
            delta=self.delta or "0.1",
            max_units=self.max_units,
            tune=tune,
            split=self.split,
            **origin,
        )


@app.command(rich_help_panel=DECIDE, cls=SectionsCommand)
@with_sections("columns", "reading", settings=("loss", "lower_is_surer", "calibration"))
@options.unfolded
def choose(
    file: Annotated[Path, typer.Argument(help="A run file, a long table or a summary.")],
    *,
    confidence: Annotated[
        str, typer.Option(help="What ranks the answers: a variant or signal by name; the only confidence of a table.")
    ] = "default",
    seed: Annotated[int, typer.Option(help="Seed of the folds and of a split: any integer, 0 or more.")] = 0,
    targets: _Targets,
    fixed: _Fixed,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The rule to write, for demur apply.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the rule instead of the words.")] = False,
    created_at: options.CreatedAt = None,
    typed: Typed,
) -> None:
    """Choose the threshold that meets one target, and say how it does on participants it has not seen.

    If nothing is certified, the exit code is 4, and in place of RULE.json, which would decline everything, the attempt
    is written to RULE.attempt.json.

    Example: demur choose scores.csv --confidence sure --risk 0.1 --seed 7

    Example: demur choose scores.csv --confidence sure --errors-per-100 5 --seed 7 -o rule.json

    Example: demur choose run.json --confidence verbalized --risk 0.2 --certify guarded_t --seed 7 -o rule.json
    """
    fixed.check(targets)
    settings, reading = typed.settings, typed.reading
    fit, turned = fitted(settings.calibration), tuple(settings.lower_is_surer)
    items, understood = typed.understood(
        file,
        lambda notes: tell_notes(notes, quiet=as_json),
        confidence,
        counts=True,
        loss=settings.loss,
        lower_is_surer=turned,
    )
    graded, tune = _graded(file, items, understood, turned, fit), None
    if fixed.tune is not None:
        tune = _graded(fixed.tune, typed.items(fixed.tune, understood, counts=True), understood, turned, fit)
    origin = {"seed": seed, "created_at": created_at, "command": command_line()}
    rule = fixed.rule(graded, targets, tune, origin)
    named = (str(path) for path in (reading.instrument, settings.calibration) if path)
    rule = rule.read_beside([path for path in named if Path(path).is_file()])
    _deliver(rule, output, [file, str(reading.instrument)], as_json=as_json, allow_empty=fixed.allow_empty)
    if rule.is_uncertified:
        raise typer.Exit(_UNCERTIFIED)


def _graded(
    path: Path, items: Items, settled: Settled, turned: tuple[str, ...], calibration: AnyCalibration | None
) -> Graded:
    """Grade the units of a file with the chosen confidence, negated where lower means more confident."""
    from demur.confidences.grading import grade
    from demur.confidences.serving import can_serve
    from demur.confidences.serving import confidence as confidence_of

    if turned and {*turned} != {settled.confidence}:
        raise UserError(f"--lower-is-surer {literal(turned[0])}, expected the confidence, {shown(settled.confidence)}")
    with located(path):
        if settled.confidence == "default":
            raise UserError(f"say what ranks the answers, --confidence NAME; {can_serve(items, ())}")
        scores = confidence_of(items, str(settled.confidence), calibration)
        if calibration is not None and scores.calibration is None:
            raise UserError(f"the confidence {shown(settled.confidence)} has no use for a calibration: leave it out")
        lower = turned or settled.confidence in items.lower_is_surer
        return grade(items, loss=settled.loss, confidence=scores.turned() if lower else scores)


def _deliver(rule: Rule, output: Path | None, inputs: list[str | Path], *, as_json: bool, allow_empty: bool) -> None:
    """Print the rule, and write it if a file is named; if nothing is certified, write the attempt beside it."""
    written, note = None, ""
    if output and rule.is_uncertified and not allow_empty:
        written = rule.save_attempt(output.with_suffix(f".attempt{output.suffix}"), inputs=inputs)
        note = ", the attempt; a rule would decline everything (--allow-empty writes it)"
    elif output:
        written = rule.save(output, inputs=inputs, allow_empty=True)
    if as_json:
        print_json(rule.text)
    else:
        tell(str(rule))
    if written and (note or not as_json):
        typer.echo(f"wrote {printed_path(written)}{note}", err=as_json)
