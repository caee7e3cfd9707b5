"""What an importer is: a function from the files of a log to its entries, registered under the name of the tool."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from demur.files.limits import Limit
from demur.files.strict_json import json_objects
from demur.read.stream import stream
from demur.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """What a user says about a log. `choices` are those of one tool: a scorer, a metric, a filter."""

    cluster: str | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    confidences: Mapping[str, str] = field(default_factory=dict)
    abstain: Sequence[str] = ()
    score_range: str = "0:1"
    include_text: bool = False
    max_member: str = "512M"
    choices: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def largest_member(self) -> int:
        """How many bytes a member of an archive may have."""
        return Limit("--max-member", self.max_member, "a member").size


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One answer of a log, as it is there. `record` is what paths lead into, `failed` the cause if it failed."""

    where: str
    item: str
    repeat: int = 1
    value: Any = None
    answer: str | None = None
    choice: str | None = None
    record: Json = field(default_factory=dict)
    signals: Mapping[str, float] = field(default_factory=dict)
    failed: str | None = None
    reason: str | None = None
    cluster: str | None = None


@dataclass(slots=True)
class LogFacts:
    """What is known of a log as a whole; the importer fills it in while it reads.

    `path` is the file being read, `read_beside` are files that were not named and are inputs all the same.
    """

    source: Json = field(
        default_factory=lambda: dict.fromkeys(("tool_version", "sha256", "task", "model", "run_id", "created"))
    )
    mapping: Json = field(default_factory=dict)
    warnings: list[tuple[str, str]] = field(default_factory=list)
    signal_paths: dict[str, str] = field(default_factory=dict)
    path: Path = Path()
    read_beside: list[Path] = field(default_factory=list)

    def warn(self, code: str, message: str) -> None:
        """Record a warning."""
        self.warnings.append((code, message))


Reads = Callable[[Sequence[Path], ImportOptions, LogFacts], Iterator[LogEntry]]


def json_lines(path: Path) -> Iterator[Json]:
    """The records of a log that has one on each line."""
    with stream(path) as file:
        yield from (record for _, record in json_objects(file.lines))


@dataclass(frozen=True, slots=True)
class Importer:
    """A tool whose logs can be imported.

    `codes` are texts that stand for a score and `expected` says what a score may be; `own` are the rules of abstention
    that need not be given, `rules` the kinds that may be; `noun` is what a row is called. `records` gives what paths
    lead into, whatever is to be chosen among it.
    """

    name: str
    read: Reads
    noun: str
    rules: Sequence[str]
    own: Sequence[str] = ()
    codes: Mapping[str, float] = field(default_factory=dict)
    expected: str = "a number, true or false"
    records: Callable[[Path], Iterator[Json]] = json_lines


IMPORTERS: dict[str, Importer] = {}


def importer(name: str, **declared: Any) -> Callable[[Reads], Reads]:
    """Register the function that reads the logs of a tool."""

    def register(read: Reads) -> Reads:
        IMPORTERS[name] = Importer(name, read, **declared)
        return read

    return register
