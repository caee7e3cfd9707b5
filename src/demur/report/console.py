"""Results as aligned text for a console; control characters from files are escaped."""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from demur.confidences.serving import named_signals
from demur.confidences.variants import VARIANTS
from demur.drawing.labels import inert, isolated
from demur.errors import shown
from demur.facts.items import Items
from demur.facts.signals import SIGNALS
from demur.files.strict_model import WordedWarning
from demur.inference.key import Key
from demur.quantities import Measure
from demur.report.names import Pair, by_code, pairs_of, systems_of, why_skipped, worded_warnings
from demur.report.selective.conventions import conventions_text, signatures
from demur.report.selective.leaderboard import leaderboard_text
from demur.report.selective.overview import verdict
from demur.report.text import UNDEFINED, bounded_interval, decimals, four, level_of, table, title_of, with_interval
from demur.report.verdict import says
from demur.results.study import SelectiveStudy
from demur.results.table import Results
from demur.sampling.coverage import Coverage

if TYPE_CHECKING:
    from demur.confidences.calibration import Calibration

_WIDE = 110
_MOST_SHOWN = 3


def console_text(lines: Iterable[str]) -> str:
    """Join lines, with control characters made visible and harmless."""
    return "\n".join(map(inert, lines))


def variants_text(items: Items, reasons: Mapping[str, str | None]) -> str:
    """The variants that a run supports with their meaning, and why it does not support the others."""
    counts = f"{len(items.cluster_ids)} {items.noun}s, {len(items)} units, {int(items.answered.sum())} answered"
    own = [name for name in items.signals if name not in SIGNALS]
    if len(own) == len(items.signals) and not any(reason is None for reason in reasons.values()):
        able = [shown(name) for name in named_signals(items) if items.signals[name].usable()[items.answered].all()]
        listed = ", ".join(able) or "nothing: no signal is a number for every answer"
        return console_text([counts, f"Answers can be ranked by (--confidence): {listed}"])
    rows = []
    for name, reason in reasons.items():
        about = VARIANTS[name].meaning if name in VARIANTS else "a calibration applied"
        rows.append((shown(name), f"yes  {about}" if reason is None else f"no   {reason}"))
    lines = [counts, "", *table(rows, to_the_left=(0, 1)), ""]
    named = ", ".join(map(shown, own))
    lines += [f"Further signals of the run, available by name: {named}."] if own else []
    return console_text([*lines, "Two of them combined: secondary:<variant>+<variant>:average, or :product."])


def calibration_text(calibration: "Calibration") -> str:
    """A summary of a calibration: what it was fitted on, and its quality."""
    from demur.confidences.fitting import QUALITY  # noqa: PLC0415  (slow to import, and evaluations do not fit)

    training, checked = calibration.training, calibration.validation
    inputs = ", ".join(map(shown, calibration.features or ())) or f"the variant {shown(calibration.variant)}"
    noun = checked.grouped_by
    counts = f"{training.clusters} {noun}s, {training.n} answered units, mean target {training.positive_rate:.1%}"
    points = f"{training.inputs_distinct} different inputs, {training.outputs_distinct} confidences"
    lines = [f"{calibration.method} on {inputs}, target {calibration.target}", f"{counts}; {points}"]
    lines += [f"nulls filled: {shown(name)} {count}" for name, count in training.nulls_filled.items()]
    sides = {"as given": checked.as_given, "in sample": checked.in_sample}
    sides[f"out of {checked.folds} folds by {noun}"] = checked.cross_validated
    rows = [
        (label, *(decimals(getattr(quality, name)) for name in QUALITY))
        for label, quality in sides.items()
        if quality is not None
    ]
    lines += ["", *table([("", *QUALITY), *rows])]
    lines += [f"{UNDEFINED} {name}: {reason}" for name, reason in checked.in_sample.undefined.items()]
    if checked.reason:
        lines.append(f"not validated on other {noun}s: {checked.reason}")
    return console_text([*lines, *(f"warning ({w.code}, {shown(w.where)}): {w.message}" for w in calibration.warnings)])


