"""`demur audit`: recompute reported figures from their data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os.path import isdir, realpath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from demur.cli import options
from demur.cli.app import TRUST, app, fitted, print_json, progress_bar, tell_notes
from demur.cli.sections import SectionsCommand, Typed, with_sections
from demur.errors import UserError, located, shown
from demur.extension import installed
from demur.feature import required
from demur.options import named_values

if TYPE_CHECKING:
    from demur.extensions.audit.figures import Finding
    from demur.extensions.audit.recorded_inputs import RecordedData
    from demur.extensions.retrieval.command import RankingFiles
    from demur.extensions.retrieval.rankings import Query, Rankings
    from demur.facts.items import Items
    from demur.read import TableOptions
    from demur.results.study import SelectiveStudy
    from demur.results.table import Results

_DIFFERS = 3
_RUN = ".json"
_STATED = "stated"  # each figure names its loss and confidence, so neither has to be chosen
_RANKINGS = "retrieval"  # the extension that reads and evaluates rankings
_OF_TOOLS = "an audit of figures by other definitions"
_OF_OWN = ("raters", "forced")
_OF_OTHERS = ("resamples", "signature")
_OF_TREC = ("qrels", "run", "split_topics")
_OF_TABLES = ("score_range", "loss_max", "every_row_its_own_cluster")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """The options for what is audited and how its data are read."""

    reported: Annotated[Path, typer.Option(help="What was reported of it: a JSON file of figures.")]
    data: Annotated[
        list[Path] | None,
        typer.Option(
            help="What was measured: runs (.json), or a table (.csv, .jsonl, .parquet), long or per-query. "
            "If not given, the unchanged files that results of demur record."
        ),
    ] = None
    qrels: options.Qrels = None
    run: options.TrecRuns = None
    split_topics: options.SplitTopics = None
    system: Annotated[
        list[str] | None, typer.Option(help="Which ranked column a section is about, as NAME=COLUMN.")
    ] = None
    signature: Annotated[
        str | None,
        typer.Option(help="Whose definition the figures follow: a signature, or fd-shifts, …; ours if not given."),
    ] = None
    resamples: Annotated[
        int | None, typer.Option(help="Draws to compare the intervals of others with; 2000 if not given.")
    ] = None


@dataclass(frozen=True, slots=True)
class Audit:
    """One audit: its own options, and the options for reading its data."""

    options: AuditOptions
    typed: Typed

    @property
    def systems(self) -> dict[str, str]:
        """The ranked columns given with --system, by name."""
        return named_values(self.options.system, "--system")

    def files(self) -> RankingFiles:
        """The files in the form that `demur retrieval` takes."""
        _check_rankings()
        from demur.extensions.retrieval.command import RankingFiles

        shared: Any = {name: getattr(self.options, name) for name in (*_OF_TREC, "system")}
        column = [f"{role}={name}" for role, name in self.typed.columns.items()] or None
        data = self.options.data
        return RankingFiles(data=data[0] if data else None, column=column, **shared)

    def located_data(self, claimed: Results | None) -> RecordedData:
        """The data files given, or else those recorded in a file of demur, if they have not changed."""
        from demur.extensions.audit.recorded_inputs import RecordedData, recorded_data

        given = self.options
        if given.data or given.qrels or given.run:
            if given.data and not options.typed(given, _OF_TREC):
                return RecordedData(given.data)
            files = self.files()
            files.check()
            return RecordedData([], given.qrels, files.runs)
        if claimed is None:
            raise UserError(f"nothing to compare {given.reported} with: give its data, --data, or --qrels and --run")
        return recorded_data(claimed, given.reported)

    def findings(self, reported: _Reported, files: RecordedData) -> list[Finding]:
        """Audit the reported file, and return the finding about each figure."""
        from demur.extensions.audit.results_audit import contradictions

        claimed = reported.claimed
        own = contradictions(reported.content, claimed) if claimed else ()
        if claimed is None:
            self._refuse("figures of another tool", _OF_OWN)
        else:
            self._refuse("a file of demur's own", _OF_OTHERS)
        is_run = bool(files.data) and files.data[0].suffix.lower() == _RUN
        if self._is_selective(claimed, files):
            unused = ("system", "columns", *_OF_TABLES) if is_run else ("system", *(() if claimed else ("mode",)))
            self._refuse("a run" if is_run else "a long table", (*unused, *_OF_TREC))
            printed = reported.printed
            return [*own, *(self._of_own_runs(claimed, files.data) if claimed else self._of_runs(printed, files.data))]
        _check_rankings()
        self._refuse(
            "a per-query table",
            ("mode", "instrument", "calibration", *_OF_OWN, "resamples", "signature", *_OF_TABLES),
        )
        if files.data[1:]:
            raise UserError("a second --data does not apply to a per-query table: leave it out")
        return [*own, *self._of_queries(reported, files)]

    def _is_selective(self, claimed: Results | None, files: RecordedData) -> bool:
        """Whether the task is selective prediction, by the result file or else by the data."""
        if claimed is not None:
            return claimed.study.task == "selective"
        if files.qrels is not None:
            return False
        is_run = files.data[0].suffix.lower() == _RUN
        return is_run or (not self.options.system and not _is_per_query(files.data[0]))

    def _refuse(self, subject: str, names: Sequence[str]) -> None:
        own = [name for name in names if hasattr(self.options, name)]
        for option in (*options.typed(self.options, own), *self.typed.flags_of(names)):
            raise UserError(f"{option} does not apply to {subject}: leave it out")

    def _of_own_runs(self, claimed: Results, data: list[Path]) -> list[Finding]:
        """Audit a file of demur's own on its runs, by the modes it records or those given."""
        from demur.extensions.audit.results_audit import audited_runs

        with located(self.options.reported):
            study = claimed.selective
        runs = self._runs(study, data)
        if len(runs) != len(claimed.systems):
            files = f"{len(data)} data files for {len(claimed.systems)} systems"
            raise UserError(f"{files}: give one file per system, or one for all")
        given = [options.read(runs, self.typed.columns) for options in self.typed.features]
        with progress_bar("resamples") as advance:
            return audited_runs(claimed, runs, fitted(self.typed.settings.calibration), advance, given)

    def _runs(self, study: SelectiveStudy, data: list[Path]) -> list[Items]:
        """Read the systems of a study with the options it records."""
        from demur.read import read_inputs
        from demur.results.features import recorded_features
        from demur.results.study_of_answers import input_of
        from demur.results.table import system_names

        count, asked = len(study.systems), [given.opened() for given in recorded_features(study)]
        recorded = [source.mode for source in study.inputs if source.mode is not None]
        modes = self.typed.reading.mode or (recorded if len(recorded) == len(study.inputs) else ())
        table: TableOptions = self.typed.reading
        columns: Any = self.typed.columns
        if data[0].suffix.lower() == _RUN:
            data = data * (count if len(data) == 1 else 1)
        else:
            mapped = [dict(source.columns or {}) for source in study.inputs]
            by_path = {source.path: own for source, own in zip(study.inputs, mapped, strict=True)}
            each = next((each for each in (mapped, [*by_path.values()]) if len(each) == len(data)), mapped[0])
            columns = columns or each
            rules: Any = {"failed_units": study.failed_units or "drop", "repeats": study.repeats or "units"}
            table = replace(table, noun=study.noun, probability=study.probabilities or (), **rules)
            table = _as_recorded(table, study)
            for given in asked:
                table = given.reading(table)
        runs = read_inputs(data, modes=modes, instrument=self.typed.reading.instrument, columns=columns, options=table)
        runs *= count if len(runs) == 1 else 1  # one table compared with itself
        if study.excluded and len(runs) > count:
            names = system_names([input_of(items) for items in runs])
            runs = [items for name, items in zip(names, runs, strict=True) if name not in study.excluded]
        read_as = runs[0].losses.definition if runs[0].losses else study.loss.definition
        if read_as != study.loss.definition:
            losses = f"the loss of the file is {shown(study.loss.definition)}, and of the data {shown(read_as)}"
            raise UserError(f"{losses}: give --column and --score-range as they were in the evaluation")
        for given in asked:
            runs = given.joined(runs)
        return runs

    def _tables(self, data: list[Path]) -> dict[str, Items]:
        """Read the systems of long tables, inferring their columns as `demur evaluate` does."""
        from demur.evaluation.guessing import settled
        from demur.extensions.audit.reported.reading import named_runs
        from demur.read import read_inputs
        from demur.read.role_candidates import Given

        paths = [*map(str, data)]
        given = Given(
            self.typed.columns,
            self.typed.reading.instrument,
            self.typed.reading.every_row_its_own_cluster,
            self.typed.reading.score_range,
            loss=_STATED,
        )
        understood = settled(paths, given, _STATED)
        with understood.explaining():
            runs = read_inputs(
                paths, instrument=self.typed.reading.instrument, columns=understood.columns, options=self.typed.reading
            )
        tell_notes(understood.notes)
        return named_runs(runs)

    def _of_queries(self, reported: _Reported, files: RecordedData) -> list[Finding]:
        from demur.extensions.audit.rankings import audited_queries
        from demur.extensions.audit.reported.queries import audited_retrieval

        claimed = reported.claimed
        if claimed is None:
            queries = self._queries(files)
            with located(self.options.reported):
                return audited_retrieval(queries, reported.printed)
        with progress_bar("resamples") as advance:
            return audited_queries(claimed, self._rankings(claimed, files), advance)

    def _queries(self, files: RecordedData) -> dict[str, list[Query]]:
        """The queries of each system."""
        from demur.extensions.audit.rankings import queries_to_audit, trec_to_audit

        if files.qrels is not None:
            return trec_to_audit(files.qrels, files.runs, split_topics=self.options.split_topics)
        return queries_to_audit(files.data[0], columns=self.typed.columns, systems=self.systems)

    def _rankings(self, claimed: Results, files: RecordedData) -> dict[str, Rankings]:
        """The rankings of each system, as an evaluation reads them."""
        from demur.extensions.audit.rankings import trec_rankings
        from demur.extensions.retrieval.query_files import read_queries

        if files.qrels is None:
            return read_queries(files.data[0], columns=self.typed.columns, systems=self.systems)
        return trec_rankings(claimed, files.qrels, files.runs, split_topics=self.options.split_topics)

    def _of_runs(self, printed: Any, data: list[Path]) -> list[Finding]:
        required("conventions", _OF_TOOLS)
        from demur.extensions.audit.reported.reading import check_modes, runs_to_audit
        from demur.extensions.audit.reported.runs import RESAMPLES, audited_runs

        is_run = data[0].suffix.lower() == _RUN
        modes: Any = {"modes": self.typed.reading.mode or (), "instrument": self.typed.reading.instrument}
        runs = runs_to_audit(data, **modes) if is_run else self._tables(data)
        calibration, draws = (
            fitted(self.typed.settings.calibration),
            RESAMPLES if self.options.resamples is None else self.options.resamples,
        )
        with located(self.options.reported):
            if not self.typed.reading.mode:
                check_modes(runs, printed)
            return audited_runs(
                runs, printed, calibration=calibration, resamples=draws, signature=self.options.signature
            )


