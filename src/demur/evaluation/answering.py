"""The evaluation of data for a request, shared by `demur.evaluate` and the command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from demur.evaluation.data import entries_of
from demur.evaluation.guessing import settled
from demur.evaluation.request import Request
from demur.read import read_inputs
from demur.read.files import Counts, named_input
from demur.read.kinds import kind_of, reader_of
from demur.read.role_candidates import Given
from demur.results.selective import evaluate as evaluated

if TYPE_CHECKING:
    from demur.results.table import Results

Tell = Callable[[Sequence[str]], None]


def evaluate_data(data: Any, request: Request, tell: Tell = lambda _: None) -> Results:
    """Evaluate data as requested; `tell` is called with what was guessed about the data."""
    entries, settings, reading = entries_of(data), request.settings, request.reading
    asked = [options.opened() for options in request.features]
    understood = settled([*map(_example, entries)], _given(request), settings.confidence)
    plan, lower_is_surer = request.plan, settings.lower_is_surer
    with understood.explaining():
        table = reading
        for options in asked:
            table = options.reading(table)
        runs = read_inputs(
            entries,
            modes=reading.mode,
            experiments=reading.experiment,
            instrument=reading.instrument,
            columns=understood.columns,
            options=table,
            counts=Counts(understood.confidence, understood.loss, lower_is_surer, plan.workers, plan.progress),
        )
        for options in asked:
            runs = options.joined(runs)
    understood = understood.of(runs)
    tell(understood.notes)
    return evaluated(
        *runs,
        settings=replace(settings, loss=understood.loss, confidence=understood.confidence),
        plan=plan,
        command=request.command,
        also_read=request.files,
        features=[options.read(runs, understood.columns[0]) for options in asked],
    )


def _example(entry: Any) -> Any:
    """The input itself, or one like its parts, from which columns are inferred."""
    name, data = named_input(entry)
    kind = kind_of(data)
    return entry if kind is None else (name, reader_of(data, kind).example(data))


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