def print_report(text: str) -> None:
    """Print a report on a terminal with headings and warnings highlighted; its text is never markup."""
    from rich.console import Console  # noqa: PLC0415  (only a terminal needs it)
    from rich.text import Text  # noqa: PLC0415

    # With COLUMNS=0 rich would print nothing.
    console = Console(highlight=False, soft_wrap=True, width=shutil.get_terminal_size().columns)
    for line in text.splitlines():
        style = "yellow" if line.startswith("warning") else "bold" if line.endswith("operating points") else ""
        console.print(Text(line, style=style))


def evaluation_text(results: Results, width: int = _WIDE) -> str:
    """The whole report of one system or of several, as lines."""
    lines, pairs = [*_population(results), *leaderboard_text(results)], pairs_of(results)
    for confidence in results.selective.confidences:
        if not pairs:
            lines += ["", *_single(results, confidence)]
        for pair in pairs:
            lines += ["", *_paired(results, confidence, pair, width)]
        lines += [*_requested(results, confidence), *conventions_text(results, confidence)]
        lines += [f"{convention}: {line}" for convention, line in signatures(results, confidence).items()]
    text = verdict(results)
    lines += ["", text.headline, *text.sentences, *text.failures]
    lines += [
        f"left out: {shown(skipped.name)}: {why_skipped(results, skipped)}" for skipped in results.selective.skipped
    ]
    return console_text([*lines, *warnings_text(worded_warnings(results))])


def _requested(results: Results, confidence: str) -> Iterator[str]:
    """Groups, raters and points, and costs; their modules draw pictures too, and few evaluations have any of them."""
    study = results.selective
    if study.groups is not None:
        from demur.report.selective.groups import groups_text  # noqa: PLC0415

        yield from groups_text(results, confidence)
    if study.external_points:
        from demur.report.selective.beside import beside_text  # noqa: PLC0415

        yield from beside_text(results, confidence)
    if study.abstention_costs:
        from demur.report.selective.costs import costs_text  # noqa: PLC0415

        yield from costs_text(results, confidence)


_REPEATS = {
    "units": "each is a unit of its cluster",
    "first": "the first one is kept",
    "vote": "one unit with the most frequent answer",
}


def _rows_read(study: SelectiveStudy) -> str:
    """The number of rows that were combined, and of those that failed."""
    rows, failed = (sum(getattr(system, name) or 0 for system in study.systems) for name in ("rows", "rows_failed"))
    return f", of {rows} rows" * bool(rows) + f" ({failed} failed)" * bool(failed)


def _population(results: Results) -> Iterator[str]:
    study, systems = results.selective, systems_of(results)
    for system, source in zip(systems, study.inputs, strict=True):
        facts = {"mode": source.mode, "run": source.run_id}
        listed = [f"{name} {shown(value)}" for name, value in facts.items() if value is not None]
        in_full = [] if system.label == system.name else [system.name]
        yield f"{system.label}: {', '.join([*in_full, shown(source.path) if source.path else '(no file)', *listed])}"
    failed, answered = f"{study.clusters_failed} failed", str(study.systems[0].answered)
    if len(systems) > 1:
        both = [*zip(systems, study.systems, strict=True)]
        failed += f" ({', '.join(f'{system.label} {counts.failed}' for system, counts in both)})"
        failed += f"; only {', '.join(f'in {system.label} {counts.not_in_all}' for system, counts in both)}"
        answered = ", ".join(f"{system.label} {counts.answered}" for system, counts in both)
    yield f"{study.clusters_total} {study.noun}s: {study.clusters_included} included, {failed}"
    yield f"{study.units} items, answered: {answered}"
    if study.failed_units:
        fate = "left out" if study.failed_units == "drop" else "counted as abstentions"
        lost = ", ".join(
            f"{system.label} {counts.units_failed or 0}" for system, counts in zip(systems, study.systems, strict=True)
        )
        yield f"items that failed: {lost if len(systems) > 1 else study.systems[0].units_failed}, {fate}"
        for system, counts in zip(systems, study.systems, strict=True):
            causes = ", ".join(f"{shown(cause.cause)} {cause.units}" for cause in counts.failed_by_cause or ())
            if causes:
                yield f"{f'{system.label} ' if len(systems) > 1 else ''}failed by: {causes}"
    if study.repeats:
        yield f"repeats of a question: {_REPEATS[study.repeats]}{_rows_read(study)}"
    boot = study.bootstrap
    within = study.groups.stratified_by if study.groups else None
    clusters = f"{study.noun}s" if within is None else f"{study.noun}s within {isolated(within)}"
    drawn = f"{boot.n_resamples} resamples of {clusters}, seed {boot.seed}" if boot else "no intervals: 0 resamples"
    drawn += f"; in brackets the {level_of(results)}" if study.requested else ""
    yield f"loss {study.loss.name}: {study.loss.definition}; {drawn}"


