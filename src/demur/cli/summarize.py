"""`demur summarize`: write the parts of a system's data as one small, mergeable file of counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from demur.cli import options
from demur.cli.app import DATA, app, printed_path, progress_bar, tell, tell_notes
from demur.cli.sections import SectionsCommand, Typed, only, with_sections
from demur.errors import UserError, literal

if TYPE_CHECKING:
    from demur.facts.groupings import GroupText


@app.command(rich_help_panel=DATA, cls=SectionsCommand)
@with_sections(
    "columns", "reading", settings=("confidence", "loss", "lower_is_surer"), plan=("workers",), groups=("labels",)
)
def summarize(
    parts: Annotated[
        list[str],
        typer.Argument(metavar="PART…", help="Tables, run files or summaries of one system, or folders of them."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The summary to write, such as run.sum.")],
    *,
    bins: Annotated[
        int | None, typer.Option(help="Different values of a signal at most; more are put in bins. 4096 if not given.")
    ] = None,
    loss_digits: Annotated[
        int | None, typer.Option(help="Round losses that are no decimals of up to 9 digits to so many.")
    ] = None,
    quiet: options.Quiet = False,
    typed: Typed,
) -> None:
    """Count the units of each cluster that are alike, part by part, and write the counts, which suffice for all curves.

    Parts may be summaries, so the same command merges them. A cluster may be in several parts.

    Example: demur summarize part-*.csv --column cluster=user --confidence sure -o run.sum

    Example: demur summarize monday.sum tuesday.sum -o week.sum
    """
    from demur.distributed.workers import Workers
    from demur.evaluation.data import parts_of
    from demur.evaluation.guessing import settled
    from demur.evaluation.summarizing import PartReading
    from demur.evaluation.summarizing import summarize as summarized
    from demur.files.write import check_target, write_whole
    from demur.summaries.bins import MOST
    from demur.summaries.file import content

    files = parts_of(parts)
    check_target(output, files)
    reading, settings = typed.reading, typed.settings
    part_reading = PartReading(
        settings.confidence,
        instrument=reading.instrument,
        options=replace(reading, group=_columns_of_groups(typed)),
        mode=only(reading.mode, "mode"),
        experiment=only(reading.experiment, "experiment"),
        lower_is_surer=settings.lower_is_surer,
        most_bins=MOST if bins is None else bins,
        loss_digits=loss_digits,
    )
    given = typed.given(loss=settings.loss, lower_is_surer=part_reading.lower_is_surer)
    understood = settled([files[0]], given, settings.confidence)
    columns, names = understood.columns[0], understood.confidence
    part_reading = replace(part_reading, confidence=names, columns=columns, loss=understood.loss)
    with progress_bar("reading") as advance, understood.explaining(), Workers(typed.plan.workers) as pool:
        summary = summarized(files, part_reading, pool, advance)
    tell_notes(understood.notes, quiet=quiet)
    write_whole(output, content(summary), inputs=files)
    if not quiet:
        counts = f"{len(summary.ids)} {summary.about.noun}s, {summary.units} units, {len(summary.count)} entries"
        tell(f"{len(summary.about.parts)} parts: {counts}\nwrote {printed_path(output)}")


def _columns_of_groups(typed: Typed) -> Mapping[str, GroupText] | None:
    """The column of each group; a group without one, such as item, is refused."""
    groups = typed.feature("groups")
    labels = groups.labels if groups else {}
    if built_in := [name for name, column in labels.items() if not column]:
        raise UserError(f"--group {literal(built_in[0])}, expected NAME=COLUMN: a summary has no items to tell apart")
    return {name: column for name, column in labels.items() if column} or None
