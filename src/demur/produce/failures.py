"""Failures: why a participant has no scores, or why the run cannot go on.

A failure holds a category, counts and lengths. It never holds the text of an exception or of an answer: either may
quote what somebody said.
"""

import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from demur.types import Json


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of failure, when it happens, and whether several in a row mean that the endpoint stopped answering."""

    name: str
    when: str
    of_endpoint: bool = False


CATEGORIES = {
    category.name: category
    for category in (
        Category("transcript_missing", "there is no transcript"),
        Category("transcript_unreadable", "the transcript is not UTF-8 text, or not in the format of its name"),
        Category("transcript_empty", "nothing is left of the transcript after cleaning"),
        Category("context_overflow", "the prompt is longer than the context of the model"),
        Category("evidence_invalid", "no answer with quotes fits the schema, after all tries"),
        Category("evidence_truncated", "quotes were cut off, with twice the tokens too"),
        Category("evidence_ungrounded", "no quote is in the transcript, and on_ungrounded is fail"),
        Category("scoring_invalid", "no answer with scores fits the schema, after all tries"),
        Category("scoring_truncated", "scores were cut off, with twice the tokens too"),
        Category("refused", "a content filter, a refusal, or an empty answer"),
        Category("timeout", "no answer in time, after all retries", of_endpoint=True),
        Category("connection", "no connection, or it broke, after all retries", of_endpoint=True),
        Category("rate_limited", "too many requests, after all retries", of_endpoint=True),
        Category("server_error", "a status of 500 or more, after all retries", of_endpoint=True),
        Category("request_rejected", "another status of 400 or more, or a redirection", of_endpoint=True),
        Category("logprobs_missing", "no log-probabilities, though the probe had found some"),
        Category("logprobs_unaligned", "the tokens do not spell the answer"),
        Category("embedding_invalid", "an embedding of the wrong dimension, not finite, or zero"),
        Category("consistency_incomplete", "fewer valid samples than were asked for"),
        Category("internal", "a bug in demur: the type of the exception and where it was raised"),
    )
}
MOST_IN_A_ROW = 10  # failures of the endpoint after which a run stops


@dataclass(slots=True, eq=False)
class ParticipantFailure(Exception):  # noqa: N818  (it is recorded, not told as a mistake)
    """One participant cannot be assessed in one mode. `numbers` are counts, lengths, and names of types."""

    category: str
    step: str = ""
    sample: int | None = None
    status: int | None = None
    attempts: int = 0
    numbers: Json = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.category not in CATEGORIES:
            raise KeyError(self.category)

    @property
    def of_endpoint(self) -> bool:
        """Whether it is about the endpoint rather than the participant."""
        return CATEGORIES[self.category].of_endpoint

    def record(self) -> Json:
        """As the journal and the failure file hold it."""
        found: dict[str, Any] = {"category": self.category, "step": self.step, "sample": self.sample}
        return found | {"attempts": self.attempts, "http_status": self.status} | self.numbers


class EndpointError(Exception):
    """The endpoint cannot do what was asked, or stopped answering: the run ends with exit code 5."""


class Stopped(Exception):  # noqa: N818  (nothing is wrong)
    """Somebody asked to stop, or the time is up; what was begun can be resumed."""


def internal(error: Exception) -> ParticipantFailure:
    """A bug of ours, told by its type and place alone."""
    *_, last = traceback.extract_tb(error.__traceback__)
    where = {"type": type(error).__name__, "file": Path(last.filename).name, "line": last.lineno}
    return ParticipantFailure("internal", numbers=where)
