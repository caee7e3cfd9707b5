"""Results as aligned text for the console; control characters from files are escaped."""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING, Self

from demur.confidences.serving import named_signals
from demur.confidences.variants import VARIANTS
from demur.drawing.labels import inert
from demur.errors import shown
from demur.facts.items import Items
from demur.facts.signals import SIGNALS
from demur.inference.key import Key
from demur.quantities import Measure
from demur.results.features import features_in
from demur.results.table import Results
from demur.sampling.coverage import Coverage
from demur.show.names import Pair, by_name, pairs_of, systems_of, why_skipped
from demur.show.statements import methods, population
from demur.show.statements.decisions import conclusion
from demur.show.statements.leaderboard import best_systems, board_to_show, leaderboard_statements, rank
from demur.show.statements.signatures import signatures
from demur.show.statements.verdict import Verdict, verdict
from demur.show.statements.warnings import Warned, recorded_warnings, warnings
from demur.show.text import UNDEFINED, bounded_interval, decimals, four, level_of, table, title_of, with_interval

if TYPE_CHECKING:
    from demur.confidences.calibration import Calibration

_WIDE = 110


class Line(str):
    """A line of text with a style."""

    __slots__ = ("style",)
    style: str

    def __new__(cls, text: str, style: str) -> Self:
        """The text with a style of rich."""
        line = super().__new__(cls, text)
        line.style = style
        return line


class ConsoleText(str):
    """Text for the console, with control characters escaped, and the style of each line."""

    __slots__ = ("styles",)
    styles: tuple[str, ...]

    def __new__(cls, lines: Iterable[str]) -> Self:
        """Join the lines."""
        listed = [*lines]
        text = super().__new__(cls, "\n".join(map(inert, listed)))
        text.styles = tuple(line.style if isinstance(line, Line) else "" for line in listed)
        return text


def variants_text(items: Items, reasons: Mapping[str, str | None]) -> ConsoleText:
    """The variants that a run supports, with their meaning, and why it does not support the others."""
    counts = f"{len(items.cluster_ids)} {items.noun}s, {len(items)} units, {int(items.answered.sum())} answered"
    own = [name for name in items.signals if name not in SIGNALS]
    if len(own) == len(items.signals) and not any(reason is None for reason in reasons.values()):
        able = [shown(name) for name in named_signals(items) if items.signals[name].usable()[items.answered].all()]
        listed = ", ".join(able) or "nothing: no signal is a number for every answer"
        return ConsoleText([counts, f"Answers can be ranked by (--confidence): {listed}"])
    rows = []
    for name, reason in reasons.items():
        about = VARIANTS[name].meaning if name in VARIANTS else "a calibration applied"
        rows.append((shown(name), f"yes  {about}" if reason is None else f"no   {reason}"))
    lines = [counts, "", *table(rows, to_the_left=(0, 1)), ""]
    named = ", ".join(map(shown, own))
    lines += [f"Further signals of the run, available by name: {named}."] if own else []
    return ConsoleText([*lines, "Two of them combined: secondary:<variant>+<variant>:average, or :product."])


def calibration_text(calibration: "Calibration") -> ConsoleText:
    """A summary of a calibration: what it was fitted on, and its quality."""
    from demur.confidences.fitting import QUALITY  # noqa: PLC0415  (slow to import, and evaluations do not fit)
    from demur.show.statements import calibration as statements  # noqa: PLC0415

    checked = calibration.validation
    lines = [f"{calibration.method}, target {calibration.target}"]
    lines += [statement.sentence for statement in (statements.fitted(calibration), *statements.training(calibration))]
    sides = {"as given": checked.as_given, "in sample": checked.in_sample}
    sides[f"out of {checked.folds} folds"] = checked.cross_validated
    rows = [
        (label, *(decimals(getattr(quality, name)) for name in QUALITY))
        for label, quality in sides.items()
        if quality is not None
    ]
    lines += ["", *table([("", *QUALITY), *rows])]
    lines += [f"{UNDEFINED} {name}: {reason}" for name, reason in checked.in_sample.undefined.items()]
    lines.append(statements.NumbersToTrust(statements.validation(calibration)).sentence)
    return ConsoleText([*lines, *warning_lines(recorded_warnings(calibration.warnings))])


def print_report(text: str) -> None:
    """Print a report, styled if it is `ConsoleText` and on a terminal; text is never interpreted as markup."""
    from rich.console import Console  # noqa: PLC0415  (only a terminal needs it)
    from rich.text import Text  # noqa: PLC0415

    # With COLUMNS=0 rich would print nothing.
    console = Console(highlight=False, soft_wrap=True, width=shutil.get_terminal_size().columns)
    styles = text.styles if isinstance(text, ConsoleText) else ()
    for line, style in zip_longest(text.split("\n"), styles, fillvalue=""):
        console.print(Text(line, style=style))


