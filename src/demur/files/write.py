"""Writing: a whole file or none. What was there before stays until the new file is complete."""

import contextlib
import json
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from demur.errors import UserError


def json_text(content: Any) -> str:
    """Strict JSON with members in their order, one to a line and lists of plain values on theirs.

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
    """The text of each member of an object, as `json_text` writes it."""
    return {name: f"{_plain(name)}: {_indented(value, chr(10) + '  ')}" for name, value in content.items()}


def _indented(content: Any, line: str) -> str:
    inner = line + "  "
    if isinstance(content, dict) and content:
        members = (f"{_plain(name)}: {_indented(value, inner)}" for name, value in content.items())
        return "{" + inner + f",{inner}".join(members) + line + "}"
    if isinstance(content, list) and any(isinstance(value, (dict, list)) for value in content):
        return "[" + inner + f",{inner}".join(_indented(value, inner) for value in content) + line + "]"
    return _plain(content)


def _plain(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a character, which no file can hold
        return json.dumps(value, allow_nan=False)
    return text


def write_whole(path: str | Path, content: str | bytes, *, inputs: Iterable[str | Path] = ()) -> Path:
    """Write a file beside its place and move it there; never over an input. Text is written as UTF-8.

    An interrupted write leaves the old file, or none: the move is one step, and the bytes are on disk before it.
    """
    check_target(path, inputs=inputs)
    with _one_line_errors(path):
        target = Path(path).resolve()
        beside = target.with_name(f".demur-{secrets.token_hex(8)}.tmp")
        try:
            with beside.open("xb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
    return Path(path)


def check_target(path: str | Path, *, inputs: Iterable[str | Path] = ()) -> None:
    """Refuse what `write_whole` would refuse, before anything else is written."""
    with _one_line_errors(path):
        target = Path(path)
        if any(target.exists() and _is_the_file(target, given) for given in inputs):
            raise UserError(f"{path}: is an input, and an output never replaces one")
        if target.is_symlink():
            with contextlib.suppress(FileNotFoundError):  # a link to nothing yet is fine, links in a circle are not
                target.stat()
        if target.is_dir():
            raise UserError(f"{path}: is a folder, expected the name of a file to write")
        if target.exists() and not target.is_file():
            raise UserError(f"{path}: is no regular file, and will not be replaced by one")
        if not target.parent.is_dir():
            raise UserError(f"{path}: the folder {target.parent} does not exist; make it first")


@contextlib.contextmanager
def _one_line_errors(path: str | Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{path}: cannot be written ({getattr(error, 'strerror', None) or error})") from None


def _is_the_file(target: Path, given: str | Path) -> bool:
    """Whether an input is this file; one whose name no file can have is not."""
    try:
        return target.samefile(given)
    except (OSError, ValueError):
        return False
