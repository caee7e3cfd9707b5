"""Tables of results as LaTeX, Markdown, CSV or a block of JSON, with all text from files escaped."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from demur.errors import UserError, registered
from demur.files.write import json_text
from demur.inference.key import Key
from demur.report.escapes import escaped_latex, escaped_markdown, latex_numbers, no_formula
from demur.report.selective.conventions import OURS, signatures
from demur.report.selective.leaderboard import best_sentence, ranks_text, sentences
from demur.report.sentence import paper_text
from demur.report.table_rows import LEADERBOARD, USUAL, Cell, Layout, columns_of_systems, notes, rows_of
from demur.report.text import shown_interval, title_of
from demur.report.verdict import is_measured
from demur.results.study import SIGNATURE
from demur.results.table import Results


def table_text(results: Results, form: str, layout: Layout = USUAL) -> str:
    """Results in a table format, or as sentences; or the leaderboard, if that is the only row."""
    write = registered("table format", form, FORMS)
    if layout.rows == (LEADERBOARD,):
        write = registered("format of a leaderboard", form, BOARD_FORMS)
    return write(results, layout)


def markdown(results: Results, layout: Layout) -> str:
    """A table as GitHub and pandoc read it, and the notes below it."""
    columns = columns_of_systems(results)
    lines = [["confidence", "", *map(escaped_markdown, columns)], ["---", "---", *["--:"] * len(columns)]]
    for confidence in results.selective.confidences:
        for row in rows_of(results, confidence, layout=layout):
            cells = [" ".join(filter(None, cell.texts(layout))) for cell in row.cells]
            lines.append([escaped_markdown(confidence), escaped_markdown(row.title), *cells])
    return _in_markdown(lines, _markdown_notes(results, notes(results, layout)))


def _in_markdown(lines: Sequence[Sequence[str]], below: Sequence[str]) -> str:
    """A Markdown table from escaped cells, with escaped notes below it."""
    return "\n".join([*(f"| {' | '.join(cells)} |" for cells in lines), "", *below, ""])


def _markdown_notes(results: Results, below: Sequence[str]) -> list[str]:
    """Escaped notes, and the signatures as code."""
    return [*map(escaped_markdown, below), *(f"{name}: `{line}`" for name, line in signatures(results).items())]


def _latex_notes(results: Results, below: Sequence[str]) -> list[str]:
    """Escaped notes, and the signatures, which may break lines after a bar."""
    lines = ((name, escaped_latex(line)) for name, line in signatures(results).items())
    broken = ((name, line.replace(r"\textbar{}", r"\textbar\allowbreak{}")) for name, line in lines)
    signed = [f"{escaped_latex(name)}: \\texttt{{{line}}}" for name, line in broken]
    return [*map(escaped_latex, below), *signed]


def latex(results: Results, layout: Layout) -> str:
    """A table with the rules of booktabs, and the notes below it."""
    columns = columns_of_systems(results)
    heads = "".join(f" & \\multicolumn{{2}}{{c}}{{{escaped_latex(name)}}}" for name in columns)
    lines = []
    for confidence in results.selective.confidences:
        name = f"\\texttt{{{escaped_latex(confidence)}}}"
        lines += ["    \\midrule", f"    \\multicolumn{{{1 + 2 * len(columns)}}}{{l}}{{{name}}} \\\\"]
        for row in rows_of(results, confidence, layout=layout):
            cells = [latex_numbers(text) for cell in row.cells for text in cell.texts(layout)]
            lines.append(f"    {' & '.join([_latex_title(row.title), *cells])} \\\\")
    below = _latex_notes(results, notes(results, layout))
    return _in_latex(f"l{'r@{ }l' * len(columns)}", [f"   {heads} \\\\", *lines], below)


def _latex_title(title: str) -> str:
    plain = escaped_latex(title).replace("Cmax", r"$C_{\max}$")
    return plain.replace(r"C\_common", r"$C_{\mathrm{common}}$")


def _in_latex(alignment: str, lines: Sequence[str], below: Sequence[str]) -> str:
    """A booktabs table from lines of LaTeX, with escaped notes below it."""
    head = ["% needs \\usepackage{booktabs}", "\\begin{table}", "  \\centering"]
    head += [f"  \\begin{{tabular}}{{{alignment}}}", "    \\toprule"]
    foot = ["    \\bottomrule", "  \\end{tabular}", "  \\par\\smallskip"]
    foot += ["  \\begin{minipage}{\\linewidth}\\footnotesize", *(f"    {note}" for note in below)]
    return "\n".join([*head, *lines, *foot, "  \\end{minipage}", "\\end{table}", ""])


def csv_text(results: Results, layout: Layout) -> str:
    """One row per number in full precision; an apostrophe precedes text that looks like a formula."""
    lines = io.StringIO()
    write = csv.writer(lines, lineterminator="\n").writerow
    others = ["convention"] if results.selective.conventions else []
    write(("variant", "system", "metric", "value", "low", "high", "level", "method", *others, SIGNATURE))
    requested = results.study.requested
    level = "0.95" if requested is None else str(requested.level)
    for confidence in results.selective.confidences:
        signed = signatures(results, confidence)
        for row in rows_of(results, confidence, "csv", layout):
            for system, cell in zip(columns_of_systems(results), row.cells, strict=True):
                ends: tuple[float | None, float | None, str, str] = (None, None, "", "")
                if cell.interval is not None:
                    ends = (cell.interval.low, cell.interval.high, level, no_formula(cell.interval.method))
                elif cell.bound is not None:
                    ends = (None, cell.bound, "0.95", "one_sided_bound")
                elif cell.over_ties is not None:
                    ends = (*cell.over_ties, "", "over_ties")
                numbers = map(layout.in_full, (cell.value, *ends[:2]))
                origin = [*([no_formula(row.convention)] if others else []), signed.get(row.convention or OURS, "")]
                write((*map(no_formula, (confidence, system, row.name)), *numbers, *ends[2:], *origin))
    return lines.getvalue()


_METRICS = ("aurc", "aurc_optimal", "eaurc", "aurc_achievable", "augrc", "augrc_optimal", "eaugrc", "cmax")
_INTERPRETATION = ("aurc_gap_pct", "augrc_gap_pct", "achievable_gain_pct")


def json_block(results: Results, layout: Layout) -> str:
    """The members `metrics` and `interpretation`, by name, and the signature; undefined numbers are null.

    Of several confidences or systems, one such block each is in `confidence_variants`.
    """
    if layout.rows:
        raise UserError("json-003 has the members that its document gives it: leave out --rows, or take csv")

    def members(names: Sequence[str], system: str, confidence: str) -> dict[str, float | None]:
        numbers = {name: results[Key(system, name, confidence)] for name in names}
        return {
            name: None if not is_measured(results, number) else layout.rounded(number.value)
            for name, number in numbers.items()
        }

    def block(*of: str) -> dict[str, dict[str, float | None]]:
        return {"metrics": members(_METRICS, *of), "interpretation": members(_INTERPRETATION, *of)}

    confidences, signed = results.selective.confidences, {SIGNATURE: signatures(results)[OURS]}
    if len(results.systems) == 1:
        blocks: dict[str, Any] = {confidence: block(results.systems[0], confidence) for confidence in confidences}
    else:
        blocks = {each: {system: block(system, each) for system in results.systems} for each in confidences}
    if len(confidences) == len(results.systems) == 1:
        return json_text({**blocks[confidences[0]], **signed})
    return json_text({"confidence_variants": blocks, **signed})


def _board_cells(results: Results, layout: Layout) -> tuple[list[str], list[list[str]]]:
    """The leaderboard as heads and rows of text."""
    board = results.leaderboard()
    rows = []
    for standing in board.standings:
        number = Cell(standing.estimate.value, shown_interval(results, standing.estimate)) if standing.ranks else Cell()
        cells = [" ".join(filter(None, number.texts(layout))), layout.fixed(standing.reaches)]
        rows.append([standing.system, *cells, ranks_text(standing), "yes" if standing.best else "no"])
    return ["system", title_of(board.standings[0].estimate), "Cmax", "rank", "in the best set"], rows


def _board_notes(results: Results, layout: Layout) -> list[str]:
    board = results.leaderboard()
    below = notes(results, replace(layout, rows=(board.number.quantity,)))
    return [best_sentence(results, board), *sentences(results, board), *below]


def board_markdown(results: Results, layout: Layout) -> str:
    """The leaderboard in Markdown, with notes."""
    heads, rows = _board_cells(results, layout)
    lines = [[*map(escaped_markdown, heads)], ["---", *["--:"] * (len(heads) - 1)]]
    return _in_markdown(
        [*lines, *([escaped_markdown(row[0]), *row[1:]] for row in rows)],
        _markdown_notes(results, _board_notes(results, layout)),
    )


def board_latex(results: Results, layout: Layout) -> str:
    """The leaderboard in LaTeX, with notes."""
    heads, rows = _board_cells(results, layout)
    lines = [f"    {' & '.join(map(_latex_title, heads))} \\\\", "    \\midrule"]
    lines += [f"    {' & '.join([escaped_latex(row[0]), *map(latex_numbers, row[1:])])} \\\\" for row in rows]
    return _in_latex(f"l{'r' * (len(heads) - 1)}", lines, _latex_notes(results, _board_notes(results, layout)))


def board_csv(results: Results, layout: Layout) -> str:
    """The leaderboard as CSV: one row per system."""
    signed = signatures(results, results.leaderboard().number.confidence)[OURS]
    lines = io.StringIO()
    write = csv.writer(lines, lineterminator="\n").writerow
    columns = results.leaderboard().to_columns()
    write((*columns, SIGNATURE))
    texts, numbers = ("system", "quantity", "confidence"), ("coverage", "value", "low", "high", "cmax")
    for row in zip(*columns.values(), strict=True):
        cells = dict(zip(columns, row, strict=True))
        cells |= {name: no_formula(cells[name]) for name in texts}
        cells |= {name: layout.in_full(cells[name]) for name in numbers}
        cells["worse_than"] = no_formula(", ".join(cells["worse_than"]))
        write((*cells.values(), signed))
    return lines.getvalue()


Form = Callable[[Results, Layout], str]
FORMS: dict[str, Form] = {
    "latex": latex,
    "markdown": markdown,
    "csv": csv_text,
    "sentence": paper_text,
    "json-003": json_block,
}
BOARD_FORMS: dict[str, Form] = {"latex": board_latex, "markdown": board_markdown, "csv": board_csv}
