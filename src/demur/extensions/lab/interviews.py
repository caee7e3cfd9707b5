"""Synthetic interviews: simulated people who mention some of their symptoms, and the answers of an ideal reader.

They make it possible to run and test everything from transcripts to a report without a patient and without a model. No
number computed from them has any clinical meaning.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from demur.errors import UserError
from demur.extensions.lab.runs import check_count, make_people
from demur.facts.instruments import PHQ8, Instrument
from demur.files.write import json_text, write_all
from demur.sampling.draws import checked_seed

_INTERVIEWER, _PARTICIPANT = "Interviewer", "Participant"
_FIRST_ID = 300
_SPOKEN, _NEIGHBOUR, _SILENT, _MORE = 0.75, 0.1, 0.05, 0.5  # probabilities
_TRAINING = 0.6  # the share of the participants whom examples are taken from
_FEWEST_TURNS = 3  # after the opening
_SECONDS = 4

_SYMPTOMS = {
    "NoInterest": "losing interest in things",
    "Depressed": "feeling down or hopeless",
    "Sleep": "trouble sleeping",
    "Tired": "having no energy",
    "Appetite": "eating too little or too much",
    "Failure": "feeling like a failure",
    "Concentrating": "trouble keeping my mind on things",
    "Moving": "moving slowly or being restless",
    "SelfHarm": "thinking i would be better off dead",
    "Nervous": "feeling on edge",
    "ControlWorry": "worrying without being able to stop",
    "WorryTooMuch": "worrying about all kinds of things",
    "TroubleRelaxing": "trouble relaxing",
    "Restless": "being so restless that i cannot sit still",
    "Irritable": "getting annoyed easily",
    "Afraid": "being afraid that something awful might happen",
}
_OFTEN = (  # from the lowest score of a scale to the highest
    ("not really", "no, not at all", "hardly ever", "that has not been a problem"),
    ("a couple of days a week", "now and then", "on some days but not most", "three or four days in two weeks"),
    ("more than half the days", "most days of the week", "more often than not", "about five days a week"),
    ("nearly every day", "nearly every night and day", "all the time really", "every single day"),
)
_BEFORE = ("", "", "um ", "well ", "i guess ", "uh ", "you know ")
_AFTER = ("", "", "", " i think", " yeah", " or so", " to be honest")
_TOWNS = ("the coast", "a small town up north", "the city", "a farm", "the hills", "the valley", "another country")
_TOPICS = (
    ("what do you like about where you live", "the food mostly", "and the weather is fine until november"),
    ("do you travel much", "last year we took the train to the sea", "my bag got lost and came back a week later"),
    ("tell me about a pet you had", "we had a dog called biscuit", "he was afraid of the vacuum cleaner"),
    ("what did you do for work", "i drove a delivery van", "the radio in it only had one station"),
)
_SMALL_TALK = ("okay", "sure", "that makes sense", "let me think", "can you say that again", "right")
_SILENCE = ("mm", "i do not know", "no comment", "pass", "can we stop soon", "hm")
_OPENING = "hello this is a made up interview and nobody in it is real where are you from"
_CLOSING = ("thank you that was all", "okay bye")
_CONFIGURATION = """\
# Made-up interviews: no number that comes of them means anything clinically
[data]
transcripts = "transcripts"
truth = "truth.csv"
split = "dev.csv"
reference_split = "train.csv"
instrument = "{instrument}"
speaker = "participant"
synthetic = true

[endpoint]
base_url = "http://127.0.0.1:8091/v1"
model = "scripted"
embedding_model = "scripted"

