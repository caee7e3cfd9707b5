"""Console: results as lines of text that line up. What comes from a file is shown, never obeyed by the terminal."""

from collections.abc import Iterable, Iterator, Mapping

from demur.calibration import Calibration
from demur.coverage import Coverage
from demur.errors import harmless, shown
from demur.fitting import QUALITY
from demur.inference.key import Key
from demur.items import Items
from demur.quantities import Measure
from demur.report.differences import says
from demur.report.names import Pair, pairs_of, systems_of, why_skipped, worded_warnings
from demur.report.selective.sentences import verdict
from demur.report.text import UNDEFINED, bounded_interval, decimals, four, level_of, title_of, with_interval
from demur.results.parts import Input
from demur.results.table import Results
from demur.signals import SIGNALS
from demur.strict_model import WordedWarning
from demur.text_table import table
from demur.variants import VARIANTS


def variants_text(items: Items, reasons: Mapping[str, str | None]) -> str:
    """Which variants a run can serve, what each is, and why not the others."""
    names = {name: shown(name) for name in reasons}
    width = max(map(len, names.values()))
    lines = [f"{len(items.cluster_ids)} {items.noun}s, {len(items)} units, {int(items.answered.sum())} answered", ""]
    for name, reason in reasons.items():
        about = VARIANTS[name].meaning if name in VARIANTS else "a calibration applied"
        answer = f"yes  {about}" if reason is None else f"no   {harmless(reason)}"
        lines.append(f"{names[name]:<{width}}  {answer}")
    own = [shown(name) for name in items.signals if name not in SIGNALS]
    lines += ["", *([f"Signals of the run's own, which can be asked for by name: {', '.join(own)}."] if own else [])]
    lines += ["Two of them combined: secondary:<variant>+<variant>:average, or :product."]
    return "\n".join(lines)


def calibration_text(calibration: Calibration) -> str:
    """What was fitted on what, and how well it does."""
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
    return "\n".join([*lines, *(f"warning ({w.code}, {shown(w.where)}): {w.message}" for w in calibration.warnings)])


def print_report(text: str) -> None:
    """A report on a terminal: headings and warnings stand out, and nothing in it is taken for markup."""
    from rich.console import Console  # noqa: PLC0415  (only a terminal pays for it)
    from rich.text import Text  # noqa: PLC0415

    console = Console(highlight=False, soft_wrap=True)
    for line in text.splitlines():
        style = "yellow" if line.startswith("warning") else "bold" if line.endswith("operating points") else ""
        console.print(Text(line, style=style))


_WIDE = 110
_PLACES_SHOWN = 3


def evaluation_text(results: Results, width: int = _WIDE) -> str:
    """The whole report of one system or of several, as lines."""
    lines, pairs = [*_population(results)], pairs_of(results)
    for confidence in results.selective.confidences:
        if not pairs:
            lines += ["", *_single(results, confidence)]
        for pair in pairs:
            lines += ["", *_paired(results, confidence, pair, width)]
    text = verdict(results)
    lines += ["", text.headline, *text.sentences, *text.failures]
    lines += [
        f"left out: {shown(skipped.name)}: {why_skipped(results, skipped)}" for skipped in results.selective.skipped
    ]
    return "\n".join([*lines, *warnings_text(worded_warnings(results))])


def _population(results: Results) -> Iterator[str]:
    study, systems = results.selective, systems_of(results)
    for system, source in zip(systems, study.inputs, strict=True):
        yield f"{system.word}: {_source(source)}"
    failed, answered = f"{study.clusters_failed} failed", str(study.systems[0].answered)
    if len(systems) > 1:
        both = [*zip(systems, study.systems, strict=True)]
        failed += f" ({', '.join(f'{system.word} {counts.failed}' for system, counts in both)})"
        failed += f"; only {', '.join(f'{system.where} {counts.not_in_all}' for system, counts in both)}"
        answered = ", ".join(f"{system.word} {counts.answered}" for system, counts in both)
    yield f"{study.clusters_total} {study.noun}s: {study.clusters_included} included, {failed}"
    yield f"{study.units} items, answered: {answered}"
    boot = study.bootstrap
    drawn = f"{boot.n_resamples} resamples of {study.noun}s, seed {boot.seed}" if boot else "no intervals: 0 resamples"
    yield f"loss {study.loss.name}: {study.loss.definition}; {drawn}"


