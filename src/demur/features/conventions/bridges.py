"""Bridges: converting a number from one convention to another, and the differences between two signatures.

The common reference is the area over the answered units alone, by trapezoids with a flat start: a bridge gives the
number of a convention as that area times a factor, plus a term. It is exact; where a convention breaks ties in
confidence, it holds only for data without ties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from demur.errors import UserError, literal, unknown
from demur.features.conventions.emulations import EMULATIONS
from demur.quantities.signature import DEFINITION, KEYS, OURS, Signature, meaning

_DEFINING = ("abst", "ties", "start", "rule", "dom")  # x only scales the numbers
_MUST_AGREE = ("loss", "unit", "abst", "ties", "start", "rule", "dom")
CONVENTIONS: dict[str, Mapping[str, str]] = {
    OURS: DEFINITION,
    **{name: {**DEFINITION, **emulation.keys} for name, emulation in EMULATIONS.items()},
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
    """What a conversion may need: the number of answers, their share of the units, the first risk, the mean loss."""

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
    """A number as `factor` times the area over the answered units, plus `added`; both are functions of `needs`."""

    factor: Callable[..., Fraction]
    added: Callable[..., Fraction]
    needs: tuple[str, ...]
    formula: str


def _zero(*_: object) -> Fraction:
    return Fraction(0)


def _renormed(n: int) -> Fraction:
    if n == 1:
        raise UserError("one answer alone has no area in torch-uncertainty")
    return Fraction(n, n - 1)


_AREA, _GENERALIZED = "AURC of the answers", "AUGRC of the answers"
BRIDGES: dict[str, dict[str, Bridge]] = {
    "aurc": {
        OURS: Bridge(lambda cmax: cmax, _zero, ("cmax",), f"{_AREA} × Cmax"),
        "fd-shifts": Bridge(lambda: Fraction(1000), _zero, (), f"{_AREA} × 1000"),
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
        "item-by-item": Bridge(
            lambda cmax, *_: cmax,
            lambda cmax, n, first: -cmax * first / n,
            ("cmax", "answered", "first_risk"),
            f"({_AREA} − first risk / n) × Cmax",
        ),
    },
    "augrc": {
        OURS: Bridge(lambda cmax: cmax**2, _zero, ("cmax",), f"{_GENERALIZED} × Cmax²"),
        "fd-shifts": Bridge(lambda: Fraction(1000), _zero, (), f"{_GENERALIZED} × 1000"),
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
    """Name and keys of a convention, from its name or from a signature; the name is None if no convention matches."""
    if text in CONVENTIONS:
        return text, CONVENTIONS[text]
    if ":" not in text:
        raise unknown("convention", text, CONVENTIONS)
    keys = dict(Signature.parse(text).items())
    matches = (name for name, own in CONVENTIONS.items() if all(own[key] == keys[key] for key in _DEFINING))
    return next(matches, None), keys


def scale_of(convention: str, keys: Mapping[str, str]) -> Fraction:
    """The factor between the numbers of a signature and those of its convention."""
    return Fraction(keys["x"]) / Fraction(CONVENTIONS[convention]["x"])


def bridge_of(convention: str, quantity: str) -> Bridge:
    """The bridge from the area over the answered units to a quantity of a convention."""
    if quantity not in BRIDGES:
        raise unknown("quantity with bridges", quantity, BRIDGES)
    if convention not in BRIDGES[quantity]:
        others = [other for other, bridges in BRIDGES.items() if convention in bridges]
        remedy = f"there is one to its {others[0]}" if others else "take it from the data: demur evaluate --convention"
        raise UserError(f"no bridge leads to the {quantity} of {convention}; {remedy}")
    return BRIDGES[quantity][convention]


def converted(value: Fraction, conventions: tuple[str, str], quantity: str, known: KnownOfAnswers) -> Fraction:
    """A number of the first of two conventions, converted to the second.

    >>> converted(Fraction(151, 480), ("demur", "fd-shifts"), "aurc", KnownOfAnswers(cmax=Fraction(3, 4)))
    Fraction(3775, 9)
    """
    source, target = ((bridge_of(name, quantity), name) for name in conventions)
    if conventions[0] == conventions[1]:
        return value
    factor, added = _parts(*source, known)
    target_factor, target_added = _parts(*target, known)
    return (value - added) / factor * target_factor + target_added


def _parts(bridge: Bridge, name: str, known: KnownOfAnswers) -> tuple[Fraction, Fraction]:
    values = [getattr(known, need) for need in bridge.needs]
    for need, value in zip(bridge.needs, values, strict=True):
        if value is None:
            raise UserError(f"a bridge to {name} needs to know more: give --{need.replace('_', '-')}")
    return bridge.factor(*values), bridge.added(*values)


def ties_matter(*conventions: str) -> bool:
    """Whether conversions between these conventions hold only if no two confidences are equal."""
    return any(CONVENTIONS[name]["ties"] != "plateau" for name in conventions)


def differences(first: Mapping[str, str], second: Mapping[str, str]) -> Iterator[list[str]]:
    """For each common key with different values, lines of text: the values, their meanings, and the effect."""
    for key in KEYS:
        values = [keys[key] for keys in (first, second) if key in keys]
        if len({*values}) > 1:
            effect = f"divide by {values[0]}, and multiply by {values[1]}" if key == "x" else EFFECTS[key]
            meanings = [f"  {meaning(key, value)}" for value in values]
            yield [f"{key}: {' against '.join(values)}", *meanings, f"  → {effect}"]


def comparable(first: Mapping[str, str], second: Mapping[str, str]) -> bool:
    """Whether numbers on one scale, at equal Cmax or cut at the same coverage, may be compared."""
    return all(first[key] == second[key] for key in _MUST_AGREE if key in first and key in second)
