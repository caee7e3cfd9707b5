"""`demur retrieval`: evaluate evidence retrieval that may return nothing, from per-query or TREC files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from demur.cli import options
from demur.cli.app import MEASURE, Delivery, app, check_flags, command_line, listed, progress_bar
from demur.cli.sections import SectionsCommand, Typed, with_sections
from demur.errors import UserError
from demur.options import named_values

if TYPE_CHECKING:
    from demur.extensions.retrieval.rankings import Rankings
    from demur.extensions.retrieval.settings import RetrievalSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingFiles:
    """The input files: a per-query file, or TREC files."""

    data: Annotated[Path | None, typer.Option(help="A per-query file: .csv, .tsv, .jsonl, .ndjson or .parquet.")] = None
    qrels: options.Qrels = None
    run: options.TrecRuns = None
    split_topics: options.SplitTopics = None
    system: Annotated[
        list[str] | None, typer.Option(help="A system of the per-query file, NAME=COLUMN; repeatable.")
    ] = None
    column: options.QueryColumns = None

    def check(self) -> None:
        """Check that there are files, and all of one kind."""
        if self.data is None and self.qrels is None:
            raise UserError(
                "nothing to evaluate: give --data with a per-query file, or --qrels and --run with TREC files"
            )
        if self.data is not None:
            _check_mixture(self, ("qrels", "run", "split_topics"), "--data")
            return
        _check_mixture(self, ("system", "column"), "--qrels")
        if not self.run:
            raise UserError("--qrels needs at least one --run, FILE or NAME=FILE")

    def systems(self) -> dict[str, Rankings]:
        """Read the rankings of every system."""
        from demur.extensions.retrieval.query_files import read_queries
        from demur.extensions.retrieval.trec_files import read_trec

        with progress_bar("bytes read") as advance:
            if self.data is not None:
                named_as = {
                    "systems": named_values(self.system, "--system"),
                    "columns": named_values(self.column, "--column"),
                }
                return read_queries(self.data, **named_as, progress=advance)
            return read_trec(self.qrels or "", self.runs, split_topics=self.split_topics, progress=advance)

    @property
    def runs(self) -> list[tuple[str | None, str]]:
        """The TREC runs, with their names if they have any."""
        return [*map(_named_run, self.run or ())]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ChosenNumbers:
    """Which numbers are reported."""

    metrics: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help='Ranking metrics to report, as "nDCG@10 P@5 AP"; if not given, all at --k.'),
    ] = None
    k: Annotated[
        str | None, typer.Option("--k", help="Depths to report, separated by commas; 1,3,5,10 if not given.")
    ] = None
    relevance_level: Annotated[
        int, typer.Option(help="The least grade of a relevant id, for all but the nDCG, whose gains are the grades.")
    ] = 1
    effective_k: Annotated[
        bool, typer.Option("--effective-k", help="Judge a list that is shorter than k by its own length.")
    ] = False
    threshold: Annotated[
        float | None, typer.Option(help="The gate returns evidence from this probability (column prob) on.")
    ] = None
    policy: Annotated[
        list[str] | None,
        typer.Option(help="A policy for how many ids to show: fixed:5, threshold:0.3, gap, elbow, mass:0.8."),
    ] = None
    k_min: Annotated[int, typer.Option(help="Fewest ids to show, unless none are shown.")] = 2
    hard_cap: Annotated[int, typer.Option(help="Most ids to show.")] = 10
    k_max_ratio: Annotated[float, typer.Option(help="Largest share of the candidates to show.")] = 0.5
    reference: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE", help="Reference ranges for the results: phq8-evidence, or a .json file."),
    ] = None
    baseline: options.Baseline = None

    def check(self, systems: Mapping[str, Rankings]) -> None:
        """Refuse bounds on the number of ids shown if no system or policy shows any."""
        if self.policy or any(rankings.selected_count is not None for rankings in systems.values()):
            return
        for option in options.typed(self, ("k_min", "hard_cap", "k_max_ratio")):
            raise UserError(
                f"{option} bounds what is shown: give a --policy, or a column selected_ids, or leave it out"
            )

    def settings(self) -> RetrievalSettings:
        """The options as settings of the evaluation."""
        from demur.extensions.retrieval.quantities.selection import Bounds
        from demur.extensions.retrieval.reference_ranges import reference_of
        from demur.extensions.retrieval.settings import RetrievalSettings

        if self.metrics is not None:
            _check_mixture(self, ("k",), "--metrics, whose names have depths")
        text = "1,3,5,10" if self.k is None else self.k
        depths = listed(text, "0*[1-9][0-9]{0,7}", "k", "integers of 1 or more such as 1,5,10")
        return RetrievalSettings(
            depths=[*map(int, depths)],
            effective_k=self.effective_k,
            bounds=Bounds(self.k_min, self.hard_cap, self.k_max_ratio),
            policies=self.policy or (),
            threshold=self.threshold,
            baseline=self.baseline,
            relevance_level=self.relevance_level,
            metrics=() if self.metrics is None else re.split(r"[\s,]+", self.metrics.strip(" ,")),
            reference=None if self.reference is None else reference_of(self.reference),
        )


@app.command(rich_help_panel=MEASURE, cls=SectionsCommand)
@with_sections(plan=("resamples", "seed", "threads"))
@options.unfolded
def retrieval(
    *,
    files: RankingFiles,
    numbers: _ChosenNumbers,
    output: options.Output = None,
    report: options.ReportPage = None,
    per_query: Annotated[
        Path | None,
        typer.Option(help="Also write a table with every metric of every query: .csv, .jsonl or .parquet."),
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print every pooled number of every system.")] = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    created_at: options.CreatedAt = None,
    typed: Typed,
) -> None:
    """Evaluate evidence retrieval: rankings, "no evidence here", how many to show, and differences between systems.

    Example: demur retrieval --data per_query.csv --seed 7

    Example: demur retrieval --data per_query.csv --system retriever=retriever_topk --column post_id=id --seed 7

    Example: demur retrieval --qrels qrels.txt --run bm25=bm25.gz --run dense.run --metrics "nDCG@10 P@5 AP" --seed 7
    """
    from demur.extensions.retrieval.console import retrieval_text
    from demur.extensions.retrieval.evaluating import evaluate_retrieval
    from demur.extensions.retrieval.per_query_table import check_per_query_path, per_query_bytes, per_query_columns
    from demur.extensions.retrieval.reference_ranges import REFERENCES
    from demur.files.strict_model import checked_time

    files.check()
    check_flags(as_json=as_json, quiet=quiet)
    checked_time(created_at)
    plan = typed.plan
    if per_query is not None:
        check_per_query_path(per_query)
    settings, reference = numbers.settings(), numbers.reference
    systems = files.systems()
    numbers.check(systems)
    with progress_bar("resamples") as advance:
        results = evaluate_retrieval(
            systems,
            settings=settings,
            plan=replace(plan, progress=advance),
            created_at=created_at,
            command=command_line(),
            also_read=[reference] if reference and reference not in REFERENCES else (),
        )
    beside = dict[Path, bytes]()
    if per_query is not None and results.text:  # composed first: it refuses names that no file can hold
        beside[per_query] = per_query_bytes(per_query, per_query_columns(systems, settings))
    delivery = Delivery("retrieval", output, report, (), as_json, quiet, beside=beside)
    delivery.of(results, lambda: retrieval_text(results, verbose=verbose))


def _named_run(run: str) -> tuple[str | None, str]:
    """Split NAME=FILE; an existing file may have a = in its name."""
    name, equals, path = run.partition("=")
    return (name, path) if equals and name and not Path(run).exists() else (None, run)


def _check_mixture(block: RankingFiles | _ChosenNumbers, names: Sequence[str], instead: str) -> None:
    for option in options.typed(block, names):
        raise UserError(f"{option} does not go with {instead}")
