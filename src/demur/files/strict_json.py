"""Strict JSON: UTF-8 without a byte order mark, no duplicate members, no NaN, no lone surrogates."""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from demur.errors import UserError, literal, located, repeated, shown, unreadable
from demur.files.limits import read_whole

T = TypeVar("T")

_MAYBE_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def read_bytes(path: str | Path) -> bytes:
    """Read the bytes of a file; any failure is a `UserError` that names the file."""
    try:
        with Path(path).open("rb") as file, located(path):
            return read_whole(file)
    except OSError as error:
        raise unreadable(path, error) from None
    except UserError:
        raise
    except (TypeError, ValueError) as error:  # not a path, or a path with a NUL in it
        raise UserError(f"{literal(path)}: cannot be read ({error})") from None


def shown_path(path: str | Path) -> str:
    r"""A path as valid UTF-8 text, the same in every locale; bytes that are not UTF-8 are written as `\xff`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def read_as(path: str | Path, parse: Callable[[Any], T]) -> T:
    """Read a JSON file and return `parse` of its content; errors name the file."""
    data = read_bytes(path)
    with located(path):
        return parse(loads(decode(data)))


def fingerprint(data: bytes) -> str:
    """SHA-256 of the bytes, in hexadecimal."""
    import hashlib  # noqa: PLC0415  (slow to import)

    return hashlib.sha256(data).hexdigest()


def decode(data: bytes) -> str:
    """Decode bytes as UTF-8 text; raise a `UserError` if they are not."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"not UTF-8 text: byte {error.start} is 0x{data[error.start]:02x}") from None


def loads(text: str, number: Callable[[str], Any] | None = None) -> Any:
    """Parse JSON strictly; `number` converts the digits of a number to something other than an int or a float.

    >>> loads('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    demur.errors.UserError: not valid JSON: the member a appears twice in one object
    """
    if text.startswith("\ufeff"):
        raise UserError("not valid JSON: the text starts with a byte order mark; save it as UTF-8 without one")
    try:
        parsed = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_float=number, parse_int=number
        )
        if _MAYBE_HALF.search(text):
            _check_halves(parsed)
    except json.JSONDecodeError as error:
        raise UserError(f"not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except (RecursionError, ValueError) as error:
        raise unparsed(error) from None
    return parsed


def unparsed(error: Exception) -> UserError:
    """Build the error for input that Python's parser gives up on: nested too deeply, or with too long integers."""
    if isinstance(error, UserError):
        return error
    what = "nested too deeply" if isinstance(error, RecursionError) else "an integer of too many digits"
    return UserError(f"not valid JSON: {what}")


def decoder(constant: Callable[[str], Any] | None = None) -> json.JSONDecoder:
    """A strict decoder for one JSON value within a longer text; `constant` converts NaN and Infinity."""
    return json.JSONDecoder(object_pairs_hook=_object, parse_constant=constant or _constant)


def json_objects(lines: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of JSON Lines, each with its position, such as "line 7"; empty lines are skipped."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        position = f"line {number}"
        with located(position):
            row = loads(line)
            if not isinstance(row, dict):
                raise UserError("expected an object")
        yield position, row


def has_half(text: str) -> bool:
    """Whether a text contains a lone surrogate, half of a character, which UTF-8 cannot encode."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def _check_halves(value: Any) -> None:
    """Refuse a lone surrogate, which an escape without its other half gives: it cannot be written to a file."""
    if isinstance(value, str):
        if has_half(value):
            raise UserError(f"not valid JSON: {literal(value)} holds half of a character")
    elif isinstance(value, (dict, list)):
        for part in value:
            _check_halves(part)
            if isinstance(value, dict):
                _check_halves(value[part])


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    parsed = dict(members)
    if len(parsed) < len(members):
        twice = repeated(name for name, _ in members)[0]
        raise UserError(f"not valid JSON: the member {shown(twice)} appears twice in one object")
    return parsed


def _constant(name: str) -> NoReturn:
    raise UserError(f"not valid JSON: {name} is not a JSON number")
