"""`demur import`: logs of other tools become a file of units that `demur evaluate` reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from demur.cli.app import DATA, app, named, printed_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demur.types import Json

imports = typer.Typer(help="Make units of a log that another tool wrote.", no_args_is_help=True)
app.add_typer(imports, name="import", rich_help_panel=DATA)

Output = Annotated[Path, typer.Option("--output", "-o", help="The file of units to write, JSON Lines.")]
Cluster = Annotated[
    str | None, typer.Option(help="Path of the cluster in a record; each question is its own if not given.")
]
Groups = Annotated[list[str] | None, typer.Option("--group", help="A group to keep, NAME=PATH; once for each.")]
Confidences = Annotated[
    list[str] | None, typer.Option("--confidence", help="A signal to keep, PATH or NAME=PATH; once for each.")
]
Abstain = Annotated[
    list[str] | None,
    typer.Option(help="What abstains, once for each: answer~=REGEX, field:PATH=VALUE, value=SCORE."),
]
ScoreRange = Annotated[str, typer.Option(help="The worst and the best score, LOW:HIGH.")]
IncludeText = Annotated[bool, typer.Option("--include-text", help="Keep the text of the answers.")]


@imports.command("inspect")
def inspect_log(
    logs: Annotated[list[Path], typer.Argument(help="An .eval or .json log, or the parts of one.")],
    output: Output,
    scorer: Annotated[str | None, typer.Option(help="Whose scores, where there are several scorers.")] = None,
    value_key: Annotated[str | None, typer.Option(help="Which value of scores that have several.")] = None,
    cluster: Cluster = None,
    group: Groups = None,
    confidence: Confidences = None,
    abstain: Abstain = None,
    score_range: ScoreRange = "0:1",
    include_text: IncludeText = False,
    max_member: Annotated[str, typer.Option(help="The largest member of an archive that is unpacked.")] = "512M",
) -> None:
    """Import a log of Inspect AI. A score of N, and one that is NaN, is an abstention.

    Example: demur import inspect capitals.eval -o units.jsonl --scorer exact --cluster metadata.document
    """
    given = _given(cluster, group, confidence, abstain, score_range, include_text)
    _write("inspect", logs, output, given | {"max_member": max_member}, scorer=scorer, value_key=value_key)


@imports.command("lm-eval")
def lm_eval(
    samples: Annotated[Path, typer.Argument(help="A samples_….jsonl file, written with --log_samples.")],
    output: Output,
    metric: Annotated[
        str | None, typer.Option(help="Which metric is the score; acc, exact_match or the only one if not given.")
    ] = None,
    filter_: Annotated[str | None, typer.Option("--filter", help="Which filter, where there are several.")] = None,
    cluster: Cluster = None,
    group: Groups = None,
    confidence: Confidences = None,
    abstain: Annotated[
        list[str] | None,
        typer.Option(help="What abstains: choice=TEXT, answer~=REGEX, field:PATH=VALUE, value=SCORE."),
    ] = None,
    score_range: ScoreRange = "0:1",
    include_text: IncludeText = False,
) -> None:
    """Import samples of lm-evaluation-harness. Log-likelihoods of the choices become confidences.

    Example: demur import lm-eval samples_arc.jsonl -o units.jsonl --cluster doc.subject --abstain "choice=Unknown"
    """
    given = _given(cluster, group, confidence, abstain, score_range, include_text)
    _write("lm-eval", [samples], output, given, metric=metric, filter=filter_)


@imports.command()
def promptfoo(
    results: Annotated[Path, typer.Argument(help="The results.json that promptfoo eval -o wrote.")],
    output: Output,
    metric: Annotated[
        str | None, typer.Option(help="A named score, success or score; the only named score if not given.")
    ] = None,
    provider: Annotated[str | None, typer.Option(help="Which provider, where there are several: id or label.")] = None,
    prompt: Annotated[
        str | None, typer.Option(help="Which prompt, where there are several: its index, from 0.")
    ] = None,
    cluster: Cluster = None,
    group: Groups = None,
    confidence: Confidences = None,
    abstain: Annotated[
        list[str] | None,
        typer.Option(help="What abstains: named:METRIC=VALUE, answer~=REGEX, field:PATH=VALUE, value=SCORE."),
    ] = None,
    score_range: ScoreRange = "0:1",
    include_text: IncludeText = False,
) -> None:
    """Import results of promptfoo. An error without a response is a failure, a failed assertion is an answer.

    Example: demur import promptfoo results.json -o units.jsonl --metric exact --cluster vars.document
    """
    given = _given(cluster, group, confidence, abstain, score_range, include_text)
    _write("promptfoo", [results], output, given, metric=metric, provider=provider, prompt=prompt)


@imports.command("oai-evals")
def oai_evals(
    events: Annotated[Path, typer.Argument(help="The JSON Lines of events that a run of evals recorded.")],
    output: Output,
    cluster: Cluster = None,
    cluster_regex: Annotated[
        str | None,
        typer.Option(help="What of a sample_id is the cluster: the group of an expression, such as (.+)[.]\\d+."),
    ] = None,
    group: Groups = None,
    confidence: Confidences = None,
    abstain: Abstain = None,
    score_range: ScoreRange = "0:1",
    include_text: IncludeText = False,
) -> None:
    """Import an event log of OpenAI evals. A sample with an error and no match has failed.

    Example: demur import oai-evals events.jsonl -o units.jsonl --abstain "answer~=I don't know"
    """
    given = _given(cluster, group, confidence, abstain, score_range, include_text)
    _write("oai-evals", [events], output, given, cluster_regex=cluster_regex)


@imports.command()
def helm(
    folder: Annotated[Path, typer.Argument(help="A run folder, with per_instance_stats.json and scenario_state.json.")],
    output: Output,
    metric: Annotated[str | None, typer.Option(help="Which statistic is the score; exact_match if not given.")] = None,
    perturbation: Annotated[
        str | None, typer.Option(help="Import the rows of this perturbation, in place of those without one.")
    ] = None,
    cluster: Cluster = None,
    group: Groups = None,
    confidence: Confidences = None,
    abstain: Abstain = None,
    score_range: ScoreRange = "0:1",
    include_text: IncludeText = False,
) -> None:
    """Import a run folder of HELM. Its max_prob and logprob become confidences, unless they are constant.

    Example: demur import helm runs/v1/mmlu -o units.jsonl --metric quasi_exact_match
    """
    given = _given(cluster, group, confidence, abstain, score_range, include_text)
    _write("helm", [folder], output, given, metric=metric, perturbation=perturbation)


def _given(
    cluster: str | None,
    group: list[str] | None,
    confidence: list[str] | None,
    abstain: list[str] | None,
    score_range: str,
    include_text: bool,  # noqa: FBT001  (in the order of the options)
) -> Json:
    """What every importer is told. A confidence is PATH or NAME=PATH, and a path is called by its last part."""
    signals = [text if "=" in text else f"{text.rpartition('.')[2]}={text}" for text in confidence or ()]
    return {
        "cluster": cluster,
        "groups": named(group, "--group"),
        "confidences": named(signals, "--confidence"),
        "abstain": abstain or (),
        "score_range": score_range,
        "include_text": include_text,
    }


def _write(tool: str, logs: Sequence[Path], output: Path, given: Json, **choices: str | None) -> None:
    from demur.importers.registry import ImportOptions
    from demur.importers.units import import_units

    imported = import_units(tool, logs, output, ImportOptions(**given, choices=choices))
    for line in imported.report():
        typer.echo(line)
    typer.echo(f"wrote {printed_path(output)}")
