"""Simulated runs whose truth is known, for tests, demonstrations and planning.

A participant has a mood, items scatter around it, and each item is hard to some degree. Hard items are answered less
often, worse, and with less of every signal; all of that is what makes selective prediction worth evaluating.
"""

from collections.abc import Collection
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.confidences.grading import grade
from demur.confidences.variants import VARIANTS
from demur.errors import UserError, literal
from demur.facts.columns import Column
from demur.facts.instruments import PHQ8, Instrument, totals
from demur.facts.items import Items
from demur.facts.signals import SIGNALS
from demur.sampling.draws import checked_seed
from demur.sampling.graded import Graded
from demur.types import Flags, Floats, Integers, Json

_FIRST_ID = 300
_LOOK = 0.15  # how far a single signal strays from what the system knows


@dataclass(frozen=True, slots=True)
class System:
    """Parameters of a simulated system.

    `reluctance` is how hard an item has to be for the system to abstain rather than answer (more: fewer answers),
    `noise` how far its answers scatter, `insight` how much of an item's difficulty its signals show (0: none, 1: all).
    """

    reluctance: float = 0.3
    noise: float = 1.2
    insight: float = 0.7


ZERO_SHOT = System(reluctance=0.421, noise=2.23)
FEW_SHOT = System(reluctance=0.247, noise=2.9)


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """Simulated participants, independent of any system: one row per participant, one column per item.

    `peculiarity` is what makes every system err in the same direction on a participant.
    """

    severity: Floats
    difficulty: Floats
    peculiarity: Floats
    correlation: float
    instrument: Instrument

    @property
    def truth(self) -> Integers:
        """The true scores: severities rounded to the instrument's integers."""
        return _scores(self.severity, self.instrument)


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """The simulated answers and signals of a system; `answer` is meaningful only where `answered` is true."""

    people: People
    answer: Integers
    answered: Flags
    signals: dict[str, NDArray[Any]]

    def items(self, signals: Collection[str] | None = None) -> Items:
        """The run as a reader would return it, without writing a file; with some of its signals, or all."""
        (people, items), names = self.answer.shape, self.signals if signals is None else signals
        columns = {name: Column.from_sequence(values.ravel()) for name, values in self.signals.items() if name in names}
        return Items(
            cluster_ids=tuple(range(_FIRST_ID, _FIRST_ID + people)),
            failed=(),
            item_names=self.people.instrument.items,
            cluster=np.repeat(np.arange(people), items),
            item=np.tile(np.arange(items), people),
            truth=self.people.truth.ravel(),
            answer=np.where(self.answered, self.answer, 0).ravel(),
            answered=self.answered.ravel(),
            nan_answer=np.zeros(people * items, bool),
            signals=MappingProxyType(columns),
            instrument=self.people.instrument,
            noun="participant",
        )

    def graded(self, loss: str, confidence: str) -> Graded:
        """The run graded by a loss and a confidence."""
        needs = signals_of(confidence)
        numbers = {name for name in self.signals if not SIGNALS[name].text}
        if not needs or needs - numbers:
            needs = numbers
        return grade(self.items(needs), loss=loss, confidence=confidence)

    def to_json(self, mode: str, run_id: str) -> Json:
        """The content of a run file with this run alone."""
        return _run_file(run_id, [self.experiment(mode)])

    def experiment(self, mode: str, failures: int = 0) -> Json:
        """The run as one experiment of a run file; failed participants come last."""
        names, answers = self.people.instrument.items, self.answer.astype(object)
        answers[~self.answered] = None
        scores = zip(self.people.truth.tolist(), answers.tolist(), strict=True)
        cells = {signal: values.tolist() for signal, values in self.signals.items()}
        results: list[Json] = [
            {
                "participant_id": _FIRST_ID + person,
                "success": True,
                "error": None,
                **totals(truth, predicted),
                "ground_truth_items": dict(zip(names, truth, strict=True)),
                "predicted_items": dict(zip(names, predicted, strict=True)),
                "item_signals": {
                    name: {signal: rows[person][item] for signal, rows in cells.items()}
                    for item, name in enumerate(names)
                },
            }
            for person, (truth, predicted) in enumerate(scores)
        ]
        last = _FIRST_ID + len(results)
        results += [{"participant_id": last + n, "success": False, "error": "simulated"} for n in range(failures)]
        content = {"mode": mode, "model": "simulated", "results": results}
        return {"provenance": {"mode": mode, "split": "dev"}, "results": content}


def check_count(name: str, value: Any, least: int = 1) -> None:
    """Raise an error unless a count is an integer and large enough."""
    if type(value) is not int or value < least:
        raise UserError(f"{name} {literal(value)}, expected an integer, {least} or more")


def check_people(participants: Any, correlation: Any) -> None:
    """Raise an error unless people can be simulated with these parameters."""
    check_count("participants", participants)
    if not isinstance(correlation, (int, float)) or not 0 <= correlation <= 1:
        raise UserError(f"correlation {literal(correlation)}, expected a number from 0 to 1")


