"""Raters and published points in words: their risk compared with that of a system at the same coverage."""

import math
from collections.abc import Iterator

from demur.inference.estimates import Estimate
from demur.inference.intervals import Interval
from demur.inference.key import Group, Key
from demur.report.names import NamedSystem, systems_of
from demur.report.text import UNDEFINED, four, interval_text, three, with_interval
from demur.results.gaps import ANSWERED_BY, both_key, gap_key, gap_verdict, handed_key, system_key
from demur.results.parts import ExternalPoint
from demur.results.published import NO_UNCERTAINTY, OTHER_PEOPLE
from demur.results.table import Results

HEADINGS = ("who", "coverage", "risk", "system there", "risk less the system's", "verdict")


def point_cells(results: Results, point: ExternalPoint, system: NamedSystem, confidence: str) -> tuple[str, ...]:
    """A point as a row of a table."""
    gap, own = (results[key(point.name, system.system, confidence)] for key in (gap_key, system_key))
    cells = [with_interval(results, results[Key(point.name, name)]) for name in ("cmax", "risk")]
    at_coverage = "beyond Cmax" if math.isnan(own.value) else with_interval(results, own)
    verdict = gap_verdict(gap, results.selective.margin) or ("" if math.isnan(gap.value) else "not tested")
    return point.name, *cells, at_coverage, UNDEFINED if math.isnan(gap.value) else _signed(gap), verdict


def _signed(gap: Estimate) -> str:
    ends = gap.simultaneous or gap.recommended
    return four(gap.value) if ends is None else f"{four(gap.value)} {interval_text(ends)}"


def point_sentence(results: Results, point: ExternalPoint, system: NamedSystem, confidence: str) -> str:
    """One sentence about a point and a system."""
    gap, own = (results[key(point.name, system.system, confidence)] for key in (gap_key, system_key))
    units = "items" if point.kind in ("paired", "forced") else "their items"
    aside = f" ({OTHER_PEOPLE})" if OTHER_PEOPLE in point.note else ""
    start = f"{point.name}{aside} answered {point.coverage:.1%} of {'the ' if units == 'items' else ''}{units}"
    start += f" at a risk of {three(point.risk)}"
    system_risk = f"that of {system.name}" if len(results.systems) > 1 else "the system's"
    if math.isnan(gap.value):
        return f"{start}; {_beyond(results, point, system)}"
    ends = gap.simultaneous or gap.recommended
    has_reason = gap.no_interval not in ("", NO_UNCERTAINTY)
    reason = gap.no_interval if has_reason else "nothing is known of its uncertainty"
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
    ends = gap.simultaneous or gap.recommended
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
    tested = f": {_of_system(both)}"
    return (
        f"it answered {alone} units that {name} declined; {reached}. Of the {shared} units both answered the risk of "
        f"{point.name} is {three(rater.value)} and that of {name} {three(own.value)}{tested}."
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
