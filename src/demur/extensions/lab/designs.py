"""Designs of simulated data sets, for which the true values of all numbers are known.

A design says how participants, their units and the answers of one or two systems come about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal
from zlib import crc32

import numpy as np

from demur.errors import unknown
from demur.extensions.lab.runs import FEW_SHOT, ZERO_SHOT, check_people, make_people, run_system, signals_of
from demur.facts.instruments import PHQ8, Instrument
from demur.inference.student import normal_quantile
from demur.quantities import quantities
from demur.quantities.losses import loss as loss_named
from demur.quantities.registry import COMMON, CUT
from demur.sampling.draws import checked_seed
from demur.sampling.graded import Clusters, Graded
from demur.types import Flags, Floats, Indices, Integers

LEFT, RIGHT = "left", "right"
USUAL = "phq8"
_COVERAGES = ("0.3", "0.5")
_RESAMPLED = [entry for entry in quantities("curve") if not entry.point_only and entry.reported]
NUMBERS = tuple(
    name
    for entry in _RESAMPLED
    for name in ([f"{entry.stem}@{coverage}" for coverage in _COVERAGES] if entry.parameter else [entry.name])
)
COMMON_NUMBERS = tuple(f"{entry.stem}@{COMMON}" for entry in _RESAMPLED if entry.parameter is CUT)
_SIZES = (10, 20, 41, 100)
_ITEMS = 8
_TOP = 6  # the highest level of a discrete confidence
_FINE = 2.0**-12
_SEEDS = 2**62
_PRONE = 0.116  # of 250 participants 29, of whom 23 give a wrong answer

DataSet = Mapping[str, Mapping[str, Graded]]  # by confidence, then by system
Draw = Callable[[np.random.Generator, int], DataSet]


@dataclass(frozen=True, slots=True)
class Design:
    """A kind of simulated data: how a data set with a number of participants is drawn, and its known properties.

    `no_difference` says which differences are 0 in the population: all, those of numbers that are cut before either
    system ends, or none. With `differences_only` the systems themselves are of a kind that another design has.
    `at_large` participants, drawn a `chunk` at a time, make a population, in which confidences are rounded to multiples
    of `grain`.
    """

    name: str
    words: str
    draw: Draw
    participants: tuple[int, ...] = _SIZES
    no_difference: Literal["", "cut", "all"] = ""
    differences_only: bool = False
    numbers: tuple[str, ...] = NUMBERS
    at_large: int = 100_000
    chunk: int = 5_000
    grain: float = _FINE

    def data(self, participants: int, seed: int, number: int) -> DataSet:
        """Draw one data set. The same seed and number give the same data set; designs share no random numbers."""
        return self.draw(self.random(seed, participants, number), participants)

    def random(self, *numbers: int) -> np.random.Generator:
        """A generator of random numbers for this design, the same for the same numbers."""
        return np.random.default_rng([crc32(self.name.encode()), *map(checked_seed, numbers)])


DESIGNS: dict[str, Design] = {}


def design(name: str, words: str, **facts: Any) -> Callable[[Draw], Draw]:
    """Register the decorated function, which draws data sets, as a design."""

    def register(draw: Draw) -> Draw:
        DESIGNS[name] = Design(name, words, draw, **facts)
        return draw

    return register


_paired = partial(design, differences_only=True)


def design_named(name: str) -> Design:
    """Look up a design by name."""
    if name not in DESIGNS:
        raise unknown("design", name, DESIGNS)
    return DESIGNS[name]


def _two_systems(rng: np.random.Generator, participants: int, loss: str, confidence: str, **people: Any) -> DataSet:
    everybody = make_people(participants, seed=int(rng.integers(_SEEDS)), **people)
    systems, signals = {LEFT: ZERO_SHOT, RIGHT: FEW_SHOT}, signals_of(confidence)
    runs = {
        name: run_system(everybody, system, seed=int(rng.integers(_SEEDS)), signals=signals)
        for name, system in systems.items()
    }
    return {"": {name: run.graded(loss, confidence) for name, run in runs.items()}}


def phq8(
    loss: str = "abs_norm",
    confidence: str = "llm_evidence_count",
    correlation: float = 0.6,
    instrument: Instrument = PHQ8,
) -> Design:
    """The design of two of the systems of `demur simulate runs` on the same participants."""
    check_people(1, correlation)
    loss_named(loss)
    draw = partial(_two_systems, loss=loss, confidence=confidence, correlation=correlation, instrument=instrument)
    words = f"two made-up systems on {instrument.name}, {loss} by {confidence}, correlation {correlation}"
    return Design(USUAL, words, draw, at_large=30_000)


DESIGNS[USUAL] = phq8()


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """The units of a data set: how many each participant has, and how strongly those are correlated."""

    rng: np.random.Generator
    sizes: Integers
    correlation: float = 0.5
    skewed: bool = False

    @property
    def person(self) -> Indices:
        """Index of the participant of each unit."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def latent(self, part: Floats | None = None, share: float = 0.0) -> Floats:
        """Numbers of variance 1, correlated within participants; `part` contributes the given share of the variance."""
        people, everybody = len(self.sizes), int(self.sizes.sum())
        shared = self.rng.exponential(size=people) - 1 if self.skewed else self.rng.normal(size=people)
        own = np.sqrt(1 - self.correlation) * self.rng.normal(size=everybody)
        new = np.sqrt(self.correlation) * np.repeat(shared, self.sizes) + own
        return np.asarray(new if part is None else np.sqrt(share) * part + np.sqrt(1 - share) * new)

    def graded(self, confidence: Floats, loss: Floats, answered: Flags, **facts: Any) -> Graded:
        """The units with the confidences, losses and abstentions of one system."""
        clusters = Clusters(range(len(self.sizes)), self.sizes, self.person[answered])
        return Graded(len(answered), loss[answered], confidence[answered], clusters=clusters, **facts)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How a simulated system answers: its error rate, its coverage, and how far abstentions follow difficulty."""

    error: float = 0.25
    reach: float = 0.8
    tied: float = 0.5
    levels: bool = True

    def answers(self, units: Units, difficulty: Floats) -> tuple[Floats, Floats, Flags]:
        """Confidence, 0/1 loss and whether it is answered, for every unit."""
        wrong = units.latent(difficulty, 0.8) > normal_quantile(1 - self.error)
        confidence = -units.latent(difficulty, 0.6)
        answered = units.latent(difficulty, self.tied) <= normal_quantile(self.reach)
        return _in_levels(confidence) if self.levels else confidence, wrong.astype(np.float64), answered

    def graded(self, units: Units, difficulty: Floats) -> Graded:
        """The units graded by this system's answers."""
        return units.graded(*self.answers(units, difficulty), largest_loss=1)


