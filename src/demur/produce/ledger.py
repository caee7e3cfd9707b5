"""The ledger: the state of every participant, from the records of the journal, and the usage so far."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from demur.produce.endpoint import Key
from demur.produce.journal import Journal
from demur.types import Json

Case = tuple[str, str]  # mode and participant


@dataclass(slots=True)
class StepUsage:
    """The usage of one step's requests; a request that was retried is one request and several attempts."""

    requests: int = 0
    attempts: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    seconds: list[float] = field(default_factory=list)

    def add(self, record: Json) -> None:
        """Count one attempt."""
        self.attempts += 1
        self.requests += record["attempt"] == 1
        self.seconds.append(record["seconds"])
        for name in ("prompt_tokens", "cached_tokens", "completion_tokens"):
            setattr(self, name, getattr(self, name) + (record[name] or 0))


@dataclass(slots=True)
class Ledger:
    """The state of a run; every record is written to the journal first."""

    journal: Journal
    evidence: dict[str, Json] = field(default_factory=dict)
    retrieved: dict[str, Json] = field(default_factory=dict)
    samples: dict[Case, dict[int, Json]] = field(default_factory=lambda: defaultdict(dict))
    done: dict[Case, Json] = field(default_factory=dict)
    failed: dict[Case, Json] = field(default_factory=dict)
    usage: dict[str, StepUsage] = field(default_factory=lambda: defaultdict(StepUsage))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def append(self, kind: str, key: Key, content: Json) -> None:
        """Write a record to the journal, and update the state."""
        self.journal.append(kind, key, content)
        with self._lock:
            self._take(kind, key, content)

    def replay(self, records: Iterable[Json]) -> None:
        """Update the state from earlier records."""
        for record in records:
            mode, person, step, sample = record["key"]
            self._take(record["kind"], (mode, person, step, sample), record)

    def is_final(self, case: Case) -> bool:
        """Whether a participant is done or failed in a mode."""
        return case in self.done or case in self.failed

    def emptied(self) -> int:
        """The number of items that the character budget left without a reference."""
        return sum(content["emptied"] for content in self.retrieved.values())

    def _take(self, kind: str, key: Key, content: Json) -> None:
        mode, person, step, sample = key
        if kind == "request":
            self.usage[step].add(content)
        elif kind == "evidence":
            self.evidence[person] = content["items"]
        elif kind == "retrieved":
            self.retrieved[person] = {name: content[name] for name in ("references", "emptied")}
        elif kind == "sample":
            self.samples[mode, person][sample] = content
        elif kind == "done":
            self.done[mode, person] = {name: content[name] for name in ("predicted", "signals")}
            self.failed.pop((mode, person), None)
            self.samples.pop((mode, person), None)
        elif kind == "failed":
            failure = {name: value for name, value in content.items() if name not in ("v", "kind", "key")}
            self.failed[mode, person] = failure
