"""Scripted answers of a made-up model about synthetic interviews, with the probabilities of their tokens.

An answer depends only on the seed of the request, the participant and the step, so that the same question gets the same
answer. Answers are plausible and partly wrong: scores are drawn from a distribution around those of an ideal reader.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from demur.errors import UserError
from demur.files.strict_json import read_as

_FORBIDDEN = "maybe"  # allowed by no schema: like real servers, the script gives probabilities before the grammar
_SEEN = 0.98  # the total probability of the answers, allowed or not
_MISTAKEN = 0.8  # how often the hardest items are misread
_QUOTED, _INVENTED = 0.9, 0.12  # how often a quote is given, and how often one is invented


@dataclass(frozen=True, slots=True)
class Drawn:
    """A drawn value, with the probabilities of all possible ones; each is one token with a space before it."""

    value: Any
    odds: Mapping[str, float]

    @property
    def text(self) -> str:
        """The value as JSON."""
        return json.dumps(self.value)


@dataclass(frozen=True, slots=True)
class Person:
    """A synthetic participant: the lines of the transcript, and the answer of an ideal reader for each item."""

    name: str
    lines: Sequence[str]
    items: Mapping[str, Mapping[str, Any]]
    scale: Sequence[int]
    assessed: bool = True


@dataclass(slots=True)
class Prompted:
    """The question in a request: the participant (None if no transcript is recognised), the step and the seed."""

    person: Person | None
    step: str
    seed: int
    schema: Mapping[str, Any]
    prompt: str = field(repr=False)

    @property
    def participant(self) -> str | None:
        """The name of the participant."""
        return self.person.name if self.person else None


@dataclass(frozen=True, slots=True)
class Script:
    """The answers for all participants, from the file `answers.json` of synthetic interviews."""

    people: Sequence[Person]

    @classmethod
    def read(cls, path: str | Path) -> "Script":
        """Read the file that `demur simulate interviews` wrote."""
        content = read_as(path, lambda parsed: parsed)
        try:
            return cls.of(content)
        except (KeyError, TypeError):
            raise UserError(f"{path}: not the answers that demur simulate interviews writes") from None

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> "Script":
        """Build the script from the content of the file."""
        scale, people = content["scale"], content["participants"]
        return cls([Person(str(own["id"]), own["lines"], own["items"], scale, own["assessed"]) for own in people])

    def question(self, body: Mapping[str, Any]) -> Prompted:
        """Recognise the question in the body of a chat request."""
        prompt = "\n".join(str(message["content"]) for message in body["messages"])
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
        person = self.person_in(prompt)
        return Prompted(person, _step(schema) if person else "probe", int(body.get("seed") or 0), schema, prompt)

    def person_in(self, prompt: str) -> Person | None:
        """The participant whose lines are all in the prompt; None if there is none.

        Because references may quote all lines of others, an assessed participant is preferred, then the longest text.
        """
        within = [person for person in self.people if all(line in prompt for line in person.lines)]
        return max(within, key=lambda person: (person.assessed, len(" ".join(person.lines))), default=None)


def answer(question: Prompted) -> Any:
    """Compute the answer to a question as a value that fits its schema; drawn values are `Drawn`."""
    if not question.person or not question.schema:
        return filled(question.schema, uniform(question.seed, question.prompt))
    properties = question.schema.get("properties", {})
    return {name: _of_item(question, name, _resolved(question.schema, member)) for name, member in properties.items()}


def _step(schema: Mapping[str, Any]) -> str:
    """The step, scores or evidence, that the members of a schema belong to."""
    properties = schema.get("properties", {})
    for member in properties.values():
        if "score" in _resolved(schema, member).get("properties", {}):
            return "score"
    return "evidence" if properties else "probe"


def _resolved(schema: Mapping[str, Any], member: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = str(member.get("$ref", ""))
    return schema["$defs"][reference.rpartition("/")[2]] if reference else member


def _of_item(question: Prompted, item: str, schema: Mapping[str, Any]) -> Any:
    ideal = question.person.items.get(item) if question.person else None
    if ideal is None or question.person is None:
        return filled(schema, uniform(question.seed, question.participant, question.step, item))
    if schema.get("type") == "array":
        return [*_quotes(question, item, ideal["quotes"])]
    members = schema.get("properties", {})
    known = (
        _scored(question, question.person, item)
        if "score" in members
        else {"quotes": [*_quotes(question, item, ideal["quotes"])]}
    )
    return {name: _fitted(known[name], part) if name in known else filled(part, 0) for name, part in members.items()}


def _fitted(value: Any, schema: Mapping[str, Any]) -> Any:
    """A value shortened to what the schema allows; quotes are a list or one text, as in the schema."""
    if isinstance(value, list) and schema.get("type") == "string":
        value = " / ".join(value)
    if isinstance(value, str):
        return value[: schema.get("maxLength", len(value))]
    return value[: schema.get("maxItems", len(value))] if isinstance(value, list) else value


def _quotes(question: Prompted, item: str, ideal: Sequence[str]) -> Iterator[str]:
    """Most of the quotes of an ideal reader, and sometimes an invented one."""
    for number, quote in enumerate(ideal):
        if uniform(question.seed, question.participant, "quote", item, number) < _QUOTED:
            yield quote
    if uniform(question.seed, question.participant, "invented", item) < _INVENTED:
        yield f"nobody ever said these words about {item}"


def _scored(question: Prompted, person: Person, item: str) -> dict[str, Any]:
    """The members of a scored item: evidence, reason, score and confidence."""
    ideal = person.items[item]
    drawn = uniform(question.seed, question.participant, "score", item)
    wavering = uniform(question.seed, question.participant, "wavering", item)
    odds = score_odds(_perceived(person, item), person.scale, ideal["ambiguity"] * (0.6 + 0.8 * wavering))
    score = _draw(odds, drawn)
    spoken = math.ceil(5 * odds[score] / _SEEN + wavering - 0.5)
    confidence = None if score == "null" else min(max(spoken, 1), 5)
    value = json.loads(score)
    quotes = [*ideal["quotes"][:1]]
    return {"evidence": quotes, "reason": ideal["reason"], "score": Drawn(value, odds), "confidence": confidence}


def _perceived(person: Person, item: str) -> int | None:
    """The score that the model perceives, with any seed: that of the ideal reader, or a neighbour for hard items."""
    score: int | None = person.items[item]["score"]
    if score is None or uniform(person.name, "taken", item) >= _MISTAKEN * person.items[item]["ambiguity"]:
        return score
    other = score + (1 if uniform(person.name, "more", item) < 1 / 2 else -1)
    return min(max(other, person.scale[0]), person.scale[-1])


def score_odds(ideal: int | None, scale: Sequence[int], ambiguity: float) -> dict[str, float]:
    """The probability of every answer, which falls with the distance from the ideal one, faster for clear items.

    >>> {answer: round(odds, 2) for answer, odds in score_odds(2, range(4), 0.5).items()}
    {'0': 0.02, '1': 0.11, '2': 0.63, '3': 0.11, 'null': 0.09, 'maybe': 0.02}
    """
    steepness = 2.5 - 1.5 * ambiguity
    if ideal is None:
        weights = {str(score): 0.4 * ambiguity * math.exp(score * -0.7) for score in scale}
    else:
        weights = {str(score): math.exp(-steepness * abs(score - ideal)) for score in scale}
    weights["null"] = 1.0 if ideal is None else 0.3 * ambiguity
    weights[_FORBIDDEN] = 0.02 * sum(weights.values())
    total = sum(weights.values()) / _SEEN
    return {text: weight / total for text, weight in weights.items()}


def _draw(odds: Mapping[str, float], drawn: float) -> str:
    """One of the allowed answers, selected by a number from 0 to 1."""
    allowed = {text: share for text, share in odds.items() if text != _FORBIDDEN}
    left = drawn * sum(allowed.values())
    for text, share in allowed.items():
        left -= share
        if left < 0:
            return text
    return "null"


def filled(schema: Mapping[str, Any], drawn: float) -> Any:
    """A value that fits a schema, for requests without a scripted answer, selected by a number from 0 to 1."""
    if "anyOf" in schema:
        return filled(schema["anyOf"][0], drawn)
    if "enum" in schema:
        options = schema["enum"]
        value = options[int(drawn * len(options))]
        spelled = [*map(json.dumps, options), _FORBIDDEN]
        return Drawn(value, dict.fromkeys(spelled, _SEEN / len(spelled)))
    kind = schema.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        members = schema.get("properties", {})
        return {name: filled(_resolved(schema, member), drawn) for name, member in members.items()}
    if kind == "integer":
        return int(schema.get("minimum", 0))
    return {"array": [], "boolean": False, "number": 0.5, "null": None}.get(kind, "yes")


def uniform(*parts: object) -> float:
    """A pseudorandom number in [0, 1) that depends only on its arguments."""
    return int.from_bytes(sha256("|".join(map(str, parts)).encode()).digest()[:6]) / 2**48
