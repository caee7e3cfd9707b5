r"""LaTeX tables with booktabs rules; text from files is escaped, and minus signs are in math mode."""

from collections.abc import Iterable, Sequence

from demur.drawing.labels import unisolated
from demur.errors import harmless
from demur.results.table import Results
from demur.show.statements.signatures import signatures
from demur.show.table_rows import DAGGER, Layout, Marks, columns_of_systems, notes, rows_of
from demur.show.text import Title

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
_SYMBOLS = {"Cmax": r"$C_{\max}$"}
_COMMON = r" to $C_{\mathrm{common}}$ "


def escaped(text: str) -> str:
    r"""Escape text for LaTeX, so that it contains no command, comment, formula, ligature or line break.

    >>> print(escaped(r"50% \input{x_1}"))
    50\% \textbackslash{}input\{x\_1\}
    """
    return "".join(_TEX.get(character, character) for character in harmless(text))


def number(text: str) -> str:
    """A formatted number with its minus sign in math mode.

    >>> print(number("-0.5"), number("0.5"))
    $-0.5$ 0.5
    """
    return f"${text}$" if text.startswith("-") else text


MARKS = Marks(number, "{[}", _TEX["–"], _TEX["≤"], _TEX[DAGGER])


def title(heading: Title) -> str:
    """The title of a number with its symbols in math mode."""
    common = "" if heading.common is None else f"{_COMMON}{heading.common:.3g}"
    return f"{_SYMBOLS.get(heading.quantity) or escaped(heading.quantity)}{common}{escaped(heading.rest)}"


def table(results: Results, layout: Layout) -> str:
    """A LaTeX table of all systems and their differences, followed by notes."""
    columns = columns_of_systems(results)
    heads = "".join(f" & \\multicolumn{{2}}{{c}}{{{escaped(name)}}}" for name in columns)
    lines = []
    for confidence in results.selective.confidences:
        name = f"\\texttt{{{escaped(confidence)}}}"
        lines += ["    \\midrule", f"    \\multicolumn{{{1 + 2 * len(columns)}}}{{l}}{{{name}}} \\\\"]
        for row in rows_of(results, confidence, layout=layout):
            cells = [text for cell in row.cells for text in cell.texts(layout, MARKS)]
            lines.append(f"    {' & '.join([title(row.title), *cells])} \\\\")
    return framed(f"l{'r@{ }l' * len(columns)}", [f"   {heads} \\\\", *lines], results, notes(results, layout))


def framed(alignment: str, lines: Sequence[str], results: Results, below: Iterable[str]) -> str:
    """A LaTeX table from its lines, followed by sentences and signatures."""
    head = ["% needs \\usepackage{booktabs}", "\\begin{table}", "  \\centering"]
    head += [f"  \\begin{{tabular}}{{{alignment}}}", "    \\toprule"]
    foot = ["    \\bottomrule", "  \\end{tabular}", "  \\par\\smallskip"]
    foot += ["  \\begin{minipage}{\\linewidth}\\footnotesize"]
    foot += [f"    {escaped(unisolated(note))}" for note in below]
    for name, signature in signatures(results).items():
        broken = r"\textbar\allowbreak{}".join(map(escaped, signature.parts))  # a long line may break after a bar
        foot.append(f"    {escaped(name)}: \\texttt{{{broken}}}")
    return "\n".join([*head, *lines, *foot, "  \\end{minipage}", "\\end{table}", ""])
