"""Scripted answers: what a made-up model says about synthetic interviews, as text with the odds of its tokens.

Everything follows from the seed of the request, the participant and the step: asked again, it says the same. Answers
are plausible and partly wrong: scores are drawn from odds around what an ideal reader would say.
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

_FORBIDDEN = "maybe"  # no schema allows it: the odds are those before a grammar, as those of real servers
_SEEN = 0.98  # the share of the odds that answers, allowed or not, have together
_MISTAKEN = 0.8  # how often the hardest items are taken for something else
_KEPT, _INVENTED = 0.9, 0.12  # how often a quote is found, and how often one is made up


@dataclass(frozen=True, slots=True)
class Drawn:
    """A value that was drawn, with the odds of all that could have been; each is one token with a space before it."""

    value: Any
    odds: Mapping[str, float]

    @property
    def text(self) -> str:
        """The value as it is written in the answer."""
        return json.dumps(self.value)


@dataclass(frozen=True, slots=True)
class Person:
    """One synthetic participant: the lines that were said, and what an ideal reader makes of each item."""

    name: str
    lines: Sequence[str]
    items: Mapping[str, Mapping[str, Any]]
    scale: Sequence[int]
    assessed: bool = True


@dataclass(slots=True)
class Prompted:
    """What a request asks: about whom (nobody, if no transcript is recognised), for which step, with which seed."""

    person: Person | None
    step: str
    seed: int
    schema: Mapping[str, Any]
    prompt: str = field(repr=False)

    @property
    def participant(self) -> str | None:
        """Whose transcript it is."""
        return self.person.name if self.person else None


@dataclass(frozen=True, slots=True)
class Script:
    """All answers: the file `answers.json` of synthetic interviews."""

    people: Sequence[Person]

    @classmethod
    def read(cls, path: str | Path) -> "Script":
        """The answers of a file that `demur simulate interviews` wrote."""
        content = read_as(path, lambda parsed: parsed)
        try:
            return cls.of(content)
        except (KeyError, TypeError):
            raise UserError(f"{path}: not the answers that demur simulate interviews writes") from None

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> "Script":
        """The answers as the file holds them."""
        scale, people = content["scale"], content["participants"]
        return cls([Person(str(who["id"]), who["lines"], who["items"], scale, who["assessed"]) for who in people])

    def asked(self, body: Mapping[str, Any]) -> Prompted:
        """What the body of a chat request asks."""
        prompt = "\n".join(str(message["content"]) for message in body["messages"])
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
        person = self.whose(prompt)
        return Prompted(person, _step(schema) if person else "probe", int(body.get("seed") or 0), schema, prompt)

    def whose(self, prompt: str) -> Person | None:
        """The participant all of whose lines are in the prompt.

        References quote lines of others, and may quote all of them: who is assessed goes first, then who said most.
        """
        within = [person for person in self.people if all(line in prompt for line in person.lines)]
        return max(within, key=lambda person: (person.assessed, len(" ".join(person.lines))), default=None)


def answer(asked: Prompted) -> Any:
    """The answer as a value that fits the schema, with choices in it."""
    if not asked.person or not asked.schema:
        return filled(asked.schema, uniform(asked.seed, asked.prompt))
    properties = asked.schema.get("properties", {})
    return {name: _of_item(asked, name, _resolved(asked.schema, member)) for name, member in properties.items()}


def _step(schema: Mapping[str, Any]) -> str:
    """Whether scores are asked for, or quotes, by the members of the schema."""
    properties = schema.get("properties", {})
    for member in properties.values():
        if "score" in _resolved(schema, member).get("properties", {}):
            return "score"
    return "evidence" if properties else "probe"


def _resolved(schema: Mapping[str, Any], member: Mapping[str, Any]) -> Mapping[str, Any]:
    """The member itself, where it only refers to a definition."""
    reference = str(member.get("$ref", ""))
    return schema["$defs"][reference.rpartition("/")[2]] if reference else member


def _of_item(asked: Prompted, item: str, schema: Mapping[str, Any]) -> Any:
    ideal = asked.person.items.get(item) if asked.person else None
    if ideal is None or asked.person is None:
        return filled(schema, uniform(asked.seed, asked.participant, asked.step, item))
    if schema.get("type") == "array":
        return [*_quotes(asked, item, ideal["quotes"])]
    members = schema.get("properties", {})
    known = (
        _scored(asked, asked.person, item)
        if "score" in members
        else {"quotes": [*_quotes(asked, item, ideal["quotes"])]}
    )
    return {name: _fitted(known[name], part) if name in known else filled(part, 0) for name, part in members.items()}


def _fitted(value: Any, schema: Mapping[str, Any]) -> Any:
    """Quotes as a list or as one text, whichever the schema has, and no longer than it allows."""
    if isinstance(value, list) and schema.get("type") == "string":
        value = " / ".join(value)
    if isinstance(value, str):
        return value[: schema.get("maxLength", len(value))]
    return value[: schema.get("maxItems", len(value))] if isinstance(value, list) else value


def _quotes(asked: Prompted, item: str, ideal: Sequence[str]) -> Iterator[str]:
    """Nearly all that an ideal reader would quote, and now and then something nobody said."""
    for number, quote in enumerate(ideal):
        if uniform(asked.seed, asked.participant, "quote", item, number) < _KEPT:
            yield quote
    if uniform(asked.seed, asked.participant, "invented", item) < _INVENTED:
        yield f"nobody ever said these words about {item}"


def _scored(asked: Prompted, person: Person, item: str) -> dict[str, Any]:
    """The members of a scored item: evidence, reason, score and confidence."""
    ideal = person.items[item]
    drawn = uniform(asked.seed, asked.participant, "score", item)
    wavering = uniform(asked.seed, asked.participant, "wavering", item)
    odds = score_odds(_taken(person, item), person.scale, ideal["ambiguity"] * (0.6 + 0.8 * wavering))
    score = _draw(odds, drawn)
    spoken = math.ceil(5 * odds[score] / _SEEN + wavering - 0.5)
    confidence = None if score == "null" else min(max(spoken, 1), 5)
    value = json.loads(score)
    quotes = [*ideal["quotes"][:1]]
    return {"evidence": quotes, "reason": ideal["reason"], "score": Drawn(value, odds), "confidence": confidence}


def _taken(person: Person, item: str) -> int | None:
    """The score that what was said is taken for, by any seed: now and then, the more so if it is hard, a wrong one."""
    score: int | None = person.items[item]["score"]
    if score is None or uniform(person.name, "taken", item) >= _MISTAKEN * person.items[item]["ambiguity"]:
        return score
    other = score + (1 if uniform(person.name, "more", item) < 1 / 2 else -1)
    return min(max(other, person.scale[0]), person.scale[-1])


def score_odds(ideal: int | None, scale: Sequence[int], ambiguity: float) -> dict[str, float]:
    """The probability of every answer: most for the ideal one, less the farther from it, the more so if it is clear.

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
    """One of the allowed answers, by a number from 0 to 1."""
    allowed = {text: share for text, share in odds.items() if text != _FORBIDDEN}
    left = drawn * sum(allowed.values())
    for text, share in allowed.items():
        left -= share
        if left < 0:
            return text
    return "null"


def filled(schema: Mapping[str, Any], drawn: float) -> Any:
    """Something that fits a schema nobody scripted an answer for, chosen by a number from 0 to 1."""
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
        return {name: filled(_resolved(schema, each), drawn) for name, each in schema.get("properties", {}).items()}
    if kind == "integer":
        return int(schema.get("minimum", 0))
    return {"array": [], "boolean": False, "number": 0.5, "null": None}.get(kind, "yes")


def uniform(*parts: object) -> float:
    """A number from 0 to 1, 1 left out, that follows from the parts alone."""
    return int.from_bytes(sha256("|".join(map(str, parts)).encode()).digest()[:6]) / 2**48
