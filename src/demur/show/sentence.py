"""Sentences for a paper on population, results and methods."""

import math
from collections.abc import Iterator

from demur.drawing.labels import inert
from demur.inference.estimates import Estimate
from demur.inference.key import Key
from demur.quantities import Measure
from demur.results.study import AREA
from demur.results.table import Results
from demur.show.names import Pair, pairs_of, systems_of
from demur.show.statements import methods, population
from demur.show.statements.decisions import conclusion, is_measured
from demur.show.statements.leaderboard import best_systems, board_to_show, ranks_rest_on
from demur.show.statements.verdict import coverage_range
from demur.show.table_rows import Layout
from demur.show.text import level_of, listing, shown_interval, title_of

_SENTENCE_DIGITS = 3


def paper_text(results: Results, layout: Layout) -> str:
    """A paragraph of results and one of methods."""
    layout = Layout(layout.rows, _SENTENCE_DIGITS if layout.digits is None else layout.digits)
    results_part = [*_population(results)]
    default = results.selective.headline.quantity if len(results.systems) > 1 else AREA
    for name in layout.names(results, "table") if layout.rows else [default]:
        results_part += _about(results, Key("", name, results.selective.confidences[0]), layout)
    board = board_to_show(results)
    if board is not None and not layout.rows:
        results_part.append(best_systems(results, board).sentence)
    return "\n\n".join(inert(" ".join(part)) for part in (results_part, [*_methods(results)])) + "\n"


def _population(results: Results) -> Iterator[str]:
    """Who was evaluated, what was answered, and the coverage up to which the systems are compared."""
    study, names = results.selective, [system.name for system in systems_of(results)]
    same = "the same " if len(names) > 1 else ""
    yield f"We evaluated {listing(names)} on {same}{population.population(results).words}."
    confidence, answered = study.confidences[0], population.answered(results).words
    compared = ""
    if len(names) > 1 and results[Key(results.systems[0], study.headline.quantity, confidence)].at:
        compared = f"; they are compared {coverage_range(results, confidence, *results.systems[:2]).words}"
    yield f"{answered}{compared}."


def _about(results: Results, number: Key, layout: Layout) -> Iterator[str]:
    """One number of every system, and the difference of two."""
    values = []
    for system in systems_of(results):
        estimate = results[Key(system.system, number.quantity, number.confidence)]
        of_system = f" for {system.name}" if len(results.systems) > 1 else ""
        if not is_measured(results, estimate):
            values.append(f"undefined{of_system}")
            continue
        ends = _interval(results, estimate, layout)
        values.append(f"{_signed(estimate.value, layout)}{ends and f' ({ends})'}{of_system}")
    title = title_of(results[Key(results.systems[0], number.quantity, number.confidence)])
    ranked_by = f"loss {results.selective.loss.name}; confidence {number.confidence}; lower is better"
    about = "" if Measure.of(number.quantity).quantity.loss_free else f" ({ranked_by})"
    yield f"The {title}{about} was {listing(values)}."
    pairs = pairs_of(results)
    if len(pairs) == 1:
        yield from _difference(results, pairs[0], number, layout)


def _interval(results: Results, estimate: Estimate, layout: Layout) -> str:
    interval = shown_interval(results, estimate)
    if interval is None:
        return ""
    ends = f"{_signed(interval.low, layout)} to {_signed(interval.high, layout)}"
    return f"{level_of(results)} {ends}, {methods.method_name(interval.method)}"


def _difference(results: Results, pair: Pair, number: Key, layout: Layout) -> Iterator[str]:
    key = pair.key(number.quantity, number.confidence)
    estimate = results[key]
    if math.isnan(estimate.value):
        return
    ends = _interval(results, estimate, layout)
    p_value = "" if math.isnan(estimate.p_value) else f"; p {_p_text(estimate.p_value)}"
    subject = f"The difference ({pair.other.name} − {pair.baseline.name})"
    sentence = f"{subject} was {_signed(estimate.value, layout)}{ends and f' ({ends}{p_value})'}"
    concluded = conclusion(results, key, pair.names).words
    yield f"{sentence}: {concluded}." if concluded else f"{sentence}."


def _signed(value: float, layout: Layout) -> str:
    text = layout.fixed(value)
    return f"−{layout.fixed(-value)}" if text.startswith("-") else text


def _p_text(p_value: float) -> str:
    return "< 0.001" if p_value < 0.001 else f"= {p_value:.3f}"  # noqa: PLR2004  (as papers print it)


def _methods(results: Results) -> Iterator[str]:
    """How the numbers were computed."""
    study, resampling = results.selective, methods.resampling(results)
    if study.bootstrap is None:
        yield resampling.sentence
    else:
        is_common = len(results.systems) > 1 and study.area_coverage is None
        recomputed = "; C_common was found anew in every resample" if is_common else ""
        yield f"Intervals are from influence functions and from {resampling.words}{recomputed}."
        board = board_to_show(results)
        basis = None if board is None else ranks_rest_on(results, board)
        if basis is not None:
            yield basis.sentence
    for convention in methods.conventions(results):
        if convention.name in ("ties", "denominator"):
            yield f"{convention.line}."
    yield f"Computed with demur {study.tool.version}. Signature: {study.signature()}"
