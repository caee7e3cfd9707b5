"""Bridges: what a number of one convention is in another, and what two signatures differ in.

A bridge leads over the area of the answered units alone, by trapezoids with a flat start: each convention that has one
is a factor of that area and something added. Bridges are exact, where equal confidences are broken only without them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from demur.errors import UserError, literal, unknown
from demur.quantities.conventions.emulations import EMULATIONS
from demur.quantities.conventions.signature import DEFINITION, KEYS, OURS, Signature, meaning

_DEFINING = ("abst", "ties", "start", "rule", "dom")  # x is a factor, whoever prints it
_MUST_AGREE = ("loss", "unit", "abst", "ties", "start", "rule", "dom")
CONVENTIONS: dict[str, Mapping[str, str]] = {
    OURS: DEFINITION,
    **{name: {**DEFINITION, **each.keys} for name, each in EMULATIONS.items()},
}
EFFECTS = {
    "loss": "areas of different losses measure different things, and no factor leads from one to the other",
    "unit": "other things are counted",
    "cluster": "changes intervals, and no number",
    "abst": "what counts as a unit sets every coverage: areas without abstentions are larger, by 1/Cmax or 1/Cmax²",
    "ties": "where confidences are equal, a number of one order of the rows is one of a range",
    "start": "what is below the first point is in the area or not: a part of 1/n of the first risk",
    "rule": "areas by other weights: apart by about 1/n, and more where the first answers are wrong",
    "dom": "areas that end elsewhere, or are divided by how far they go",
    "opt": "changes the optimum and the excess (eAURC, eAUGRC), and no area",
    "hull": "changes the achievable area alone",
    "conf": "another order of the answers, which is what such numbers measure",
    "boot": "changes intervals, and no number",
    "v": "another version: CHANGELOG.md says under Numbers where one changed",
    "g.start": "as start, for the generalized risk",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownOfAnswers:
    """What may be known besides a number: how many answers, which share of the units, the first risk, the mean loss."""

    answered: int | None = None
    cmax: Fraction | None = None
    first_risk: Fraction | None = None
    risk: Fraction | None = None

    def __post_init__(self) -> None:
        if self.answered is not None and self.answered < 1:
            raise UserError(f"answered {literal(self.answered)}, expected a number of answers, 1 or more")
        if self.cmax is not None and not 0 < self.cmax <= 1:
            raise UserError(f"cmax {self.cmax}, expected a share above 0 and at most 1")


class Bridge(NamedTuple):
    """From the area of the answered units: `factor` times it, plus `added`; both of what is needed to be known."""

    factor: Callable[..., Fraction]
    added: Callable[..., Fraction]
    needs: tuple[str, ...]
    formula: str


def _nothing(*_: object) -> Fraction:
    return Fraction(0)


def _renormed(n: int) -> Fraction:
    if n == 1:
        raise UserError("one answer alone has no area in torch-uncertainty")
    return Fraction(n, n - 1)


_AREA, _GENERALIZED = "AURC of the answers", "AUGRC of the answers"
BRIDGES: dict[str, dict[str, Bridge]] = {
    "aurc": {
        OURS: Bridge(lambda cmax: cmax, _nothing, ("cmax",), f"{_AREA} × Cmax"),
        "fd-shifts": Bridge(lambda: Fraction(1000), _nothing, (), f"{_AREA} × 1000"),
        "torch-uncertainty": Bridge(
            lambda n, _: _renormed(n),
            lambda n, first: -first / (n - 1),
            ("answered", "first_risk"),
            f"({_AREA} − first risk / n) × n / (n − 1)",
        ),
        "prefix-mean": Bridge(
            lambda *_: Fraction(1),
            lambda n, first, risk: (risk - first) / (2 * n),
            ("answered", "first_risk", "risk"),
            f"{_AREA} + (risk − first risk) / 2n",
        ),
    },
    "augrc": {
        OURS: Bridge(lambda cmax: cmax**2, _nothing, ("cmax",), f"{_GENERALIZED} × Cmax²"),
        "fd-shifts": Bridge(lambda: Fraction(1000), _nothing, (), f"{_GENERALIZED} × 1000"),
        "torch-uncertainty": Bridge(
            lambda n, _: _renormed(n),
            lambda n, first: -first / (2 * n * (n - 1)),
            ("answered", "first_risk"),
            f"({_GENERALIZED} − first risk / 2n²) × n / (n − 1)",
        ),
        "sele": Bridge(
            lambda *_: Fraction(1),
            lambda n, risk: risk / (2 * n),
            ("answered", "risk"),
            f"{_GENERALIZED} + risk / 2n, which its authors call an AURC",
        ),
    },
}


def convention_of(text: str) -> tuple[str | None, Mapping[str, str]]:
    """A convention by its name, or the signature of a line and the name of the convention it is, if it has one."""
    if text in CONVENTIONS:
        return text, CONVENTIONS[text]
    if ":" not in text:
        raise unknown("convention", text, CONVENTIONS)
    keys = dict(Signature.parse(text).items())
    alike = (name for name, own in CONVENTIONS.items() if all(own[key] == keys[key] for key in _DEFINING))
    return next(alike, None), keys


def scale_of(convention: str, keys: Mapping[str, str]) -> Fraction:
    """By which factor numbers of a signature are larger than those of the convention it is of."""
    return Fraction(keys["x"]) / Fraction(CONVENTIONS[convention]["x"])


def bridge_of(convention: str, quantity: str) -> Bridge:
    """How a number of a convention follows from the area of the answers."""
    if quantity not in BRIDGES:
        raise unknown("quantity with bridges", quantity, BRIDGES)
    if convention not in BRIDGES[quantity]:
        others = [other for other, bridges in BRIDGES.items() if convention in bridges]
        way_out = f"there is one to its {others[0]}" if others else "take it from the data: demur evaluate --convention"
        raise UserError(f"no bridge leads to the {quantity} of {convention}; {way_out}")
    return BRIDGES[quantity][convention]


def converted(value: Fraction, ways: tuple[str, str], quantity: str, known: KnownOfAnswers) -> Fraction:
    """A number of the first of two conventions in the second.

    >>> converted(Fraction(151, 480), ("demur", "fd-shifts"), "aurc", KnownOfAnswers(cmax=Fraction(3, 4)))
    Fraction(3775, 9)
    """
    bridges = [bridge_of(name, quantity) for name in ways]
    if ways[0] == ways[1]:
        return value
    (factor, added), (other, more) = (_parts(bridge, name, known) for bridge, name in zip(bridges, ways, strict=True))
    return (value - added) / factor * other + more


def _parts(bridge: Bridge, name: str, known: KnownOfAnswers) -> tuple[Fraction, Fraction]:
    values = [getattr(known, each) for each in bridge.needs]
    for each, value in zip(bridge.needs, values, strict=True):
        if value is None:
            raise UserError(f"a bridge to {name} needs to know more: give --{each.replace('_', '-')}")
    return bridge.factor(*values), bridge.added(*values)


def ties_matter(*conventions: str) -> bool:
    """Whether bridges between these hold only where no confidences are equal."""
    return any(CONVENTIONS[name]["ties"] != "plateau" for name in conventions)


def differences(one: Mapping[str, str], other: Mapping[str, str]) -> Iterator[list[str]]:
    """Of each key that differs, among those both have: its values, both meanings, and what that does, as lines."""
    for key in KEYS:
        values = [keys[key] for keys in (one, other) if key in keys]
        if len({*values}) > 1:
            effect = f"divide by {values[0]}, and multiply by {values[1]}" if key == "x" else EFFECTS[key]
            meanings = [f"  {meaning(key, value)}" for value in values]
            yield [f"{key}: {' against '.join(values)}", *meanings, f"  → {effect}"]


def comparable(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether numbers may be compared, at equal Cmax or cut at one coverage, once their scale is the same."""
    return all(one[key] == other[key] for key in _MUST_AGREE if key in one and key in other)
