"""The verdict on answers in words, and the section on methods."""

import math
from collections.abc import Iterator, Sequence

from demur.errors import shown
from demur.inference.key import Key
from demur.quantities import quantities
from demur.report.names import NamedSystem, Pair, by_name, pairs_of, shown_in_full, systems_of, worded_warnings
from demur.report.sections import Content, carried, definition, section
from demur.report.selective.conventions import signatures
from demur.report.selective.leaderboard import best_sentence, board_to_show
from demur.report.table_rows import methods_shown
from demur.report.text import level_of, listing, with_interval
from demur.report.verdict import UNDECIDED, Verdict, bearing_warnings, decide
from demur.results.study import AREA
from demur.results.table import Results
from demur.sampling.coverage import Coverage

_OFTEN_FAILED = 0.1
_HALF = 0.5
_BEARING = (
    "one_cluster",
    "few_discordant_clusters",
    "few_clusters",
    "no_errors",
    "unequal_clusters",
    "few_resamples",
    "fitted_on_this_run",
)


def verdict(results: Results) -> Verdict:
    """The verdict under the first confidence."""
    study, names = results.selective, {name: system.name for name, system in by_name(results).items()}
    confidence, pairs, only = study.confidences[0], pairs_of(results), results.systems[0]
    curve, failures = results.curves[only, confidence], tuple[str, ...]()
    if pairs:
        headline, sentences = _headline(results, pairs), comparison_sentences(results, confidence)
        if (board := board_to_show(results)) is not None:
            headline, sentences = best_sentence(results, board), [headline, *sentences]
    elif curve.defined:
        headline = f"{names[only]} answers {curve.cmax:.1%} of the items."
        sentences = [*_one_system(results, only, confidence)]
    else:
        headline = f"{names[only]} answered nothing: there is nothing to measure, and nothing to rank."
        sentences = []
    # Failed clusters are excluded from all results, and the others may be the easier ones.
    if any(system.failed > _OFTEN_FAILED * study.clusters_total for system in study.systems):
        failed = " and ".join(f"{names[system.name]} failed on {system.failed}" for system in study.systems)
        everyone = f"{study.clusters_total} {study.noun}s"
        failures = (f"{failed} of {everyone}: they are excluded from all results, and may be the harder ones.",)
    named = names if pairs else {}
    about = results.about(confidence=confidence, group=None)
    warnings = bearing_warnings(results, about, _BEARING, lambda warning: named.get(warning.about.system or "", ""))
    return Verdict(headline, tuple(sentences), failures, tuple(warnings))


def _headline(results: Results, pairs: tuple[Pair, ...]) -> str:
    number, confidence = results.selective.headline, results.selective.confidences[0]
    decisions = [decide(results, pair.key(number.quantity, confidence)) for pair in pairs]
    if len(pairs) > 1:
        groups: dict[str, list[str]] = {"lower": [], "higher": [], "not shown to differ": []}
        for pair, decision in zip(pairs, decisions, strict=True):
            if not all(results.curves[side.system, confidence].defined for side in (pair.first, pair.second)):
                continue
            winner, doubt = decision.winner, decision.doubt and f" ({decision.doubt})"
            group = "not shown to differ" if winner is None else "lower" if winner == pair.other.system else "higher"
            groups[group].append(f"{pair.other.name}{doubt}")
        text = "; ".join(f"{group}: {', '.join(members)}" for group, members in groups.items() if members)
        return f"AUGRC against {pairs[0].baseline.name} (lower is better): {text}."
    decision, over = decisions[0], _coverage_range(results, confidence, pairs[0])
    if decision.winner is None:
        reason = "" if decision.reason == UNDECIDED else decision.reason or "nothing was resampled"
        return f"No conclusion: {reason}." if reason else "Neither run is shown to be better."
    winner = pairs[0].named(decision.winner).name
    if decision.doubt:
        return f"{winner} looks better {over}, but {decision.doubt}."
    return f"{winner} makes fewer or smaller errors, over all thresholds {over}."


def _coverage_range(results: Results, confidence: str, pair: Pair) -> str:
    """The range of coverage of the compared areas, in words: as requested, or up to the common coverage."""
    number = results.selective.headline.quantity
    ends = [results[Key(side.system, number, confidence)].at for side in (pair.first, pair.second)]
    cut = results.selective.area_coverage
    requested = None if cut is None else float(Coverage.of(cut))
    if requested is not None and ends[0] != ends[1]:
        return f"cut at a coverage of {requested:.1%}"
    if ends[0] == requested:
        return f"up to a coverage of {requested:.1%}"
    silent = not all(results.curves[system, confidence].defined for system in results.systems)
    systems = "both" if len(results.systems) == len(ends) else "all that answer" if silent else "all"
    return f"up to the coverage {systems} reach ({ends[0] or 0.0:.1%})"


