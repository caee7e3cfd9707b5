"""Overview: the verdict with its cards, and who was counted."""

from collections.abc import Iterator

from demur.errors import shown
from demur.inference.key import Key
from demur.quantities import Measure
from demur.report.cards import Card, CardNumber
from demur.report.differences import is_measured, nothing_common, says_in_full
from demur.report.names import NamedSystem, Pair, pairs_of, systems_of
from demur.report.sections import Content, section
from demur.report.selective.sentences import AREA, cut_area, verdict
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
    yield Card("Share of the items answered", _numbers(results, "cmax", confidence), f"Cmax; {interval}")
    unequal = len({results.curves[system, confidence].cmax for system in results.systems}) > 1
    note = "about different items: not to be compared" if unequal else f"mean loss, {shown(study.loss.name)}"
    yield Card("Risk of all answers", _numbers(results, "risk", confidence), note)
    if pairs and nothing_common(results, confidence):
        return
    area = cut_area(results) if pairs else AREA
    title = title_of(results[Key(results.systems[0], area, confidence)])
    accepted = "errors that are accepted, over all thresholds; lower is better"
    yield Card(title, _numbers(results, area, confidence), accepted)
    yield from (_difference(results, pair, pair.key(area, confidence)) for pair in pairs)
    if not pairs:
        excess = _numbers(results, f"e{AREA}", confidence)
        yield Card("Excess over the oracle order", excess, "eAUGRC; 0 cannot be improved")


def _difference(results: Results, pair: Pair, key: Key) -> Card:
    estimate, winner = results[key], decide(results, key).winner
    number = CardNumber(None, four(estimate.value), interval_text(shown_interval(results, estimate)))
    if winner is not None:
        note = f"{pair.named(winner).name} is better"
    else:
        note = says_in_full(results, pair, key) or "nothing was resampled"
    return Card(f"Difference, {pair.label}", (number,), note)


def _numbers(results: Results, quantity: str, confidence: str) -> tuple[CardNumber, ...]:
    return tuple(_number(results, system, Key(system.system, quantity, confidence)) for system in systems_of(results))


def _number(results: Results, system: NamedSystem, key: Key) -> CardNumber:
    estimate = results[key]
    if Measure.of(key.quantity).quantity.point_only:
        return CardNumber(system, four(estimate.value), "no interval stored")
    if not is_measured(results, estimate):
        return CardNumber(system, UNDEFINED, "nothing is answered")
    interval = shown_interval(results, estimate)
    if key.quantity == "cmax":
        ends = "" if interval is None else f"[{interval.low:.1%}, {interval.high:.1%}]"
        return CardNumber(system, f"{estimate.value:.1%}", ends)
    text = "" if interval is None and estimate.upper_bound is None else bounded_interval(results, estimate)
    return CardNumber(system, four(estimate.value), text)


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
