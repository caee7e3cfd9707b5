"""Atomic writing: a file is written whole or not at all, and replaces an older one only when it is complete."""

import contextlib
import json
import math
import os
import platform
import re
import shutil
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from demur.errors import UserError, literal

_MACHINE = f".demur-{platform.node()}"
Content = str | bytes | Iterable[bytes]
_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_SPELLED = re.compile(rb"\\x([89a-f][0-9a-f])")


def json_text(content: Any) -> str:
    """Format a value as strict JSON with one member per line; a list of plain values is on one line.

    >>> print(json_text({"a": [1, 0.5], "b": {"c": None}}), end="")
    {
      "a": [1, 0.5],
      "b": {
        "c": null
      }
    }
    """
    return _indented(content, "\n") + "\n"


def json_members(content: dict[str, Any]) -> dict[str, str]:
    """The JSON text of each member of an object, formatted as by `json_text`."""
    return {name: f"{_member(name)}: {_indented(value, chr(10) + '  ')}" for name, value in content.items()}


def _indented(content: Any, line: str) -> str:
    inner = line + "  "
    if isinstance(content, dict) and content:
        members = (f"{_member(name)}: {_indented(value, inner)}" for name, value in content.items())
        return "{" + inner + f",{inner}".join(members) + line + "}"
    if isinstance(content, list) and any(issubclass(kind, (dict, list)) for kind in {*map(type, content)}):
        return "[" + inner + f",{inner}".join(_indented(value, inner) for value in content) + line + "]"
    return _plain(content)


def _plain(value: Any) -> str:
    if type(value) is float and math.isfinite(value):
        return repr(value)  # what the encoder would write, three times as fast
    text = _JSON.encode(value)
    if text.isascii():
        return text
    try:  # decodes UTF-8 that was typed in another locale; a lone surrogate is an error
        return text.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError:
        raise UserError(f"{literal(value)}: not UTF-8 text, so no file can hold it; write it in UTF-8") from None


_member = lru_cache(_plain)  # few distinct names, each used many times


def write_whole(
    path: str | Path, content: Content, *, inputs: Iterable[str | Path] = (), hashes: Collection[str] = ()
) -> Path:
    """Write one file atomically and never over an input; see `write_all`."""
    return write_all({path: content}, inputs=inputs, hashes=hashes)[0]


def write_all(
    contents: Mapping[str | Path, Content], *, inputs: Iterable[str | Path] = (), hashes: Collection[str] = ()
) -> list[Path]:
    """Write files under temporary names, then rename them: all of them or none. Text is written as UTF-8.

    Content may be an iterable of pieces.

    No file replaces an input, which is recognised by its path or by the SHA-256 of its bytes. An interrupted write
    leaves the old files: a rename is atomic, all bytes are on disk before the first, and a rename that fails undoes the
    others.
    """
    protected = [*inputs]
    for path in contents:
        check_target(path, protected, hashes)
    with contextlib.ExitStack() as temporaries, contextlib.ExitStack() as undo:
        moves: list[tuple[str | Path, Path, Path, Path | None]] = []
        for path, content in contents.items():
            with _one_line_errors(path):
                target = Path(path).resolve()
                _remove_stale(target.parent)
                new = temporaries.enter_context(_temporary(target, content))
                backup = len(contents) > 1 and target.exists()
                old = temporaries.enter_context(_temporary(target, target.read_bytes())) if backup else None
                moves.append((path, target, new, old))
        for path, target, new, old in moves:
            with _one_line_errors(path):
                new.replace(target)
            if old:
                undo.callback(old.replace, target)
            else:
                undo.callback(target.unlink)
        undo.pop_all()
    return [*map(Path, contents)]


@contextlib.contextmanager
def _temporary(target: Path, content: Content) -> Iterator[Path]:
    """A temporary file in the folder of a target, with the target's mode; its name contains the id of the process."""
    path = target.with_name(f"{_MACHINE}-{os.getpid()}-{os.urandom(8).hex()}.tmp")
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            whole = content.encode() if isinstance(content, str) else content
            file.writelines([whole] if isinstance(whole, bytes) else whole)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, path)
        yield path
    finally:
        path.unlink(missing_ok=True)


def _remove_stale(folder: Path) -> None:
    """Remove temporary files of processes of this machine that were killed."""
    if os.name != "posix":  # on Windows, os.kill(process, 0) ends the process
        return
    for path in folder.glob(".demur-*-*-*.tmp"):
        machine, process, _ = path.name.rsplit("-", 2)
        with contextlib.suppress(OSError, OverflowError, ValueError):  # another user's process, or another name
            if machine == _MACHINE:
                try:
                    os.kill(int(process), 0)
                except ProcessLookupError:
                    path.unlink()


def check_target(path: str | Path, inputs: Iterable[str | Path], hashes: Collection[str] = ()) -> None:
    """Raise an error for a path that cannot or must not be written: an input, a folder, or in a missing folder."""
    with _one_line_errors(path):
        target = Path(path)
        if target.exists() and any(_is_the_file(target, given) for given in inputs):
            raise UserError(f"{path}: is an input, and an output never replaces one")
        if target.is_symlink():
            with contextlib.suppress(FileNotFoundError):  # a link to a missing file is allowed, a cycle of links is not
                target.stat()
        if target.is_dir():
            raise UserError(f"{path}: is a folder, expected the name of a file to write")
        if target.exists() and not target.is_file():
            raise UserError(f"{path}: is not a regular file, and will not be replaced by one")
        if not target.parent.is_dir():
            raise UserError(f"{path}: the folder {target.parent} does not exist; make it first")
        if hashes and target.exists() and _sha256(target) in hashes:
            raise UserError(f"{path}: holds the bytes of an input, and an output never replaces one")


def _sha256(path: Path) -> str:
    import hashlib  # noqa: PLC0415  (slow to import, and few files are compared)

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def _one_line_errors(path: str | Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{path}: cannot be written ({getattr(error, 'strerror', None) or error})") from None


def _is_the_file(target: Path, given: str | Path) -> bool:
    """Whether an input is this file; the input may be a path, or a path as `shown_path` records it."""
    recorded = str(given).encode("utf-8", "surrogateescape")
    for name in (given, os.fsdecode(_SPELLED.sub(lambda byte: bytes.fromhex(byte[1].decode()), recorded))):
        with contextlib.suppress(OSError, ValueError):  # an invalid name
            if target.samefile(name):
                return True
    return False
