"""Raters and published points: their risk beside that of a system at the same coverage, and handing over to a rater."""

import math
from collections.abc import Iterator
from dataclasses import replace

from demur.drawing.beside import Handover, OutsidePoint, beside_curves, handover_chart
from demur.drawing.labels import isolated, shortened
from demur.drawing.risk_coverage import RiskCurve
from demur.errors import shown
from demur.inference.estimates import Estimate
from demur.inference.intervals import Interval
from demur.inference.key import Group, Key
from demur.quantities.thresholds import typed_threshold
from demur.report.names import NamedSystem, systems_of
from demur.report.sections import Content, section
from demur.report.selective.operating import words_of
from demur.report.text import (
    UNDEFINED,
    ends_of,
    four,
    interval_text,
    shown_interval,
    table,
    three,
    with_interval,
)
from demur.results.gaps import ANSWERED_BY, both_key, deciding, gap_key, gap_verdict, handed_key, system_key
from demur.results.parts import ExternalPoint, HandoverCurve
from demur.results.pictures import risk_curve
from demur.results.published import NO_UNCERTAINTY, OTHER_PEOPLE
from demur.results.table import Results

HEADINGS = ("who", "coverage", "risk", "system there", "risk less the system's", "verdict")
_MOST_ROWS = 40  # of a hand-over curve
_WITH_BANDS = 2
_LONGEST = 16  # letters of a name in a picture


def point_row(results: Results, point: ExternalPoint, system: NamedSystem, confidence: str) -> tuple[str, ...]:
    """A point as a row of a table."""
    gap, own = (results[key(point.name, system.system, confidence)] for key in (gap_key, system_key))
    cells = [with_interval(results, results[Key(point.name, name)]) for name in ("cmax", "risk")]
    at_coverage = "beyond Cmax" if math.isnan(own.value) else with_interval(results, own)
    if math.isnan(gap.value):
        return point.name, *cells, at_coverage, UNDEFINED, ""
    ends, verdict = deciding(gap), gap_verdict(gap, results.selective.margin) or "not tested"
    difference = four(gap.value) if ends is None else f"{four(gap.value)} {interval_text(ends)}"
    return point.name, *cells, at_coverage, difference, verdict


def point_sentence(results: Results, point: ExternalPoint, system: NamedSystem, confidence: str) -> str:
    """One sentence about a point and a system."""
    gap, own = (results[key(point.name, system.system, confidence)] for key in (gap_key, system_key))
    items = "the items" if point.kind in ("paired", "forced") else "their items"
    aside = f" ({OTHER_PEOPLE})" if OTHER_PEOPLE in point.note else ""
    start = f"{point.name}{aside} answered {point.coverage:.1%} of {items} at a risk of {three(point.risk)}"
    if math.isnan(gap.value):
        return f"{start}; {_beyond(results, point, system)}"
    ends = deciding(gap)
    known = gap.no_interval not in ("", NO_UNCERTAINTY)
    reason = gap.no_interval if known else "nothing is known of its uncertainty"
    system_risk = f"that of {system.name}" if len(results.systems) > 1 else "the system's"
    verdict = gap_verdict(gap, results.selective.margin) or f"not tested: {reason}"
    people = f" with {results.selective.clusters_included} {results.study.noun}s" if ends else ""
    return f"{start}; at that coverage {system_risk} is {three(own.value)}: {_of_system(gap)}, {verdict}{people}."


def _difference_in_words(higher: float, ends: Interval | None, other: str = "") -> str:
    """How much higher or lower a risk is than another, with its interval."""
    turned = ends.negated() if ends is not None and higher < 0 else ends
    between = "" if turned is None else f" {interval_text(turned)}"
    if not higher:
        return f"the same{between}{other and f' as {other}'}"
    return f"{three(abs(higher))} {'higher' if higher > 0 else 'lower'}{between}{other and f' than {other}'}"


def _of_system(gap: Estimate) -> str:
    """How much higher or lower the system's risk is than the rater's: the negated gap."""
    ends = deciding(gap)
    return _difference_in_words(0.0 - gap.value, ends and ends.negated())


def _beyond(results: Results, point: ExternalPoint, system: NamedSystem) -> str:
    """A point at a coverage beyond the system's Cmax: what can be compared instead."""
    name = system.name if len(results.systems) > 1 else "the system"
    record = next(curve for (key, _), curve in results.curves.items() if key == system.system)
    reached = f"at its largest coverage, {record.cmax:.1%}, the risk of {name} is "
    reached += three(record.curve.selective_risk[-1]) if record.defined else UNDEFINED
    both = results.get(both_key(point.name, system.system, minus=system.system))
    if both is None:
        return f"{name} does not answer as much: {reached}."
    rater, own = results[both_key(point.name, system.system)], results[both_key(system.system, point.name)]
    shared = int(results[Key(point.name, "answered", group=Group(ANSWERED_BY, system.system))].value)
    alone = (point.n_answered or 0) - shared
    return (
        f"it answered {alone} units that {name} declined; {reached}. Of the {shared} units both answered the risk of "
        f"{point.name} is {three(rater.value)} and that of {name} {three(own.value)}: {_of_system(both)}."
    )


