"""`demur audit`: reported figures, recomputed from the data they are said to be of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from demur.audit.figures import Finding
from demur.cli import options
from demur.cli.app import TRUST, app, fitted, named, print_json, progress_bar
from demur.errors import UserError, located
from demur.facts.instruments import BY_ITEMS

if TYPE_CHECKING:
    from demur.read import TableOptions
    from demur.results.table import Results

_DIFFERS = 3
_RUN = ".json"


@app.command(rich_help_panel=TRUST)
def audit(
    data: Annotated[
        list[Path], typer.Option(help="What was measured: a per-query table (.csv, .jsonl, .parquet), or runs (.json).")
    ],
    reported: Annotated[Path, typer.Option(help="What was reported of it: a JSON file of figures.")],
    system: Annotated[
        list[str] | None, typer.Option(help="Which ranked column a section is about, as NAME=COLUMN.")
    ] = None,
    column: Annotated[
        list[str] | None, typer.Option(help="What a column of a table is called, as ROLE=COLUMN; once for each.")
    ] = None,
    mode: Annotated[
        list[str] | None,
        typer.Option(help="Mode of a run, where the report does not record it: once, or once per system."),
    ] = None,
    instrument: options.InstrumentName = BY_ITEMS,
    score_range: options.ScoreRange = None,
    loss_max: options.LossMax = None,
    every_row_its_own_cluster: options.OwnClusters = False,
    calibration: options.CalibrationFile = None,
    rater: options.Raters = None,
    forced: options.Forced = None,
    independent: Annotated[
        bool,
        typer.Option("--independent", help="Recompute a file of demur's own by plain loops, draw by draw: slow."),
    ] = False,
    signature: Annotated[
        str | None,
        typer.Option(help="Whose definition the figures follow, as a signature; ours if not given."),
    ] = None,
    resamples: Annotated[
        int | None, typer.Option(help="Draws to compare the intervals of others with; 2000 if not given.")
    ] = None,
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

    Example: demur audit --data per_query.csv --reported retrieval.json --independent --only differs
    """
    from demur.audit.listing import findings_json, findings_text, statuses
    from demur.files.write import json_text
    from demur.inference.resample import Plan

    Plan(resamples or 0, seed=0)  # too many are told before anything is read
    listed = statuses(only or ())
    if signature is not None:
        from demur.audit.reported.tools import stated

        stated(signature)
    if realpath(reported) in map(realpath, data):
        raise UserError(f"{reported}: is the data as well: no figure is compared with itself")
    table = options.table_options(score_range, loss_max, own_clusters=every_row_its_own_cluster)
    reading = (named(system, "--system"), named(column, "--column"), mode or (), instrument, table, calibration)
    asked = {"raters": options.raters(rater), "forced": options.forced(forced)}
    findings = _Audit(data, reported, *reading, independent, resamples, signature, asked).findings()
    if as_json:
        files = {"data": [*map(_traced, data)], "reported": _traced(reported)}
        print_json(json_text(files | findings_json(findings, listed)))
    else:
        typer.echo(findings_text(findings, listed))
    if any(finding.status == "differs" for finding in findings):
        raise typer.Exit(_DIFFERS)


