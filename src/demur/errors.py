"""The mistakes a user can make, and how they are told: one line with the rule, the value, the place, the way out."""

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
    """Something in the input or the call is wrong; the message is one line that says what and where."""

    def __init__(self, message: str) -> None:
        super().__init__(as_line(message))

    def in_file(self, path: str | Path) -> UserError:
        """The same mistake, with the file it was found in."""
        return UserError(f"{path}: {self}")


class IncompleteError(UserError):
    """Results that were read from a file lack a number or a curve that is needed."""


class located:  # noqa: N801  (reads as a verb, and costs less per row than a generator would)
    """A context in which every mistake is told with where it was found: `with located(path): …`."""

    __slots__ = ("where",)

    def __init__(self, where: object) -> None:
        self.where = where

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, UserError):
            raise UserError(f"{self.where}: {error}") from None


def nearest(name: object, known: Iterable[object]) -> str | None:
    """The name that was probably meant, None if none is near.

    >>> nearest("evalute", ["compare", "evaluate"]), nearest("x", ["compare"])
    ('evaluate', None)
    """
    import difflib  # noqa: PLC0415  (only a mistake pays for it)

    spelled = {other.lower(): other for other in sorted(map(str, known))}
    near = difflib.get_close_matches(str(name).lower(), spelled, n=1, cutoff=0.5)
    return spelled[near[0]] if near else None


def unknown(kind: str, name: object, known: Iterable[object]) -> UserError:
    """The error for a name nobody registered; it offers the nearest one."""
    names = sorted(map(str, known))
    near = nearest(name, names)
    hint = f"did you mean {near}?" if near else f"there are: {', '.join(names)}"
    return UserError(f"no {kind} is called {shown(name)}; {hint}")


def unreadable(path: object, error: OSError) -> UserError:
    """The error of a file that cannot be read; of a folder, with what can be done about it."""
    way_out = ": name a file in it"
    return UserError(
        f"{path}: cannot be read ({error.strerror}){way_out if isinstance(error, IsADirectoryError) else ''}"
    )


def check_kind(what: str, value: object, kind: type, way_out: str) -> None:
    """A value must be of the kind a call takes; the way out says how such a value is made.

    >>> check_kind("estimate", {}, int, "int(…) makes one")
    Traceback (most recent call last):
    demur.errors.UserError: estimate was given a dict, expected int: int(…) makes one
    """
    if not isinstance(value, kind):
        raise UserError(f"{what} was given a {type(value).__name__}, expected {kind.__name__}: {way_out}")


def registered(kind: str, name: object, registry: Mapping[str, T]) -> T:
    """What is registered under a name."""
    if not isinstance(name, str) or name not in registry:
        raise unknown(kind, name, registry)
    return registry[name]


def harmless(text: str) -> str:
    """The same text on one line, with what a terminal would obey, or could not print, spelled out."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def as_line(text: str) -> str:
    """A message on one harmless line; a long one loses its middle, as its end says what to do.

    >>> len(as_line("x" * 10_000))
    490
    """
    line = harmless(text)
    return line if len(line) <= _LONGEST_LINE else f"{line[:_START]} … {line[_START + 3 - _LONGEST_LINE :]}"


def shown(name: object) -> str:
    r"""A name as a message shows it: short, on one line, nothing a terminal would obey.

    >>> shown("Sleep"), shown(300)
    ('Sleep', '300')
    >>> print(shown("two\nlines"))
    'two\nlines'
    """
    if isinstance(name, str) and name.isprintable() and name.strip() == name != "":
        return _short(name)
    return literal(name)


def literal(value: object) -> str:
    """A value as a message shows it: text in quotes, so that '2' is told from 2.

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
    """The values that appear more than once, in the order of their first appearance.

    >>> repeated("abcbca")
    ['a', 'b', 'c']
    """
    return [value for value, times in Counter(values).items() if times > 1]


def and_more(first: str, count: int) -> str:
    """The first of several mistakes, and how many others there are.

    >>> and_more("Sleep: predicted 7", 3)
    'Sleep: predicted 7 (and 2 more)'
    """
    return first if count == 1 else f"{first} (and {count - 1} more)"


def without_extra(what: str, extra: str) -> UserError:
    """The error for a package that is missing, with the command that installs the extra it belongs to.

    >>> str(without_extra("figures need matplotlib", "plot"))
    "figures need matplotlib: pip install '.[plot]' in a checkout of demur"
    """
    return UserError(f"{what}: pip install '.[{extra}]' in a checkout of demur")