def make_people(participants: int, *, seed: int, instrument: Instrument = PHQ8, correlation: float = 0.6) -> People:
    """Simulate participants; `correlation` is the share of an item's variance that is the participant's."""
    check_people(participants, correlation)
    rng = np.random.default_rng([checked_seed(seed), 0])
    shape = (participants, len(instrument.items))
    middle = (instrument.minimum + instrument.maximum) / 2 - 0.1 * instrument.range
    severity = middle + 0.35 * instrument.range * _alike(rng, shape, correlation)
    difficulty = 1 / (1 + np.exp(-1.7 * _alike(rng, shape, correlation)))
    return People(severity, difficulty, _alike(rng, (participants, 1), 1.0), correlation, instrument)


def signals_of(confidence: str) -> set[str]:
    """The names of the signals that a confidence is computed from."""
    return {need.signal for need in VARIANTS[confidence].needs} if confidence in VARIANTS else {confidence}


def run_system(people: People, system: System, *, seed: int, signals: Collection[str] | None = None) -> Run:
    """Simulate the run of one system, with at least these signals, or all. The same seed gives the same run."""
    rng = np.random.default_rng([checked_seed(seed), 1])
    shape = people.difficulty.shape
    scatter = system.noise * (0.2 + 1.2 * people.difficulty) * people.instrument.range / 3
    own = np.sqrt(1 - people.correlation) * rng.normal(size=shape)
    error = np.sqrt(people.correlation) * people.peculiarity + own
    answer = _scores(people.severity + scatter * error, people.instrument)
    answered = people.difficulty + system.reluctance < 1 + 0.3 * rng.normal(size=shape)
    knows = system.insight * (1 - people.difficulty) + (1 - system.insight) * rng.random(shape)
    return Run(people, answer, answered, _signals(knows, rng, people.instrument, signals))


def simulated_run(
    participants: int,
    *,
    seed: int,
    failures: int = 0,
    correlation: float = 0.6,
    instrument: Instrument = PHQ8,
    run_id: str = "simulated",
) -> Json:
    """Simulate a run file with two experiments, zero_shot and few_shot, on the same people."""
    check_count("failures", failures, least=0)
    people = make_people(participants, seed=seed, instrument=instrument, correlation=correlation)
    experiments = [
        run_system(people, system, seed=seed + index).experiment(mode, failures=failures)
        for index, (mode, system) in enumerate({"zero_shot": ZERO_SHOT, "few_shot": FEW_SHOT}.items())
    ]
    return _run_file(run_id, experiments)


def _run_file(run_id: str, experiments: list[Json]) -> Json:
    return {"run_metadata": {"run_id": run_id, "git_commit": None}, "experiments": experiments}


def _alike(rng: np.random.Generator, shape: tuple[int, int], correlation: float) -> Floats:
    shared, own = rng.normal(size=(shape[0], 1)), rng.normal(size=shape)
    return np.asarray(np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own)


def _scores(severity: Floats, instrument: Instrument) -> Integers:
    return np.clip(np.rint(severity), instrument.minimum, instrument.maximum).astype(np.int64)


def _signals(
    knows: Floats, rng: np.random.Generator, instrument: Instrument, wanted: Collection[str] | None
) -> dict[str, NDArray[Any]]:
    """Every declared signal, each with some noise of its own around what the system knows (0 to 1).

    If only the signal that is drawn first is wanted, there is no other.
    """

    def look() -> Floats:
        return np.clip(knows + _LOOK * rng.normal(size=knows.shape), 0, 1)

    evidence = np.rint(5 * look()).astype(np.int64)
    if wanted is not None and set(wanted) == {"llm_evidence_count"}:
        return {"llm_evidence_count": evidence}
    keywords = rng.binomial(2, 0.3 * knows)
    similar = look()
    probability = np.clip(look(), 1e-3, 1 - 1e-3)
    agreement = np.rint(1 + 4 * look()) / 5
    sources = np.array([None, "llm", "keyword", "both"], dtype=object)
    return {
        "llm_evidence_count": evidence,
        "keyword_evidence_count": keywords,
        "evidence_source": sources[(evidence > 0) + 2 * (keywords > 0)],
        "retrieval_reference_count": np.rint(3 * look()).astype(np.int64),
        "retrieval_similarity_mean": similar,
        "retrieval_similarity_max": similar + (1 - similar) * rng.random(knows.shape) / 2,
        "verbalized_confidence": np.rint(1 + 4 * np.sqrt(look())).astype(np.int64),
        "token_msp": probability,
        "token_pe": -np.log(probability),
        "token_energy": np.log(probability) / 4,
        "consistency_modal_confidence": agreement,
        "consistency_score_std": (1 - agreement) * instrument.range / 2,
    }
