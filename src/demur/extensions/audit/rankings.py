"""The audit of rankings: their files read as an evaluation reads them, and demur's own files evaluated again."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from demur.errors import UserError, located, shown
from demur.extensions.audit.figures import Finding
from demur.extensions.audit.results_audit import about_inputs, joined, recorded_plan
from demur.extensions.retrieval.evaluating import evaluate_retrieval
from demur.extensions.retrieval.quantities.selection import Bounds
from demur.extensions.retrieval.query_files import NEEDED, RANKED_SUFFIXES, query_lists
from demur.extensions.retrieval.ranking_columns import as_numbers, rankings_from
from demur.extensions.retrieval.rankings import Query, Rankings
from demur.extensions.retrieval.reference_ranges import REFERENCES
from demur.extensions.retrieval.settings import RetrievalSettings
from demur.extensions.retrieval.study import study_of
from demur.extensions.retrieval.trec_files import ONE_CRITERION, judged_runs, read_trec
from demur.facts.frames import TableOf
from demur.read.tables import opened_table
from demur.results.table import Results
from demur.workers import Progress

Lists = dict[str, list[Query]]
Runs = Sequence[tuple[str | None, str]]

_ENDS = (*RANKED_SUFFIXES, "_ids")


def queries_to_audit(
    path: str | Path, *, columns: Mapping[str, str] | None = None, systems: Mapping[str, str] | None = None
) -> Lists:
    """Read a per-query file for each system: those named, and those with a ranked column."""
    if systems:
        named = query_lists(path, columns=columns, systems=systems)
        queries = _others(path, columns, systems.values()) | named
    else:
        queries = query_lists(path, columns=columns)
    if Path(path).suffix.lower() == ".csv":
        for name, rows in queries.items():  # posts in a CSV are numbers if all of them parse as such
            texts = {row.post: index for index, row in enumerate(rows)}
            numbered = dict(zip(texts, as_numbers(texts), strict=True))
            queries[name] = [replace(row, post=numbered[row.post]) for row in rows]
    with located(path):
        for rows in queries.values():
            rankings_from(rows)
    return queries


def trec_to_audit(qrels: str | Path, runs: Runs, *, split_topics: str | None = None) -> Lists:
    """Read the judged topics of each TREC run."""
    judged = judged_runs(qrels, runs, split_topics=split_topics)
    return {name: [*run.queries] for name, run in judged}


def _others(path: str | Path, columns: Mapping[str, str] | None, named: Collection[str]) -> Lists:
    """The systems that were not named, if the file can be read without names."""
    try:
        systems = query_lists(path, columns=columns)
    except UserError:
        return {}
    return {name: rows for name, rows in systems.items() if not any(f"{name}{end}" in named for end in _ENDS)}


def is_per_query(path: str | Path) -> bool:
    """Whether a table is per-query: it has a column that rankings need, as a long table has not."""
    with opened_table(path) as (table, _):
        return any(name in NEEDED or name.endswith(RANKED_SUFFIXES) for name in table.header)


def trec_rankings(
    claimed: Results, qrels: str | Path, runs: Runs, *, split_topics: str | None = None
) -> dict[str, Rankings]:
    """The rankings of TREC runs whose results are claimed."""
    criteria = [criterion.name for criterion in study_of(claimed).criteria]
    if split_topics is None and criteria != [ONE_CRITERION]:
        raise UserError(f"the file has the criteria {', '.join(map(shown, criteria))}: give --split-topics as well")
    return read_trec(qrels, runs, split_topics=split_topics)


def audited_queries(claimed: Results, rankings: Mapping[str, Rankings], progress: Progress | None) -> TableOf[Finding]:
    """Audit every number of a results file of a retrieval evaluation."""
    study = study_of(claimed)
    used = study.settings
    for name in claimed.systems:
        if name not in rankings:
            way_out = f"name its column, --system {shown(name)}=COLUMN, or its file, --run {shown(name)}=FILE"
            raise UserError(f"the data have no system {shown(name)}: {way_out}")
    settings = RetrievalSettings(
        depths=used.k,
        effective_k=used.effective_k,
        bounds=Bounds(used.k_min, used.hard_cap, used.k_max_ratio),
        policies=used.policies,
        threshold=used.gate_threshold,
        baseline=study.baseline,
        relevance_level=used.relevance_level,
        metrics=used.metrics or (),
        reference=REFERENCES.get(study.reference.name, study.reference) if study.reference else None,
    )
    systems = {name: rankings[name] for name in claimed.systems}
    recomputed = evaluate_retrieval(systems, settings=settings, plan=recorded_plan(claimed, progress))
    sources = {source.sha256 for ranking in systems.values() for source in ranking.sources if source.sha256}
    claims = [file.sha256 for file in study.inputs]
    hashes = [(claim, claim if claim in sources else min(sources, default=None)) for claim in claims]
    return TableOf([*about_inputs(hashes), *joined(claimed, recomputed)])
