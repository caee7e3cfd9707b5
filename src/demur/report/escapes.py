"""Escaping text for LaTeX, Markdown and spreadsheets."""

import re

from demur.errors import harmless

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
    r"""Escape text for Markdown; addresses do not become links.

    >>> print(escaped_markdown("a|b <i> [x](y)"))
    a\|b \<i\> \[x\](y)
    """
    return _MARKUP.sub(r"\\\1", harmless(text))


def escaped_latex(text: str) -> str:
    r"""Escape text for LaTeX: it contains no command, comment, formula, ligature or new line.

    >>> print(escaped_latex(r"50% \input{x_1}"))
    50\% \textbackslash{}input\{x\_1\}
    """
    return "".join(_TEX.get(character, character) for character in harmless(text))


def latex_numbers(text: str) -> str:
    """Format a number or an interval for LaTeX, with minus signs in math mode."""
    plain = re.sub(r"(?<![0-9{$])-([0-9.]+)", r"$-\1$", text)
    for sign in ("≤", "–", DAGGER):
        plain = plain.replace(sign, _TEX[sign])
    return plain.replace("[", "{[}", 1)


def no_formula(text: str) -> str:
    r"""Escape text that a spreadsheet would take for a formula.

    >>> no_formula("=1+1"), no_formula(" @SUM(A1)"), no_formula("llm"), no_formula("\u202e=1")
    ("'=1+1", "' @SUM(A1)", 'llm', '\\u202e=1')
    """
    plain = harmless(text)
    return f"'{plain}" if plain.lstrip().startswith(_FORMULA) else plain
