"""Tables of results for a paper, a page or a spreadsheet. What comes from a file is text in all of them."""

import csv
import io
import re
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import NamedTuple

from demur.errors import harmless, registered
from demur.inference.intervals import Interval
from demur.inference.key import Key
from demur.quantities import Measure
from demur.quantities.registry import COVERAGE
from demur.report.names import pairs_of
from demur.report.text import UNDEFINED, four, interval_text, level_of, shown_interval, three, title_of
from demur.report.verdict import REACHED_AT, decide, is_measured, why_not_comparable
from demur.results.table import Results

DAGGER = "†"
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
_MARKUP = re.compile(r"([\\`*_{}\[\]<>|~$&#@!^]|:(?=//)|(?<=[wW])\.)")
_TEX = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",
    "'": r"\symbol{39}",
    "`": r"\symbol{96}",
    "-": "-{}",
    "[": "{[}",
    "]": "{]}",
    "−": "$-$",
    "–": "--",
    "≤": r"$\leq$",
    DAGGER: r"\textsuperscript{\dag}",
    **{sign: f"\\{sign}" for sign in "{}$&#%_"},
}


def escaped_markdown(text: str) -> str:
    r"""Text that Markdown shows as it is: addresses stay text as well.

    >>> print(escaped_markdown("a|b <i> [x](y)"))
    a\|b \<i\> \[x\](y)
    """
    return _MARKUP.sub(r"\\\1", harmless(text))


def escaped_latex(text: str) -> str:
    r"""Text that LaTeX prints as it is: no command, comment, formula, ligature or new line comes out of it.

    >>> print(escaped_latex(r"50% \input{x_1}"))
    50\% \textbackslash{}input\{x\_1\}
    """
    return "".join(_TEX.get(character, character) for character in harmless(text))


def latex_numbers(text: str) -> str:
    """A number or an interval: minus signs and powers of ten as formulas."""
    power = re.sub(r"(-?[0-9.]+)e([+-][0-9]+)", lambda match: f"${match[1]}\\times10^{{{int(match[2])}}}$", text)
    plain = re.sub(r"(?<![0-9{$])-([0-9.]+)", r"$-\1$", power)
    for sign in ("≤", "–", DAGGER):
        plain = plain.replace(sign, _TEX[sign])
    return plain.replace("[", "{[}", 1)


def no_formula(text: str) -> str:
    r"""Text that a spreadsheet shows and does not calculate.

    >>> no_formula("=1+1"), no_formula(" @SUM(A1)"), no_formula("llm"), no_formula("\u202e=1")
    ("'=1+1", "' @SUM(A1)", 'llm', '\\u202e=1')
    """
    plain = harmless(text)
    return f"'{plain}" if plain.lstrip().startswith(_FORMULA) else plain


class Cell(NamedTuple):
    """A number with its interval, or with what it is at most; `unfair` says why it decides nothing."""

    value: float | None = None
    interval: Interval | None = None
    bound: float | None = None
    unfair: str = ""

    def texts(self) -> tuple[str, str]:
        """The number, and its interval, as they are printed."""
        if self.value is None:
            return UNDEFINED, ""
        bound = "" if self.bound is None else f"≤ {three(self.bound)}"
        interval = bound if self.interval is None else interval_text(self.interval)
        return four(self.value), f"{interval}{DAGGER if self.unfair else ''}"


class TableRow(NamedTuple):
    """One number of every system, and its difference from the baseline; `name` is the one of its key."""

    name: str
    title: str
    cells: list[Cell]


def table_text(results: Results, form: str) -> str:
    """The numbers as LaTeX, Markdown or CSV."""
    return registered("table format", form, FORMS)(results)


def rows_of(results: Results, confidence: str, shown: str = "table") -> Iterator[TableRow]:
    """The rows of one confidence; a number that no answers stand behind, and a difference of such, is an empty cell."""
    study, pairs = results.selective, pairs_of(results)
    for name in (*study.names(shown), *study.names_at_coverages):
        numbers = {system: results[Key(system, name, confidence)] for system in results.systems}
        measured = {system: is_measured(results, number) for system, number in numbers.items()}
        cells = [
            Cell(number.value, shown_interval(results, number), number.upper_bound) if measured[system] else Cell()
            for system, number in numbers.items()
        ]
        for pair, key in ((pair, pair.key(name, confidence)) for pair in pairs):
            decision, estimate = decide(results, key), results[key]
            unfair = why_not_comparable(results, key) or ("" if decision.comparable else decision.reason)
            difference = Cell(estimate.value, shown_interval(results, estimate), unfair=unfair)
            cells.append(difference if measured[pair.first.system] and measured[pair.second.system] else Cell())
        yield TableRow(name, title_of(numbers[results.systems[0]]), cells)


def _columns(results: Results) -> list[str]:
    """The systems, then what is subtracted from what."""
    return [*results.systems, *(f"{pair.other.system} − {pair.baseline.system}" for pair in pairs_of(results))]


