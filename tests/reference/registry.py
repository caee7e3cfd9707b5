"""The registry of plain loops: one slow, obvious function per quantity, under the quantity's name."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import wraps
from typing import Any

from demur.audit.retrieval_figures import FIGURES
from demur.audit.retrieval_figures.numbers import Figure as Loop
from demur.audit.retrieval_figures.numbers import Number

_FLOAT_SLACK = Fraction(1, 10**12)
_WHOLE_LIST = 10**8
LOOPS: dict[str, Loop] = dict(FIGURES)  # those of rankings are the ones that audits use


def register(loops: Mapping[str, Loop], of: Callable[[Any], Any] = lambda rows: rows) -> None:
    """Register functions of rows under the names of quantities; `of` turns the rows into what the functions take.

    A name that ends in @C, @K, @A, @fpr=F, @risk=R or @threshold=T has a parameter, which follows the rows; without a K
    the whole list counts. Undefined is None.
    """
    for name, function in loops.items():
        if name in LOOPS:
            raise ValueError(f"the loop {name} is registered already")
        LOOPS[name] = _of_rows(function, of)


def _of_rows(function: Loop, of: Callable[[Any], Any]) -> Loop:
    @wraps(function)
    def loop(rows: Any, *at: Any, **options: Any) -> Number | None:
        return function(of(rows), *at, **options)

    return loop


def family(name: str) -> str:
    """The module of a quantity's loop, which tells what its rows are: selective, costs, ranking and so on."""
    return LOOPS[name].__module__.rpartition(".")[2]


def number(name: str, rows: Any, *, at: Fraction | int | None = None, **options: Any) -> Number | None:
    """A quantity of rows by its full name, such as `aurc`, `risk@0.3`, `ndcg@10` or `tpr@fpr=0.05`.

    A parameter that is not a decimal is given as `at`, with the registered name: `aurc@C` at a fraction.

    >>> from reference import number
    >>> number("risk@0.6", [(0, 2), (2, 2), (0, 1), (None, 0)])
    Fraction(2, 3)
    """
    registered, parameter = parsed(name)
    return LOOPS[registered](rows, *(parameter if at is None else (at,)), **options)


def parsed(name: str) -> tuple[str, tuple[Number | int, ...]]:
    """The registered name and the parameter of a quantity's full name.

    >>> parsed("tpr@fpr=0.05"), parsed("aurc")
    (('tpr@fpr=F', (Fraction(1, 20),)), ('aurc', ()))
    """
    if name in LOOPS:
        return name, ()
    stem, at, text = name.partition("@")
    word, _, value = text.partition("=")
    if word == "threshold" and f"{stem}@threshold=T" in LOOPS:
        return f"{stem}@threshold=T", (float(value),)  # a confidence is a double, and is compared with one
    for symbol in ("fpr=F", "risk=R"):
        if symbol.startswith(f"{word}=") and f"{stem}@{symbol}" in LOOPS:
            return f"{stem}@{symbol}", (Fraction(value),)
    if at and f"{stem}@A" in LOOPS:
        return f"{stem}@A", (Fraction(text.replace(":", "/")),)
    if f"{stem}@K" in LOOPS:
        return f"{stem}@K", (int(text) if at else _WHOLE_LIST,)
    if at and f"{stem}@C" in LOOPS:
        return f"{stem}@C", (coverage(text),)
    raise KeyError(name)


def coverage(text: str) -> Fraction:
    """A coverage from its text: the exact decimal; after a ~, a float, which reaches k/N within one part in 10¹²."""
    exact = Fraction(text.removeprefix("~"))
    return exact * (1 - _FLOAT_SLACK) if text.startswith("~") else exact