[assess]
prompts = "strict"
seed = {seed}
"""


@dataclass(frozen=True, slots=True)
class Statements:
    """The lines in which a participant mentions an item, and the score they imply; None without any lines."""

    lines: Sequence[str] = ()
    score: int | None = None

    def ideal(self, ambiguity: float) -> dict[str, Any]:
        """The answer of an ideal reader as JSON, with how ambiguous the item is for other readers."""
        reason = f"{len(self.lines)} lines speak of it" if self.lines else "nothing was said"
        return {"score": self.score, "quotes": [*self.lines], "reason": reason, "ambiguity": round(ambiguity, 3)}


@dataclass(frozen=True, slots=True)
class Interview:
    """The interview of one participant: lines with their speakers, and the ideal answer for each item."""

    participant: int
    lines: Sequence[tuple[str, str]]
    items: Mapping[str, Mapping[str, Any]]

    @property
    def own(self) -> list[str]:
        """The lines spoken by the participant."""
        return [line for speaker, line in self.lines if speaker == _PARTICIPANT]

    @property
    def transcript(self) -> str:
        """The interview as a tab-separated file: start and end in seconds, speaker and line."""
        rows = [
            f"{_SECONDS * number}\t{_SECONDS * number + 3}\t{speaker}\t{line}\n"
            for number, (speaker, line) in enumerate(self.lines)
        ]
        return "".join(["start_time\tstop_time\tspeaker\tvalue\n", *rows])


@dataclass(frozen=True, slots=True, eq=False)
class Interviews:
    """All interviews with their true scores. The first participants supply examples, the others are assessed."""

    seed: int
    instrument: Instrument
    interviews: Sequence[Interview]
    truth: Sequence[Sequence[int]]

    @property
    def training(self) -> int:
        """The number of participants, the first ones, who supply examples and are not assessed."""
        return min(max(round(_TRAINING * len(self.interviews)), 1), len(self.interviews) - 1)

    def answers(self) -> dict[str, Any]:
        """The answers of an ideal reader, in the format of the scripted endpoint."""
        people = [
            {
                "id": str(person.participant),
                "assessed": index >= self.training,
                "lines": person.own,
                "items": person.items,
            }
            for index, person in enumerate(self.interviews)
        ]
        low, high = self.instrument.minimum, self.instrument.maximum
        about = {"synthetic": True, "seed": self.seed, "instrument": self.instrument.name}
        return {**about, "scale": [*range(low, high + 1)], "participants": people}

    def files(self) -> dict[str, str]:
        """The text of every file, by its path in the folder."""
        names = [interview.participant for interview in self.interviews]
        prefix = self.instrument.name.replace("-", "")
        header = ["Participant_ID", *(f"{prefix}_{item}" for item in self.instrument.items), "synthetic"]
        rows = [[str(name), *map(str, scores), "true"] for name, scores in zip(names, self.truth, strict=True)]
        return {
            **{f"transcripts/{own.participant}_TRANSCRIPT.csv": own.transcript for own in self.interviews},
            "truth.csv": "".join(",".join(row) + "\n" for row in [header, *rows]),
            "train.csv": _listed(names[: self.training]),
            "dev.csv": _listed(names[self.training :]),
            "produce.toml": _CONFIGURATION.format(instrument=self.instrument.name, seed=self.seed),
            "answers.json": json_text(self.answers()),
        }

    def write(self, folder: Path) -> Path:
        """Write all files, or none, to a folder that is new or empty."""
        make_folder(folder / "transcripts", new=folder)
        write_all({folder / name: text for name, text in self.files().items()})
        return folder


def make_folder(folder: Path, *, new: Path) -> None:
    """Create a folder, `new` itself or one inside it; `new` must not exist yet or be empty."""
    try:
        if new.exists() and (not new.is_dir() or any(new.iterdir())):
            raise UserError(f"{new}: is there already; name a folder that is new or empty")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{new}: cannot be made ({error.strerror})") from None


def _listed(names: Sequence[int]) -> str:
    return "".join(f"{line}\n" for line in ["Participant_ID,synthetic", *(f"{name},true" for name in names)])


def simulated_interviews(participants: int, *, seed: int, instrument: Instrument = PHQ8) -> Interviews:
    """Simulate interviews with the people of `make_people`. The same seed gives the same interviews."""
    check_count("participants", participants, least=2)
    people = make_people(participants, seed=seed, instrument=instrument)
    rng = np.random.default_rng([checked_seed(seed), 2])
    truth: list[list[int]] = people.truth.tolist()
    interviews = []
    for index, scores in enumerate(truth):
        silent, statements = rng.random() < _SILENT, dict[str, Statements]()
        for item, score in zip(instrument.items, scores, strict=True):
            statements[item] = Statements() if silent else _statements(rng, item, score, instrument)
        lines = [*_conversation(rng, index, statements, silent=silent)]
        ambiguity = dict(zip(statements, people.difficulty[index].tolist(), strict=True))
        items = {item: own.ideal(ambiguity[item]) for item, own in statements.items()}
        interviews.append(Interview(_FIRST_ID + index, lines, items))
    return Interviews(seed, instrument, interviews, truth)


def _statements(rng: np.random.Generator, item: str, score: int, instrument: Instrument) -> Statements:
    """Random statements about an item, if it is mentioned; some imply a score that is one too high or too low."""
    if rng.random() >= _SPOKEN:
        return Statements()
    if rng.random() < _NEIGHBOUR:
        score = min(max(score + int(rng.choice([-1, 1])), instrument.minimum), instrument.maximum)
    often = _OFTEN[round((len(_OFTEN) - 1) * (score - instrument.minimum) / instrument.range)]
    lines = [f"{_any(rng, _BEFORE)}{symptom(item)} {_any(rng, often)}{_any(rng, _AFTER)}"]
    if rng.random() < _MORE:
        lines.append(f"{_any(rng, _BEFORE)}last week too {symptom(item)} {_any(rng, often)}")
    return Statements(lines, score)


def symptom(item: str) -> str:
    """The everyday words for an item, or its name if there are none.

    >>> symptom("Sleep"), symptom("Dizzy")
    ('trouble sleeping', 'dizzy')
    """
    return _SYMPTOMS.get(item, item.lower())


def _conversation(
    rng: np.random.Generator, index: int, statements: Mapping[str, Statements], *, silent: bool
) -> Iterator[tuple[str, str]]:
    """Speakers and lines of an interview. The index makes the first answers of any two participants differ."""
    yield _INTERVIEWER, _OPENING
    years, town = divmod(index, len(_TOWNS))
    yield _PARTICIPANT, f"i am from {_TOWNS[town]} and came here {years + 2} years ago"
    question, *talk = _TOPICS[int(rng.integers(len(_TOPICS)))]
    yield _INTERVIEWER, question
    yield from ((_PARTICIPANT, line) for line in ([_any(rng, _SILENCE)] if silent else talk))
    spoken = [item for item in rng.permutation([*statements]).tolist() if statements[item].lines]
    for item in spoken:
        yield _INTERVIEWER, f"have you been bothered by {symptom(item)}"
        yield from ((_PARTICIPANT, line) for line in statements[item].lines)
    for _ in range(max(_FEWEST_TURNS - len(spoken), 0)):
        yield _INTERVIEWER, "is there anything you would like to add"
        yield _PARTICIPANT, _any(rng, _SILENCE if silent else _SMALL_TALK)
    yield _INTERVIEWER, _CLOSING[0]
    yield _PARTICIPANT, _CLOSING[1]


def _any(rng: np.random.Generator, options: Sequence[str]) -> str:
    return options[int(rng.integers(len(options)))]
