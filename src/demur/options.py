"""Declaration of options, once for the command line, `demur.toml` and Python, and their spelling in messages.

An option is a field of a small dataclass, a section. From the fields come the options of the command line, the keys of
`demur.toml` and the arguments of the section in Python. A message that names an option spells it as its reader writes
it; each way to call demur, a `Door`, has its own spelling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from importlib import import_module
from numbers import Real
from typing import Any, Protocol, TypeVar

from demur.errors import UserError, literal
from demur.feature import hooks

Section = TypeVar("Section", bound=type)


@dataclass(frozen=True, slots=True)
class Option:
    """The declaration of an option: its help, and how it is typed on the command line.

    `flag` is its name there, if that is not the name of the field, and `aliases` are further ones. `kind` is what one
    value is read as, `repeated` options take several, and `also` are further kinds that `demur.toml` may have. An
    `everyday` option is in the short help. `call` is how it is given in Python, if not as an argument of its name. The
    names that are `known` replace the name of the section in braces where its help is printed. In `demur.toml` a `file`
    is named from the folder of that, and keys of the section may be names of the user's own if the option has kinds of
    values `by_name`, each with what it is.
    """

    help: str
    flag: str = ""
    aliases: tuple[str, ...] = ()
    kind: type = str
    metavar: str | None = None
    repeated: bool = False
    everyday: bool = False
    also: tuple[type, ...] = ()
    call: str = ""
    known: Callable[[], Iterable[str]] | None = None
    file: bool = False
    by_name: Mapping[type, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """An option with a value that answers an open question; for `columns`, the column of one role."""

    name: str
    value: str | bool
    role: str = ""


class Door(Protocol):
    """The way in which demur was called, which determines how messages spell options."""

    @property
    def noun(self) -> str:
        """The word for what the user would run again: "call" or "command"."""

    def option(self, name: str, value: str = "") -> str:
        """An option, with its value if one is given."""

    def blank(self, name: str) -> str:
        """An option with a placeholder for its value."""

    def column(self, role: str, name: str) -> str:
        """The option that maps a role to a column."""

    def again(self, answers: Sequence[Answer]) -> str:
        """What the user ran, with these options added."""


SECTIONS: dict[str, type] = {}


def section(name: str) -> Callable[[Section], Section]:
    """Register the decorated dataclass of options under the name of its section."""

    def registered(options: Section) -> Section:
        SECTIONS[name] = options
        return options

    return registered


def option(
    default: Any,
    description: str,
    **typed: Any,
) -> Any:
    """Declare a field of a section as an option; `typed` are further fields of `Option`.

    The default must be immutable.
    """
    return field(default=default, metadata={"option": Option(description, **typed)})


def declared(options: type) -> dict[str, Option]:
    """The options of a section by field name."""
    return {known.name: known.metadata["option"] for known in fields(options) if "option" in known.metadata}


def sections() -> Mapping[str, type]:
    """The sections of an evaluation by name, those of features last and in their order."""
    import_module("demur.evaluation.request")  # it imports those of the core; imported late, as few need them
    of_features = hooks("options")
    return {name: known for name, known in SECTIONS.items() if name not in of_features} | of_features


def option_of(name: str) -> Option | None:
    """The declaration of an option by name; None if no section has it."""
    return next((known[name] for known in map(declared, sections().values()) if name in known), None)


def flag_of(name: str) -> str:
    """An option as it is typed on the command line.

    >>> flag_of("max_units")
    '--max-units'
    """
    if name == "columns":
        return "--column"
    known = option_of(name)
    return (known.flag if known else "") or f"--{name.replace('_', '-')}"


KEYWORDS = (
    "confidence",
    "loss",
    "columns",
    "lower_is_surer",
    "mode",
    "baseline",
    "calibration",
    "resamples",
    "seed",
)


@dataclass(frozen=True, slots=True)
class Call:
    """Spells options in messages as keywords of `demur.evaluate`, or as arguments of a section."""

    noun: str = "call"

    def option(self, name: str, value: str = "") -> str:
        """The name of the option, or if a value is given, the keyword or the section with that value.

        >>> Call().option("loss"), Call().option("loss", "zero_one")
        ('loss', "loss='zero_one'")
        """
        if not value:
            return name
        known = option_of(name)
        if known is None or not known.call:
            return self._argument(name, repr(value))
        own, equals, text = value.partition("=")  # a feature has names of its user's own for arguments, or values alone
        return f"{known.call.partition('(')[0]}({f'{own}={text!r}' if equals else repr(value)})"

    def blank(self, name: str) -> str:
        """The keyword or the section that has the option, with a placeholder for its value."""
        known = option_of(name)
        value = "True" if known and known.kind is bool else "…"
        return known.call if known and known.call else self._argument(name, value)

    def _argument(self, name: str, value: str) -> str:
        home = next((known.__name__ for known in sections().values() if name in declared(known)), "")
        return f"{name}={value}" if name in KEYWORDS or not home else f"{home}({name}={value})"

    def column(self, role: str, name: str) -> str:
        """The argument that maps a role to a column."""
        return f"columns={ {role: name}!r}"

    def again(self, answers: Sequence[Answer]) -> str:
        """The call with these keywords added; roles are combined in one mapping."""
        columns = {answer.role: answer.value for answer in answers if answer.role}
        mapping = [f"columns={columns!r}"] if columns else []
        others = [self._given(answer) for answer in answers if not answer.role]
        return f"evaluate(…, {', '.join([*mapping, *others])})"

    def _given(self, answer: Answer) -> str:
        keyword = next((name for name, known in sections().items() if answer.name in declared(known)), "")
        argument = f"{answer.name}={answer.value!r}"
        if not keyword or answer.name in KEYWORDS:
            return argument
        return f"{keyword}={sections()[keyword].__name__}({argument})"


_door: ContextVar[Door] = ContextVar("door", default=Call())  # noqa: B039  (it is immutable)


def door() -> Door:
    """The way in which demur was called: from Python, unless the command line has said otherwise."""
    return _door.get()


def enter(through: Door) -> Callable[[], None]:
    """Spell options for this way of calling demur from now on; call the returned function to undo it."""
    token = _door.set(through)
    return lambda: _door.reset(token)


def as_option(name: str, value: str = "") -> str:
    """An option as the user would write it, for an error message."""
    return door().option(name, value)


def as_blank(name: str) -> str:
    """An option with a placeholder for its value, as the user would write it, for a message that suggests it."""
    return door().blank(name)


def as_column(role: str, name: str = "COLUMN") -> str:
    """The option that maps a role to a column, as the user would write it, for an error message."""
    return door().column(role, name)


def named_values(
    pairs: Iterable[str] | None, flag: str, expected: str = "a name and a column with = between them"
) -> dict[str, str]:
    """Parse NAME=VALUE pairs of the command line into a dictionary."""
    values: dict[str, str] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not (equals and name and value):
            raise UserError(f"{flag} {literal(pair)}, expected {expected}")
        if name in values:
            raise UserError(f"{flag} {literal(name)} is given twice")
        values[name] = value
    return values


def names_of(name: str, given: object) -> tuple[str, ...]:
    """The names given to an option, as a tuple, whether one or several were given."""
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, (list, tuple)) or not all(isinstance(known, str) for known in names):
        raise UserError(f"{as_option(name)} {literal(given)}, expected a name, or a list of them")
    return tuple(names)


def number_of(name: str, given: object) -> None:
    """Raise an error unless an option was given a number, or None."""
    if given is not None and (isinstance(given, bool) or not isinstance(given, Real)):
        raise UserError(f"{as_option(name)} {literal(given)}, expected a number")


def text_of(name: str, given: object) -> None:
    """Raise an error unless an option was given a text, or None."""
    if given is not None and not isinstance(given, str):
        raise UserError(f"{as_option(name)} {literal(given)}, expected a text")


def flag_value_of(name: str, given: object) -> None:
    """Raise an error unless an option was given true or false."""
    if not isinstance(given, bool):
        raise UserError(f"{as_option(name)} {literal(given)}, expected true or false")
