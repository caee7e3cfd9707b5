"""Instruments: questionnaires whose item scores are predicted, with their items and score range."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demur.errors import UserError, literal, located, unknown
from demur.files.strict_json import decode, loads, read_bytes
from demur.files.toml import parsed_toml
from demur.types import Json

_LARGEST_SCORE = 2**31
BY_ITEMS = "by-items"  # the default: the known instrument with the items of a table; for a run file, PHQ-8


@dataclass(frozen=True, slots=True)
class Instrument:
    """The item names of a questionnaire in their order, and the lowest and highest score of an item.

    >>> PHQ8.range, PHQ8.items[2]
    (3, 'Sleep')
    """

    name: str
    items: tuple[str, ...]
    minimum: int
    maximum: int

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name.strip()):
            raise UserError(f"instrument name: {literal(self.name)}, expected text")
        items_are_names = all(isinstance(item, str) and item.strip() for item in self.items)
        if not self.items or not items_are_names or len(set(self.items)) < len(self.items):
            raise UserError(f"instrument {self.name}: items must be distinct, non-empty names")
        for bound, value in (("min", self.minimum), ("max", self.maximum)):
            if type(value) is not int or abs(value) > _LARGEST_SCORE:
                raise UserError(f"instrument {self.name}: {bound} is {literal(value)}, expected an integer")
        if self.minimum >= self.maximum:
            raise UserError(f"instrument {self.name}: min {self.minimum} must be below max {self.maximum}")

    @property
    def range(self) -> int:
        """The largest possible error of an item score, by which the normalised loss is divided."""
        return self.maximum - self.minimum

    @property
    def score(self) -> str:
        """The expected score in words, for error messages.

        >>> PHQ8.score
        'an integer 0–3'
        """
        return f"an integer {self.minimum}–{self.maximum}"


def totals(truth: Sequence[int], predicted: Sequence[int | None]) -> Json:
    """Totals of one participant for a run file: true and predicted scores, answered items and mean absolute error.

    >>> totals([2, 1, 0], [2, 0, None])["predicted_total"]
    2
    """
    errors = [abs(score - true) for true, score in zip(truth, predicted, strict=True) if score is not None]
    return {
        "ground_truth_total": sum(truth),
        "predicted_total": sum(score for score in predicted if score is not None),
        "available_items": len(errors),
        "na_items": len(predicted) - len(errors),
        "mae_available": sum(errors) / len(errors) if errors else None,
    }


def score_bounds(instrument: Instrument | None) -> tuple[int, int, str]:
    """The lowest and the highest score, and the expected score in words; any integer without an instrument."""
    if instrument is None:
        return -_LARGEST_SCORE, _LARGEST_SCORE, "an integer"
    return instrument.minimum, instrument.maximum, instrument.score


_PHQ8_ITEMS = ("NoInterest", "Depressed", "Sleep", "Tired", "Appetite", "Failure", "Concentrating", "Moving")

PHQ8 = Instrument("PHQ-8", _PHQ8_ITEMS, 0, 3)
PHQ9 = Instrument("PHQ-9", (*_PHQ8_ITEMS, "SelfHarm"), 0, 3)
_GAD7_ITEMS = ("Nervous", "ControlWorry", "WorryTooMuch", "TroubleRelaxing", "Restless", "Irritable", "Afraid")
GAD7 = Instrument("GAD-7", _GAD7_ITEMS, 0, 3)
INSTRUMENTS = {instrument.name: instrument for instrument in (PHQ8, PHQ9, GAD7)}


def instrument_with(items: Collection[object]) -> Instrument | None:
    """The known instrument that has exactly these items; None if there is none.

    >>> instrument_with(["Sleep"]), instrument_with(GAD7.items) is GAD7
    (None, True)
    """
    return next((known for known in INSTRUMENTS.values() if {*known.items} == {*items}), None)


def instrument(which: str | Path | Instrument) -> Instrument:
    """Return an instrument by name, or read it from a JSON or TOML file with name, items, min and max.

    >>> instrument("gad-7") is GAD7, instrument(BY_ITEMS) is PHQ8
    (True, True)
    """
    if isinstance(which, Instrument):
        return which
    if not isinstance(which, (str, Path)):
        raise UserError(f"instrument {literal(which)}, expected a name, a .json or .toml file, or an Instrument")
    if which == BY_ITEMS:
        return PHQ8
    suffix = Path(which).suffix.lower()
    if suffix in (".json", ".toml"):
        data = read_bytes(which)
        with located(which):
            return _parsed(parsed_toml(decode(data)) if suffix == ".toml" else loads(decode(data)))
    for name, known in INSTRUMENTS.items():
        if name.lower().replace("-", "") == str(which).lower().replace("-", ""):
            return known
    raise unknown("instrument", which, INSTRUMENTS)


def _parsed(fields: Any) -> Instrument:
    if (
        not isinstance(fields, dict)
        or {*fields} != {"name", "items", "min", "max"}
        or type(fields["items"]) is not list
    ):
        raise UserError("an instrument has exactly these members: name, items (a list), min, max")
    return Instrument(fields["name"], tuple(fields["items"]), fields["min"], fields["max"])
