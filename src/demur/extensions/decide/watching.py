"""Monitoring of a rule in use: whether its coverage drifts, and whether its risk exceeds the limit.

Both are tests by betting, participant by participant in the order of the file. If nothing has changed, the wealth of
the bets ever exceeds 1/δ with a probability of at most δ (Ville's inequality), so that a rule may be checked any number
of times. Each check computes the wealth from the whole file, which has all rows since the rule has been in use.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from demur.drawing.labels import inert
from demur.errors import UserError, literal, shown
from demur.extensions.decide.rule import Rule
from demur.extensions.decide.targets import LIMITS, Typed, as_typed
from demur.facts.codes import Codes
from demur.facts.columns import MISSING, Column, is_null
from demur.facts.labels import Spelling, folded, number_of, spelled
from demur.options import as_blank, as_option
from demur.quantities.losses import LOSSES
from demur.quantities.losses import loss as loss_named
from demur.read.cells import Cells
from demur.sampling.coverage import risk_of
from demur.types import Flags, Floats

BETS = (0.05, 0.2, 0.5, 0.9)
_READINGS = (number_of, folded, spelled)  # of labels


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some rows of a table: cells, positions in the file, the columns of the roles, and the score range."""

    cells: Cells
    positions: Sequence[str]
    names: Mapping[str, str]
    score_range: tuple[float, float]

    def column(self, role: str) -> str | None:
        """The name of the column of a role; None if there is none."""
        name = self.names[role]
        return name if name in self.cells.values else None

    def numbers(self, name: str, cells: Column) -> Floats:
        """The numbers of a column, nan for an empty cell."""
        wrong = ~(cells.usable() | cells.abstains())
        cells.refuse(wrong, shown(name), "a number, or nothing where there is no label", self.positions.__getitem__)
        return cells.values

    def labels(self, role: str) -> Codes:
        """The labels in the column of a role; null where there is none."""
        name, expected = self.names[role], "a text or a number"
        labels = self.cells.labels(name).mapped(lambda cell: None if cell is MISSING else cell)
        wrong = labels.where(lambda cell: not (cell is None or isinstance(cell, (str, int, float))))
        self.cells.column(name).refuse(wrong, shown(name), expected, self.positions.__getitem__)
        return labels


@dataclass(slots=True)
class _Sums:
    """The sums of a participant: units, accepted ones, accepted ones with a label, and the loss of these.

    There is a loss for each way of comparing labels: as numbers, folded, and as they are written. Which of them is
    right depends on the whole columns, which are known at the end.
    """

    units: int = 0
    accepted: int = 0
    labelled: int = 0
    loss: Floats = field(default_factory=lambda: np.zeros(len(_READINGS)))


@dataclass(frozen=True, slots=True)
class Alarm:
    """The outcome of checking coverage or risk: its value, the current and the largest wealth, and the conclusion."""

    what: str
    value: float
    clusters: int
    wealth: float
    largest: float
    raised: bool
    conclusion: str


@dataclass(frozen=True, slots=True)
class Watched:
    """The conclusions of one check of a rule."""

    delta: float
    alarms: tuple[Alarm, ...]

    @property
    def raised(self) -> bool:
        """Whether any check raised an alarm."""
        return any(alarm.raised for alarm in self.alarms)

    def __str__(self) -> str:
        return "\n".join(inert(alarm.conclusion) for alarm in self.alarms)

    __repr__ = __str__


