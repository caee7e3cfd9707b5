"""Sentences for a paper: population, results and methods."""

import math
from collections.abc import Iterator

from demur.drawing.labels import inert
from demur.inference.estimates import Estimate
from demur.inference.key import Key
from demur.quantities import Measure
from demur.report.names import Pair, pairs_of, systems_of
from demur.report.selective.leaderboard import best_sentence, board_to_show
from demur.report.table_rows import Layout
from demur.report.text import level_of, listing, shown_interval, title_of
from demur.report.verdict import UNDECIDED, decide, is_measured
from demur.results.study import AREA
from demur.results.table import Results

_SENTENCE_DIGITS = 3
_PAIR = 2
_FEW_CLUSTERS = 20


def paper_text(results: Results, layout: Layout) -> str:
    """A paragraph of results and one of methods."""
    layout = Layout(layout.rows, _SENTENCE_DIGITS if layout.digits is None else layout.digits)
    results_part = [_counted(results), *_answered(results)]
    default = results.selective.headline.quantity if len(results.systems) > 1 else AREA
    for name in layout.names(results, "table") if layout.rows else [default]:
        results_part += _about(results, Key("", name, results.selective.confidences[0]), layout)
    board = board_to_show(results)
    if board is not None and not layout.rows:
        results_part.append(best_sentence(results, board))
    return "\n\n".join(inert(" ".join(part)) for part in (results_part, [*_methods(results)])) + "\n"


def _counted(results: Results) -> str:
    study, names = results.selective, [system.name for system in systems_of(results)]
    counts = f"{study.clusters_included} {study.noun}s ({study.units} items; {study.clusters_failed} failed)"
    return f"We evaluated {listing(names)} on {'the same ' if len(names) > 1 else ''}{counts}."


def _answered(results: Results) -> Iterator[str]:
    """The shares that were answered, and the coverage up to which the systems are compared."""
    study = results.selective
    confidence, several = study.confidences[0], len(results.systems) > 1
    shares = [f"{100 * results.curves[system, confidence].cmax:.1f} %" for system in results.systems]
    respectively = ", respectively" if several else ""
    text = f"{'They' if several else 'It'} answered {listing(shares)} of the items{respectively}"
    end = results[Key(results.systems[0], study.headline.quantity, confidence)].at or 0.0
    if several and study.area_coverage is None and end:
        all_answer = all(results.curves[system, confidence].defined for system in results.systems)
        reach = ("both reach" if len(shares) == _PAIR else "all reach") if all_answer else "all that answer reach"
        text += f", so they were compared up to the largest coverage {reach} (C_common = {100 * end:.1f} %)"
    yield f"{text}."


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
    return f"{level_of(results)} {ends}, {interval.method.replace('_', ' ')}"


def _difference(results: Results, pair: Pair, number: Key, layout: Layout) -> Iterator[str]:
    key = pair.key(number.quantity, number.confidence)
    estimate = results[key]
    if math.isnan(estimate.value):
        return
    ends = _interval(results, estimate, layout)
    p_value = "" if math.isnan(estimate.p_value) else f"; p {_p_text(estimate.p_value)}"
    subject = f"The difference ({pair.other.name} − {pair.baseline.name})"
    sentence = f"{subject} was {_signed(estimate.value, layout)}{ends and f' ({ends}{p_value})'}"
    yield f"{sentence}{_conclusion(results, pair, key)}."


def _conclusion(results: Results, pair: Pair, key: Key) -> str:
    decision = decide(results, key)
    if decision.winner is not None:
        return f": {pair.named(decision.winner).name} is better{decision.doubt and f', but {decision.doubt}'}"
    if decision.reason == UNDECIDED:
        return f"; the {decision.by} includes 0, so neither was shown to be better"
    return decision.reason and f" ({decision.reason})"


def _signed(value: float, layout: Layout) -> str:
    return layout.fixed(value).replace("-", "−")


def _p_text(p_value: float) -> str:
    return "< 0.001" if p_value < 0.001 else f"= {p_value:.3f}"  # noqa: PLR2004  (as papers print it)


def _methods(results: Results) -> Iterator[str]:
    """How the numbers were computed."""
    study, boot = results.selective, results.study.bootstrap
    if boot is None:
        yield "Nothing was resampled, so there are no intervals."
    else:
        drawn = f"{boot.n_resamples} bootstrap resamples of whole {study.noun}s (seed {boot.seed})"
        is_common = study.headline.quantity.endswith("C_common")
        recomputed = "; C_common was found anew in every resample" if is_common else ""
        yield f"Intervals are from influence functions and from {drawn}{recomputed}."
        board = board_to_show(results)
        if board is not None:
            pairs = len(board.ranked) * (len(board.ranked) - 1) // 2
            few = study.clusters_included < _FEW_CLUSTERS
            intervals = "Bonferroni-adjusted t intervals" if few else "intervals simultaneous by the max-t bootstrap"
            yield f"Ranks rest on {intervals} of all {pairs} pairwise differences."
    conventions = [f"{name}: {study.convention[name]}" for name in ("ties", "denominator") if name in study.convention]
    text = "; ".join([*conventions, f"computed with demur {study.tool.version}"])
    yield f"{text[:1].upper()}{text[1:]}."
    yield f"Signature: {study.signature()}"
