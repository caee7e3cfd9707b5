"""Numbers in the conventions of other tools: rows of their own beside ours, and their member of the nested file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from demur.files.strict_model import Declared, Part
from demur.inference.estimates import Estimate
from demur.inference.key import Key
from demur.inference.views import CurveView
from demur.options import option, section
from demur.results.parts import Number
from demur.types import Json

if TYPE_CHECKING:
    from demur.results.table import Results

NO_INTERVAL = "a number of another convention is a point alone"


@section("conventions")
@dataclass(frozen=True, slots=True, init=False)
class Conventions:
    """Other tools whose numbers are added, by name.

    >>> Conventions("fd-shifts").names
    ('fd-shifts',)
    """

    names: tuple[str, ...] = option(
        (),
        "Add what another tool would report: {conventions}.",
        flag="--convention",
        repeated=True,
        call="Conventions('fd-shifts')",
    )

    def __init__(self, *names: str) -> None:
        if names:
            from demur.quantities.conventions.emulations import checked_conventions  # noqa: PLC0415  (seldom used)

            checked_conventions(names)
        object.__setattr__(self, "names", names)

    @classmethod
    def typed(cls, names: Iterable[str] = ()) -> Conventions:
        """Conventions from the command line or a file."""
        return cls(*names)


class EmulatedNumber(Part):
    """A number of another tool, and its range over all orders of equal confidences where it depends on one."""

    value: Number
    range: Annotated[tuple[float | None, float | None], Declared(strict=False)] | None
    order_dependent: bool
    note: str | None


def emulated_rows(
    views: Mapping[str, Mapping[str, CurveView]], conventions: Sequence[str], coverages: Sequence[str]
) -> Iterator[Estimate]:
    """Every number of these conventions, of every system under every confidence."""
    if not conventions:
        return
    from demur.quantities.conventions.emulations import EMULATIONS, Answers  # noqa: PLC0415  (seldom used)

    for confidence, by_system in views.items():
        for system, view in by_system.items():
            answers = Answers.of(view.graded)
            for emulation in (EMULATIONS[name] for name in conventions):
                for name in emulation.names(coverages):
                    key = Key(system, name, confidence, convention=emulation.name)
                    number = emulation.emulated(name, answers)
                    yield Estimate(key, no_interval=NO_INTERVAL, **number._asdict())


def sorts_ties(convention: str) -> bool:
    """Whether a convention puts equal confidences in an order, which single units alone have."""
    from demur.quantities.conventions.emulations import EMULATIONS  # noqa: PLC0415

    return EMULATIONS[convention].sorts


def is_order_dependent(row: Estimate) -> bool:
    """Whether another order of equal confidences gives another number, or none."""
    return row.over_ties is not None and row.over_ties[0] != row.over_ties[1]


def encoded_emulations(results: Results, system: str, confidence: str) -> Json | None:
    """The member `emulated` of a run; None where no other convention was requested."""
    members: dict[str, Any] = {name: {} for name in results.selective.conventions or ()}
    for row in results.where(system=system, confidence=confidence, minus=None) if members else ():
        if row.key.convention:
            members.setdefault(row.key.convention, {})[row.key.quantity] = {
                "value": None if math.isnan(row.value) else row.value,
                "range": row.over_ties,
                "order_dependent": is_order_dependent(row),
                "note": row.undefined or row.remark or None,
            }
    return members or None


def decoded_emulations(
    system: str, confidence: str, members: Mapping[str, Mapping[str, EmulatedNumber]]
) -> Iterator[Estimate]:
    """The inverse of `encoded_emulations`."""
    for convention, numbers in members.items():
        for name, number in numbers.items():
            note: dict[str, Any] = {"undefined" if number.value is None else "remark": number.note or ""}
            value = math.nan if number.value is None else number.value
            key = Key(system, name, confidence, convention=convention)
            yield Estimate(key, value, no_interval=NO_INTERVAL, over_ties=number.range, **note)
