"""The overview of retrieval results: the verdict with a picture, the lists, and the methods."""

import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from demur.drawing.forest import IntervalRow, scale_strip, value_strip
from demur.drawing.picture import Frame
from demur.extensions.retrieval.headings import title
from demur.extensions.retrieval.quantities.detection import detection_quantities
from demur.extensions.retrieval.statements.differences import primary
from demur.extensions.retrieval.statements.population import graded_judgments, reference_ranges
from demur.extensions.retrieval.statements.verdict import retrieval_verdict
from demur.extensions.retrieval.study import RetrievalSystem, study_of
from demur.inference.key import Key
from demur.quantities import quantities
from demur.results.table import Results
from demur.show.names import NamedSystem, systems_of
from demur.show.sections import Content, carried, definition, section
from demur.show.statements import methods
from demur.show.statements.warnings import warnings
from demur.show.text import UNDEFINED, interval_heading, interval_row, shown_interval, with_interval

SHARES = Frame()
_FALSE = Key("", "false_evidence_rate")


@section("verdict", "Verdict", task="retrieval", order=10)
def retrieval_overview(results: Results) -> Content:
    """The verdict on the rankings where there is evidence."""
    key = primary(results, "")
    titles = {key: f"{title(key)}, higher is better", _FALSE: "Shows something where nothing is, lower is better"}
    return {
        "verdict": retrieval_verdict(results),
        "primary": title(key),
        "interval": interval_heading(results),
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
def lists_returned(results: Results) -> Content:
    """The counts of what each system returned, and what grades mean."""
    systems: list[tuple[NamedSystem, RetrievalSystem]] = [
        *zip(systems_of(results), study_of(results).systems, strict=True)
    ]
    return {"systems": systems, "judgments": graded_judgments(study_of(results))}


@section("methods", "Methods and provenance", task="retrieval", order=90)
def retrieval_provenance(results: Results) -> Content:
    """Definitions, interval methods, and the embedded file."""
    study = study_of(results)
    used = {row.recommended.method: None for row in results.where(group=None) if row.recommended}
    facts = [*methods.conventions(results), graded_judgments(study), reference_ranges(study)]
    resampled = [methods.resampling(results), methods.intervals(results, used) if study.bootstrap else None]
    return {
        "facts": [fact for fact in (*facts, *resampled) if fact is not None],
        "signature": study.signature(),
        "definitions": [*map(definition, (*quantities("ranking"), *detection_quantities()))],
        "carried": carried(results, "retrieval", warnings(results)),
    }
