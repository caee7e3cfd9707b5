"""Failures: the reasons why a participant has no scores, or why the run cannot continue.

A failure has a category, counts and lengths. It never contains the text of an exception or of an answer, because either
may quote a transcript.
"""

import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from demur.types import Json


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of failure: when it happens, and whether several in a row mean that the endpoint is down."""

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
class ParticipantFailure(Exception):  # noqa: N818  (it is recorded, not shown as an error)
    """Raised if a participant cannot be assessed in a mode. `numbers` are counts, lengths and type names."""

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
        """Whether the endpoint failed, rather than something about the participant."""
        return CATEGORIES[self.category].of_endpoint

    def record(self) -> Json:
        """The failure as a record of the journal and of the failure file."""
        members: dict[str, Any] = {"category": self.category, "step": self.step, "sample": self.sample}
        return members | {"attempts": self.attempts, "http_status": self.status} | self.numbers


class EndpointError(Exception):
    """Raised if the endpoint lacks a capability or stopped answering; the run ends with exit code 5."""


class Stopped(Exception):  # noqa: N818  (not an error)
    """Raised if the user interrupted the run or its time is up; the run can be resumed."""


def internal(error: Exception) -> ParticipantFailure:
    """Build the failure for a bug in demur: only the type of the exception and where it was raised."""
    *_, last = traceback.extract_tb(error.__traceback__)
    where = {"type": type(error).__name__, "file": Path(last.filename).name, "line": last.lineno}
    return ParticipantFailure("internal", numbers=where)
