"""The file format of a summary: a line with the format's name and version, a JSON header, arrays, and a SHA-256."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.errors import UserError, located
from demur.extensions.scale.header import Header
from demur.extensions.scale.ids import Ids
from demur.extensions.scale.summary import Summary
from demur.facts.items import Source
from demur.files.limits import MEMBER
from demur.files.strict_json import decode, loads, shown_path

_MARK = b"demur summary "
_VERSION = b"1"
_LONGEST_MARK = 32
_DIGEST, _CHUNK = 32, 1 << 20
_DAMAGED = "damaged: its bytes are not those that were written; summarize its parts anew"
_KINDS = re.compile("[<>|][iufS][0-9]{1,9}")


def content(summary: Summary) -> Iterator[bytes]:
    """The bytes of the file; they do not depend on how the units were split into parts."""
    arrays = _arrays(summary)
    shapes = [[name, array.dtype.str, len(array)] for name, array in arrays.items()]
    start = {"about": summary.header.model_dump(), "arrays": shapes}
    text = json.dumps(start, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    hashed = hashlib.sha256()
    for piece in (_MARK + _VERSION + b"\n", len(text).to_bytes(8, "little"), text, *map(_plain, arrays.values())):
        hashed.update(piece)
        yield piece
    yield hashed.digest()


def read_summary(path: str | Path) -> tuple[Summary, Source]:
    """A summary and its source; a truncated or altered file is an error."""
    from pydantic import ValidationError  # noqa: PLC0415  (large, and only reading needs it)

    from demur.files.strict_reading import one_line  # noqa: PLC0415

    with located(path):
        try:
            with Path(path).open("rb") as file:
                digest, remaining = _checked(file)
                size = int.from_bytes(file.read(8), "little")
                if size > remaining - 8:
                    raise UserError(_DAMAGED)
                start = loads(decode(file.read(size)))
                arrays = _read_arrays(start["arrays"], file, remaining - 8 - size)
            summary = _summary(Header.model_validate(start["about"]), arrays)
        except OSError as error:
            raise UserError(f"cannot be read ({error.strerror})") from None
        except ValidationError as error:
            raise UserError(f"not a summary: {one_line(error)}") from None
        except (KeyError, TypeError, IndexError, ValueError) as error:
            raise error if isinstance(error, UserError) else UserError(_DAMAGED) from None
    return summary, Source(shown_path(path), digest)


def _checked(file: BufferedReader) -> tuple[str, int]:
    """The hash of the file and the number of bytes between its first line and its hash; seeks behind that line."""
    total = os.fstat(file.fileno()).st_size
    MEMBER.check(total)
    line, _, _ = file.read(_LONGEST_MARK).partition(b"\n")
    if not line.startswith(_MARK):
        raise UserError("not a summary: demur summarize writes them")
    version = line.removeprefix(_MARK)
    if version != _VERSION:
        name = version[:12].decode("ascii", "replace")
        raise UserError(
            f"a summary of version {name}, expected {_VERSION.decode()}: use the demur that wrote it, or summarize anew"
        )
    remaining = total - len(line) - 1 - _DIGEST
    if remaining < 8:  # noqa: PLR2004  (the length of the header)
        raise UserError("cut off: it ends before its counts do; copy it again, or summarize its parts anew")
    file.seek(0)
    hashed = hashlib.sha256()
    for start in range(0, total - _DIGEST, _CHUNK):
        hashed.update(file.read(min(_CHUNK, total - _DIGEST - start)))
    if file.read() != hashed.digest():
        raise UserError(_DAMAGED)
    file.seek(len(line) + 1)
    hashed.update(hashed.digest())
    return hashed.hexdigest(), remaining


def _arrays(summary: Summary) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {
        "cluster_numbers": summary.ids.numbers,
        "cluster_texts": summary.ids.texts,
        "failed_numbers": summary.failed.numbers,
        "failed_texts": summary.failed.texts,
        "digests": summary.digests,
        "losses": summary.losses,
        "count": summary.count,
    }
    arrays |= {f"values_{index}": values for index, values in enumerate(summary.values.values())}
    return arrays | {f"column_{index}": column for index, column in enumerate(summary.columns)}


def _plain(array: NDArray[Any]) -> bytes:
    return np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False)).tobytes()


def _read_arrays(shapes: list[list[Any]], file: BufferedReader, remaining: int) -> dict[str, NDArray[Any]]:
    """The arrays, each with its own memory, so that one can be kept without the others."""
    arrays = dict[str, NDArray[Any]]()
    for name, kind, length in shapes:
        if not isinstance(kind, str) or not _KINDS.fullmatch(kind):
            raise UserError(_DAMAGED)
        dtype = np.dtype(kind)
        if type(length) is not int or not 0 <= length * max(dtype.itemsize, 1) <= remaining:
            raise UserError(_DAMAGED)
        arrays[name] = np.empty(length, dtype)
        remaining -= arrays[name].nbytes
        if file.readinto(arrays[name].view(np.uint8).data) != arrays[name].nbytes:
            raise UserError(_DAMAGED)
    if remaining:
        raise UserError(_DAMAGED)
    return arrays


def _summary(header: Header, arrays: dict[str, NDArray[Any]]) -> Summary:
    """The validated summary of a header and its arrays."""
    columns = 3 + len(header.groups) + len(header.signals)
    summary = Summary(
        header,
        Ids(arrays["cluster_numbers"], arrays["cluster_texts"]),
        arrays["digests"],
        Ids(arrays["failed_numbers"], arrays["failed_texts"]),
        {signal.name: arrays[f"values_{index}"] for index, signal in enumerate(header.signals)},
        arrays["losses"],
        [arrays[f"column_{index}"] for index in range(columns)],
        arrays["count"],
    )
    summary.check()
    return summary
