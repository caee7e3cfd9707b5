"""`demur study`, `simulate` and `demo`: made-up data, to plan with and to try things on; `demur schema`."""

from pathlib import Path
from typing import Annotated

import typer

from demur.cli import options
from demur.cli.app import DATA, MORE, TRUST, app, printed_path, progress_bar
from demur.errors import unknown

studies = typer.Typer(help="Measure methods on made-up data of your size.", no_args_is_help=True)
simulations = typer.Typer(help="Write made-up files to try things on.", no_args_is_help=True)
app.add_typer(simulations, name="simulate", rich_help_panel=DATA)
app.add_typer(studies, name="study", rich_help_panel=TRUST)
InstrumentFile = Annotated[str, typer.Option(help="A name, or a .json or .toml file.")]
Correlation = Annotated[float, typer.Option(help="How much a person's items are alike, 0 to 1.")]
SCHEMAS = ("metrics", "results", "run", "calibrator")
_EARLIER = {"retrieval": "results"}


@studies.command(cls=options.ListingCommand)
def intervals(
    seed: options.SimulationSeed,
    participants: Annotated[int, typer.Option(help="How many participants a data set has.")] = 41,
    datasets: Annotated[int, typer.Option(help="How many data sets to make.")] = 1000,
    resamples: Annotated[int, typer.Option(help="Bootstrap resamples of each data set.")] = 1000,
    correlation: Correlation = 0.6,
    loss: options.LossName = "abs_norm",
    confidence: Annotated[str, typer.Option(help="The signal that ranks the answers.")] = "llm_evidence_count",
    instrument: InstrumentFile = "PHQ-8",
) -> None:
    """Measure how often intervals cover, on made-up runs of your size.

    Example: demur study intervals --participants 20 --datasets 1000 --seed 1
    """
    from demur.facts.instruments import instrument as instrument_of
    from demur.simulate.study import Design, coverage, report

    chosen = instrument_of(instrument)
    design = Design(
        participants=participants, loss=loss, confidence=confidence, correlation=correlation, instrument=chosen
    )
    with progress_bar("data sets") as advance:
        tallies = coverage(design, datasets=datasets, seed=seed, n_resamples=resamples, progress=advance)
    size = f"--participants {participants} --datasets {datasets} --resamples {resamples} --seed {seed}"
    kind = f"--correlation {correlation} --loss {loss} --confidence {confidence} --instrument {design.instrument.name}"
    typer.echo(f"demur study intervals {size} {kind}")
    typer.echo(report(design, tallies))


@simulations.command()
def runs(
    output: Annotated[Path, typer.Option(help="The run file to write.")],
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
    from demur.facts.instruments import instrument as instrument_of
    from demur.files.write import json_text, write_whole
    from demur.simulate.runs import simulated_run

    chosen = instrument_of(instrument)
    content = simulated_run(
        participants, seed=seed, failures=failures, correlation=correlation, instrument=chosen, run_id=run_id
    )
    written = write_whole(output, json_text(content), inputs=[instrument])
    typer.echo(f"wrote {printed_path(written)}: {participants} participants, zero_shot and few_shot")


@simulations.command()
def queries(
    output: Annotated[Path, typer.Option(help="The per-query CSV file to write.")],
    seed: options.SimulationSeed,
    posts: Annotated[int, typer.Option(help="How many posts there are, each asked for nine criteria.")] = 60,
) -> None:
    """Write a made-up per-query file: a retriever and a reranker on the same posts.

    Example: demur simulate queries --output per_query.csv --seed 1
    """
    from demur.files.write import write_whole
    from demur.simulate.queries import simulated_queries

    written = write_whole(output, simulated_queries(posts, seed=seed))
    typer.echo(f"wrote {printed_path(written)}: {posts} posts, two systems")


@app.command(rich_help_panel=MORE)
def schema(name: Annotated[str, typer.Argument(help="metrics, results, run or calibrator.")]) -> None:
    """Print the JSON Schema of a file demur writes or reads.

    Example: demur schema metrics > metrics.schema.json
    """
    from importlib.resources import files

    name = _EARLIER.get(name, name)
    if name not in SCHEMAS:
        raise unknown("schema", name, SCHEMAS)
    typer.echo(files("demur").joinpath(f"schemas/{name}.schema.json").read_text(encoding="utf-8"), nl=False)


@app.command(rich_help_panel=MORE)
def demo(
    folder: Annotated[Path, typer.Option(help="Where to put the runs, the results and the page.")] = Path(
        "data/outputs/demo"
    ),
) -> None:
    """Simulate two systems that may abstain, evaluate and compare them, and say what the numbers mean.

    Example: demur demo
    """
    from demur.report.console import evaluation_text
    from demur.simulate.demo import demonstrate

    with progress_bar("resamples") as advance:
        shown = demonstrate(folder, progress=advance)
    typer.echo(evaluation_text(shown.results))
    run, results, page = map(printed_path, (shown.run, shown.artifact, shown.page))
    typer.echo(f"\n{shown.explanation}\n\nRuns: {run}\nResults: {results}\nReport: {page}")
