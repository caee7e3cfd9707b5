"""Retrieval results as text for a console: population, rankings, differences, and empty decisions."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from demur.errors import shown
from demur.inference.key import Key
from demur.report.console import console_text, warnings_text
from demur.report.names import Pair, pairs_of, systems_of, worded_warnings
from demur.report.retrieval.detection import decision_counts, selections_of, thresholds
from demur.report.retrieval.headings import at_depth, pooled, pooled_and_mean, title
from demur.report.retrieval.overview import side_of_zero, verdict
from demur.report.retrieval.rankings import differences_by_heading, mean_and_spread, means_over_folds
from demur.report.text import cell, table, with_interval
from demur.report.verdict import SIMULTANEOUS, Decision, decide
from demur.results.study import RetrievalStudy, RetrievalSystem
from demur.results.table import Results

_RULES = {"threshold": "by the gate's threshold", "selected_ids": "by the selection", "ranked_ids": "by the list"}
_MOST_BREACHES = 5
_MOST_GRADES = 10


def retrieval_text(results: Results, *, verbose: bool = False) -> str:
    """The report as text: systems side by side, or with `verbose` every pooled number of each."""
    study, drawn = results.retrieval, results.study.bootstrap
    lines = [f"file: {shown(file.path)}" for file in study.inputs]
    counts = f"{study.with_gold} with gold, {study.queries - study.with_gold} without"
    lines.append(f"{study.queries} queries{_sampled(study)}: {counts}")
    lines += _about_judgments(study)
    resampled = drawn and f"95 % intervals from {drawn.n_resamples} resamples of posts, seed {drawn.seed}"
    lines.append(resampled or "no intervals: 0 resamples")
    if verbose:
        for system in study.systems:
            lines += ["", *_system(results, system)]
        for pair in pairs_of(results):
            lines += ["", *_differences(results, pair)]
    else:
        lines += ["", *_columns(results, _at_a_glance(results), f"over the {study.with_gold} queries with gold")]
        lines += [*_against_baseline(results), *_nothing_to_find(results)]
    lines.append(f"Signature: {study.signature()}")
    conclusion = verdict(results)
    lines += ["", conclusion.headline, *conclusion.sentences, *conclusion.failures]
    lines += [] if verbose else ["More numbers: --verbose, the file, or its page (--report)."]
    return console_text([*lines, *warnings_text(worded_warnings(results))])


def _sampled(study: RetrievalStudy) -> str:
    """How many posts and criteria the queries are from; empty where each query is a post of its own."""
    if len(study.criteria) > 1:
        return f" of {study.posts} posts and {len(study.criteria)} criteria"
    return "" if study.posts == study.queries else f" of {study.posts} posts"


def _about_judgments(study: RetrievalStudy) -> Iterator[str]:
    """The grades and what they count for, and the reference ranges; nothing where there are none."""
    if study.judgments:
        grades = ", ".join(f"{judged.grade} ({judged.ids} ids)" for judged in study.judgments[:_MOST_GRADES])
        more = len(study.judgments) - _MOST_GRADES
        yield f"graded judgments: {grades}{f' and {more} more' if more > 0 else ''}; they are the gains of the nDCG"
        level = study.settings.relevance_level
        yield f"every other number counts ids of grade {level} or more as relevant (relevance level {level})"
    if study.reference:
        yield f"reference ranges: {shown(study.reference.name)}, from {shown(study.reference.source)}"


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
            words, note = _decision_words(decide(results, difference), difference.system)
            cells.append(f"{cell(results, results.get(difference))} {words}".rstrip())
            notes |= {note: None} if note else {}
        rows.append((f"  {title(key)}", *cells))
    yield from ("", *table(rows), *(f"  {note}" for note in notes))


def _decision_words(decision: Decision, system: str) -> tuple[str, str]:
    """What a difference decides about a system in a word, and the note that explains it."""
    if decision.winner is not None:
        word = "better" if decision.winner == system else "worse"
        return (f"looks {word}", f"looks better or worse: {decision.doubt}") if decision.doubt else (word, "")
    if decision.by == SIMULTANEOUS:
        return "undecided", f"undecided: the {SIMULTANEOUS}, which allows for looking at all differences, includes 0"
    return "", ""


def _nothing_to_find(results: Results) -> Iterator[str]:
    """How well systems detect queries without evidence; nothing where all queries have gold and lists."""
    study, first = results.retrieval, results.systems[0]
    without = study.queries - study.with_gold
    forecasts = [row for name in results.systems for row in pooled(results, name, "forecasts")]
    if not (without or forecasts or any(system.abstained for system in study.systems)):
        return
    by_quantity = {row.key.quantity: replace(row.key, system=first) for row in forecasts}
    keys = [row.key for row in pooled(results, first, "decision")] + [*by_quantity.values()]
    rules = {_RULES[system.empty_decision_by] for system in study.systems}
    yield ""
    yield f"no evidence here, {' and '.join(sorted(rules))}: {without} of {study.queries} queries have nothing to find"
    counts = ", ".join(f"{system.abstained} of {shown(system.name)}" for system in study.systems)
    yield f"  empty lists: {counts}"
    yield from _columns(results, keys, "")


def _system(results: Results, system: RetrievalSystem) -> Iterator[str]:
    study, lists, name = results.retrieval, system.candidates, system.name
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
    yield f"  no evidence here, as a decision {_RULES[system.empty_decision_by]}{decision_counts(system)}"
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
    share = results.retrieval.has_evidence_rate
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
