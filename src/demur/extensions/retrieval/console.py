"""Retrieval results as text for a console: population, rankings, differences, and empty decisions."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from demur.errors import shown
from demur.extensions.retrieval.headings import at_depth, pooled, pooled_and_mean, title
from demur.extensions.retrieval.page.detection import selections_of, thresholds
from demur.extensions.retrieval.page.rankings import differences_by_heading, mean_and_spread, means_over_folds
from demur.extensions.retrieval.statements.detection import empty_decision
from demur.extensions.retrieval.statements.differences import BetterOrWorse, side_of_zero
from demur.extensions.retrieval.statements.population import graded_judgments, queries, reference_ranges
from demur.extensions.retrieval.statements.verdict import retrieval_verdict
from demur.extensions.retrieval.study import RetrievalSystem, study_of
from demur.inference.key import Key
from demur.results.table import Results
from demur.show.console import ConsoleText, verdict_lines, warning_lines
from demur.show.names import Pair, pairs_of, systems_of
from demur.show.statements import methods
from demur.show.statements.decisions import decide
from demur.show.statements.warnings import warnings
from demur.show.text import cell, table, with_interval

_MOST_BREACHES = 5


def retrieval_text(results: Results, *, verbose: bool = False) -> ConsoleText:
    """The report as text: systems side by side, or with `verbose` every pooled number of each."""
    study = study_of(results)
    lines = [f"file: {shown(file.path)}" for file in study.inputs]
    lines.append(queries(study).words)
    lines += [fact.line for fact in (graded_judgments(study), reference_ranges(study)) if fact is not None]
    shown_interval = f"; {methods.intervals(results).words}" if study.bootstrap else ""
    lines.append(f"{methods.resampling(results).line}{shown_interval}")
    if verbose:
        for system in study.systems:
            lines += ["", *_system(results, system)]
        for pair in pairs_of(results):
            lines += ["", *_differences(results, pair)]
    else:
        lines += ["", *_columns(results, _at_a_glance(results), f"over the {study.with_gold} queries with gold")]
        lines += [*_against_baseline(results), *_nothing_to_find(results)]
    lines.append(f"Signature: {study.signature()}")
    found = retrieval_verdict(results)
    # The queries are the first line of the report, and the first statement of the basis.
    lines += ["", *verdict_lines(replace(found, basis=found.basis[1:]))]
    lines += [] if verbose else ["More numbers: --verbose, the file, or its page (--report)."]
    return ConsoleText([*lines, *warning_lines(warnings(results))])


def _at_a_glance(results: Results) -> list[Key]:
    """The main ranking numbers: those that were chosen, or all at the depth of the verdict."""
    rows = pooled(results, results.systems[0], "ranking", "with_gold")
    return [row.key for row in rows if at_depth(results, row.key)]


def _columns(results: Results, keys: Iterable[Key], head: str) -> Iterator[str]:
    """Numbers of all systems side by side, with their position in the reference ranges."""
    rows = [(head, *(system.label for system in systems_of(results)))]
    for key in keys:
        cells = [pooled_and_mean(results, replace(key, system=name)) for name in results.systems]
        texts = (f"{number} ({position})" if position else number for number, _, position in cells)
        rows.append((f"  {title(key)}", *texts))
    yield from table(rows)


def _against_baseline(results: Results) -> Iterator[str]:
    """The differences of the other systems from the baseline, and what they decide."""
    pairs = pairs_of(results)
    if not pairs:
        return
    rows, notes = [("differences on the same queries", *(pair.label for pair in pairs))], dict[str, None]()
    for key in _at_a_glance(results):
        cells = []
        for pair in pairs:
            difference = replace(key, system=pair.other.system, minus=pair.minus)
            said = BetterOrWorse(decide(results, difference), difference.system)
            cells.append(f"{cell(results, results.get(difference))} {said.words}".rstrip())
            notes |= {said.note: None} if said.note else {}
        rows.append((f"  {title(key)}", *cells))
    yield from ("", *table(rows), *(f"  {note}" for note in notes))


def _nothing_to_find(results: Results) -> Iterator[str]:
    """How well systems detect queries without evidence; nothing where all queries have gold and lists."""
    study, first = study_of(results), results.systems[0]
    without = study.queries - study.with_gold
    forecasts = [row for name in results.systems for row in pooled(results, name, "forecasts")]
    if not (without or forecasts or any(system.abstained for system in study.systems)):
        return
    by_quantity = {row.key.quantity: replace(row.key, system=first) for row in forecasts}
    keys = [row.key for row in pooled(results, first, "decision")] + [*by_quantity.values()]
    rules = " and ".join(sorted({replace(empty_decision(system), counts=None).words for system in study.systems}))
    yield ""
    yield f"no evidence here, by {rules}: {without} of {study.queries} queries have nothing to find"
    counts = ", ".join(f"{system.abstained} of {shown(system.name)}" for system in study.systems)
    yield f"  empty lists: {counts}"
    yield from _columns(results, keys, "")


def _system(results: Results, system: RetrievalSystem) -> Iterator[str]:
    study, lists, name = study_of(results), system.candidates, system.name
    yield (
        f"{shown(name)}   {system.abstained} queries without a list; candidates a query: median {lists.p50:g}, "
        f"90 % within {lists.p5:g} to {lists.p95:g}"
    )
    ranges = "with gold, against the reference ranges"
    rows = [("", f"with gold ({study.with_gold})", f"all ({study.queries})", "mean over criteria", ranges)]
    for key in (replace(row.key, system=name) for row in pooled(results, results.systems[0], "ranking", "with_gold")):
        with_gold, mean, ranged = pooled_and_mean(results, key)
        over_all = cell(results, results.get(replace(key, among="all")))
        rows.append((f"  {title(key)}", with_gold, over_all, mean, ranged))
    yield from table(rows)
    decision = pooled(results, name, "decision")
    yield f"  no evidence here, as a decision by {empty_decision(system).words}"
    yield from table([(f"    {title(row.key)}", cell(results, row)) for row in decision])
    yield from _detection(results, name)
    yield from _shown_ids(results, system)
    if study.folds:
        yield f"  over {len(study.folds)} folds, mean ± std (ddof 0)"
        means = means_over_folds(results, name)
        listed = [(f"    {title(mean.key)}", heading.words, mean_and_spread(mean)) for heading, mean in means]
        yield from table([("", "over", "mean ± std"), *listed])


def _detection(results: Results, system: str) -> Iterator[str]:
    numbers, gate = pooled(results, system, "forecasts"), pooled(results, system, "curve")
    if not numbers:
        return
    share = study_of(results).has_evidence_rate
    yield f"  no evidence here, from the probability ({share:.1%} of the queries have evidence)"
    rows = [(f"    {title(row.key)}", *pooled_and_mean(results, row.key)) for row in numbers]
    yield from table([("", "all", "mean over criteria", "against the reference ranges"), *rows])
    for rate, threshold, tpr, fpr in thresholds(numbers):
        line = "no finite threshold" if threshold is None else f"probability {threshold} or more"
        yield f"    at most {rate} false alarms: {line} (TPR {tpr}, FPR {fpr})"
    if gate:
        listed = (f"{title(row.key)} {cell(results, row)}" for row in gate)
        yield f"    as a selective predictor: {', '.join(listed)}"


def _shown_ids(results: Results, system: RetrievalSystem) -> Iterator[str]:
    selections = selections_of(results, system.name)
    if not selections:
        return
    yield "  what is shown"
    rows = [(f"    {name}", *(cell(results, row) for row in numbers)) for name, numbers in selections.items()]
    yield from table([("", *(title(row.key) for row in next(iter(selections.values())))), *rows])
    for breach in system.breaches[:_MOST_BREACHES]:
        low, high = breach.allowed
        query = f"post {shown(breach.post)}, criterion {shown(breach.criterion)}"
        yield f"    {query}: {breach.selected} of {breach.candidates} selected, {low} to {high} allowed"
    if len(system.breaches) > _MOST_BREACHES:
        yield f"    … and {len(system.breaches) - _MOST_BREACHES} more selections that break the bounds"


def _differences(results: Results, pair: Pair) -> Iterator[str]:
    yield f"{shown(pair.other.system)} − {shown(pair.baseline.system)}, on the same queries"
    rows = [("", "over", "difference", "")]
    for heading, differences in differences_by_heading(results, pair).items():
        over = f"{heading.words}, micro" if heading.family in ("ranking", "forecasts") else heading.words
        rows += [(f"  {title(row.key)}", over, with_interval(results, row), side_of_zero(row)) for row in differences]
    yield from table(rows)
