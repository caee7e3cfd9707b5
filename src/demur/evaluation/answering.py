"""The evaluation of data for a request, shared by `demur.evaluate` and the command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from demur.errors import UserError
from demur.evaluation.data import entries_of, folders_among
from demur.evaluation.guessing import settled
from demur.evaluation.labels import Labels
from demur.evaluation.raters import Raters
from demur.evaluation.request import Request
from demur.options import as_option
from demur.read import read_inputs
from demur.read.role_candidates import Given
from demur.results.groups import Groups
from demur.results.selective import evaluate as evaluated

if TYPE_CHECKING:
    from demur.results.table import Results

Tell = Callable[[Sequence[str]], None]


def evaluate_data(data: Any, request: Request, tell: Tell = lambda _: None) -> Results:
    """Evaluate data as requested; `tell` is called with what was guessed about the data."""
    entries, groups = entries_of(data), request.feature(Groups)
    labels = Labels.of(groups.labels, groups.table)
    settings, reading = request.with_features(labels.names), request.reading
    folders = folders_among(entries)
    if request.plan.workers not in (1, "1") and not folders:
        raise UserError(f"workers read the parts of a folder: give a folder, or leave out {as_option('workers')}")
    first_parts = {n: (folder.name, folder.parts[0]) for n, folder in folders.items()}
    shown = [first_parts.get(n, entry) for n, entry in enumerate(entries)]
    understood = settled(shown, _given(request), settings.confidence)
    with understood.explaining():
        table = labels.options(reading)
        if folders:
            from demur.evaluation.summarizing import read_folders  # noqa: PLC0415  (most evaluations have none)

            read_folders(entries, folders, understood, replace(request, reading=table))
        runs = read_inputs(
            entries,
            modes=reading.mode,
            experiments=reading.experiment,
            instrument=reading.instrument,
            columns=understood.columns,
            options=table,
            counts=True,
        )
        runs = labels.joined(runs)
    understood = understood.of(runs)
    tell(understood.notes)
    return evaluated(
        *runs,
        settings=replace(settings, loss=understood.loss, confidence=understood.confidence),
        plan=request.plan,
        command=request.command,
        also_read=request.files,
        beside=request.feature(Raters).read(runs, understood.columns[0]),
    )


def _given(request: Request) -> Given:
    """What the user specified, so that it need not be guessed from a table."""
    reading, settings = request.reading, request.settings
    return Given(
        dict(request.columns),
        reading.instrument,
        reading.every_row_its_own_cluster,
        reading.score_range,
        settings.loss,
        lower_is_surer=settings.lower_is_surer,
    )