def handover_sentence(results: Results, point: ExternalPoint, system: NamedSystem, confidence: str) -> str:
    """The effect of handing over at the fixed threshold; empty without one."""
    together = results.get(handed_key(point.name, system.system, confidence))
    difference = results.get(handed_key(point.name, system.system, confidence, minus=True))
    if together is None or difference is None or math.isnan(together.value):
        return ""
    name = system.name if len(results.systems) > 1 else "the system"
    return (
        f"If {name} answers from a confidence of {together.threshold:g} on and {point.name} the rest, they answer "
        f"{together.at or 0.0:.1%} at a risk of {three(together.value)}: "
        f"{_difference_in_words(difference.value, difference.recommended, f'{point.name} alone')}."
    )


def beside_sentences(results: Results, confidence: str) -> Iterator[str]:
    """The sentences about every point and every system."""
    for system in systems_of(results):
        for point in results.selective.external_points or ():
            yield point_sentence(results, point, system, confidence)
            if handed := handover_sentence(results, point, system, confidence):
                yield handed


def beside_text(results: Results, confidence: str) -> Iterator[str]:
    """Raters and published points."""
    points, systems = results.selective.external_points or (), systems_of(results)
    for system in systems:
        heads = (f"  beside {system.label}" if len(systems) > 1 else "  beside", *HEADINGS[1:])
        cells = [point_row(results, point, system, confidence) for point in points]
        yield from ["", *table([heads, *((f"  {shown(name)}", *others) for name, *others in cells)])]
    yield from beside_sentences(results, confidence)


@section("beside", "Beside others", task="selective", order=50)
def beside(results: Results) -> Content | None:
    """Pictures, sentences and tables of every confidence; None without raters and points."""
    points = results.selective.external_points
    if not points:
        return None
    systems = systems_of(results)
    return {
        "headings": HEADINGS,
        "systems": systems,
        "confidences": [
            {
                "svg": beside_curves(_curves(results, confidence), [*_points(results, confidence)]).svg,
                "sentences": [*beside_sentences(results, confidence)],
                "tables": [
                    (system, [point_row(results, point, system, confidence) for point in points]) for system in systems
                ],
                "handover": [
                    (system, name, _handover_drawn(results, system, name, curve), _handover(curve))
                    for system in systems
                    for name, curve in (results.curves[system.system, confidence].handover or {}).items()
                ],
            }
            for confidence in results.selective.confidences
        ],
    }


def _curves(results: Results, confidence: str) -> list[RiskCurve]:
    """The curve of each system, with its band where there are one or two."""
    drawn, percent = [], words_of(results).percent
    for system in systems_of(results):
        label = system.label if len(results.systems) > 1 else ""
        curve = risk_curve(results, system.system, confidence, label)
        band = curve.band if len(results.systems) <= _WITH_BANDS else None
        drawn.append(replace(curve, share=percent, random=None, oracle=(), band=band))
    return drawn


def _points(results: Results, confidence: str) -> Iterator[OutsidePoint]:
    """Each rater and point as drawn, with the numbers of its table row."""
    points = results.selective.external_points or ()
    labels = map(isolated, shortened([point.name for point in points], _LONGEST))
    for label, point in zip(labels, points, strict=True):
        risks = [
            (system.style, results[system_key(point.name, system.system, confidence)].value)
            for system in systems_of(results)
        ]
        defined = [(style, risk) for style, risk in risks if not math.isnan(risk)]
        numbers = (results[Key(point.name, name)] for name in ("cmax", "risk"))
        across, up = (ends_of(shown_interval(results, number)) for number in numbers)
        yield OutsidePoint(label, point.kind, point.coverage, point.risk, across, up, defined)


def _handover_drawn(results: Results, system: NamedSystem, rater: str, curve: HandoverCurve) -> str:
    known = [(share, risk) for share, risk in zip(curve.share, curve.risk, strict=True) if risk is not None]
    label, percent = isolated(shortened([rater], _LONGEST)[0]), words_of(results).percent
    shares, risks = [share for share, _ in known], [risk for _, risk in known]
    return handover_chart(Handover(system.style, label, shares, risks, percent)).svg


def _handover(curve: HandoverCurve) -> list[tuple[str, ...]]:
    """The points of a hand-over curve, the rater alone first; none if there are very many."""
    if len(curve.share) > _MOST_ROWS:
        return []
    rows: list[tuple[str, ...]] = []
    for index, (threshold, risk) in enumerate(zip(curve.threshold, curve.risk, strict=True)):
        lower = (*curve.threshold[index + 1 : index + 2], None)[0]
        typed = (
            "rater alone" if threshold is None else typed_threshold(threshold, -math.inf if lower is None else lower)
        )
        shares = (f"{column[index]:.1%}" for column in (curve.share, curve.coverage))
        rows.append((typed, *shares, UNDEFINED if risk is None else four(risk)))
    return rows
