"""The leaderboard as a table of its own: LaTeX, Markdown and CSV."""

from collections.abc import Iterator
from dataclasses import replace

from demur.results.study import SIGNATURE
from demur.results.table import Results
from demur.show import latex, markdown, spreadsheets
from demur.show.spreadsheets import no_formula
from demur.show.statements.leaderboard import best_systems, leaderboard_statements, rank
from demur.show.statements.signatures import OURS, signatures
from demur.show.table_rows import PLAIN, Cell, Layout, Marks, notes
from demur.show.text import Title, number_title, shown_interval


def _heads(results: Results) -> list[Title]:
    number = number_title(results.leaderboard().standings[0].estimate)
    return [Title("system"), number, Title("Cmax"), Title("rank"), Title("in the best set")]


def _rows(results: Results, layout: Layout, marks: Marks) -> Iterator[tuple[str, list[str]]]:
    """Each system with its number, its Cmax, its ranks, and whether it is among the best."""
    board = results.leaderboard()
    for standing in board.standings:
        number = Cell(standing.estimate.value, shown_interval(results, standing.estimate)) if standing.ranks else Cell()
        texts = [" ".join(filter(None, number.texts(layout, marks))), marks.number(layout.fixed(standing.reaches))]
        yield standing.system, [*texts, rank(board, standing).text(marks.dash), "yes" if standing.best else "no"]


def _notes(results: Results, layout: Layout) -> Iterator[str]:
    board = results.leaderboard()
    yield best_systems(results, board).sentence
    yield from (statement.sentence for statement in leaderboard_statements(results, board))
    yield from notes(results, replace(layout, rows=(board.number.quantity,)))


def board_markdown(results: Results, layout: Layout) -> str:
    """The leaderboard in Markdown, with notes."""
    heads = _heads(results)
    lines = [[markdown.escaped(head.words) for head in heads], ["---", *["--:"] * (len(heads) - 1)]]
    lines += [[markdown.escaped(system), *cells] for system, cells in _rows(results, layout, PLAIN)]
    return markdown.framed(lines, results, _notes(results, layout))


def board_latex(results: Results, layout: Layout) -> str:
    """The leaderboard in LaTeX, with notes."""
    heads = _heads(results)
    lines = [f"    {' & '.join(map(latex.title, heads))} \\\\", "    \\midrule"]
    rows = _rows(results, layout, latex.MARKS)
    lines += [f"    {' & '.join([latex.escaped(system), *cells])} \\\\" for system, cells in rows]
    return latex.framed(f"l{'r' * (len(heads) - 1)}", lines, results, _notes(results, layout))


def board_csv(results: Results, layout: Layout) -> str:
    """The leaderboard as CSV: one row per system."""
    board = results.leaderboard()
    signed, columns = signatures(results, board.number.confidence)[OURS], board.to_columns()
    rows: list[tuple[object, ...]] = [(*columns, SIGNATURE)]
    texts, numbers = ("system", "quantity", "confidence"), ("coverage", "value", "low", "high", "cmax")
    for row in zip(*columns.values(), strict=True):
        cells = dict(zip(columns, row, strict=True))
        cells |= {name: no_formula(cells[name]) for name in texts}
        cells |= {name: layout.in_full(cells[name]) for name in numbers}
        cells["worse_than"] = no_formula(", ".join(cells["worse_than"]))
        rows.append((*cells.values(), signed))
    return spreadsheets.written(rows)