def evaluation_text(results: Results, width: int = _WIDE) -> ConsoleText:
    """The whole report of an evaluation, of one system or several."""
    study, pairs = results.selective, pairs_of(results)
    lines = [*_population(results), *leaderboard_lines(results)]
    told = [feature.hook("console") for feature in features_in(study) if feature.console]
    for confidence in study.confidences:
        if not pairs:
            lines += ["", *_single(results, confidence)]
        for pair in pairs:
            lines += ["", *_paired(results, confidence, pair, width)]
        lines += [line for console in told for line in console(results, confidence)]
        lines += [f"{convention}: {line}" for convention, line in signatures(results, confidence).items()]
    lines += ["", *verdict_lines(verdict(results))]
    lines += [f"left out: {shown(skipped.name)}: {why_skipped(results, skipped)}" for skipped in study.skipped]
    return ConsoleText([*lines, *warning_lines(warnings(results))])


def verdict_lines(found: Verdict) -> Iterator[str]:
    """The headline of the verdict, its basis, and failures that limit it; without warnings."""
    return (statement.sentence for statement in (found.headline, *found.basis, *found.failures))


def _population(results: Results) -> Iterator[str]:
    """Who was counted and how the numbers were made; failures are left to the verdict where it says them."""
    study = results.selective
    for system, source in zip(systems_of(results), population.sources(results), strict=True):
        yield source.line if system.label == system.name else f"{system.label}: {system.name}, {source.words}"
    yield population.population(results).words
    failures, left_out = population.failures(results), population.not_in_all(results)
    if len(results.systems) > 1 and failures.any and not failures.often:
        yield failures.words
    if left_out is not None:
        yield left_out.words
    yield population.answered(results).words
    yield from (statement.words for statement in population.failed_units(results))
    if (repeats := population.repeats(study)) is not None:
        yield repeats.words
    yield methods.loss_used(results).line
    shown_interval = f"; {methods.intervals(results).words}" if study.requested else ""
    yield f"{methods.resampling(results).line}{shown_interval}"


def _heading(results: Results, confidence: str, points: str) -> Line:
    direction = ", lower is surer" if confidence in results.lower_is_surer else ""
    return Line(f"{shown(confidence)}{direction}   {points} operating points", "bold")


def _single(results: Results, confidence: str) -> Iterator[str]:
    """The numbers of one system, with the oracle value and the excess over it where both exist."""
    system, level, study = results.systems[0], level_of(results), results.selective
    record = results.curves[system, confidence]
    yield _heading(results, confidence, str(len(record.curve.coverage)))
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
    yield _heading(results, confidence, counts)
    heads, rows = (pair.first.label, pair.second.label, pair.label), []
    for name in (*study.names("console"), *study.names_at_coverages):
        key = pair.key(name, confidence)
        numbers = [*(results[Key(side.system, name, confidence)] for side in both), results[key]]
        cells = [with_interval(results, number) for number in numbers]
        rows.append((f"  {title_of(numbers[0])}", *cells, conclusion(results, key, pair.labels).words))
    if width >= _WIDE:
        yield from table([("", *heads, ""), *rows])
        return
    for heading, *cells, verdict_text in rows:
        yield heading
        yield from table([(f"    {head}", cell) for head, cell in zip(heads, cells, strict=True)])
        if verdict_text:
            yield f"    {verdict_text}"


def warning_lines(warned: Iterable[Warned]) -> Iterator[Line]:
    """The warnings, each kind once."""
    return (Line(f"warning ({warning.code}): {warning.words}", "yellow") for warning in warned)


def leaderboard_lines(results: Results) -> Iterator[str]:
    """The systems with their ranks, and what the ranks are based on; nothing for fewer than three."""
    board = board_to_show(results)
    if board is None:
        return
    systems, title = by_name(results), title_of(board.standings[0].estimate)
    yield from ("", f"Leaderboard: {title} under {shown(board.number.confidence)}, lower is better")
    rows = [("  rank", "system", "AUGRC", level_of(results), "Cmax")]
    for standing in board.standings:
        ranked, ends = rank(board, standing), bounded_interval(results, standing.estimate)
        numbers = (four(standing.estimate.value), ends) if standing.ranks else ("", ranked.why_none)
        rows.append((f"  {ranked.words}", systems[standing.system].label, *numbers, four(standing.reaches)))
    yield from table(rows, to_the_left=(0, 1))
    yield best_systems(results, board).sentence
    yield from (statement.sentence for statement in leaderboard_statements(results, board))
