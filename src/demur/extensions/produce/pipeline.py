"""The assessment of one participant: read the transcript, extract evidence, retrieve references, and score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from demur.errors import UserError
from demur.extensions.produce.answers import (
    Answer,
    ChatQuestion,
    ItemAnswer,
    ask,
    grounded,
    normalised,
    quotes_of,
    scores_of,
)
from demur.extensions.produce.config import BOTH, FEW_SHOT
from demur.extensions.produce.endpoint import Endpoint, Key
from demur.extensions.produce.failures import EndpointError, ParticipantFailure, Stopped, internal
from demur.extensions.produce.folder import TextFolder
from demur.extensions.produce.inputs import Inputs
from demur.extensions.produce.journal import Journal
from demur.extensions.produce.prompts import ShownPassage
from demur.extensions.produce.rate_limits import seed_of
from demur.extensions.produce.references import Library
from demur.extensions.produce.signals import assembled, item_token_signals
from demur.types import Json

T = TypeVar("T")
_NO_SAMPLE = ("scoring_invalid", "scoring_truncated")


@dataclass(frozen=True, slots=True)
class Assessor:
    """Assesses participants, one per call; steps recorded in the journal are not repeated."""

    inputs: Inputs
    journal: Journal
    endpoint: Endpoint
    texts: TextFolder
    library: Library | None
    with_logprobs: bool

    def assess(self, person: str) -> list[ParticipantFailure]:
        """Assess one participant in every mode that is not finished yet, and return the failures."""
        modes = [mode for mode in self.inputs.settings.assess.modes if not self.journal.is_final((mode, person))]
        try:
            transcript = "\n".join(self.inputs.transcripts.read(person))
            quotes = self._evidence(person, transcript)
        except Exception as error:  # noqa: BLE001  (a bug with one participant must not lose the others)
            return self._failed(modes, person, error)
        failures = []
        for mode in modes:
            try:
                self._mode(mode, person, transcript, quotes)
            except Exception as error:  # noqa: BLE001
                failures += self._failed([mode], person, error)
        return failures

    def _failed(self, modes: Sequence[str], person: str, error: Exception) -> list[ParticipantFailure]:
        """Record a failure in some modes; an error that concerns the whole run is raised again."""
        if isinstance(error, (EndpointError, OSError, Stopped, UserError)):
            raise error
        failure = error if isinstance(error, ParticipantFailure) else internal(error)
        for mode in modes:
            self.journal.append("failed", (mode, person, failure.step, failure.sample or 0), failure.record())
        return [failure]

    def _evidence(self, person: str, transcript: str) -> dict[str, list[str]]:
        """The grounded quotes of each item, which both modes share."""
        known = self.texts.evidence(person) if person in self.journal.evidence else None
        if known is not None:
            return known
        assess, prompts = self.inputs.settings.assess, self.inputs.prompts
        key: Key = (BOTH, person, "evidence", 1)
        messages, parse = prompts.evidence_messages(transcript), partial(quotes_of, prompts=prompts)
        answer = self._ask(key, messages, prompts.evidence_schema, parse)
        plain = normalised(transcript)
        evidence = {item: grounded(quotes, plain) for item, quotes in answer.value.items()}
        counts = {
            item: {"extracted": len(answer.value[item]), "grounded": len(quotes)} for item, quotes in evidence.items()
        }
        if assess.on_ungrounded == "fail" and any(answer.value.values()) and not any(evidence.values()):
            rejected = {"rejected": sum(map(len, answer.value.values()))}
            raise ParticipantFailure("evidence_ungrounded", "evidence", 1, numbers=rejected)
        self.texts.keep("evidence", person, evidence)
        self.journal.append("evidence", key, {"items": counts})
        return evidence

    def _mode(self, mode: str, person: str, transcript: str, quotes: dict[str, list[str]]) -> None:
        assess, few_shot = self.inputs.settings.assess, mode == FEW_SHOT
        references = self._references(person, quotes) if few_shot else {}
        shown = self.library.shown(references) if few_shot and self.library else []
        samples = self.journal.samples[mode, person]
        for number in range(1, assess.consistency_samples + 1):
            if number not in samples:
                self._sample((mode, person, "score", number), transcript, shown)
        listed = [samples[number] for number in range(1, assess.consistency_samples + 1)]
        result = assembled(self.journal.evidence[person], references, listed, assess.decision)
        self.journal.append("done", (mode, person, "assemble", 0), result)

    def _references(self, person: str, quotes: dict[str, list[str]]) -> Json:
        """The references of each item."""
        if self.library is None:
            return {}
        if person not in self.journal.retrieved:
            key: Key = (FEW_SHOT, person, "embed", 0)
            embed = partial(self.endpoint.embed, key=key)
            self.journal.append("retrieved", key, self.library.retrieved(quotes, embed))
        references: Json = self.journal.retrieved[person]["references"]
        return references

    def _sample(self, key: Key, transcript: str, shown: Sequence[ShownPassage]) -> None:
        prompts, settings = self.inputs.prompts, self.inputs.settings
        mode, person, step, number = key
        messages, parse = prompts.score_messages(transcript, shown), partial(scores_of, prompts=prompts)
        try:
            answer = self._ask(key, messages, prompts.score_schema, parse)
        except ParticipantFailure as failure:
            if settings.assess.consistency_samples == 1 or failure.category not in _NO_SAMPLE:
                raise
            counts: Json = {"valid_samples": len(self.journal.samples[mode, person]), "cause": failure.category}
            status, tries = failure.status, failure.attempts
            numbers = counts | failure.numbers
            raise ParticipantFailure("consistency_incomplete", step, number, status, tries, numbers) from None
        tokens = self._tokens(key, answer.tokens, answer.text)
        if self.texts.reasons:
            self.texts.keep(mode, f"{person}.{number}", {item: {**score.text} for item, score in answer.value.items()})
        self.journal.append("sample", key, {**_plain(answer.value), "tokens": tokens})

    def _tokens(self, key: Key, entries: Any, text: str) -> Json | None:
        """The token signals of every item; None if they are missing and the configuration allows that."""
        if not self.with_logprobs:
            return None
        try:
            return item_token_signals(entries, text, self.inputs.prompts.answers)
        except ParticipantFailure as failure:
            if "logprobs" in self.inputs.settings.endpoint.allow_missing:
                return None
            failure.step, failure.sample = key[2], key[3]
            raise

    def _ask(self, key: Key, messages: Sequence[Json], schema: Json, parse: Callable[[str], T]) -> Answer[T]:
        assess, scoring = self.inputs.settings.assess, key[2] == "score"
        question = ChatQuestion(
            key,
            messages,
            schema,
            seed_of(assess.seed, *key),
            assess.scoring_temperature if scoring else assess.temperature,
            assess.max_tokens,
            self.endpoint.settings.top_logprobs if scoring and self.with_logprobs else 0,
        )
        return ask(self.endpoint, question, parse, retries=self.endpoint.settings.retries)


def _plain(answers: dict[str, ItemAnswer]) -> Json:
    return {
        "scores": {item: answer.score for item, answer in answers.items()},
        "confidences": {item: answer.confidence for item, answer in answers.items()},
        "extra": {item: {**answer.extra} for item, answer in answers.items()},
    }
