"""The overview of retrieval results: the verdict in words and a picture, the lists, and the methods."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from demur.drawing.forest import IntervalRow, scale_strip, value_strip
from demur.drawing.labels import isolated
from demur.drawing.picture import Frame
from demur.errors import shown
from demur.inference.estimates import Estimate
from demur.inference.key import Key
from demur.inference.warnings import FEW_WITH_GOLD, ResultWarning
from demur.quantities import quantities
from demur.report.names import NamedSystem, pairs_of, systems_of, worded_warnings
from demur.report.retrieval.headings import a_title, chance_numbers, primary, primary_difference, title
from demur.report.sections import Content, carried, definition, section
from demur.report.text import UNDEFINED, interval_row, level_of, shown_interval, with_interval
from demur.report.verdict import SIMULTANEOUS, UNDECIDED, Verdict, bearing_warnings, decide
from demur.results.gaps import deciding
from demur.results.study import RetrievalSystem
from demur.results.table import Results

SHARES = Frame()
_MOST_SENTENCES = 3
_FALSE = Key("", "false_evidence_rate")
_BEAR_ON_THE_VERDICT = (
    *("one_cluster", "few_clusters", "unequal_clusters", "few_resamples", "many_comparisons", "single_class"),
    *("abstained", "criterion_without_gold", "selected_not_ranked", "selection_bounds", "unjudged_topics"),
    "post_in_several_folds",
)


def verdict(results: Results, named: Callable[[str], str] = shown) -> Verdict:
    """The verdict on the rankings where there is evidence; `named` formats the name of a system."""
    study, names = results.retrieval, {name: named(name) for name in results.systems}
    silent = [names[system.name] for system in study.systems if system.abstained == study.queries]
    failures = tuple(f"{name} returned nothing for any query: every ranking number of it is 0." for name in silent)
    judged = bool(study.with_gold) and len(silent) < len(study.systems)
    if not study.with_gold:
        headline = "No query has gold: there is nothing to find, and no ranking to judge."
    elif not judged:
        nothing = f"{silent[0]} returned nothing" if len(names) == 1 else "No system returned anything"
        headline = f"{nothing}: there is nothing to judge."
    elif len(names) == 1:
        key = primary(results, results.systems[0])
        headline = f"{names[key.system]} reaches {a_title(key)} of {_reached(results, key)} where there is evidence."
    else:
        reason = results.why_nothing_decides
        headline = f"No conclusion: {reason}." if reason else _comparison(results, names)

    def system_name(warning: ResultWarning) -> str:
        system = warning.about.system
        return "" if system is None or warning.about.confidence is not None else names[system]

    share = study.with_gold / max(study.queries, 1)
    sentences = [f"Of {study.queries} queries {study.with_gold} ({share:.1%}) have evidence to find."]
    if judged and study.baseline is not None:
        sentences += _differences(results, names)
    warnings = bearing_warnings(results, results.warnings, _BEAR_ON_THE_VERDICT, system_name)
    return Verdict(headline, (*sentences, *_detection(results, names)), failures, (*warnings,))


def _reached(results: Results, key: Key) -> str:
    estimate = results.get(key)
    return "undefined" if estimate is None else with_interval(results, estimate)


def _comparison(results: Results, names: Mapping[str, str]) -> str:
    pairs = pairs_of(results)
    few = results.retrieval.posts < FEW_WITH_GOLD or any(w.code == "few_clusters_with_gold" for w in results.warnings)
    base = names[pairs[0].baseline.system]
    above, below, undecided, doubt = list[str](), list[str](), list[str](), ""
    for pair in pairs:
        decision = decide(results, primary_difference(results, pair))
        winner, doubt = decision.winner, doubt or decision.doubt
        group = undecided if winner is None else above if winner == pair.other.system else below
        group.append(names[pair.other.system])
    if not (above or below):
        subject, or_worse = ("Neither", "") if len(pairs) == 1 else ("No", f" or worse than {base}")
        return f"{subject} system is shown to rank the evidence better{or_worse}."
    if len(pairs) == 1:
        winner, loser = (above[0], base) if above else (base, below[0])
        if few or doubt:
            reason = "too few posts stand behind that" if few else doubt
            return f"{winner} looks better at ranking the evidence, but {reason}."
        return f"{winner} ranks the evidence better than {loser}."
    groups = {f"better than {base}": above, f"worse than {base}": below, "not shown to differ": undecided}
    text = "; ".join(f"{label}: {', '.join(members)}" for label, members in groups.items() if members)
    return f"Ranking of the evidence, {text}{'; too few posts stand behind that' if few or doubt else ''}."


def _differences(results: Results, names: Mapping[str, str]) -> Iterator[str]:
    """Sentences on the baseline, and on the differences of the first other systems."""
    pairs = pairs_of(results)
    base = primary(results, pairs[0].baseline.system)
    start = f"Where there is evidence {names[base.system]} reaches {a_title(base)} of {_reached(results, base)} and "
    for pair in pairs[:_MOST_SENTENCES]:
        key, system = primary_difference(results, pair), pair.other.system
        decision = decide(results, key)
        if decision.winner is not None:
            few = f"looks better, but {decision.doubt}" if decision.doubt else "is better"
            end = f": {names[decision.winner]} {few}"
        elif decision.reason == UNDECIDED:
            by = decision.by if decision.by == SIMULTANEOUS else "interval"
            end = f"; the {by} includes 0, so neither is shown to be better"
        else:
            end = f" ({open_question(results, key)})"
        reached = f"{names[system]} {_reached(results, primary(results, system))}"
        yield f"{start}{reached}, a paired difference of {_reached(results, key)}{end}."
        start = ""
    if len(pairs) > _MOST_SENTENCES:
        yield f"{len(pairs) - _MOST_SENTENCES} more systems are compared in the same way."


def _detection(results: Results, names: Mapping[str, str]) -> Iterator[str]:
    """Sentences on the AUROC of the probabilities: one where all systems share them."""
    rows = [row for row in results.where(quantity="auroc", group=None, minus=None) if not math.isnan(row.value)]
    if any(row.by_convention for row in rows):
        nothing = "there is nothing to detect, and AUROC and rates are conventions"
        yield f"All queries have evidence, or none has: {nothing}."
        return
    different = {chance_numbers(results, row.key.system, "forecasts") for row in rows}
    shared = len(rows) == len(results.systems) and len(different) == 1
    for row in rows[: 1 if shared else _MOST_SENTENCES]:
        subject = "The probability" if shared else f"The probability of {names[row.key.system]}"
        number = with_interval(results, row)
        yield f"{subject} tells queries with evidence from those without with an AUROC of {number}."


def open_question(results: Results, key: Key) -> str:
    """Why a difference favours no system, or on which side of 0 it is where neither direction is better."""
    reason = decide(results, key).reason or results.why_nothing_decides
    return reason or side_of_zero(results.get(key)) or "there is no interval"


def side_of_zero(difference: Estimate | None) -> str:
    """On which side of 0 the deciding interval of a difference is; empty without one."""
    interval = None if difference is None else deciding(difference)
    if interval is None:
        return ""
    return UNDECIDED if interval.low <= 0 <= interval.high else "above" if interval.low > 0 else "below"


@section("verdict", "Verdict", task="retrieval", order=10)
def retrieval_overview(results: Results) -> Content:
    """The verdict on the rankings where there is evidence."""
    key = primary(results, "")
    titles = {key: f"{title(key)}, higher is better", _FALSE: "Shows something where nothing is, lower is better"}
    return {
        "verdict": verdict(results, isolated),
        "primary": title(key),
        "interval": level_of(results) if results.study.bootstrap else "nothing resampled",
        "scale": scale_strip(SHARES),
        "rows": [
            (words, system, *drawn_number(results, replace(number, system=system.system), system))
            for number, words in titles.items()
            for system in systems_of(results)
        ],
    }


def drawn_number(
    results: Results, key: Key, system: NamedSystem, ranges: Mapping[str, tuple[float, float]] = MappingProxyType({})
) -> tuple[str, str]:
    """A number of a system drawn on a scale from 0 to 1 with reference ranges, and as text."""
    estimate = results.get(key)
    if estimate is None or math.isnan(estimate.value):
        empty = value_strip(IntervalRow(system.label, system.style, None), SHARES, ranges)
        return empty, (estimate.undefined if estimate else "") or UNDEFINED
    row = interval_row(system.label, system.style, estimate.value, shown_interval(results, estimate))
    return value_strip(row, SHARES, ranges), with_interval(results, estimate)


@section("counted", "Who was counted", task="retrieval", order=20)
def lists_returned(results: Results) -> list[tuple[NamedSystem, RetrievalSystem]]:
    """The counts of what each system returned."""
    return [*zip(systems_of(results), results.retrieval.systems, strict=True)]


@section("methods", "Methods and provenance", task="retrieval", order=90)
def retrieval_provenance(results: Results) -> Content:
    """Definitions, interval methods, and the embedded file."""
    methods = [
        f"{row.recommended.method}{' (differences)' if row.key.minus else ''}"
        for row in results.where(group=None)
        if row.recommended
    ]
    return {
        "definitions": [*map(definition, (*quantities("ranking"), *quantities("forecasts", "detection")))],
        "methods": [*dict.fromkeys(methods)],
        "carried": carried(results, "retrieval", worded_warnings(results)),
    }