def _heading(results: Results, confidence: str) -> str:
    return f"{shown(confidence)}{', lower is surer' if confidence in results.lower_is_surer else ''}"


def _single(results: Results, confidence: str) -> Iterator[str]:
    """The numbers of one system, with the oracle value and the excess over it where both exist."""
    system, level, study = results.systems[0], level_of(results), results.selective
    record = results.curves[system, confidence]
    yield f"{_heading(results, confidence)}   {len(record.curve.coverage)} operating points"
    if not record.defined:
        yield "  nothing is answered: areas are 0 by convention, and this is never ranked"
    rows = [("", "value", level, "optimal", "excess")]
    for name in study.names("console"):
        estimate = results[Key(system, name, confidence)]
        orders = [results.get(Key(system, order, confidence)) for order in (f"{name}_optimal", f"e{name}")]
        optimal, excess = (UNDEFINED if row is None else four(row.value) for row in orders)
        interval = bounded_interval(results, estimate)
        rows.append((f"  {title_of(estimate)}", four(estimate.value), interval, optimal, excess))
    yield from table(rows)
    risks = [("  risk at", "reached at", "risk", level)]
    for name in study.names_at_coverages:
        estimate, heading = results[Key(system, name, confidence)], f"  {Coverage.of(Measure.of(name).text).key}"
        numbers = (four(estimate.at or 0.0), four(estimate.value), bounded_interval(results, estimate))
        risks.append((heading, *((UNDEFINED, UNDEFINED, "beyond Cmax") if estimate.at is None else numbers)))
    yield from table(risks)


def _paired(results: Results, confidence: str, pair: Pair, width: int) -> Iterator[str]:
    both, study = (pair.first, pair.second), results.selective
    counts = " and ".join(str(len(results.curves[side.system, confidence].curve.coverage)) for side in both)
    yield f"{_heading(results, confidence)}   {counts} operating points"
    heads, rows = (pair.first.label, pair.second.label, pair.label), []
    for name in (*study.names("console"), *study.names_at_coverages):
        key = pair.key(name, confidence)
        numbers = [*(results[Key(side.system, name, confidence)] for side in both), results[key]]
        cells = [with_interval(results, number) for number in numbers]
        rows.append((f"  {title_of(numbers[0])}", *cells, says(results, pair, key)))
    if width >= _WIDE:
        yield from table([("", *heads, ""), *rows])
        return
    for heading, *cells, verdict_text in rows:
        yield heading
        yield from table([(f"    {head}", cell) for head, cell in zip(heads, cells, strict=True)])
        if verdict_text:
            yield f"    {verdict_text}"


def warnings_text(warnings: Iterable[WordedWarning]) -> Iterator[str]:
    """Each kind of warning once, with the first numbers it is about."""
    for code, (first, *others) in by_code(warnings).items():
        subjects = ", ".join(isolated(other.where) for other in others[:_MOST_SHOWN])
        more = f" and {len(others) - _MOST_SHOWN} more" if len(others) > _MOST_SHOWN else ""
        also = f"; also {subjects}{more}" if others else ""
        yield f"warning ({code}): {isolated(first.where)}: {first.message}{also}"