def _source(source: Input) -> str:
    parts = [shown(source.path) if source.path else "(no file)"]
    facts = (("mode", source.mode), ("run", source.run_id))
    return ", ".join([*parts, *(f"{name} {shown(value)}" for name, value in facts if value is not None)])


def _single(results: Results, confidence: str) -> Iterator[str]:
    system, level = results.systems[0], level_of(results)
    record = results.curves[system, confidence]
    yield f"{shown(confidence)}   {len(record.curve.coverage)} operating points"
    if not record.defined:
        yield "  nothing is answered: areas are 0 by convention, and this is never ranked"
    keys = [Key(system, name, confidence) for name in results.selective.names("console")]
    rows = [
        (
            f"  {title_of(results[key])}",
            four(results[key].value),
            bounded_interval(results, results[key]),
            *_orders(results, key),
        )
        for key in keys
    ]
    yield from table([("", "value", level, "optimal", "excess"), *rows])
    risks = [_risk(results, Key(system, name, confidence)) for name in results.selective.names_at_coverages]
    yield from table([("  risk at", "reached at", "risk", level), *risks])


def _orders(results: Results, key: Key) -> tuple[str, str]:
    """What the oracle order would give, and the excess over it, of a number that has both."""
    names = (f"{key.quantity}_optimal", f"e{key.quantity}")
    rows = [results.get(Key(key.system, name, key.confidence)) for name in names]
    optimal, excess = (UNDEFINED if row is None else four(row.value) for row in rows)
    return optimal, excess


def _risk(results: Results, key: Key) -> tuple[str, str, str, str]:
    estimate = results[key]
    heading = f"  {Coverage.of(Measure.of(key.quantity).text).key}"
    if estimate.at is None:
        return heading, UNDEFINED, UNDEFINED, "beyond Cmax"
    return heading, four(estimate.at), four(estimate.value), bounded_interval(results, estimate)


def _paired(results: Results, confidence: str, pair: Pair, width: int) -> Iterator[str]:
    both = (pair.first, pair.second)
    counts = " and ".join(str(len(results.curves[each.system, confidence].curve.coverage)) for each in both)
    yield f"{shown(confidence)}   {counts} operating points"
    heads = (pair.first.word, pair.second.word, pair.label)
    rows = [*_differences(results, confidence, pair)]
    if width >= _WIDE:
        yield from table([("", *heads, ""), *rows])
        return
    for heading, *cells, verdict_text in rows:
        yield heading
        yield from table([(f"    {head}", cell) for head, cell in zip(heads, cells, strict=True)])
        if verdict_text:
            yield f"    {verdict_text}"


def _differences(results: Results, confidence: str, pair: Pair) -> Iterator[tuple[str, str, str, str, str]]:
    study = results.selective
    for name in (*study.names("console"), *study.names_at_coverages):
        first, second = (results[Key(each.system, name, confidence)] for each in (pair.first, pair.second))
        key = pair.key(name, confidence)
        cells = [with_interval(results, estimate) for estimate in (first, second, results[key])]
        yield f"  {title_of(first)}", cells[0], cells[1], cells[2], says(results, pair, key)


def warnings_text(warnings: Iterable[WordedWarning]) -> Iterator[str]:
    """Each kind of warning once, with the first places it is about."""
    by_code: dict[str, list[WordedWarning]] = {}
    for warning in warnings:
        by_code.setdefault(warning.code, []).append(warning)
    for code, (first, *others) in by_code.items():
        places = ", ".join(shown(other.where) for other in others[:_PLACES_SHOWN])
        more = f" and {len(others) - _PLACES_SHOWN} more" if len(others) > _PLACES_SHOWN else ""
        also = f"; also {places}{more}" if others else ""
        yield f"warning ({code}): {shown(first.where)}: {first.message}{also}"
