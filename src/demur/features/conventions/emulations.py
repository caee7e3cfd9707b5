"""Emulations: the numbers of other tools by their definitions, from the same answers.

Each is a number of the curve of the answered units alone, or of all units where abstentions count, under the order that
its tool gives to equal confidences. A sort may leave those in any order, so beside the value for the rows as they are
ordered here there is the range over all orders: risks are weighted so that sorting equal confidences by loss gives both
ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from demur.errors import UserError, registered, repeated
from demur.quantities.areas import augrc, aurc
from demur.quantities.curve import Curve
from demur.quantities.excess import augrc_optimal, aurc_harmonic, aurc_optimal, aurc_sele
from demur.quantities.operating import coverage_at_risk
from demur.quantities.registry import Computed
from demur.quantities.signature import NONE
from demur.sampling.coverage import Coverage, risk_of
from demur.sampling.graded import Graded
from demur.sampling.numbers import Number
from demur.sampling.plateaus import Points
from demur.sampling.steps import careful_sum
from demur.types import Indices

Value = Fraction | float
Remark = Callable[[Curve], str]
_EPSILON = 2.0**-52
_BOTH_ENDS = ("best", "worst")
_PARAMETERS: dict[str, tuple[str, Callable[[str], Any], str]] = {
    "risk@C": ("risk@", Coverage.of, ""),
    "coverage@risk=R": ("coverage@risk=", risk_of, "0.05"),
}


class Emulated(NamedTuple):
    """A number of another tool; `over_ties` are its least and its largest value over all orders of equal confidences.

    An end is None where some orders leave the number undefined. `undefined` says why there is no value, `remark` what
    to know of one.
    """

    value: float
    over_ties: tuple[float | None, float | None] | None = None
    undefined: str = ""
    remark: str = ""


class Definition(NamedTuple):
    """A number of a curve without abstentions, when it is undefined, and what to know of it."""

    number: Callable[..., Value]
    undefined: str = ""
    remark: Remark = lambda _: ""


@dataclass(frozen=True, eq=False)
class Answers:
    """The answered units of one system under one confidence, by cluster and item."""

    graded: Graded

    @classmethod
    def of(cls, graded: Graded) -> Answers:
        """Of a run or a table, whatever the order of its rows; columns without items are in order as they are."""
        items = graded.items
        if items is None or graded.count is not None:  # rows that stand for several units are in no order
            return cls(graded)
        order = items.take(np.flatnonzero(items.answered)).by_name
        return cls(replace(graded, loss=graded.loss[order], confidence=graded.confidence[order], items=None))

    @cached_property
    def tied(self) -> Curve:
        """Their curve without the abstentions; equal confidences are one operating point."""
        return replace(Curve.of(self.graded), units=max(self.graded.answered, 1))

    @cached_property
    def ranked(self) -> Callable[[str], Curve]:
        """Their curve under one order of equal confidences, as signatures name it; made once."""
        return cache(self._ranked)

    def _ranked(self, ties: str) -> Curve:
        if ties == "plateau":
            return self.tied
        losses = careful_sum(self.graded.loss[self._order(ties)])
        return replace(self.tied, points=Points(np.arange(1, len(losses) + 1), losses))

    def _order(self, ties: str) -> Indices:
        loss, sure = self.graded.loss, self.graded.confidence
        if ties == "given.last":
            return np.argsort(sure, kind="stable")[::-1]
        within = {"given.first": np.zeros(len(loss)), "best": loss, "worst": -loss}[ties]
        return np.lexsort((within, -sure))


@dataclass(frozen=True, eq=False)
class Emulation:
    """Another convention: its keys of a signature, its numbers by our names, and which answers it cannot take."""

    name: str
    about: str
    keys: Mapping[str, str]
    numbers: Mapping[str, Definition]
    refuses: Remark = lambda _: ""

    @property
    def sorts(self) -> bool:
        """Whether equal confidences are put in an order, so that single units are needed."""
        return self.keys["ties"] != "plateau"

    def names(self, coverages: Sequence[str]) -> list[str]:
        """The numbers that are reported, where the risk is reported at these coverages."""
        names: list[str] = []
        for name in self.numbers:
            stem, _, usual = _PARAMETERS.get(name, (name, str, ""))
            names += [f"{stem}{text}" for text in coverages] if name == "risk@C" else [f"{stem}{usual}"]
        return names

    def emulated(self, name: str, answers: Answers) -> Emulated:
        """One number of these answers, by its name."""
        return self.computed(*self._defined(name), answers)

    def computed(self, definition: Definition, at: tuple[Any, ...], answers: Answers) -> Emulated:
        """One number of these answers, by its definition and the parameters that it takes."""
        refused = self.refuses(answers.tied) if answers.graded.answered else "nothing is answered"
        if refused:
            return Emulated(math.nan, undefined=refused)
        units = answers.graded.units if self.keys["abst"] == "in" else answers.tied.units

        def number(ties: str) -> float:
            return float(definition.number(replace(answers.ranked(ties), units=units), *at))

        value = number(self.keys["ties"])
        ends = _ends([*map(number, _BOTH_ENDS)]) if self.sorts else None
        undefined = definition.undefined if math.isnan(value) else ""
        return Emulated(value, ends, undefined, "" if undefined else definition.remark(answers.tied))

    def _defined(self, name: str) -> tuple[Definition, tuple[Any, ...]]:
        for each, (stem, read, _) in _PARAMETERS.items():
            if each in self.numbers and name.startswith(stem):
                return self.numbers[each], (read(name.removeprefix(stem)),)
        return registered(f"number of {self.name}", name, self.numbers), ()


def _ends(values: Sequence[float]) -> tuple[float | None, float | None] | None:
    """The least and the largest; where some are undefined, the others are no more than the largest."""
    known = [value for value in values if not math.isnan(value)]
    return (min(known) if len(known) == len(values) else None, max(known)) if known else None


def checked_conventions(names: Sequence[str]) -> tuple[str, ...]:
    """Conventions that numbers are asked for in, each known and named once."""
    for name in names:
        registered("convention", name, EMULATIONS)
    if twice := repeated(names):
        raise UserError(f"the convention {twice[0]} is asked for twice")
    return tuple(names)


def is_zero_one(curve: Curve) -> bool:
    """Whether every loss is 0 or 1, judged by the values."""
    return bool(np.isin(curve.loss_levels, (0, curve.divisor)).all())


def closed_form(error: float, epsilon: float = 0.0) -> float:
    """The optimal AURC in the limit of many answers, e + (1 − e) ln(1 − e); nan where there is no such logarithm.

    >>> round(closed_form(0.4), 9), closed_form(1)
    (0.093504626, nan)
    """
    right = 1 - error + epsilon
    return error + (1 - error) * math.log(right) if right > 0 else math.nan


def _hyperbola(points: Points) -> float:
    """Area under the mean loss where the summed loss is linear between points, in units × loss numerators."""
    count, losses = points.count.astype(float), points.loss_sum.astype(float)
    k, m, lost, more = count[:-1], count[1:], losses[:-1], losses[1:]
    bent = (lost * m - more * k) * np.log(m / k) / (m - k)
    return float(losses[0]) + math.fsum(more - lost) + math.fsum(bent)


def _area_of_hyperbolas(curve: Curve) -> float:
    return 1000 * _hyperbola(curve.points) / (curve.units * curve.divisor)


def _achievable_on_roc(curve: Curve) -> float:
    """The vertices of the upper hull of the ROC curve are those of the lower hull of the summed losses."""
    if is_zero_one(curve):
        kept = curve.cheapest_points
        curve = replace(curve, points=Points(curve.points.count[kept], curve.points.loss_sum[kept]))
    return _area_of_hyperbolas(curve)


def _exactly(quantity: Computed[Number], curve: Curve) -> Fraction:
    """A number of a curve that is not yet rounded."""
    value: Fraction = quantity(curve.sample).value[0]
    return value


def _optimal(curve: Curve) -> Value:
    if is_zero_one(curve):
        return 1000 * closed_form(curve.overall_risk, _EPSILON)
    return 1000 * _exactly(aurc_optimal, curve)


def _optimal_generalized(curve: Curve) -> Value:
    if is_zero_one(curve):
        return curve.exact_risk(-1, "selective") ** 2 * 500
    return 1000 * _exactly(augrc_optimal, curve)


def _off_by_one(curve: Curve) -> float:
    losses, n = curve.points.loss_sum.astype(float), curve.units
    return math.fsum(losses / np.append(np.arange(2.0, n + 1), float(n))) / (n * curve.divisor)


def _log_weights(curve: Curve) -> float:
    ranks, losses = curve.points.count, np.diff(curve.points.loss_sum, prepend=0)
    return math.fsum(losses * np.log((curve.units + 1) / ranks)) / (curve.units * curve.divisor)


def _from_first_point(curve: Curve, area: Fraction, start: Fraction) -> Value:
    """A trapezoidal area over [0, 1] without its part below 1/n, divided by what is left of the coverages."""
    n = curve.units
    return (area - start) * n / (n - 1) if n > 1 else math.nan


def _first_risk(curve: Curve) -> Fraction:
    return curve.exact_risk(0, "selective")


def _risk_of_share(curve: Curve, coverage: Coverage) -> float:
    rank = math.ceil(curve.units * float(coverage))  # of a product of floats, as the tool computes it
    return float(curve.selective_risk[rank - 1])


_NOT_ZERO_ONE = "the closed form of the optimum is that of 0/1 losses, which these are not"
_ONE_ANSWER = "an area there takes two answers"
_BY_ROW = {"abst": "drop", "ties": "given.last", "start": NONE, "dom": "one", "opt": NONE, "hull": NONE}
EMULATIONS: dict[str, Emulation] = {
    each.name: each
    for each in (
        Emulation(
            "fd-shifts",
            "fd-shifts, × 1000 and without the abstentions",
            {"abst": "drop", "ties": "plateau", "dom": "one", "x": "1000", "opt": "closed", "hull": "roc"},
            {
                "aurc": Definition(lambda curve: 1000 * _exactly(aurc, curve)),
                "augrc": Definition(lambda curve: 1000 * _exactly(augrc, curve)),
                "aurc_optimal": Definition(_optimal),
                "augrc_optimal": Definition(_optimal_generalized),
                "eaurc": Definition(lambda curve: float(1000 * _exactly(aurc, curve)) - float(_optimal(curve))),
                "eaugrc": Definition(lambda curve: 1000 * _exactly(augrc, curve) - _optimal_generalized(curve)),
                "aurc_achievable": Definition(_achievable_on_roc),
                "aurc_hyperbola": Definition(_area_of_hyperbolas),
            },
        ),
        Emulation(
            "geifman",
            "uncertainty_ICLR by Geifman et al., and get_AURC of AsymptoticAURC",
            _BY_ROW | {"rule": "mean.offbyone", "opt": "closed"},
            {
                "aurc": Definition(_off_by_one),
                "eaurc": Definition(
                    lambda curve: _off_by_one(curve) - closed_form(curve.overall_risk),
                    "the closed form of the optimum has no value at a mean loss of 1 or more",
                    lambda curve: "" if is_zero_one(curve) else _NOT_ZERO_ONE,
                ),
            },
        ),
        Emulation(
            "torch-uncertainty",
            "the metrics of torch-uncertainty, not the numbers on its plots",
            _BY_ROW | {"ties": "given.first", "rule": "trapezoid", "dom": "one.renorm", "g.start": NONE},
            {
                "aurc": Definition(
                    lambda curve: _from_first_point(curve, _exactly(aurc, curve), _first_risk(curve) / curve.units),
                    _ONE_ANSWER,
                ),
                "augrc": Definition(
                    lambda curve: _from_first_point(
                        curve, _exactly(augrc, curve), _first_risk(curve) / (2 * curve.units**2)
                    ),
                    _ONE_ANSWER,
                ),
                "risk@C": Definition(_risk_of_share),
                "coverage@risk=R": Definition(
                    lambda curve, risk: coverage_at_risk(curve, risk) or math.nan,
                    "no number of answers has a risk this low",
                ),
            },
            lambda curve: "" if is_zero_one(curve) else "torch-uncertainty has 0/1 errors only",
        ),
        Emulation(
            "prefix-mean",
            "em of AsymptoticAURC, and rcc-auc of lm-polygraph but for its rescaling",
            _BY_ROW | {"rule": "mean"},
            {"aurc": Definition(aurc_harmonic)},
        ),
        Emulation("ln", "ln of AsymptoticAURC", _BY_ROW | {"rule": "weights.ln"}, {"aurc": Definition(_log_weights)}),
        Emulation(
            "sele",
            "SELE of AsymptoticAURC",
            _BY_ROW | {"rule": "weights.sele"},
            {"aurc": Definition(aurc_sele)},
        ),
        Emulation(
            "item-by-item",
            "the older AURC of lists of dicts, which compute_aurc takes without a loss",
            _BY_ROW | {"abst": "in", "ties": "given.first", "rule": "trapezoid", "dom": "cmax"},
            {"aurc": Definition(lambda curve: _exactly(aurc, curve) - _first_risk(curve) / curve.units)},
        ),
    )
}
