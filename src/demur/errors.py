"""Errors that a user can cause, and their wording: one line with the rule, the value, the place and the remedy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

_LONGEST_SHOWN = 80
_LONGEST_LINE = 490  # with "demur: " before it, 500 at the most
_START = 200  # of a longer line: its place and its rule; the rest, with the way out, is its end


class UserError(ValueError):
    """An error in the input or the call; the message is one line that says what is wrong and where."""

    def __init__(self, message: str) -> None:
        super().__init__(as_line(message))

    def in_file(self, path: str | Path) -> UserError:
        """The same error with the name of the file added."""
        return UserError(f"{path}: {self}")


class IncompleteError(UserError):
    """Results read from a file lack a number or a curve that is needed."""


class located:  # noqa: N801  (reads as a verb, and costs less per row than a generator would)
    """A context that adds a place to every error raised in it: `with located(path): …`."""

    __slots__ = ("where",)

    def __init__(self, where: object) -> None:
        self.where = where

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, UserError):
            raise UserError(f"{self.where}: {error}") from None


def nearest(name: object, known: Iterable[object]) -> str | None:
    """The known name that was probably meant; None if none is similar.

    >>> nearest("evalute", ["compare", "evaluate"]), nearest("x", ["compare"])
    ('evaluate', None)
    """
    import difflib  # noqa: PLC0415  (only a mistake pays for it)

    spelled = {other.lower(): other for other in sorted(map(str, known))}
    near = difflib.get_close_matches(str(name).lower(), spelled, n=1, cutoff=0.5)
    return spelled[near[0]] if near else None


def unknown(kind: str, name: object, known: Iterable[object]) -> UserError:
    """Build the error for an unknown name; it suggests the most similar known one."""
    names = sorted(map(str, known))
    near = nearest(name, names)
    hint = f"did you mean {near}?" if near else f"there are: {', '.join(names)}"
    return UserError(f"no {kind} is called {shown(name)}; {hint}")


def unreadable(path: object, error: OSError) -> UserError:
    """Build the error for a file that cannot be read; for a folder, it says what can be done."""
    way_out = ": name a file in it"
    return UserError(
        f"{path}: cannot be read ({error.strerror}){way_out if isinstance(error, IsADirectoryError) else ''}"
    )


def check_kind(what: str, value: object, kind: type, way_out: str) -> None:
    """Raise an error unless a value is of the expected type; `way_out` says how to make such a value.

    >>> check_kind("estimate", {}, int, "int(…) makes one")
    Traceback (most recent call last):
    demur.errors.UserError: estimate was given a dict, expected int: int(…) makes one
    """
    if not isinstance(value, kind):
        raise UserError(f"{what} was given a {type(value).__name__}, expected {kind.__name__}: {way_out}")


def registered(kind: str, name: object, registry: Mapping[str, T]) -> T:
    """Look up a name in a registry; an unknown name is an error that suggests the most similar one."""
    if not isinstance(name, str) or name not in registry:
        raise unknown(kind, name, registry)
    return registry[name]


def harmless(text: str) -> str:
    """Escape characters that a terminal would interpret or cannot print, and put the text on one line."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def as_line(text: str) -> str:
    """Put a message on one line, escaped; a long one loses its middle, as its end says what to do.

    >>> len(as_line("x" * 10_000))
    490
    """
    line = harmless(text)
    return line if len(line) <= _LONGEST_LINE else f"{line[:_START]} … {line[_START + 3 - _LONGEST_LINE :]}"


def shown(name: object) -> str:
    r"""Format a name for a message: short, on one line, and escaped.

    >>> shown("Sleep"), shown(300)
    ('Sleep', '300')
    >>> print(shown("two\nlines"))
    'two\nlines'
    """
    if isinstance(name, str) and name.isprintable() and name.strip() == name != "":
        return _short(name)
    return literal(name)


def literal(value: object) -> str:
    """Format a value for a message: text in quotes, so that '2' differs from 2.

    >>> literal("2"), literal(2), literal(None)
    ("'2'", '2', 'null')
    """
    if isinstance(value, int) and abs(value) >= 10**_LONGEST_SHOWN:
        return "an integer of very many digits"
    try:
        return "null" if value is None else _short(ascii(value))
    except (RecursionError, ValueError):  # nested out of reach; an integer of very many digits inside something
        return f"a {type(value).__name__}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"


def repeated(values: Iterable[T]) -> list[T]:
    """The values that appear more than once, in order of first appearance.

    >>> repeated("abcbca")
    ['a', 'b', 'c']
    """
    return [value for value, times in Counter(values).items() if times > 1]


def and_more(first: str, count: int) -> str:
    """The first of several error messages, followed by the number of others.

    >>> and_more("Sleep: predicted 7", 3)
    'Sleep: predicted 7 (and 2 more)'
    """
    return first if count == 1 else f"{first} (and {count - 1} more)"


def without_extra(what: str, extra: str) -> UserError:
    """Build the error for a missing package, with the command that installs the extra it belongs to.

    >>> str(without_extra("figures need matplotlib", "plot"))
    "figures need matplotlib: pip install '.[plot]' in a checkout of demur"
    """
    return UserError(f"{what}: pip install '.[{extra}]' in a checkout of demur")
