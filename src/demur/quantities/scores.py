"""Scores: a mapping from names of quantities to the numbers of a curve, with reasons for undefined ones."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from demur.facts.frames import Tabular
from demur.quantities.curve import Curve
from demur.quantities.registry import QUANTITIES, Measure, canonical, default_measures


class Scores(Mapping[str, float], Tabular):
    """A mapping from name to number; undefined numbers are nan, and `reasons` says why.

    >>> from demur import measure
    >>> measure([2, 2, 1, 0], loss=[0, 2, 0, None], metrics=["aurc", "risk@0.6", "risk@0.9", "aurc@0.9"])
    4 units, 3 answered, 1 abstained (1 null, 0 NaN); loss: as given
    aurc      0.708333
    risk@0.6  0.666667
    risk@0.9  undefined: no operating point reaches this coverage
    aurc@0.9  0.708333 (up to Cmax 0.75, which is less)
    """

    __slots__ = ("_beyond_cmax", "_summary", "_values", "cmax", "defined", "library", "reasons")

    def __init__(self, curve: Curve, measures: str | Iterable[str | Measure] | None = None) -> None:
        names = [measures] if isinstance(measures, str) else measures
        chosen = [*default_measures()] if names is None else [_of_curve(name) for name in names]
        self._values: dict[str, float] = {str(measure): measure(curve) for measure in chosen}
        self.reasons = {
            str(measure): measure.quantity.undefined for measure in chosen if math.isnan(self._values[str(measure)])
        }
        self.cmax, self.defined, self.library = curve.cmax, curve.defined, curve.library
        self._beyond_cmax = {
            str(measure)
            for measure in chosen
            if measure.coverage and measure.coverage.units_needed(curve.units) > curve.answered
        }
        nulls = curve.units - curve.answered - curve.abstained_nan
        nothing = "" if curve.defined else "; nothing is answered: areas are 0 by convention and rank nothing"
        self._summary = (
            f"{curve.units} units, {curve.answered} answered, {nulls + curve.abstained_nan} abstained "
            f"({nulls} null, {curve.abstained_nan} NaN); loss: {curve.loss_name}{nothing}"
        )

    def __getitem__(self, name: str) -> float:
        return self._values[canonical(_in_lower_case(name))]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def to_dict(self) -> dict[str, float | None]:
        """Plain numbers for JSON: None where undefined."""
        return {name: None if math.isnan(value) else value for name, value in self.items()}

    def to_columns(self) -> dict[str, list[Any]]:
        """The scores as columns: name, value and the reason if it is undefined."""
        names = [*self]
        values = [*self.to_dict().values()]
        return {"quantity": names, "value": values, "undefined": [self.reasons.get(name) for name in names]}

    def _rows(self) -> Iterator[tuple[str, str]]:
        for name, value in self.items():
            beyond = f" (up to Cmax {self.cmax:.4g}, which is less)" if name in self._beyond_cmax else ""
            yield name, f"undefined: {self.reasons[name]}" if name in self.reasons else f"{value:.6g}{beyond}"

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join([self._summary, *(f"{name:<{width}}  {value}" for name, value in self._rows())])

    def _repr_html_(self) -> str:
        from demur.drawing.html import html_table  # noqa: PLC0415  (only a notebook pays for it)

        return html_table(("quantity", "value"), self._rows(), self._summary)


def _of_curve(name: str | Measure) -> Measure:
    if isinstance(name, str):
        name = _in_lower_case(name)
    return Measure.of(name) if name in ("units", "answered") else Measure.of(name, "curve")


def _in_lower_case(name: str) -> str:
    """A name with capitals as the registered one: no two quantities of a curve differ in their capitals alone."""
    stem, at, text = name.partition("@")
    stems = {entry.stem for entry in QUANTITIES.values()}
    return f"{stem.lower()}{at}{text}" if stem not in stems and stem.lower() in stems else name
