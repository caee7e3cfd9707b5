"""The header of a summary: settings that must agree between merged parts, and counts that add up."""

from __future__ import annotations

from typing import Annotated, Literal

from demur.files.strict_model import Count, Declared, Part

Many = Annotated[tuple[str, ...], Declared(strict=False)]
Digest = Annotated[str, Declared(pattern="^[0-9a-f]{64}$")]
Positive = Annotated[int, Declared(ge=1, lt=2**53)]


class LossHeader(Part):
    """The loss, as numerators over a divisor; whether losses were `rounded`, and to how many decimal `digits`."""

    name: str
    definition: str
    divisor: Positive
    largest: int | None
    digits: Annotated[int, Declared(ge=0, le=9)] | None
    rounded: bool


class InstrumentHeader(Part):
    """The instrument whose items were scored."""

    name: str
    items: Many
    minimum: int
    maximum: int


class SignalHeader(Part):
    """A signal that is a confidence or an input of one; its values are in bins of width 2**exponent, if not null."""

    name: str
    probability: bool
    lower_is_surer: bool
    exponent: Annotated[int, Declared(ge=-1074, le=1023)] | None


class GroupHeader(Part):
    """A grouping of the units: the source of its labels, and the distinct labels in order."""

    name: str
    column: str | None
    cuts: Annotated[tuple[float, ...], Declared(strict=False)]
    file: str | None
    levels: Many


class FailedHeader(Part):
    """Failed units: the rule that treated them, and their number by cause ("" where unknown)."""

    rule: Literal["drop", "abstain"]
    by_cause: dict[str, Count]


class Header(Part):
    """The header of a summary."""

    noun: str
    independent: bool
    numbered: bool
    loss: LossHeader
    instrument: InstrumentHeader | None
    confidence: str | Many
    signals: Annotated[tuple[SignalHeader, ...], Declared(strict=False)]
    most_bins: Annotated[int, Declared(ge=2)]
    groups: Annotated[tuple[GroupHeader, ...], Declared(strict=False)]
    ignored_answers: Count
    repeated: bool
    failed_units: FailedHeader | None
    parts: Annotated[tuple[Digest, ...], Declared(strict=False, min_length=1)]
