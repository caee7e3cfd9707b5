"""Cards: the few numbers a verdict rests on."""

from dataclasses import dataclass

from demur.report.names import NamedSystem


@dataclass(frozen=True, slots=True)
class CardNumber:
    """A number on a card, whose it is, and its interval."""

    system: NamedSystem | None
    value: str
    interval: str


@dataclass(frozen=True, slots=True)
class Card:
    """A number, or one of each system, with what it means."""

    title: str
    numbers: tuple[CardNumber, ...]
    note: str
