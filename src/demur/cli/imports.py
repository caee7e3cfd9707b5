"""`demur import`: logs of other tools become a file of units that `demur evaluate` reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from demur.cli.app import DATA, app, named, printed_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demur.importers.registry import ImportOptions

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
    typer.Option(help="What abstains, once for each rule: answer~=REGEX, field:PATH=VALUE, value=SCORE."),
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
    from demur.importers.registry import ImportOptions

    options = ImportOptions(
        cluster=cluster,
        groups=named(group, "--group"),
        confidences=_signals(confidence),
        abstain=abstain or (),
        score_range=score_range,
        include_text=include_text,
        max_member=max_member,
        choices={"scorer": scorer, "value_key": value_key},
    )
    _write("inspect", logs, output, options)


def _signals(given: list[str] | None) -> dict[str, str]:
    """What was given as PATH or NAME=PATH, by name; a path is called by its last part."""
    return named([text if "=" in text else f"{text.rpartition('.')[2]}={text}" for text in given or ()], "--confidence")


def _write(tool: str, logs: Sequence[Path], output: Path, options: ImportOptions) -> None:
    from demur.importers.units import import_units

    imported = import_units(tool, logs, output, options)
    for line in imported.report():
        typer.echo(line)
    typer.echo(f"wrote {printed_path(output)}")
