"""The mistakes a user can make, and how they are told: one line with the rule, the value, the place, the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_LONGEST_SHOWN = 60


class UserError(ValueError):
    """Something in the input or the call is wrong; the message is one line that says what and where."""

    def in_file(self, path: str | Path) -> UserError:
        """The same mistake, with the file it was found in."""
        return UserError(f"{path}: {self}")


def unknown(kind: str, name: str, known: Iterable[str]) -> UserError:
    """The error for a name nobody registered; it offers the nearest one."""
    return UserError(f"no {kind} is called {shown(name)}{_hint(name, sorted(known))}")


def _hint(name: str, known: list[str]) -> str:
    import difflib  # noqa: PLC0415  (only a mistake pays for it)

    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    return f"; did you mean {near[0]}?" if near else f"; there are: {', '.join(known)}"


def shown(value: object) -> str:
    r"""A value as a message shows it: short, on one line, nothing a terminal would obey.

    >>> shown("Sleep"), shown(7)
    ('Sleep', '7')
    >>> print(shown("two\nlines"))
    'two\nlines'
    """
    if isinstance(value, str):
        text = value if value.isprintable() and value.strip() == value != "" else ascii(value)
    elif isinstance(value, int) and abs(value) >= 10**_LONGEST_SHOWN:
        text = "an integer of very many digits"
    else:
        text = ascii(value)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"


def and_more(first: str, count: int) -> str:
    """The first of several mistakes, and how many others there are.

    >>> and_more("Sleep: predicted 7", 3)
    'Sleep: predicted 7 (and 2 more)'
    """
    return first if count == 1 else f"{first} (and {count - 1} more)"
