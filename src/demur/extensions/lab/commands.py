"""`demur study`, `simulate` and `demo`, which simulate data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from demur.cli import options
from demur.cli.app import DATA, MORE, TRUST, app, printed_path, progress_bar, tell, tell_notes
from demur.cli.plain_values import Commands
from demur.cli.sections import SectionsCommand, Typed, with_sections
from demur.errors import UserError, located, shown
from demur.facts.instruments import BY_ITEMS

if TYPE_CHECKING:
    from demur.extensions.lab.designs import Design
    from demur.types import Json

studies = Commands(help="Measure methods on made-up data of your size.", no_args_is_help=True)
simulations = Commands(help="Write made-up files to try things on.", no_args_is_help=True)
app.add_typer(simulations, name="simulate", rich_help_panel=DATA)
app.add_typer(studies, name="study", rich_help_panel=TRUST)
InstrumentFile = Annotated[str, typer.Option(help="A name, or a .json or .toml file.")]
_USUAL, _PARTICIPANTS = "phq8", 41
Correlation = Annotated[float, typer.Option(help="How much a person's items are alike, 0 to 1.")]


def _designs() -> Iterable[str]:
    from demur.extensions.lab.designs import DESIGNS

    return DESIGNS


options.REGISTERED["{designs}"] = _designs


def _list_designs(name: str) -> str:
    if name != "help":
        return name
    from demur.extensions.lab.designs import DESIGNS

    typer.echo("\n".join(f"{design.name:20}{design.words}" for design in DESIGNS.values()))
    raise typer.Exit


@studies.command(cls=SectionsCommand)
@with_sections("columns", "reading")
def intervals(
    seed: options.SimulationSeed,
    *,
    design: Annotated[
        str, typer.Option(callback=_list_designs, is_eager=True, help="{designs}; help lists what they are.")
    ] = "phq8",
    like: Annotated[Path | None, typer.Option(help="A run or table to imitate, in place of a design.")] = None,
    participants: Annotated[
        int | None, typer.Option(help="How many participants a data set has: 41, or as many as the run, if not given.")
    ] = None,
    datasets: Annotated[int, typer.Option(help="How many data sets to make.")] = 1000,
    resamples: Annotated[int, typer.Option(help="Bootstrap resamples of each data set.")] = 1000,
    threads: Annotated[
        int | None,
        typer.Option(
            help="How many processes take data sets: all processors for large work, one for small, if not given."
        ),
    ] = None,
    figure: Annotated[Path | None, typer.Option(help="Also write a picture: an .svg file.")] = None,
    loss: Annotated[str | None, typer.Option(help="Of phq8 or a run: {losses}; abs_norm if not given.")] = None,
    confidence: Annotated[
        str | None, typer.Option(help="Of phq8 or a run: what ranks the answers; llm_evidence_count if not given.")
    ] = None,
    correlation: Annotated[
        float | None, typer.Option(help="Of phq8: how much a person's items are alike, 0 to 1; 0.6 if not given.")
    ] = None,
    typed: Typed,
) -> None:
    """Measure how often intervals cover, on made-up data of your size or like your own.

    Data like a run have its number of participants, sizes, share of answers, losses, ties of the confidence, and
    correlations within a participant.

    Example: demur study intervals --participants 20 --datasets 1000 --seed 1

    Example: demur study intervals --design errors_5 --participants 100 --seed 1 --figure coverage.svg

    Example: demur study intervals --like run.json --mode zero_shot --datasets 500 --seed 1
    """
    from demur.extensions.lab.study import coverage, report

    shape = {"loss": loss, "confidence": confidence, "correlation": correlation}
    _check_options(design, shape, typed, like)
    if figure is not None:
        _check_figure(figure, like)
    chosen = _design(design, shape, typed) if like is None else _imitation(like, shape, typed)
    size = participants if participants is not None else _PARTICIPANTS if like is None else chosen.participants[0]
    with progress_bar("data sets") as advance:
        tallies = coverage(
            chosen, size, datasets=datasets, seed=seed, resamples=resamples, threads=threads, progress=advance
        )
    typer.echo(report(chosen, size, tallies, f", {resamples} resamples, seed {seed}"))
    if figure is not None:
        from demur.extensions.lab.coverage_chart import coverage_chart
        from demur.files.write import write_whole

        picture = coverage_chart(
            tallies, f"95 % intervals in {datasets} data sets of {size} participants: {chosen.name}"
        )
        written = write_whole(figure, picture.standalone(paper=True), inputs=[like] if like else [])
        typer.echo(f"wrote {printed_path(written)}")


@studies.command(cls=SectionsCommand)
@with_sections("columns", reading=("mode", "instrument"), settings=("loss", "area_coverage"))
def participants(
    like: Annotated[
        list[str],
        typer.Option(metavar="FILE", help="A pilot: the files of two systems, or one that demur evaluate wrote."),
    ],
    difference: Annotated[
        float | None, typer.Option(help="The smallest difference that matters; that of the pilot if not given.")
    ] = None,
    power: Annotated[float, typer.Option(help="How likely the study is to show it.")] = 0.8,
    confidence: Annotated[str, typer.Option(help="What ranks the answers; of several the first.")] = "default",
    *,
    typed: Typed,
) -> None:
    """Say how many participants a comparison of two systems needs, from a pilot.

    This is the smallest number at which a t test at 5 % shows the difference in AUGRC with the requested power. It
    comes with a range, because a small pilot estimates the spread only roughly.

    Example: demur study participants --like metrics.json --difference 0.02

    Example: demur study participants --like run.json --like run.json --mode zero_shot --mode few_shot
    """
    from demur.evaluation.answering import evaluate_data
    from demur.extensions.lab.planning import plan_text
    from demur.files.strict_json import decode, loads, read_bytes
    from demur.results.load import coherent, is_own, results_of
    from demur.sampling.resample import Plan

    data = read_bytes(like[0]) if len(like) == 1 and like[0].lower().endswith(".json") else b"null"
    with located(like[0]):
        content = loads(decode(data))
    if is_own(content):
        for option in typed.flags:
            raise UserError(f"{option} is for files of systems, and {shown(like[0])} holds results: leave it out")
        with located(like[0]):
            pilot = results_of(content).narrowed(None if confidence == "default" else confidence)
    else:  # a pilot needs no resamples
        request = typed.request()
        settings = replace(request.settings, confidence=confidence)
        pilot = evaluate_data(like, replace(request, settings=settings, plan=Plan(0)), tell_notes)
    with coherent(like[0]):
        text = plan_text(pilot, difference, power)
    tell(text)


def _check_options(design: str, shape: Json, typed: Typed, like: Path | None) -> None:
    """Refuse options that would have no effect."""
    if like is not None:
        if design != _USUAL:
            raise UserError("--like makes a design of its own: leave out --design")
        if shape["correlation"] is not None:
            raise UserError("a run has its own correlation: leave out --correlation")
        return
    for option in typed.flags:
        if option != "--instrument" or design != _USUAL:
            raise UserError(f"{option} is for a run that is imitated: give it with --like")
    for name, value in shape.items():
        if value is not None and design != _USUAL:
            raise UserError(f"the design {shown(design)} has its own {name}: leave out --{name}")


def _check_figure(path: Path, like: Path | None) -> None:
    """Check that the picture can be written before anything is simulated."""
    from demur.files.write import check_target

    if path.suffix.lower() != ".svg":
        raise UserError(f"{path}: the picture is an .svg file: give it a name that ends in .svg")
    check_target(path, inputs=[like] if like else [])


def _design(name: str, shape: Json, typed: Typed) -> Design:
    from demur.extensions.lab.designs import design_named, phq8
    from demur.facts.instruments import instrument as instrument_of

    chosen = {option: value for option, value in shape.items() if value is not None}
    return (
        phq8(**chosen, instrument=instrument_of(typed.reading.instrument or BY_ITEMS))
        if name == _USUAL
        else design_named(name)
    )


def _imitation(path: Path, shape: Json, typed: Typed) -> Design:
    from demur.confidences.grading import grade
    from demur.extensions.lab.imitation import imitation

    items, understood = typed.understood(path, tell_notes, shape["confidence"] or "default", loss=shape["loss"])
    confidence = "llm_evidence_count" if understood.confidence == "default" else understood.confidence
    with located(path):
        return imitation(grade(items, loss=understood.loss, confidence=confidence), shown(path.name))


@simulations.command()
def runs(
    output: Annotated[Path, typer.Option("--output", "-o", help="The run file to write.")],
    seed: options.SimulationSeed,
    participants: Annotated[int, typer.Option(help="How many participants there are.")] = 41,
    failures: Annotated[int, typer.Option(help="How many more participants fail.")] = 0,
    correlation: Correlation = 0.6,
    instrument: InstrumentFile = "PHQ-8",
    run_id: Annotated[str, typer.Option(help="The run id to record.")] = "simulated",
) -> None:
    """Write a made-up run file: two experiments, zero_shot and few_shot, on the same participants.

    Example: demur simulate runs --output run.json --participants 41 --seed 1
    """
    from demur.extensions.lab.runs import simulated_run
    from demur.facts.instruments import instrument as instrument_of
    from demur.files.write import json_text, write_whole

    chosen = instrument_of(instrument)
    content = simulated_run(
        participants, seed=seed, failures=failures, correlation=correlation, instrument=chosen, run_id=run_id
    )
    written = write_whole(output, json_text(content), inputs=[instrument])
    typer.echo(f"wrote {printed_path(written)}: {participants} participants, zero_shot and few_shot")


@simulations.command()
def queries(
    output: Annotated[Path, typer.Option("--output", "-o", help="The per-query CSV file to write.")],
    seed: options.SimulationSeed,
    posts: Annotated[int, typer.Option(help="How many posts there are, each asked for nine criteria.")] = 60,
) -> None:
    """Write a made-up per-query file: a retriever and a reranker on the same posts.

    Example: demur simulate queries --output per_query.csv --seed 1
    """
    from demur.extensions.lab.queries import simulated_queries
    from demur.files.write import write_whole

    written = write_whole(output, simulated_queries(posts, seed=seed))
    typer.echo(f"wrote {printed_path(written)}: {posts} posts, two systems")


@simulations.command()
def interviews(
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write, new or empty.")],
    seed: options.SimulationSeed,
    participants: Annotated[int, typer.Option(help="How many participants there are.")] = 40,
    instrument: InstrumentFile = "PHQ-8",
) -> None:
    """Write made-up interviews with their true scores, for `demur produce`; numbers from them mean nothing clinically.

    Example: demur simulate interviews --output interviews --seed 1
    """
    from demur.extensions.lab.interviews import simulated_interviews
    from demur.facts.instruments import instrument as instrument_of

    made_up = simulated_interviews(participants, seed=seed, instrument=instrument_of(instrument))
    written = printed_path(made_up.write(output))
    assessed = participants - made_up.training
    typer.echo(f"wrote {written}: {participants} made-up participants, {assessed} to be assessed")


@app.command(rich_help_panel=MORE)
def demo(
    folder: Annotated[Path, typer.Option(help="Where to put the runs, the results and the page.")] = Path(
        "data/outputs/demo"
    ),
) -> None:
    """Simulate two systems that may abstain, evaluate and compare them, and say what the numbers mean.

    Example: demur demo
    """
    from demur.extensions.lab.demo import demonstrate
    from demur.show.console import evaluation_text

    with progress_bar("resamples") as advance:
        demonstration = demonstrate(folder, progress=advance)
    typer.echo(evaluation_text(demonstration.results))
    run, results, page = map(printed_path, (demonstration.run, demonstration.artifact, demonstration.page))
    typer.echo(f"\n{demonstration.explanation}\n\nRuns: {run}\nResults: {results}\nReport: {page}")