def _one_system(results: Results, system: str, confidence: str) -> Iterator[str]:
    """Sentences on one system: its risk, the risk at a lower coverage, and its AUGRC."""
    study, curve = results.selective, results.curves[system, confidence]
    risk = results[Key(system, "risk", confidence)].value
    yield f"The mean loss of its answers is {_thousandths(risk)} ({shown(study.loss.definition)})."
    rows = [results[Key(system, f"risk@{text}", confidence)] for text in study.coverages]
    reached = [(row.at, row.value) for row in rows if row.at is not None and row.at < curve.cmax]
    if reached and not math.isnan(risk):
        coverage, half = min(reached, key=lambda point: abs(point[0] - curve.cmax / 2))
        share = "half" if round(coverage, 3) == _HALF else f"{coverage:.1%} of the items"
        change = "lower" if half < risk else "no lower"
        sentence = f"On the {share} it is most confident about, by {shown(confidence)}, the error is {half:.3f}"
        yield f"{sentence}: {change} than on all answers."
    area, random, optimal = (
        results[Key(system, f"{AREA}{order}", confidence)].value for order in ("", "_random", "_optimal")
    )
    orders = f"a random order would give {random:.4g} and the best possible {optimal:.4g}"
    yield f"The AUGRC is {area:.4g}; {orders}. Lower is better."


def comparison_sentences(results: Results, confidence: str) -> list[str]:
    """Sentences on why raw errors cannot be compared, and on the comparison of each pair."""
    systems = [system for system in systems_of(results) if results.curves[system.system, confidence].defined]
    silent = [system.name for system in systems_of(results) if system not in systems]
    texts = []
    if silent:
        several = len(systems) > 1
        consequence = "not compared, and not ranked" if several else "there is nothing to compare, and nothing to rank"
        texts.append(f"{' and '.join(silent)} answered nothing: {consequence}.")
    if len({results.curves[system.system, confidence].cmax for system in systems}) > 1:
        texts += _about_shares(results, confidence, systems)
    answering = [pair for pair in pairs_of(results) if {pair.first, pair.second} <= {*systems}]
    return texts + [text for pair in answering for text in _about_pair(results, confidence, pair)]


def _about_shares(results: Results, confidence: str, systems: Sequence[NamedSystem]) -> Iterator[str]:
    """Sentences on the shares answered, and what they mean for the raw errors."""
    shares = [f"{results.curves[system.system, confidence].cmax:.1%}" for system in systems]
    risks = [_thousandths(results[Key(system.system, "risk", confidence)].value) for system in systems]
    others = [f"{system.name} {share}" for system, share in zip(systems[1:], shares[1:], strict=True)]
    answered = listing([f"{systems[0].name} answers {shares[0]} of the items", *others])
    different = f"their raw errors ({listing(risks)}) are about different items"
    yield f"{answered}, so {different}: declining hard cases lowers an error without one better answer."
    yield "Neither those errors nor the full areas may be compared."


def _about_pair(results: Results, confidence: str, pair: Pair) -> Iterator[str]:
    both = (pair.first.system, pair.second.system)
    shares = [results.curves[system, confidence].cmax for system in both]
    risks = {system: results[Key(system, "risk", confidence)].value for system in both}
    key, over = pair.key(results.selective.headline.quantity, confidence), _coverage_range(results, confidence, pair)
    decision, estimate = decide(results, key), results[key]
    winner, reason = decision.winner, decision.reason
    end = f" ({reason})" if reason else ""
    label = f"{pair.other.name} − {pair.baseline.name}"
    if winner is not None:
        end = f": {pair.named(winner).name} {'looks better' if decision.doubt else 'is better'} there"
    elif reason == UNDECIDED:
        end = f"; the {decision.by} includes 0, so neither is shown to be better"
    if estimate.requested is not None:
        label = f"{level_of(results)}, {label}"
        end += "" if winner is None else f", by the {decision.by}"
    difference = f"{with_interval(results, estimate)} ({label}){end}"
    yield f"{over[:1].upper()}{over[1:]} the AUGRC under {shown(confidence)} differs by {difference}."
    loser = both[1] if winner == both[0] else both[0]
    if winner is not None and shares[0] == shares[1] and risks[winner] > risks[loser]:
        fewer = f"With everything answered {pair.named(loser).name} makes the fewer or smaller errors"
        yield f"{fewer}: what is better here is the order."


def _thousandths(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:.3f}"


@section("methods", "Methods and provenance", task="selective", order=90)
def provenance(results: Results) -> Content:
    """Populations, definitions, interval methods, signatures, and the embedded file."""
    from demur.report.tables import table_text  # noqa: PLC0415  (the console has no such table)

    study = results.selective
    systems = [*zip(systems_of(results), study.systems, strict=True)]
    left_out = " and ".join(f"{counts.not_in_all} only in {system.name}" for system, counts in systems)
    return {
        "left_out": left_out if any(counts.not_in_all for counts in study.systems) else "",
        "bins": [(*key, curve.bins) for key, curve in results.curves.items() if curve.bins],
        "counted": systems,
        "definitions": [*map(definition, quantities("curve", "definitions"))],
        "level": level_of(results),
        "methods": methods_shown(results),
        "signatures": signatures(results),
        "latex": table_text(results, "latex") if shown_in_full(results) == study.confidences else "",
        "carried": carried(results, "metrics" if results.nested else "results", worded_warnings(results)),
    }