def _as_recorded(table: TableOptions, study: SelectiveStudy) -> TableOptions:
    """The options for reading a table, with the largest loss and the independent rows that a study records."""
    from demur.facts.losses import COLUMN, GIVEN
    from demur.quantities.signature import NONE

    loss = study.loss
    recorded = loss.maximum if loss.name == GIVEN and loss.definition.startswith(COLUMN) else None
    independent = table.every_row_its_own_cluster or study.signature().cluster == NONE
    largest = recorded if table.loss_max is None else table.loss_max
    return replace(table, loss_max=largest, every_row_its_own_cluster=independent)


class _Reported(NamedTuple):
    """A reported file: parsed, with its numbers as printed, and as results if it is one of demur's own."""

    content: Any
    printed: Any
    claimed: Results | None

    @classmethod
    def of(cls, path: Path) -> _Reported:
        """Read and parse a file."""
        from demur.extensions.audit.figures import Printed
        from demur.files.strict_json import decode, loads, read_bytes
        from demur.results.load import is_own, results_of

        data = read_bytes(path)
        with located(path):
            content, printed = loads(decode(data)), loads(decode(data), number=Printed.of)
            return cls(content, printed, results_of(content) if is_own(content) else None)


@app.command(rich_help_panel=TRUST, cls=SectionsCommand)
@with_sections(
    "columns",
    reading=("mode", "instrument", *_OF_TABLES),
    settings=("calibration",),
    raters=_OF_OWN,
)
@options.unfolded
def audit(
    *,
    own: AuditOptions,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Which findings to list, separated by commas: match, differs, not-recognised or all."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    typed: Typed,
) -> None:
    """Recompute reported figures from their data; the exit code is 3 if one differs.

    A file of demur's own is evaluated again with the settings and the seed it records, and on the data it records.

    Example: demur audit --data per_query.csv --reported summary.json --system reranker=reranked_topk

    Example: demur audit --data run.json --reported metrics.json

    Example: demur audit --data answers.csv --reported paper.json --signature torch-uncertainty

    Example: demur audit --qrels qrels.txt --run bm25=bm25.gz --reported summary.json

    Example: demur audit --reported metrics.json --only differs
    """
    from demur.extensions.audit.listing import findings_json, findings_text, statuses
    from demur.files.write import json_text
    from demur.sampling.resample import Plan

    Plan(own.resamples or 0)  # refuses too many before anything is read
    selected, data, path = statuses(only or ()), own.data or (), own.reported
    if own.signature is not None:
        required("conventions", _OF_TOOLS)
        from demur.extensions.audit.reported.tools import stated

        stated(own.signature)
    _check_units(data)
    if realpath(path) in map(realpath, data):
        raise UserError(f"{path}: is the data as well: no figure is compared with itself")
    reported = _Reported.of(path)
    request = Audit(own, typed)
    files = request.located_data(reported.claimed)
    _check_units(files.paths)
    findings = request.findings(reported, files)
    if as_json:
        traced = {"data": [*map(_traced, files.paths)], "reported": _traced(path)}
        print_json(json_text(traced | findings_json(findings, selected)))
    else:
        typer.echo(findings_text(findings, selected))
    if any(finding.status == "differs" for finding in findings):
        raise typer.Exit(_DIFFERS)


def _check_rankings() -> None:
    """Refuse to audit rankings where nothing reads them."""
    if _RANKINGS not in installed():
        raise UserError(f"an audit of rankings needs the extension {_RANKINGS}, which is not installed")


def _is_per_query(path: Path) -> bool:
    """Whether a table holds rankings; never where nothing reads them."""
    if _RANKINGS not in installed():
        return False
    from demur.extensions.audit.rankings import is_per_query

    return is_per_query(path)


def _check_units(paths: Sequence[Path]) -> None:
    from demur.read.kinds import kind_of

    if parts := [*filter(isdir, paths)]:
        raise UserError(f"{parts[0]}: a folder, and an audit counts single units: give the data as one file per system")
    if counts := [path for path in paths if kind_of(path) == "summary"]:
        raise UserError(f"{counts[0]}: a summary, and an audit counts single units: give the data themselves")


def _traced(path: str | Path) -> dict[str, str]:
    """The path and hash of a file, so that an audit can be traced back to its bytes."""
    from demur.files.strict_json import fingerprint, read_bytes, shown_path

    return {"path": shown_path(path), "sha256": fingerprint(read_bytes(path))}