def notes(results: Results) -> list[str]:
    """What a reader must know of the numbers: whose they are, the loss, the intervals, the conventions."""
    study = results.selective
    counted = f"{study.clusters_included} {study.noun}s ({study.clusters_failed} failed)"
    texts = []
    for system, source in zip(results.systems, study.inputs, strict=True):
        facts = {"mode": source.mode, "run": source.run_id, "file": source.path and PurePath(source.path).name}
        text = ", ".join(f"{fact} {value}" for fact, value in facts.items() if value)
        texts.append(f"{system}: {text or 'not from a file'}.")
    texts.append(f"{counted}, {study.units} items.")
    texts.append(f"Loss {study.loss.name}: {study.loss.definition}.")
    if study.bootstrap is None:
        texts.append("No intervals: nothing was resampled.")
    else:
        ways = ", ".join(methods_shown(results)) or "none"
        drawn = f"{study.bootstrap.n_resamples} bootstrap resamples of {study.noun}s, seed {study.bootstrap.seed}"
        texts.append(f"In brackets the {level_of(results)} ({ways.replace('_', ' ')}); {drawn}.")
    texts.append(f"Conventions: {'; '.join(study.convention.values())}.")
    cells = [cell for name in study.confidences for row in rows_of(results, name) for cell in row.cells]
    if any(cell.interval is None and cell.bound is not None for cell in cells):
        texts.append("≤ marks a one-sided bound at 95 %: no answer was wrong.")
    if not all(record.defined for record in results.curves.values()):
        texts.append(f"{UNDEFINED} under an area: a run that answers nothing has none, nor a difference to another.")
    in_general = "the runs reach this coverage at different points"
    unfair = [in_general if cell.unfair.startswith(REACHED_AT) else cell.unfair for cell in cells if cell.unfair]
    if unfair:
        texts.append(f"{DAGGER} Nothing follows from this difference: {'; '.join(dict.fromkeys(unfair))}.")
    return [*texts, f"demur {study.tool.version}."]


def methods_shown(results: Results) -> dict[str, list[str]]:
    """The methods of the intervals that are shown, each with the numbers it is used for."""
    numbers: dict[str, dict[str, None]] = {}
    for row in (row for confidence in results.selective.confidences for row in rows_of(results, confidence)):
        quantity = Measure.of(row.name).quantity
        title = f"{quantity.title} at a coverage" if quantity.parameter is COVERAGE else row.title
        for cell in row.cells:
            if cell.interval is not None:
                numbers.setdefault(cell.interval.method, {})[title] = None
    return {method: [*titles] for method, titles in numbers.items()}


def markdown(results: Results) -> str:
    """A table as GitHub and pandoc read it, and the notes below it."""
    columns = _columns(results)
    lines = [["confidence", "", *map(escaped_markdown, columns)], ["---", "---", *["--:"] * len(columns)]]
    for confidence in results.selective.confidences:
        for row in rows_of(results, confidence):
            cells = [" ".join(filter(None, cell.texts())) for cell in row.cells]
            lines.append([escaped_markdown(confidence), escaped_markdown(row.title), *cells])
    barred = [f"| {' | '.join(cells)} |" for cells in lines]
    return "\n".join([*barred, "", *map(escaped_markdown, notes(results)), ""])


def latex(results: Results) -> str:
    """A table with the rules of booktabs, and the notes below it."""
    columns = _columns(results)
    heads = "".join(f" & \\multicolumn{{2}}{{c}}{{{escaped_latex(name)}}}" for name in columns)
    lines = [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        "  \\centering",
        f"  \\begin{{tabular}}{{l{'r@{ }l' * len(columns)}}}",
        "    \\toprule",
        f"   {heads} \\\\",
    ]
    for confidence in results.selective.confidences:
        name = f"\\texttt{{{escaped_latex(confidence)}}}"
        lines += ["    \\midrule", f"    \\multicolumn{{{1 + 2 * len(columns)}}}{{l}}{{{name}}} \\\\"]
        for row in rows_of(results, confidence):
            title = escaped_latex(row.title).replace("Cmax", r"$C_{\max}$")
            cells = [latex_numbers(text) for cell in row.cells for text in cell.texts()]
            heading = title.replace(r"C\_common", r"$C_{\mathrm{common}}$")
            lines.append(f"    {' & '.join([heading, *cells])} \\\\")
    lines += [
        "    \\bottomrule",
        "  \\end{tabular}",
        "  \\par\\smallskip",
        "  \\begin{minipage}{\\linewidth}\\footnotesize",
    ]
    lines += [f"    {escaped_latex(note)}" for note in notes(results)]
    return "\n".join([*lines, "  \\end{minipage}", "\\end{table}", ""])


def csv_text(results: Results) -> str:
    """One row per number, in full; what a spreadsheet would take for a formula is made text by an apostrophe."""
    lines = io.StringIO()
    write = csv.writer(lines, lineterminator="\n").writerow
    write(("variant", "system", "metric", "value", "low", "high", "level", "method"))
    requested = results.study.requested
    level = "0.95" if requested is None else str(requested.level)
    for confidence in results.selective.confidences:
        for row in rows_of(results, confidence, "csv"):
            for system, cell in zip(_columns(results), row.cells, strict=True):
                ends: tuple[float | None, float | None, str, str] = (None, None, "", "")
                if cell.interval is not None:
                    ends = (cell.interval.low, cell.interval.high, level, no_formula(cell.interval.method))
                elif cell.bound is not None:
                    ends = (None, cell.bound, "0.95", "one_sided_bound")
                write((*map(no_formula, (confidence, system, row.name)), cell.value, *ends))
    return lines.getvalue()


FORMS: dict[str, Callable[[Results], str]] = {"latex": latex, "markdown": markdown, "csv": csv_text}
