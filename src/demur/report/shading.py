"""Shading: cells of a heat map, darker where there is more."""

from dataclasses import dataclass

FEW = 10
_SHADES = 8


@dataclass(frozen=True, slots=True)
class ShadedCell:
    """A number with the shade of its background; greyed where few answers stand behind it."""

    shown: str
    style: str


def shade(kind: str, share: float, *, few: bool) -> str:
    """The style of a cell of a heat map, darker where there is more."""
    return "few" if few else f"{kind} shade-{round(min(max(share, 0.0), 1.0) * _SHADES)}"
