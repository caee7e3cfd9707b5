"""The journal of a run: a line with a checksum for every step, so that a run that was killed can be resumed."""

from __future__ import annotations

import errno
import json
import os
import re
import threading
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from demur.errors import UserError, located
from demur.produce.endpoint import Key
from demur.types import Json

VERSION = 1
_LINE = re.compile(rb'(\{.*), "crc": ([0-9]{1,10})\}', re.DOTALL)
_FREE = ("request",)  # kinds that are not synced to disk by themselves, but with the next record


@dataclass(slots=True)
class Journal:
    """An append-only file that many threads may write to, as a context manager."""

    path: Path
    _file: int = -1
    _torn: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> Self:
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def append(self, kind: str, key: Key, content: Json) -> None:
        """Append a record and sync it to disk; it has ids and numbers, and no text of transcripts or answers."""
        line = line_of({"v": VERSION, "kind": kind, "key": [*key], **content})
        with self._lock:
            if self._torn:  # after a partial line of another thread, this one would be lost too
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._torn = True
            self._torn = os.write(self._file, line) < len(line)
            if kind not in _FREE:
                os.fsync(self._file)


def line_of(record: Json) -> bytes:
    """A record as a line with a checksum."""
    text = json.dumps(record, allow_nan=False)[:-1].encode()
    return text + f', "crc": {zlib.crc32(text)}}}\n'.encode()


def replayed(path: Path) -> tuple[list[Json], int]:
    """All records, and the number of bytes of a torn last line that were cut off; other damaged lines are errors."""
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
    record = json.loads(match[1] + b"}")
    return record if isinstance(record, dict) else None
