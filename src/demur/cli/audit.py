"""`demur audit`: reported figures, recomputed from the data they are said to be of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from os.path import isdir, realpath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from demur.cli import options
from demur.cli.app import TRUST, Spoken, app, fitted, named, print_json, progress_bar
from demur.errors import UserError, located
from demur.facts.instruments import BY_ITEMS
from demur.summaries.mark import is_summary

if TYPE_CHECKING:
    from demur.audit.figures import Finding
    from demur.facts.items import Items
    from demur.read import TableOptions
    from demur.results.study import SelectiveStudy
    from demur.results.table import Results

_DIFFERS = 3
_RUN = ".json"
_STATED = "stated"  # by the figures, each for itself: neither a loss nor a confidence is asked for
_OF_OWN = ("independent", "rater", "forced")
_OF_OTHERS = ("resamples", "signature")
_OF_TABLES = ("score_range", "loss_max", "every_row_its_own_cluster")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """What is audited, and how its data are read."""

    data: Annotated[
        list[Path],
        typer.Option(help="What was measured: runs (.json), or a table (.csv, .jsonl, .parquet), long or per-query."),
    ]
    reported: Annotated[Path, typer.Option(help="What was reported of it: a JSON file of figures.")]
    system: Annotated[
        list[str] | None, typer.Option(help="Which ranked column a section is about, as NAME=COLUMN.")
    ] = None
    column: options.ColumnNames = None
    mode: Annotated[
        list[str] | None,
        typer.Option(help="Mode of a run, where the report does not record it: once, or once per system."),
    ] = None
    instrument: options.InstrumentName = BY_ITEMS
    score_range: options.ScoreRange = None
    loss_max: options.LossMax = None
    every_row_its_own_cluster: options.OwnClusters = False
    calibration: options.CalibrationFile = None
    rater: options.Raters = None
    forced: options.Forced = None
    independent: Annotated[
        bool,
        typer.Option("--independent", help="Recompute a file of demur's own by plain loops, draw by draw: slow."),
    ] = False
    signature: Annotated[
        str | None,
        typer.Option(help="Whose definition the figures follow: a signature, or fd-shifts, …; ours if not given."),
    ] = None
    resamples: Annotated[
        int | None, typer.Option(help="Draws to compare the intervals of others with; 2000 if not given.")
    ] = None

    @property
    def columns(self) -> dict[str, str]:
        """The columns of roles that are named."""
        return named(self.column, "--column")

    @property
    def systems(self) -> dict[str, str]:
        """The ranked columns of systems that are named."""
        return named(self.system, "--system")

    @property
    def table(self) -> TableOptions:
        """How tables are to be read besides."""
        given: Any = {name: getattr(self, name) for name in _OF_TABLES}
        return options.ReadingOptions(**given).table

    def findings(self) -> list[Finding]:
        """What became of every figure."""
        from demur.audit.figures import Printed
        from demur.audit.own import contradictions, is_own
        from demur.files.strict_json import decode, loads, read_bytes
        from demur.results.load import results_of

        data = read_bytes(self.reported)
        with located(self.reported):
            content, printed = loads(decode(data)), loads(decode(data), number=Printed.of)
            claimed = results_of(content) if is_own(content) else None
        own = contradictions(content, claimed) if claimed else ()
        if claimed is None:
            self._refuse("figures of another tool", _OF_OWN)
        else:
            self._refuse("a file of demur's own", _OF_OTHERS)
        if self.independent:
            self._refuse("an independent audit", ("rater", "forced"))
        is_run = self.data[0].suffix.lower() == _RUN
        if self._is_selective(claimed):
            idle = ("system", "column", *_OF_TABLES) if is_run else ("system", *(() if claimed else ("mode",)))
            self._refuse("a run" if is_run else "a long table", idle)
            return [*own, *(self._of_own_runs(claimed) if claimed else self._of_runs(printed))]
        self._refuse(
            "a per-query table",
            ("mode", "instrument", "calibration", *_OF_OWN[1:], "resamples", "signature", *_OF_TABLES),
        )
        if self.data[1:]:
            raise UserError("a second --data says nothing about a per-query table: leave it out")
        return [*own, *self._of_queries(claimed, printed)]

    def _is_selective(self, claimed: Results | None) -> bool:
        """Whether what is audited is of selective prediction: by the file of results, or by the data."""
        if claimed is not None or self.data[0].suffix.lower() == _RUN:
            return claimed is None or claimed.study.task == "selective"
        from demur.audit.reported.reading import is_per_query

        return not self.system and not is_per_query(self.data[0])

    def _refuse(self, what: str, names: Sequence[str]) -> None:
        """An option that would change nothing is a mistake."""
        usual = {each.name: each.default for each in fields(self)}
        for name in names:
            if getattr(self, name) != usual[name]:
                raise UserError(f"--{name.replace('_', '-')} says nothing about {what}: leave it out")

    def _of_own_runs(self, claimed: Results) -> list[Finding]:
        """The runs a file names, by the modes it records or those given."""
        from demur.audit.independent import audited_independently, run_recipes, strata_of_runs
        from demur.audit.own import audited_runs
        from demur.evaluation.beside import everybody
        from demur.facts.alignment import aligned

        with located(self.reported):
            study = claimed.selective
        runs = self._runs(study)
        if len(runs) != len(claimed.systems):
            files = f"{len(self.data)} data files for {len(claimed.systems)} systems"
            raise UserError(f"{files}: give one file per system, or one for all")
        with progress_bar("resamples") as advance:
            if not self.independent:
                said = {"raters": options.raters(self.rater), "forced": options.forced(self.forced)}
                others = everybody(said, runs, self.columns)
                return audited_runs(claimed, runs, fitted(self.calibration), advance, others)
            named_runs = dict(zip(claimed.systems, runs, strict=True))
            systems = aligned(named_runs, intersection_only=study.intersection_only).systems
            recipes = run_recipes(claimed, systems, self._parsed_calibration())
            return audited_independently(claimed, recipes, advance, strata_of_runs(claimed, systems))

    def _runs(self, study: SelectiveStudy) -> list[Items]:
        """The facts of the systems of a study, read as it records them."""
        from demur.evaluation.labels import Labels
        from demur.read import read_inputs
        from demur.results.record import input_of
        from demur.results.table import system_names

        count, labels, data = len(study.systems), Labels.recorded(study.groups), [*self.data]
        recorded = [source.mode for source in study.inputs if source.mode is not None]
        modes = self.mode or (recorded if len(recorded) == len(study.inputs) else ())
        table: TableOptions = self.table
        columns: Any = self.columns
        if data[0].suffix.lower() == _RUN:
            data *= count if len(data) == 1 else 1
        else:
            mapped = [dict(source.columns or {}) for source in study.inputs]
            columns = columns or (mapped if len(data) == len(mapped) else mapped[0])
            rules: Any = {"failed_units": study.failed_units or "drop", "repeats": study.repeats or "units"}
            table = replace(table, noun=study.noun, probability=study.probabilities or (), **rules)
            table = labels.options(table)
        runs = read_inputs(data, modes=modes, instrument=self.instrument, columns=columns, options=table)
        runs *= count if len(runs) == 1 else 1  # one table that was compared with itself
        if study.excluded and len(runs) > count:
            names = system_names([input_of(items) for items in runs])
            runs = [items for name, items in zip(names, runs, strict=True) if name not in study.excluded]
        return labels.joined(runs)

    def _tables(self) -> dict[str, Items]:
        """The systems of long tables, whose columns are guessed as those of an evaluation are."""
        from demur.audit.reported.reading import named_runs
        from demur.evaluation.guessing import settled
        from demur.read import read_inputs
        from demur.read.guess import Given

        paths, voice = [*map(str, self.data)], Spoken()
        said = Given(self.columns, self.instrument, self.every_row_its_own_cluster, self.score_range, loss=_STATED)
        known = settled(paths, said, _STATED, voice, seedless=False)
        with known.explaining():
            runs = read_inputs(paths, instrument=self.instrument, columns=known.columns, options=self.table)
        voice.tell(known.notes)
        return named_runs(runs)

    def _parsed_calibration(self) -> Any:
        loaded = fitted(self.calibration)
        return None if loaded is None else loaded.model_dump()

    def _of_queries(self, claimed: Results | None, printed: Any) -> list[Finding]:
        from demur.audit.independent import audited_independently, query_recipes
        from demur.audit.own import audited_queries
        from demur.audit.reported.queries import audited_retrieval
        from demur.audit.reported.reading import queries_to_audit
        from demur.read.queries import read_queries

        names: dict[str, Any] = {"columns": self.columns, "systems": self.systems}
        if claimed is None:
            queries = queries_to_audit(self.data[0], **names)
            with located(self.reported):
                return audited_retrieval(queries, printed)
        with progress_bar("resamples") as advance:
            if not self.independent:
                return audited_queries(claimed, read_queries(self.data[0], **names), advance)
            recipes = query_recipes(claimed, queries_to_audit(self.data[0], **names))
            return audited_independently(claimed, recipes, advance)

    def _of_runs(self, printed: Any) -> list[Finding]:
        from demur.audit.reported.reading import runs_to_audit
        from demur.audit.reported.runs import RESAMPLES, audited_runs

        is_run = self.data[0].suffix.lower() == _RUN
        runs = runs_to_audit(self.data, modes=self.mode or (), instrument=self.instrument) if is_run else self._tables()
        calibration, draws = self._parsed_calibration(), RESAMPLES if self.resamples is None else self.resamples
        with located(self.reported):
            return audited_runs(runs, printed, calibration=calibration, resamples=draws, signature=self.signature)


@app.command(rich_help_panel=TRUST)
@options.unfolded
def audit(
    *,
    asked: AuditOptions,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Which findings to list, separated by commas: match, differs, not-recognised or all."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Recompute the figures somebody reported; the exit code is 3 if one differs.

    A file of demur's own is evaluated again with the settings and the seed it records.

    Example: demur audit --data per_query.csv --reported summary.json --system reranker=reranked_topk

    Example: demur audit --data run.json --reported metrics.json

    Example: demur audit --data answers.csv --reported paper.json --signature torch-uncertainty

    Example: demur audit --data per_query.csv --reported retrieval.json --independent --only differs
    """
    from demur.audit.listing import findings_json, findings_text, statuses
    from demur.files.write import json_text
    from demur.inference.resample import Plan

    Plan(asked.resamples or 0, seed=0)  # too many are told before anything is read
    listed, data, reported = statuses(only or ()), asked.data, asked.reported
    if asked.signature is not None:
        from demur.audit.reported.tools import stated

        stated(asked.signature)
    if parts := [*filter(isdir, data)]:
        raise UserError(f"{parts[0]}: a folder, and an audit counts single units: give the data as one file per system")
    if counts := [*filter(is_summary, data)]:
        raise UserError(f"{counts[0]}: a summary, and an audit counts single units: give the data themselves")
    if realpath(reported) in map(realpath, data):
        raise UserError(f"{reported}: is the data as well: no figure is compared with itself")
    findings = asked.findings()
    if as_json:
        files = {"data": [*map(_traced, data)], "reported": _traced(reported)}
        print_json(json_text(files | findings_json(findings, listed)))
    else:
        typer.echo(findings_text(findings, listed))
    if any(finding.status == "differs" for finding in findings):
        raise typer.Exit(_DIFFERS)


def _traced(path: Path) -> dict[str, str]:
    """A file the findings are about, so that an audit can be traced back to its bytes."""
    from demur.files.strict_json import fingerprint, read_bytes, shown_path

    return {"path": shown_path(path), "sha256": fingerprint(read_bytes(path))}
