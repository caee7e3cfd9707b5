"""Text files read as streams: line by line, decompressed if gzipped, with a hash of all bytes of the file."""

import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from demur.errors import UserError, located, unreadable
from demur.facts.items import Source
from demur.files.limits import FILE, LINE, check_unpacked, read_whole
from demur.files.strict_json import decode, shown_path

Progress = Callable[[int, int], None]

_GZIP = b"\x1f\x8b"
_CHUNK = 1 << 20
_MOST_BLANK = 1_000_000  # lines one after another; a megabyte of gzip unpacks to a thousand times as many


class _Watched(io.RawIOBase):
    """The bytes of a file, hashed and counted as they are read."""

    def __init__(self, file: io.FileIO, progress: Progress | None) -> None:
        import hashlib  # noqa: PLC0415  (slow to import, and only files have a fingerprint)

        self._file = file
        self._hash, self._read = hashlib.sha256(), 0
        self._total, self._progress = os.fstat(file.fileno()).st_size, progress

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._read

    def readinto(self, buffer: Any) -> int:
        size = self._file.readinto(buffer) or 0
        self._hash.update(memoryview(buffer)[:size])
        self._read += size
        if self._progress:
            self._progress(self._read, max(self._total, self._read))
        return size

    def close(self) -> None:
        self._file.close()
        super().close()

    def fingerprint(self) -> str:
        """SHA-256 of the whole file; what has not been read yet is read now."""
        while self.readinto(bytearray(_CHUNK)):
            pass
        return self._hash.hexdigest()


class _Unpacked(gzip.GzipFile):
    """The decompressed bytes of a file, which must not be too many for its size."""

    def __init__(self, packed: io.BufferedIOBase, raw: _Watched) -> None:
        super().__init__(fileobj=packed)
        self._packed = raw

    def readinto(self, buffer: Any) -> int:
        size = super().readinto(buffer)
        check_unpacked(self.tell(), self._packed.tell())
        return size


class Stream:
    """An open text file, read by line or as a whole; its source, with the hash, is known after reading."""

    def __init__(self, path: str | Path, progress: Progress | None = None) -> None:
        self._path = Path(path)
        self._raw = _Watched(io.FileIO(path), progress)
        buffered = io.BufferedReader(self._raw, _CHUNK)
        packed = buffered.peek(2)[:2] == _GZIP
        unpacked = io.BufferedReader(_Unpacked(buffered, self._raw)) if packed else buffered
        self.text = io.TextIOWrapper(unpacked, encoding="utf-8", newline="\n")
        self.lines = self._lines()

    def _lines(self) -> Iterator[str]:
        longest, largest, read = LINE.size, FILE.size, self.text.readline
        number = total = blank = 0
        while line := read(longest + 1):
            number += 1
            total += len(line)
            blank = blank + 1 if line.isspace() else 0
            if len(line) > longest:
                with located(f"line {number}"):
                    LINE.check(len(line))
            if total > largest:
                FILE.check(total)
            if blank > _MOST_BLANK:
                raise UserError(f"line {number}: {_MOST_BLANK} empty lines before it, expected rows")
            yield line

    def whole(self) -> str:
        """The whole text."""
        return decode(read_whole(self.text.buffer))

    def close(self) -> None:
        """Close the file; closing the decompressor alone would leave it open."""
        self.text.close()
        self._raw.close()

    def source(self) -> Source:
        """The path and the hash of the file."""
        return Source(shown_path(self._path), self._raw.fingerprint())


@contextmanager
def stream(path: str | Path, progress: Progress | None = None) -> Iterator[Stream]:
    """Open a text file, gzipped or not; any failure is a `UserError` that names the file."""
    try:
        try:
            opened = Stream(path, progress)
        except (TypeError, ValueError) as error:  # not a path, or a path with a NUL in it
            raise UserError(f"cannot be read ({error})") from None
        with closing(opened):
            try:
                yield opened
            except UnicodeDecodeError as error:
                # The decoder counts from the start of its chunk, the message from the start of the text.
                position = opened.text.buffer.tell() - len(error.object) + error.start
                raise UserError(f"not UTF-8 text: byte {position} is 0x{error.object[error.start]:02x}") from None
    except UserError as error:
        raise error.in_file(path) from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise UserError(f"{path}: not valid gzip: it ends early or is damaged") from None
    except OSError as error:
        raise unreadable(path, error) from None
