"""Figures as other tools define them: their values on the same rows, and their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from demur.audit.figures import Explanation, Printed
from demur.audit.loops.conventions import ALSO_REPORTED, TOOLS, OtherTool, number, with_abstentions
from demur.audit.loops.selective import Unit
from demur.audit.reported.contexts import Context
from demur.audit.reported.names import ReportedQuantity
from demur.errors import UserError
from demur.quantities import Measure
from demur.quantities.conventions.bridges import CONVENTIONS, convention_of, scale_of
from demur.quantities.conventions.signature import MANY, OURS

_AS_RIGHT = "fd-shifts, with abstentions as the least confident answers of loss 0"
_AS_WORST = "fd-shifts, with abstentions as the least confident answers of the largest loss"
_ABSTENTIONS = dict.fromkeys((_AS_RIGHT, _AS_WORST), TOOLS["fd-shifts"])
KNOWN: dict[str, OtherTool] = TOOLS | _ABSTENTIONS | ALSO_REPORTED
EMULATED, ALSO_KNOWN = tuple(TOOLS), (*_ABSTENTIONS, *ALSO_REPORTED)
OVER_TIES = "consistent with it: within the range over all orders of equal confidences"
ERRORS = "zero_one"


def number_of_tool(name: str, quantity: ReportedQuantity, rows: Sequence[Unit], ties: str = "") -> float | None:
    """The value of a tool's figure on these rows; `ties` replaces its order of equal confidences."""
    if name in _ABSTENTIONS:
        worst = max((row.loss for row in rows if row.loss is not None), default=Fraction(0))
        rows = with_abstentions(rows, worst if name == _AS_WORST else Fraction(0))
    at = [quantity.number] if "@" in quantity.name else []
    value = None if quantity.achieved else number(KNOWN[name], quantity.name, at, rows, ties)
    return None if value is None else float(value)


def range_of_tool(name: str, quantity: ReportedQuantity, rows: Sequence[Unit]) -> tuple[float, float] | None:
    """The range of a tool's figure over all orders of ties; None where ties change nothing."""
    if KNOWN[name].ties == "plateau":
        return None
    ends = [number_of_tool(name, quantity, rows, ties) for ties in ("best", "worst")]
    known = sorted(end for end in ends if end is not None)
    return (known[0], known[1]) if len({*known}) > 1 else None


def by_tools(
    context: Context, names: Sequence[str], value: Callable[[Context], float | None], loss: str = ""
) -> Iterator[tuple[Explanation, Context]]:
    """A figure as other tools define it, perhaps under another loss: the cause, and the context."""
    known = [name for name in names if context.quantity.name in KNOWN[name].numbers and name != context.convention]
    if loss == context.loss or not known:
        return
    ours = value(replace(context, convention="", loss=loss or context.loss))
    for name in known:
        cause = Explanation(f"it is {named(context, name, loss)}", name, ours)
        yield cause, replace(context, convention=name, loss=loss or context.loss)


def named(context: Context, name: str, loss: str = "") -> str:
    """A figure in words, as that of a tool."""
    title = Measure.of(str(context.quantity).replace("coverage@", "coverage@risk=")).title
    return f"the {title} of {name}{loss and f' under the loss {loss}'}"


def within_ties(context: Context, reported: Printed, rows_of: Callable[[Context], list[Unit]]) -> str:
    """The tools that can give this value under some order of equal confidences, in words."""
    for loss in dict.fromkeys((context.loss, ERRORS)):
        rows = rows_of(replace(context, loss=loss))
        ranges = {name: range_of_tool(name, context.quantity, rows) for name in TOOLS}
        fitting = {name: ends for name, ends in ranges.items() if ends is not None and reported.agrees(*ends)}
        if fitting:
            (first, (low, high)), *others = fitting.items()
            also = f" (or of {', '.join(name for name, _ in others)})" if others else ""
            figure = f"{named(context, first, '' if loss == context.loss else loss)}: {low:.6g} to {high:.6g}"
            return f"consistent with {figure}, as its sort leaves equal confidences{also}"
    return ""


def stated(line: str) -> dict[str, str]:
    """The convention, loss and confidence that a signature states; the name of a tool states the convention alone."""
    name, keys = convention_of(line)
    if name == line:
        return {"convention": "" if name == OURS else name}
    if name is None:
        raise UserError("--signature is that of no known convention: demur convention explain says what it means")
    if scale_of(name, keys) != 1:
        scales = f"--signature has x:{keys['x']}, and the numbers of {name} have x:{CONVENTIONS[name]['x']}"
        raise UserError(f"{scales}: give that, and a figure on another scale is told to be on it")
    fields = {"convention": "" if name == OURS else name, "loss": keys["loss"].partition(".")[0]}
    return fields if keys["conf"] == MANY else {**fields, "confidence": keys["conf"]}
