"""Reading of zip archives member by member, in little memory, with every compression that logs use.

The standard library's zipfile takes half a kilobyte for each member, supports zstd only from Python 3.14 on, and stops
after the first of several zstd frames, which large members consist of.
"""

from __future__ import annotations

import os
import struct
import zlib
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from demur.errors import UserError, shown, without_extra
from demur.extensions.importers.hashing import Hashes, short_hash
from demur.files.limits import FILE, check_unpacked

_STORED, _DEFLATED, _ZSTD = 0, 8, 93
_CHUNK = 1 << 16
_END, _END64, _LOCATOR64, _DIRECTORY, _LOCAL = b"PK\5\6", b"PK\6\6", b"PK\6\7", b"PK\1\2", b"PK\3\4"
_FULL = 0xFFFFFFFF
_COMMENT = 0xFFFF
_ENTRY = struct.Struct("<4s6H3L5H2L")
_UTF8, _ENCRYPTED = 1 << 11, 1
_UNITS = ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB"))
_NO_ZSTD = "reading .eval logs compressed with zstd needs Python 3.14 or backports.zstd"


class Member(NamedTuple):
    """The entry of a member in the directory of the archive."""

    name: str
    start: int
    packed: int
    size: int
    crc: int
    compression: int


class Archive:
    """An open zip file. If a name appears twice, as after a retry, the last member counts.

    It stores sixteen bytes per member, and reads the rest of the entry again when it is needed.
    """

    def __init__(self, file: BinaryIO, largest: int) -> None:
        self._file, self._largest, self._total = file, largest, 0
        self._entries, self._hashes = array("Q"), Hashes()
        self._length = file.seek(0, os.SEEK_END)
        count, start = _end(file)
        file.seek(start)
        for _ in range(count):
            self._entries.append(file.tell())
            self._hashes.add(_entry(file).name)

    @classmethod
    @contextmanager
    def opened(cls, path: str | Path, largest: int) -> Iterator[Archive]:
        """Open a file; a damaged archive is a `UserError`."""
        with Path(path).open("rb") as file:
            try:
                yield cls(file, largest)
            except (struct.error, zlib.error, EOFError):
                raise UserError("not a complete zip archive: it is damaged or ends early") from None

    def __iter__(self) -> Iterator[Member]:
        """The members in the order of the directory."""
        repeated = self._hashes.repeated()
        for index in range(len(self._entries)):
            member = self._member(index)
            if short_hash(member.name) in repeated and self.find(member.name) != member:
                continue
            yield member

    def find(self, name: str) -> Member | None:
        """The last member with a name, or None."""
        same = (self._member(index) for index in reversed(self._hashes.positions(short_hash(name))))
        return next((member for member in same if member.name == name), None)

    def read(self, member: Member) -> bytes:
        """The decompressed bytes of a member, checked against its size and CRC."""
        where = f"member {shown(member.name)}"
        if member.size > self._largest:
            size, most = _size(member.size), _size(self._largest)
            raise UserError(f"{where} would unpack to {size}: more than {most} (--max-member)")
        self._total += member.size
        FILE.check(self._total)
        check_unpacked(self._total, self._length)
        self._file.seek(member.start)
        signature, names, extra = struct.unpack("<4s22x2H", self._file.read(30))
        if signature != _LOCAL:
            raise UserError(f"{where}: damaged: it is not at the position in the directory")
        self._file.seek(names + extra, 1)
        data = bytearray()
        for piece in _unpacked(_pieces(self._file, member.packed), member.compression):
            data += piece
            if len(data) > member.size:
                break
        if len(data) != member.size or zlib.crc32(data) != member.crc:
            raise UserError(f"{where}: damaged: its size or checksum differs from the directory")
        return bytes(data)

    def _member(self, index: int) -> Member:
        self._file.seek(self._entries[index])
        return _entry(self._file)


def _entry(file: BinaryIO) -> Member:
    """Read the entry of the directory at the current position of the file."""
    entry = _ENTRY.unpack(file.read(_ENTRY.size))
    signature, _, _, flags, compression, _, _, crc, packed, size, names, extras, comment = entry[:13]
    if signature != _DIRECTORY:
        raise UserError("not a complete zip archive: its directory is damaged")
    name = file.read(names).decode("utf-8" if flags & _UTF8 else "cp437", "replace")
    size, packed, start = _large(file.read(extras), size, packed, entry[-1])
    file.seek(comment, 1)
    if flags & _ENCRYPTED:
        raise UserError(f"member {shown(name)} is encrypted")
    return Member(name, start, packed, size, crc, compression)


def _end(file: BinaryIO) -> tuple[int, int]:
    """The number of members in the directory, and its offset."""
    length = file.seek(0, 2)
    start = max(0, length - _COMMENT - 22)
    file.seek(start)
    tail = file.read()
    at = tail.rfind(_END)
    if at < 0:
        raise UserError("not a complete zip archive: it has no directory; was it copied before the run ended?")
    count, _, offset = struct.unpack_from("<H2L", tail, at + 10)
    locator = tail[max(0, at - 20) : at]
    if locator.startswith(_LOCATOR64):
        file.seek(struct.unpack_from("<Q", locator, 8)[0])
        signature, count, offset = struct.unpack("<4s28xQ8xQ", file.read(56))
        if signature != _END64:
            raise UserError("not a complete zip archive: its directory is damaged")
    return count, offset


def _large(extra: bytes, *numbers: int) -> list[int]:
    """Sizes and offset; those that do not fit 32 bits are read from an extra field, in this order."""
    at, wide = 0, iter(())
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == 1:
            wide = iter(struct.unpack_from(f"<{min(length // 8, 3)}Q", extra, at + 4))
        at += 4 + length
    return [next(wide, number) if number == _FULL else number for number in numbers]


def _pieces(file: BinaryIO, length: int) -> Iterator[bytes]:
    while length:
        piece = file.read(min(_CHUNK, length))
        if not piece:
            raise EOFError
        length -= len(piece)
        yield piece


def _unpacked(pieces: Iterator[bytes], compression: int) -> Iterator[bytes]:
    if compression == _STORED:
        return pieces
    if compression == _DEFLATED:
        return _inflated(pieces)
    if compression == _ZSTD:
        return _frames(pieces)
    raise UserError(f"compression method {compression}, expected none, deflate or zstd")


def _inflated(pieces: Iterator[bytes]) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    for piece in pieces:
        yield unpacker.decompress(piece, _CHUNK)
        while unpacker.unconsumed_tail:
            yield unpacker.decompress(unpacker.unconsumed_tail, _CHUNK)
    yield unpacker.flush()


def _frames(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Decompress zstd, frame by frame."""
    make, wrong = _zstd()
    unpacker, data = make(), b""
    try:
        for piece in pieces:
            data = piece
            while data or not (unpacker.needs_input or unpacker.eof):
                if unpacker.eof:
                    unpacker = make()
                yield unpacker.decompress(data, _CHUNK)
                data = unpacker.unused_data if unpacker.eof else b""
    except wrong:
        raise EOFError from None


def _zstd() -> tuple[Callable[[], Any], type[Exception]]:
    try:
        from compression import zstd  # noqa: PLC0415  (Python 3.14)
    except ImportError:
        try:
            from backports import zstd  # noqa: PLC0415  (an extra)
        except ImportError:
            raise without_extra(_NO_ZSTD, "inspect") from None
    return zstd.ZstdDecompressor, zstd.ZstdError


def _size(count: int) -> str:
    for unit, name in _UNITS:
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count} bytes"