def _in_levels(confidence: Floats) -> Floats:
    return np.clip(np.rint(_TOP / 2 + 1.5 * confidence), 0, _TOP)


def _units(rng: np.random.Generator, participants: int, **facts: Any) -> Units:
    return Units(rng, np.full(participants, _ITEMS), **facts)


def _one(units: Units, behaviour: Behaviour) -> DataSet:
    return {"": {LEFT: behaviour.graded(units, units.latent())}}


@design("discrete", "8 units each, a confidence of 0 to 6, 0/1 loss, a sixth of the answers wrong")
def discrete(rng: np.random.Generator, participants: int) -> DataSet:
    """Draw the base case, which the other designs change in one respect each."""
    return _one(_units(rng, participants), Behaviour())


@design("continuous", "a confidence without ties")
def continuous(rng: np.random.Generator, participants: int) -> DataSet:
    """Draw data in which no two units have equal confidence."""
    return _one(_units(rng, participants), Behaviour(levels=False))


@design("sizes", "1 to 30 units each")
def sizes(rng: np.random.Generator, participants: int) -> DataSet:
    """Draw participants with very different numbers of units."""
    return _one(Units(rng, rng.integers(1, 31, participants)), Behaviour())


@design("heavy_tail", "a loss with a heavy tail (log-normal, σ = 1.2)")
def heavy_tail(rng: np.random.Generator, participants: int) -> DataSet:
    """Draw unbounded losses, in hundredths."""
    units = _units(rng, participants)
    difficulty = units.latent()
    confidence, _, answered = Behaviour().answers(units, difficulty)
    loss = np.rint(100 * np.exp(1.2 * units.latent(difficulty, 0.5)))
    return {"": {LEFT: units.graded(confidence, loss, answered, divisor=100)}}


@design("errors_5", "5 % of the answers wrong, abstentions by chance")
def errors_5(rng: np.random.Generator, participants: int) -> DataSet:
    """Draw a system that is rarely wrong."""
    return _one(_units(rng, participants), Behaviour(error=0.05, reach=0.9, tied=0))


