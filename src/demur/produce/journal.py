"""The journal of a run: one checked line for everything that is done, so that a run that was killed can go on."""

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
_FREE = ("request",)  # kinds that are on disk with the next record, at the latest


@dataclass(slots=True)
class Journal:
    """An append-only file, written by many threads, as a context."""

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
        """One record, on disk when this returns. It holds ids, counts and numbers, and no text that anybody said."""
        line = line_of({"v": VERSION, "kind": kind, "key": [*key], **content})
        with self._lock:
            if self._torn:  # another thread could not write its line: one after it would be lost with it
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._torn = True
            self._torn = os.write(self._file, line) < len(line)
            if kind not in _FREE:
                os.fsync(self._file)


def line_of(record: Json) -> bytes:
    """A record as a line with its checksum."""
    text = json.dumps(record, allow_nan=False)[:-1].encode()
    return text + f', "crc": {zlib.crc32(text)}}}\n'.encode()


def replayed(path: Path) -> tuple[list[Json], int]:
    """All records, and how many bytes of a torn last line were cut off; a damaged line anywhere else is an error."""
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
    found = _LINE.fullmatch(line.removesuffix(b"\n"))
    if not line.endswith(b"\n") or not found or zlib.crc32(found[1]) != int(found[2]):
        return None
    record = json.loads(found[1] + b"}")
    return record if isinstance(record, dict) else None
