"""Overview: the verdict with its cards, who was counted, and how the numbers were made."""

from collections.abc import Iterator

from demur.errors import shown
from demur.inference.key import Key
from demur.quantities import Measure, quantities
from demur.report.differences import is_measured, nothing_common, says_in_full
from demur.report.names import pairs_of, systems_of, worded_warnings
from demur.report.parts import Card, CardNumber, carried, definition
from demur.report.sections import Content, section
from demur.report.selective.sentences import AREA, cut_area, verdict
from demur.report.tables import methods_shown, table_text
from demur.report.text import UNDEFINED, bounded_interval, four, interval_text, level_of, shown_interval, title_of
from demur.report.verdict import decide
from demur.results.table import Results


@section("verdict", "Verdict", task="selective", order=10)
def overview(results: Results) -> Content:
    """The verdict under the first confidence, and the numbers it rests on."""
    names = {system.system: system.name for system in systems_of(results)}
    confidence = results.selective.confidences[0]
    return {"verdict": verdict(results, names), "confidence": confidence, "cards": [*_cards(results, confidence)]}


def _cards(results: Results, confidence: str) -> Iterator[Card]:
    study, pairs = results.selective, pairs_of(results)
    interval = level_of(results) if study.bootstrap else "no resamples, no intervals"
    yield "Share of the items answered", _numbers(results, "cmax", confidence), f"Cmax; {interval}"
    unequal = len({results.curves[system, confidence].cmax for system in results.systems}) > 1
    note = "about different items: not to be compared" if unequal else f"mean loss, {shown(study.loss.name)}"
    yield "Risk of all answers", _numbers(results, "risk", confidence), note
    if pairs and nothing_common(results, confidence):
        return
    area = cut_area(results) if pairs else AREA
    title = title_of(results[Key(results.systems[0], area, confidence)])
    accepted = "errors that are accepted, over all thresholds; lower is better"
    yield title, _numbers(results, area, confidence), accepted
    for pair in pairs:
        key = pair.key(area, confidence)
        estimate, winner = results[key], decide(results, key).winner
        says = says_in_full(results, pair, key) or "nothing was resampled"
        note = says if winner is None else f"{pair.named(winner).name} is better"
        number = (None, four(estimate.value), interval_text(shown_interval(results, estimate)))
        yield f"Difference, {pair.label}", [number], note
    if not pairs:
        excess = _numbers(results, f"e{AREA}", confidence)
        yield "Excess over the oracle order", excess, "eAUGRC; 0 cannot be improved"


def _numbers(results: Results, quantity: str, confidence: str) -> list[CardNumber]:
    """The number of every system, with its interval or the reason why there is none."""
    numbers: list[CardNumber] = []
    for system in systems_of(results):
        estimate = results[Key(system.system, quantity, confidence)]
        interval = shown_interval(results, estimate)
        value, ends = four(estimate.value), ""
        if Measure.of(quantity).quantity.point_only:
            ends = "no interval stored"
        elif not is_measured(results, estimate):
            value, ends = UNDEFINED, "nothing is answered"
        elif quantity == "cmax":
            value, ends = f"{estimate.value:.1%}", f"[{interval.low:.1%}, {interval.high:.1%}]" if interval else ""
        elif interval is not None or estimate.upper_bound is not None:
            ends = bounded_interval(results, estimate)
        numbers.append((system, value, ends))
    return numbers


@section("counted", "Who was counted", task="selective", order=20)
def counted(results: Results) -> Content:
    """Who was counted, who is not in all runs, and which share of the items each system answered."""
    study = results.selective
    systems = [*zip(systems_of(results), study.systems, strict=True)]
    left_out = " and ".join(f"{counts.not_in_all} only {system.where}" for system, counts in systems)
    return {
        "left_out": left_out if any(counts.not_in_all for counts in study.systems) else "",
        "answers": [(*each, f"{100 * each[1].answered / max(study.units, 1):.2f}") for each in systems],
    }


@section("methods", "Methods and provenance", task="selective", order=90)
def provenance(results: Results) -> Content:
    """How the results came about, and what a reviewer takes along."""
    return {
        "definitions": [*map(definition, quantities("curve", "definitions"))],
        "level": level_of(results),
        "methods": methods_shown(results),
        "latex": table_text(results, "latex"),
        "carried": carried(results, "metrics" if results.nested else "results", worded_warnings(results)),
    }