@dataclass(slots=True)
class Watch:
    """One check of a rule at level δ; `max_units` is the largest number of units of a participant, if not in the rule.

    It accumulates the rows of one file; every check needs a new instance.
    """

    rule: Rule
    delta: Typed = "0.05"
    max_units: int | None = None
    _seen: dict[str, _Sums] = field(default_factory=dict, init=False)
    _level: Fraction = field(default=Fraction(0), init=False)
    _most: int = field(default=0, init=False)
    _spelling: Spelling = field(default_factory=Spelling, init=False)

    def __post_init__(self) -> None:
        self._level = risk_of(as_typed(self.delta))
        if not 0 < self._level < 1:
            raise UserError(f"delta {literal(self.delta)}, expected a number between 0 and 1, such as 0.05")
        most = self.rule.max_units if self.max_units is None else self.max_units
        if most is None or most < 1:
            raise UserError(
                f"how many units a participant has at most is not in the rule: give it, {as_blank('max_units')}"
            )
        self._most = most

    def add(self, chunk: Chunk, accepted: Flags) -> None:
        """Take a chunk of rows into account; `accepted` flags the accepted ones."""
        loss = np.broadcast_to(self._losses(chunk), (len(_READINGS), chunk.cells.rows))
        labelled = ~np.isnan(loss[0])
        # Ids are compared as texts, because one chunk does not show whether all of them are integers.
        cells = chunk.cells
        ids = [*cells.codes(chunk.names["cluster"]).mapped(str)]
        for name, taken, known, lost in zip(ids, accepted.tolist(), labelled.tolist(), loss.T, strict=True):
            sums = self._seen.setdefault(name, _Sums())
            sums.units += 1
            sums.accepted += taken
            if taken and known:
                sums.labelled += 1
                sums.loss += lost
            if sums.units > self._most:
                raise UserError(
                    f"{self.rule.noun} {shown(name)} has more than {self._most} units, {as_option('max_units')}"
                )

    def result(self) -> Watched:
        """The conclusions from all rows so far."""
        self._spelling.check()
        return Watched(float(self._level), (self._coverage(), self._risk()))

    def _losses(self, chunk: Chunk) -> Floats:
        """The losses of the rows, on the scale of the rule; nan where a row has no label."""
        rule = self.rule
        if rule.loss.name not in LOSSES or not loss_named(rule.loss.name).of_labels:
            return _numbers(rule, chunk)
        if chunk.column("truth") is None or chunk.column("prediction") is None:
            return np.full(chunk.cells.rows, np.nan)
        truth, answer = chunk.labels("truth"), chunk.labels("prediction")
        self._spelling.add(truth, answer)
        known = truth.where(lambda cell: not is_null(cell))
        unequal = [
            [right != given for right, given in zip(truth.mapped(read), answer.mapped(read), strict=True)]
            for read in _READINGS
        ]
        return np.where(known, np.array(unequal, float), np.nan)

    @property
    def _reading(self) -> int:
        return _READINGS.index(self._spelling.reading)

    def _alarm(self, what: str, value: float, wealth: Floats, words: tuple[str, str, str]) -> Alarm:
        largest = float(wealth.max(initial=0.0))
        raised = largest * self._level >= 1
        proof = f"evidence {largest:.3g}, alarm at {float(1 / self._level):.3g}"
        conclusion = f"{what}: {words[0]}: {words[1] if raised else words[2]} ({proof})"
        return Alarm(what, value, len(wealth), float(wealth[-1]), largest, raised, conclusion)

    def _unwatched(self, what: str, reason: str) -> Alarm:
        return Alarm(what, math.nan, 0, 1.0, 1.0, raised=False, conclusion=f"{what}: not watched: {reason}")

    def _coverage(self) -> Alarm:
        """Two bets: that the coverage is above, and that it is below the interval of the rule."""
        expected, people = self.rule.expected_coverage, self._seen.values()
        if expected is None or expected.low is None or expected.high is None:
            return self._unwatched("coverage", "the rule expects none")
        accepted, units = (np.array([getattr(sums, name) for sums in people], float) for name in ("accepted", "units"))
        above = wealth_of(accepted - expected.high * units, expected.high * self._most)
        below = wealth_of(expected.low * units - accepted, (1 - expected.low) * self._most)
        value = float(accepted.sum() / units.sum())
        ends = f"{100 * expected.low:.3g} % to {100 * expected.high:.3g} %"
        stands = f"{100 * value:.3g} % of {int(units.sum())} units of {len(units)} {self.rule.noun}s, expected {ends}"
        direction = "higher" if above.max() > below.max() else "lower"
        words = stands, f"it is {direction} than expected", "no drift is shown"
        return self._alarm("coverage", value, (above + below) / 2, words)

    def _risk(self) -> Alarm:
        """A bet that the risk is above the limit, on the participants with labels."""
        kind = self.rule.target.kind
        if kind not in LIMITS:
            return self._unwatched("risk", "the rule sets no limit")
        per_unit = kind == "errors_per_100"
        limit = float(risk_of(self.rule.target.value) / LIMITS[kind])
        people = [
            sums for sums in self._seen.values() if (sums.labelled == sums.accepted if per_unit else sums.labelled > 0)
        ]
        units = np.array([sums.units if per_unit else sums.labelled for sums in people], float)
        labelled = sum(sums.labelled for sums in people)
        if not labelled:
            return self._unwatched("risk", "no accepted row has a label")
        loss = np.array([sums.loss[self._reading] for sums in people])
        value = float(loss.sum() / units.sum())
        risk = f"{value:.3g}" if not per_unit else f"{100 * value:.3g} per 100 units"
        sample = f"{labelled} labelled units of {len(people)} {self.rule.noun}s"
        stands = f"{risk} on {sample}, limit {self.rule.target.value}"
        wealth = wealth_of(loss - limit * units, limit * self._most)
        words = stands, "it is above the limit: choose again", "it is not shown to be above it"
        return self._alarm("risk", value, wealth, words)


def wealth_of(gains: Floats, most_lost: float, bets: Iterable[float] = BETS) -> Floats:
    """The wealth after each participant: the mean over bets λ of Π (1 + λ·gain), with λ as a fraction of 1/most_lost.

    No gain is below −most_lost, so that the wealth stays above 0; if the mean gain is 0 or less, its mean is at most 1.

    >>> wealth_of(np.array([1.0, -1.0]), 1.0, bets=(0.5,)).tolist()
    [1.5, 0.75]
    """
    scaled = gains / most_lost if most_lost else gains
    products = [np.exp(np.minimum(np.cumsum(np.log1p(bet * scaled)), 700)) for bet in bets]
    return np.asarray(np.mean(products, axis=0))


def _numbers(rule: Rule, chunk: Chunk) -> Floats:
    """Losses that are numbers, or the differences of numbers."""
    loss = _given(chunk) if rule.loss.name not in LOSSES else _differences(rule, chunk)
    most = math.inf if rule.largest_loss is None else rule.largest_loss
    wrong = np.flatnonzero((loss < 0) | (loss > most))
    if wrong.size:
        row = int(wrong[0])
        raise UserError(f"{chunk.positions[row]}: a loss of {loss[row]:g}, expected 0 to {most:g} as in the rule")
    return loss


def _given(chunk: Chunk) -> Floats:
    if name := chunk.column("loss"):
        return chunk.numbers(name, chunk.cells.numbers(name))
    low, high = chunk.score_range
    name = chunk.column("score")
    if name is None:
        return np.full(chunk.cells.rows, np.nan)
    return (high - chunk.numbers(name, chunk.cells.numbers(name))) / (high - low)


def _differences(rule: Rule, chunk: Chunk) -> Floats:
    names = [chunk.column(role) for role in ("truth", "prediction")]
    sides = [chunk.numbers(name, chunk.cells.column(name)) for name in names if name is not None]
    if len(sides) < len(names):
        return np.full(chunk.cells.rows, np.nan)
    return np.asarray(loss_named(rule.loss.name).numerators(*sides) / rule.loss.raw_multiplier)
