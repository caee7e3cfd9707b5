"""Options of conventions: the tools whose numbers are added."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from demur.options import option, section
from demur.results.features import FeatureOptions


def _known() -> Iterable[str]:
    from demur.features.conventions.emulations import EMULATIONS  # noqa: PLC0415  (seldom used)

    return EMULATIONS


@section("conventions")
@dataclass(frozen=True, slots=True, init=False)
class Conventions(FeatureOptions):
    """Other tools whose numbers are added, by name.

    >>> Conventions("fd-shifts").names
    ('fd-shifts',)
    """

    feature: ClassVar[str] = "conventions"

    names: tuple[str, ...] = option(
        (),
        "Add what another tool would report: {conventions}.",
        flag="--convention",
        repeated=True,
        call="Conventions('fd-shifts')",
        known=_known,
    )

    def __init__(self, *names: str) -> None:
        if names:
            from demur.features.conventions.emulations import checked_conventions  # noqa: PLC0415  (seldom used)

            checked_conventions(names)
        object.__setattr__(self, "names", names)

    @classmethod
    def typed(cls, names: Iterable[str] = ()) -> Conventions:
        """Conventions from the command line or a file."""
        return cls(*names)

    @property
    def needs_units(self) -> Sequence[str]:
        """The conventions that put equal confidences in an order, which single units alone have."""
        if not self.names:
            return ()
        from demur.features.conventions.emulations import EMULATIONS  # noqa: PLC0415  (seldom used)

        sorting = [name for name in self.names if EMULATIONS[name].sorts]
        return [f"numbers of {' and '.join(sorting)}, where equal confidences are sorted,"] if sorting else ()
