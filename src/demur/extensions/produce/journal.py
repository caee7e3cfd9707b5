"""The journal of a run: a line with a checksum for every step, so that an interrupted run can be resumed."""

from __future__ import annotations

import errno
import json
import os
import re
import threading
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from demur.errors import UserError, located
from demur.extensions.produce.endpoint import Key
from demur.types import Json

VERSION = 1
_LINE = re.compile(rb'(\{.*), "crc": ([0-9]{1,10})\}', re.DOTALL)
_NOT_SYNCED = ("request",)  # kinds that reach the disk with the next record of another kind
Case = tuple[str, str]  # mode and participant


@dataclass(slots=True)
class StepUsage:
    """The usage of one step; a request that was retried counts as one request and several attempts."""

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
        self.seconds.append(float(record["seconds"]))
        for name in ("prompt_tokens", "cached_tokens", "completion_tokens"):
            setattr(self, name, getattr(self, name) + (record[name] or 0))


@dataclass(slots=True)
class Journal:
    """An append-only file that many threads may write to, and the state of the run that its records describe.

    `cut_off` is the number of bytes of a torn last line that were removed when it was opened.
    """

    path: Path
    evidence: dict[str, Json] = field(default_factory=dict)
    retrieved: dict[str, Json] = field(default_factory=dict)
    samples: dict[Case, dict[int, Json]] = field(default_factory=lambda: defaultdict(dict))
    done: dict[Case, Json] = field(default_factory=dict)
    failed: dict[Case, Json] = field(default_factory=dict)
    usage: dict[str, StepUsage] = field(default_factory=lambda: defaultdict(StepUsage))
    cut_off: int = 0
    _file: int = -1
    _torn: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> Self:
        records, self.cut_off = replayed(self.path)
        for number, record in enumerate(records, 1):
            try:
                mode, person, step, sample = record["key"]
                self._take(record["kind"], (mode, person, step, sample), record)
            except (AttributeError, KeyError, TypeError, ValueError):
                raise UserError(f"{self.path}: line {number}: not a record of demur; begin in another folder") from None
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def append(self, kind: str, key: Key, content: Json) -> None:
        """Write a record to disk and update the state; records have no text of transcripts or answers."""
        line = line_of({"v": VERSION, "kind": kind, "key": [*key], **content})
        with self._lock:
            if self._torn:  # after a partial line of another thread, this one would be lost too
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._torn = True
            self._torn = os.write(self._file, line) < len(line)
            if kind not in _NOT_SYNCED:
                os.fsync(self._file)
            self._take(kind, key, content)

    def is_final(self, case: Case) -> bool:
        """Whether a participant is finished or failed in a mode."""
        return case in self.done or case in self.failed

    def emptied(self) -> int:
        """The number of items that the character budget left without a reference."""
        return sum(content["emptied"] for content in self.retrieved.values())

    def _take(self, kind: str, key: Key, content: Json) -> None:
        """Update the state by a record."""
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


def line_of(record: Json) -> bytes:
    """Format a record as a line with a checksum."""
    text = json.dumps(record, allow_nan=False)[:-1].encode()
    return text + f', "crc": {zlib.crc32(text)}}}\n'.encode()


def replayed(path: Path) -> tuple[list[Json], int]:
    """Read all records, and the number of bytes of a torn last line; other damaged lines are errors."""
    data = path.read_bytes() if path.exists() else b""
    records = [*_records(path, data)]
    whole = sum(size for size, _ in records)
    if whole < len(data):
        os.truncate(path, whole)
    return [record for _, record in records], len(data) - whole


def _records(path: Path, data: bytes) -> Iterator[tuple[int, Json]]:
    lines = data.splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        record = _record(line)
        if record is None and number == len(lines):
            return
        with located(f"{path}: line {number}"):
            if record is None:
                raise UserError("damaged: its checksum does not fit; restore the file, or begin in another folder")
            if record.get("v") != VERSION:
                raise UserError(f"version {record.get('v')}, expected {VERSION}; it is of another release of demur")
        yield len(line), record


def _record(line: bytes) -> Json | None:
    match = _LINE.fullmatch(line.removesuffix(b"\n"))
    if not line.endswith(b"\n") or not match or zlib.crc32(match[1]) != int(match[2]):
        return None
    try:
        record = json.loads(match[1] + b"}")
    except (RecursionError, ValueError):
        return None
    return record if isinstance(record, dict) else None
