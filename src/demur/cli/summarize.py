"""`demur summarize`: parts of a system's data as one small file of counts, which merges with others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from demur.cli import options
from demur.cli.app import DATA, Spoken, app, printed_path, progress_bar
from demur.errors import UserError, literal


@app.command(rich_help_panel=DATA, cls=options.ListingCommand)
@options.unfolded
def summarize(
    parts: Annotated[
        list[str],
        typer.Argument(metavar="PART…", help="Tables, run files or summaries of one system, or folders of them."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The summary to write, such as run.sum.")],
    *,
    reading: options.ReadingOptions,
    confidence: Annotated[
        str, typer.Option(help="What is to rank the answers: names of variants or signals; the one signal of a table.")
    ] = "default",
    group: options.GroupNames = None,
    probability: options.Probability = None,
    loss: options.LossName = None,
    lower_is_surer: options.LowerIsSurer = None,
    bins: Annotated[
        int | None, typer.Option(help="Different values of a signal at most; more are put in bins. 4096 if not given.")
    ] = None,
    loss_digits: Annotated[
        int | None, typer.Option(help="Round losses that are no decimals of up to 9 digits to so many.")
    ] = None,
    site: Annotated[
        str | None, typer.Option(help="Write pseudonyms for the ids of clusters, SITE:HASH; needs --salt.")
    ] = None,
    salt: Annotated[
        Path | None, typer.Option(help="A file with the secret of the site that the hashes are salted with.")
    ] = None,
    workers: options.WorkerNames = None,
    quiet: options.Quiet = False,
) -> None:
    """Count the units of each cluster that are alike, part by part, and write the counts down: enough for all curves.

    Parts may be summaries, so that merging is the same command. A cluster may be in several parts.

    Example: demur summarize part-*.csv --column cluster=user --confidence sure -o run.sum

    Example: demur summarize monday.sum tuesday.sum -o week.sum

    Example: demur summarize visits/ --column cluster=patient --site bergen --salt salt.txt -o run.sum
    """
    from dataclasses import replace

    from demur.distributed.workers import Workers
    from demur.evaluation.data import parts_of
    from demur.evaluation.guessing import settled
    from demur.evaluation.summarizing import PartReading
    from demur.evaluation.summarizing import summarize as summarized
    from demur.files.write import check_target, write_whole
    from demur.summaries.bins import MOST
    from demur.summaries.file import content
    from demur.summaries.pseudonyms import read_salt, salted

    files = parts_of(parts)
    check_target(output, files)
    if (site is None) != (salt is None):
        raise UserError("--site and --salt go together: the name of the site, and the file with its secret")
    secret = None if salt is None else read_salt(salt)
    if reading.every_row_its_own_cluster:
        raise UserError(
            "--every-row-its-own-cluster: parts are merged by cluster; give rows that share nothing a column"
        )
    labels = {name: text for name, text in options.groups(group).items() if text}
    if nowhere := [name for name, text in options.groups(group).items() if not text]:
        raise UserError(f"--group {literal(nowhere[0])}, expected NAME=COLUMN: a summary has no items to tell apart")
    turned, voice = tuple(lower_is_surer or ()), Spoken(quiet=quiet)
    given = reading.given(loss=loss, lower_is_surer=turned)
    understood = settled([files[0]], given, confidence, voice, seedless=False)
    asked = PartReading(
        understood.confidence,
        understood.columns[0],
        reading.instrument,
        replace(reading.table, probability=tuple(probability or ()), group=labels or None),
        mode=reading.mode,
        experiment=reading.experiment,
        loss=understood.loss,
        lower_is_surer=turned,
        most_bins=MOST if bins is None else bins,
        loss_digits=loss_digits,
    )
    with progress_bar("parts") as advance, understood.explaining(), Workers(workers or 1) as at_work:
        made = summarized(files, asked, at_work, advance)
    if secret is not None:
        made = salted(made, site or "", secret)
    voice.tell(understood.notes)
    write_whole(output, content(made), inputs=[*files, *([salt] if salt else [])])
    if not quiet:
        counts = f"{len(made.ids)} {made.about.noun}s, {made.units} units, {len(made.count)} entries"
        typer.echo(f"{len(made.about.parts)} parts: {counts}\nwrote {printed_path(output)}")