@design("errors_2", "2 % of the answers wrong, abstentions by chance")
def errors_2(rng: np.random.Generator, participants: int) -> DataSet:
    """Draw a system that is hardly ever wrong."""
    return _one(_units(rng, participants), Behaviour(error=0.02, reach=0.9, tied=0))


@design("alike", "the units of a participant nearly the same (ρ = .85), participants skewed")
def alike(rng: np.random.Generator, participants: int) -> DataSet:
    """Draw strongly correlated units."""
    return _one(_units(rng, participants, correlation=0.85, skewed=True), Behaviour())


@design("abstains_on_errors", "wrong answers are withheld three times as often as right ones")
def abstains_on_errors(rng: np.random.Generator, participants: int) -> DataSet:
    """Draw a system that withholds wrong answers more often than right ones."""
    units = _units(rng, participants)
    confidence, loss, _ = Behaviour(error=0.35).answers(units, units.latent())
    answered = units.latent() <= np.where(loss > 0, normal_quantile(0.4), normal_quantile(0.8))
    return {"": {LEFT: units.graded(confidence, loss, answered, largest_loss=1)}}


@design("rare_clusters", "about 23 of 250 participants with errors, and many of those", participants=(250,))
def rare_clusters(rng: np.random.Generator, participants: int) -> DataSet:
    """Draw a system that errs on a few participants only."""
    units = _units(rng, participants)
    difficulty = units.latent()
    confidence, _, answered = Behaviour(reach=0.9).answers(units, difficulty)
    prone = (rng.random(participants) < _PRONE)[units.person]
    loss = (prone & (units.latent(difficulty, 0.5) > normal_quantile(0.6))).astype(np.float64)
    return {"": {LEFT: units.graded(confidence, loss, answered, largest_loss=1)}}


@_paired("same_curves", "two systems with one curve, of which the first ends earlier", no_difference="cut")
def same_curves(rng: np.random.Generator, participants: int) -> DataSet:
    """Draw two systems with the same answers, one of which withholds those it is least confident of."""
    units = _units(rng, participants)
    difficulty = units.latent()
    systems = {}
    for name, lowest in ((LEFT, 2), (RIGHT, 0)):
        confidence, loss, _ = Behaviour().answers(units, difficulty)
        systems[name] = units.graded(confidence, loss, confidence >= lowest, largest_loss=1)
    return {"": systems}


@_paired("independent", "two systems of one kind, unrelated", no_difference="all")
def independent(rng: np.random.Generator, participants: int) -> DataSet:
    """Draw two systems whose errors are independent."""
    units = _units(rng, participants)
    return {"": {name: Behaviour().graded(units, units.latent()) for name in (LEFT, RIGHT)}}


def _some_changed(rng: np.random.Generator, participants: int, changed: int) -> DataSet:
    """The second system is the first, but answers so many of 41 participants anew, and better."""
    units = _units(rng, participants)
    other = (rng.random(participants) < changed / 41)[units.person]
    confidence, loss, answered = Behaviour().answers(units, units.latent())
    systems = {LEFT: units.graded(confidence, loss, answered, largest_loss=1)}
    anew = Behaviour(error=0.1).answers(units, units.latent())
    confidence, loss = np.where(other, anew[0], confidence), np.where(other, anew[1], loss)
    systems[RIGHT] = units.graded(confidence, loss, np.where(other, anew[2], answered), largest_loss=1)
    return {"": systems}


for _changed in (3, 10):
    _words = f"two systems that differ in about {_changed} of 41 participants, in whom the second is better"
    _paired(f"discordant_{_changed}", _words)(partial(_some_changed, changed=_changed))


@_paired(
    "eight_confidences",
    "two systems of one kind under eight confidences, the first counted alone and all at once",
    no_difference="all",
    numbers=("augrc", "risk@0.3"),
)
def eight_confidences(rng: np.random.Generator, participants: int) -> DataSet:
    """Draw two systems compared under eight confidences, with no difference in any of them."""
    units = _units(rng, participants)
    difficulty = units.latent()
    columns = {name: Behaviour(levels=False).answers(units, difficulty) for name in (LEFT, RIGHT)}
    return {
        f"confidence {number}": {
            name: units.graded(_in_levels(units.latent(shared, 0.5)), loss, answered, largest_loss=1)
            for name, (shared, loss, answered) in columns.items()
        }
        for number in range(8)
    }
