"""Figures as other tools define them: their values on the same rows, and their names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from demur.errors import UserError
from demur.extensions.audit.figures import Explanation, Printed
from demur.extensions.audit.reported.contexts import Context
from demur.extensions.audit.reported.curves import parameters
from demur.extensions.audit.reported.names import ReportedQuantity
from demur.features.conventions.bridges import CONVENTIONS, convention_of, scale_of
from demur.features.conventions.emulations import EMULATIONS, Answers, Definition, Emulation
from demur.quantities import Measure
from demur.quantities.curve import Curve
from demur.quantities.excess import aurc_harmonic
from demur.quantities.signature import MANY, OURS
from demur.sampling.graded import Graded

_FD_SHIFTS, _TORCH = EMULATIONS["fd-shifts"], EMULATIONS["torch-uncertainty"]
_HYPERBOLAS = {"aurc": _FD_SHIFTS.numbers["aurc_hyperbola"]}
_AS_RIGHT = "fd-shifts, with abstentions as the least confident answers of loss 0"
_AS_WORST = "fd-shifts, with abstentions as the least confident answers of the largest loss"
_ABSTENTIONS = dict.fromkeys((_AS_RIGHT, _AS_WORST), _FD_SHIFTS)


def _not_times_1000(definition: Definition) -> Definition:
    return Definition(lambda curve: definition.number(curve) / 1000)


def _mean_of_rescaled(curve: Curve) -> float:
    low, high = (curve.loss_levels[end].item() / curve.divisor for end in (0, -1))
    return (aurc_harmonic(curve) - low) / (high - low) if high > low else 0.5


def _plotted_generalized_area(curve: Curve) -> float:
    n, count = curve.units, curve.points.count
    heights = curve.selective_risk * (n - count) / n
    return math.fsum((heights[1:] + heights[:-1]) / 2) / n


# Known to be reported under these names, and emulated under others or not at all.
_ALSO_REPORTED = {
    "fd-shifts, by hyperbolas": replace(_FD_SHIFTS, numbers=_HYPERBOLAS),
    "fd-shifts, not × 1000": replace(
        _FD_SHIFTS, numbers={name: _not_times_1000(each) for name, each in _FD_SHIFTS.numbers.items()}
    ),
    "fd-shifts, by hyperbolas, not × 1000": replace(
        _FD_SHIFTS, numbers={name: _not_times_1000(each) for name, each in _HYPERBOLAS.items()}
    ),
    "lm-polygraph": replace(_TORCH, numbers={"aurc": Definition(_mean_of_rescaled)}, refuses=lambda _: ""),
    "a plot of torch-uncertainty": replace(
        _TORCH,
        numbers={
            "aurc": EMULATIONS["item-by-item"].numbers["aurc"],
            "augrc": Definition(_plotted_generalized_area),
        },
    ),
}
KNOWN: dict[str, Emulation] = EMULATIONS | _ABSTENTIONS | _ALSO_REPORTED
# Packages that people install are likelier causes than the code of a paper.
EMULATED = tuple(sorted(EMULATIONS, key=lambda name: name not in ("fd-shifts", "torch-uncertainty")))
ALSO_KNOWN = (*_ABSTENTIONS, *_ALSO_REPORTED)
OVER_TIES = "consistent with it: within the range over all orders of equal confidences"
ERRORS = "zero_one"


class FigureOfTool(NamedTuple):
    """The value of a figure by a tool's definition, None if undefined, and its range over all orders of ties."""

    value: float | None = None
    over_ties: tuple[float, float] | None = None


def figure_of_tool(name: str, quantity: ReportedQuantity, graded: Graded) -> FigureOfTool:
    """Compute a figure of these answers by a tool's definition."""
    tool = KNOWN[name]
    if quantity.achieved or quantity.name not in tool.numbers:
        return FigureOfTool()
    if name in _ABSTENTIONS:
        graded = _with_abstentions(graded, graded.loss.max(initial=0) if name == _AS_WORST else 0)
    found = tool.computed(tool.numbers[quantity.name], parameters(quantity), Answers(graded))
    low, high = found.over_ties or (None, None)
    ends = None if low is None or high is None or low == high else (low, high)
    return FigureOfTool(None if math.isnan(found.value) else found.value, ends)


def _with_abstentions(graded: Graded, loss: float) -> Graded:
    count = graded.units - graded.answered
    losses, lowest = np.append(graded.loss, np.full(count, loss)), graded.confidence.min(initial=0) - 1
    confidence = np.append(graded.confidence, np.full(count, lowest))
    return replace(graded, loss=losses, confidence=confidence, clusters=None)


def by_tools(
    context: Context, names: Sequence[str], value: Callable[[Context], float | None], loss: str = ""
) -> Iterator[tuple[Explanation, Context]]:
    """The contexts of a figure under the definitions of other tools, each with the explanation to state."""
    known = [name for name in names if context.quantity.name in KNOWN[name].numbers and name != context.convention]
    if loss == context.loss or not known:
        return
    ours = value(replace(context, convention="", loss=loss or context.loss))
    for name in known:
        cause = Explanation(f"it is {named(context, name, loss)}", name, ours)
        yield cause, replace(context, convention=name, loss=loss or context.loss)


def named(context: Context, name: str, loss: str = "") -> str:
    """A phrase that names a figure as a tool's."""
    title = Measure.of(str(context.quantity).replace("coverage@", "coverage@risk=")).title
    return f"the {title} of {name}{loss and f' under the loss {loss}'}"


def within_ties(context: Context, reported: Printed, graded_by: Callable[[str], Graded | str]) -> str:
    """A phrase that lists the tools that give this value under some order of equal confidences; empty if none.

    `graded_by` gives the answers under a loss, or why that cannot be.
    """
    for loss in dict.fromkeys((context.loss, ERRORS)):
        graded = graded_by(loss)
        if isinstance(graded, str):
            continue
        ranges = {name: figure_of_tool(name, context.quantity, graded).over_ties for name in EMULATED}
        fitting = {name: ends for name, ends in ranges.items() if ends is not None and reported.agrees(*ends)}
        if fitting:
            (first, (low, high)), *others = fitting.items()
            also = f" (or of {', '.join(name for name, _ in others)})" if others else ""
            figure = f"{named(context, first, '' if loss == context.loss else loss)}: {low:.6g} to {high:.6g}"
            return f"consistent with {figure}, as its sort leaves equal confidences{also}"
    return ""


def stated(line: str) -> dict[str, str]:
    """The convention, loss and confidence that a signature states; the name of a tool states only the convention."""
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
