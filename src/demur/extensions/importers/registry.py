"""The registry of importers: functions that read the entries of a log, by the name of the tool."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from demur.facts.paths import at_path
from demur.files.limits import Limit
from demur.files.strict_json import json_objects
from demur.read.stream import stream
from demur.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """The options of an import; `choices` are those of a single tool, such as a scorer, a metric or a filter."""

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
        """The largest size of a member of an archive, in bytes."""
        return Limit("--max-member", self.max_member, "a member").size


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One answer of a log, unchanged. Paths refer to members of `record`; `failed` is the cause of a failure."""

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
    """Facts about a log as a whole, which the importer records while it reads.

    `path` is the file being read, the first of the log unless the importer says otherwise; `read_beside` are files that
    were read without being named by the user.
    """

    source: Json = field(
        default_factory=lambda: dict.fromkeys(("tool_version", "sha256", "task", "model", "run_id", "created"))
    )
    mapping: Json = field(default_factory=dict)
    warnings: list[tuple[str, str]] = field(default_factory=list)
    signal_paths: dict[str, str] = field(default_factory=dict)
    path: Path = Path()
    read_beside: list[Path] = field(default_factory=list)

    def describe(self, record: Any, paths: Mapping[str, str]) -> None:
        """Record texts about the run, such as its task and its model, from these paths of a record."""
        texts = {name: at_path(record, path) for name, path in paths.items()}
        self.source |= {name: text for name, text in texts.items() if isinstance(text, str)}

    def warn(self, code: str, message: str) -> None:
        """Record a warning."""
        self.warnings.append((code, message))


Reads = Callable[[Sequence[Path], ImportOptions, LogFacts], Iterator[LogEntry]]


def json_lines(path: Path) -> Iterator[Json]:
    """Read the records of a log with one record per line."""
    with stream(path) as file:
        yield from (record for _, record in json_objects(file.lines))


@dataclass(frozen=True, slots=True)
class Importer:
    """The declaration of a tool whose logs can be imported.

    `codes` maps texts to the scores they stand for, and `expected` describes a score in words. `own` are the rules of
    abstention that always apply, `rules` the kinds that a user may add. `noun` is the word for a row. `records` gives
    all records of a log, to list the paths in them.
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
    """Register the decorated function as the reader of a tool's logs."""

    def register(read: Reads) -> Reads:
        IMPORTERS[name] = Importer(name, read, **declared)
        return read

    return register
