"""`demur import`: convert the logs of other tools into a file of units for `demur evaluate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from demur.cli import options
from demur.cli.app import DATA, app, printed_path, tell
from demur.cli.plain_values import Commands
from demur.options import named_values

imports = Commands(help="Convert a log of another tool into a file of units.", no_args_is_help=True)
app.add_typer(imports, name="import", rich_help_panel=DATA)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """The options that all importers share."""

    cluster: Annotated[
        str | None, typer.Option(help="Path of the cluster in a record; each question is its own if not given.")
    ] = None
    group: Annotated[list[str] | None, typer.Option(help="A group to keep, NAME=PATH; repeatable.")] = None
    confidence: Annotated[
        list[str] | None, typer.Option(help="A signal to keep as confidence, PATH or NAME=PATH; repeatable.")
    ] = None
    abstain: Annotated[
        list[str] | None,
        typer.Option(
            help="What abstains, repeatable: answer~=REGEX, field:PATH=VALUE, value=SCORE; of lm-eval choice=TEXT, "
            "of promptfoo named:METRIC=VALUE."
        ),
    ] = None
    score_range: Annotated[str, typer.Option(help="The worst and the best score, LOW:HIGH.")] = "0:1"
    include_text: Annotated[bool, typer.Option("--include-text", help="Keep the text of the answers.")] = False

    def write(
        self, tool: str, logs: Sequence[Path], output: Path, max_member: str = "512M", **choices: str | None
    ) -> None:
        """Import logs. A confidence is PATH or NAME=PATH, and a path is called by its last part."""
        from demur.importers.registry import ImportOptions
        from demur.importers.units import import_units

        signals = [text if "=" in text else f"{text.rpartition('.')[2]}={text}" for text in self.confidence or ()]
        chosen = ImportOptions(
            cluster=self.cluster,
            groups=named_values(self.group, "--group"),
            confidences=named_values(signals, "--confidence"),
            abstain=self.abstain or (),
            score_range=self.score_range,
            include_text=self.include_text,
            max_member=max_member,
            choices=choices,
        )
        for line in import_units(tool, logs, output, chosen).report():
            tell(line)
        typer.echo(f"wrote {printed_path(output)}")


Output = Annotated[Path, typer.Option("--output", "-o", help="The file of units to write, JSON Lines.")]


@imports.command("inspect")
@options.unfolded
def inspect_log(
    logs: Annotated[list[Path], typer.Argument(help="An .eval or .json log, or the parts of one.")],
    output: Output,
    *,
    scorer: Annotated[str | None, typer.Option(help="Whose scores, where there are several scorers.")] = None,
    value_key: Annotated[str | None, typer.Option(help="Which value of scores that have several.")] = None,
    log: LogOptions,
    max_member: Annotated[str, typer.Option(help="The largest member of an archive that is unpacked.")] = "512M",
) -> None:
    """Import a log of Inspect AI. A score of N, and one that is NaN, is an abstention, unless its grader failed.

    Example: demur import inspect capitals.eval -o units.jsonl --scorer exact --cluster metadata.document
    """
    log.write("inspect", logs, output, max_member, scorer=scorer, value_key=value_key)


@imports.command("lm-eval")
@options.unfolded
def lm_eval(
    samples: Annotated[Path, typer.Argument(help="A samples_….jsonl file, written with --log_samples.")],
    output: Output,
    *,
    metric: Annotated[
        str | None, typer.Option(help="Which metric is the score; acc, exact_match or the only one if not given.")
    ] = None,
    filter_: Annotated[str | None, typer.Option("--filter", help="Which filter, where there are several.")] = None,
    log: LogOptions,
) -> None:
    """Import samples of lm-evaluation-harness. Log-likelihoods of the choices become confidences.

    Example: demur import lm-eval samples_arc.jsonl -o units.jsonl --cluster doc.subject --abstain "choice=Unknown"
    """
    log.write("lm-eval", [samples], output, metric=metric, filter=filter_)


@imports.command()
@options.unfolded
def promptfoo(
    results: Annotated[Path, typer.Argument(help="The results.json that promptfoo eval -o wrote.")],
    output: Output,
    *,
    metric: Annotated[
        str | None, typer.Option(help="A named score, success or score; the only named score if not given.")
    ] = None,
    provider: Annotated[str | None, typer.Option(help="Which provider, where there are several: id or label.")] = None,
    prompt: Annotated[
        str | None, typer.Option(help="Which prompt, where there are several: its index, from 0.")
    ] = None,
    log: LogOptions,
) -> None:
    """Import results of promptfoo. An error without a response is a failure, a failed assertion is an answer.

    Example: demur import promptfoo results.json -o units.jsonl --metric exact --cluster vars.document
    """
    log.write("promptfoo", [results], output, metric=metric, provider=provider, prompt=prompt)


@imports.command("oai-evals")
@options.unfolded
def oai_evals(
    events: Annotated[Path, typer.Argument(help="The JSON Lines of events that a run of evals recorded.")],
    output: Output,
    *,
    cluster_regex: Annotated[
        str | None,
        typer.Option(help="What of a sample_id is the cluster: the group of an expression, such as (.+)[.]\\d+."),
    ] = None,
    log: LogOptions,
) -> None:
    """Import an event log of OpenAI evals. A sample with an error and no match has failed.

    Example: demur import oai-evals events.jsonl -o units.jsonl --abstain "answer~=I don't know"
    """
    log.write("oai-evals", [events], output, cluster_regex=cluster_regex)


@imports.command()
@options.unfolded
def helm(
    folder: Annotated[Path, typer.Argument(help="A run folder, with per_instance_stats.json and scenario_state.json.")],
    output: Output,
    *,
    metric: Annotated[str | None, typer.Option(help="Which statistic is the score; exact_match if not given.")] = None,
    perturbation: Annotated[
        str | None, typer.Option(help="Import the rows of this perturbation, in place of those without one.")
    ] = None,
    log: LogOptions,
) -> None:
    """Import a run folder of HELM. Its max_prob and logprob become confidences, unless they are constant.

    Example: demur import helm runs/v1/mmlu -o units.jsonl --metric quasi_exact_match
    """
    log.write("helm", [folder], output, metric=metric, perturbation=perturbation)