@dataclass(frozen=True, slots=True)
class _Audit:
    """What is audited, and how its data are read."""

    data: Sequence[Path]
    reported: Path
    systems: Mapping[str, str]
    columns: Mapping[str, str]
    modes: Sequence[str]
    instrument: str
    table: TableOptions
    calibration: Path | None
    independent: bool
    resamples: int | None
    signature: str | None
    beside: Mapping[str, Any]

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
        if claimed is None:
            _refuse("figures of another tool", {"--independent": self.independent})
        else:
            _refuse("a file of demur's own", {"--resamples": self.resamples, "--signature": self.signature})
        if self.data[0].suffix.lower() == _RUN or (claimed and claimed.study.task == "selective"):
            in_columns = claimed is not None and self.data[0].suffix.lower() != _RUN
            told: dict[str, object] = {"--column": self.columns, self.table.names: self.table.names}
            _refuse("a run", {"--system": self.systems, **({} if in_columns else told)})
            findings = self._of_own_runs(claimed) if claimed else self._of_runs(printed)
            return [*(contradictions(content, claimed) if claimed else ()), *findings]
        options = {"--mode": self.modes, "--calibration": self.calibration, "a second --data": self.data[1:]}
        options |= {"--signature": self.signature}
        options |= {self.table.names: self.table.names}
        _refuse("a per-query table", options)
        return [*(contradictions(content, claimed) if claimed else ()), *self._of_queries(claimed, printed)]

    def _of_own_runs(self, claimed: Results) -> list[Finding]:
        """The runs a file names, by the modes it records or those given."""
        from demur.audit.independent import audited_independently, run_recipes, strata_of_runs
        from demur.audit.own import audited_runs
        from demur.evaluation.beside import everybody
        from demur.evaluation.labels import Labels
        from demur.facts.alignment import aligned
        from demur.read import read_inputs
        from demur.results.record import input_of
        from demur.results.table import system_names

        with located(self.reported):
            study = claimed.selective
        count, labels = len(claimed.systems), Labels.recorded(study.groups)
        recorded = [source.mode for source in study.inputs if source.mode is not None]
        modes = self.modes or (recorded if len(recorded) == len(study.inputs) else ())
        mapped = [dict(source.columns or {}) for source in study.inputs]
        columns = self.columns or (mapped if len(self.data) == len(mapped) else mapped[0])
        if self.data[0].suffix.lower() == _RUN:
            paths = [*self.data] * (count if len(self.data) == 1 else 1)
            runs = read_inputs(paths, modes=modes, instrument=self.instrument, columns=self.columns, options=self.table)
        else:
            rules: Any = {"failed_units": study.failed_units or "drop", "repeats": study.repeats or "units"}
            table = replace(self.table, noun=study.noun, probability=study.probabilities or (), **rules)
            table = labels.options(table)
            runs = read_inputs(self.data, modes=modes, instrument=self.instrument, columns=columns, options=table)
            runs *= count if len(runs) == 1 else 1  # one table that was compared with itself
        if study.excluded and len(runs) > count:
            names = system_names([input_of(items) for items in runs])
            runs = [items for name, items in zip(names, runs, strict=True) if name not in study.excluded]
        if len(runs) != count:
            raise UserError(
                f"{len(self.data)} data files for {count} systems: give one file per system, or one for all"
            )
        runs = labels.joined(runs)
        with progress_bar("resamples") as advance:
            if not self.independent:
                others = everybody(self.beside, runs, self.columns)
                return audited_runs(claimed, runs, fitted(self.calibration), advance, others)
            named_runs = dict(zip(claimed.systems, runs, strict=True))
            systems = aligned(named_runs, intersection_only=study.intersection_only).systems
            recipes = run_recipes(claimed, systems, self._parsed_calibration())
            return audited_independently(claimed, recipes, advance, strata_of_runs(claimed, systems))

    def _parsed_calibration(self) -> Any:
        loaded = fitted(self.calibration)
        return None if loaded is None else loaded.model_dump(mode="json")

    def _of_queries(self, claimed: Results | None, printed: Any) -> list[Finding]:
        from demur.audit.independent import audited_independently, query_recipes
        from demur.audit.own import audited_queries
        from demur.audit.reported.queries import audited_retrieval
        from demur.audit.reported.reading import queries_to_audit
        from demur.read import read_queries

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

        runs = runs_to_audit(self.data, modes=self.modes, instrument=self.instrument)
        calibration, draws = self._parsed_calibration(), RESAMPLES if self.resamples is None else self.resamples
        with located(self.reported):
            return audited_runs(runs, printed, calibration=calibration, resamples=draws, signature=self.signature)


def _refuse(what: str, options: Mapping[str, object]) -> None:
    for name, given in options.items():
        if given:
            raise UserError(f"{name} says nothing about {what}: leave it out")


def _traced(path: Path) -> dict[str, str]:
    """A file the findings are about, so that an audit can be traced back to its bytes."""
    from demur.files.strict_json import fingerprint, read_bytes, shown_path

    return {"path": shown_path(path), "sha256": fingerprint(read_bytes(path))}
