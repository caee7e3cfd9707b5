"""Models of the parts of a file: declared once, cheap to construct, and checked strictly when read from outside.

When a part is read (`model_validate`), pydantic, which is imported only then, checks every member. Whenever a part is
constructed, its members are checked for contradictions.
"""

import contextlib
import datetime as dt
import platform
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from inspect import get_annotations
from types import MappingProxyType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Self,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from demur.errors import UserError, literal, located

P = TypeVar("P", bound="Part")
TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"
REQUIRED: Any = object()


class Declared:
    """The constraints of a member besides its type, as `pydantic.Field` takes them.

    `checked` is a function that checks the value. For a union, `tags` has the tag of each kind, and `tag` is a function
    from the content to the tag of its kind.
    """

    def __init__(self, *, checked: Callable[[Any], Any] | None = None, **constraints: Any) -> None:
        self.checked, self.constraints = checked, constraints


Share = Annotated[float, Declared(ge=0, le=1)]
Count = Annotated[int, Declared(ge=0)]
EMPTY: Any = Declared(default_factory=dict)
SPARSE = Declared(exclude_if=lambda value: value is None)  # a member that is written only if it is not null


def _is_time(text: str) -> str:
    with contextlib.suppress(TypeError, ValueError):
        if dt.datetime.strptime(text, TIME_FORMAT).replace(tzinfo=dt.UTC).strftime(TIME_FORMAT) == text:
            return text
    raise UserError(f"expected a time such as 2026-01-31T12:00:00Z, not {literal(text)}")


Time = Annotated[str, Declared(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$", checked=_is_time)]


def checked_time(text: str | None) -> None:
    """Raise an error unless the text is a valid creation time, or None."""
    if text is not None:
        with located("created_at"):
            _is_time(text)


def now() -> str:
    """The current time in the format used in files."""
    return dt.datetime.now(dt.UTC).strftime(TIME_FORMAT)


def _annotations(cls: type) -> dict[str, Any]:
    """The members that a class itself declares, without inherited ones."""
    own = get_annotations(cls)
    if any(isinstance(kind, str) for kind in own.values()):
        hints = get_type_hints(cls, include_extras=True)
        own = {name: hints[name] for name in own}
    return {name: kind for name, kind in own.items() if ClassVar not in (kind, get_origin(kind))}


def constraints_of(kind: Any) -> dict[str, Any]:
    """The constraints of a member beyond its type, as keywords."""
    declared = [extra for extra in getattr(kind, "__metadata__", ()) if isinstance(extra, Declared)]
    return {name: value for extra in declared for name, value in extra.constraints.items()}


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Part:
    """A part of a file: an immutable record in which no member is missing or unknown."""

    model_config: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    model_fields: ClassVar[dict[str, Any]] = {}  # annotations by name
    defaults: ClassVar[dict[str, Any]] = {}
    library: ClassVar[str] = ""  # that of the frame its data came in, which no file has
    _sparse: ClassVar[dict[str, Callable[[Any], bool]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        bases = [base for base in reversed(cls.__bases__) if issubclass(base, Part)]  # each with all it inherits
        cls.model_fields = {name: kind for base in bases for name, kind in base.__dict__["model_fields"].items()}
        cls.defaults = {name: value for base in bases for name, value in base.__dict__["defaults"].items()}
        for name, kind in _annotations(cls).items():
            cls.model_fields[name] = kind
            default = cls.__dict__.get(name, constraints_of(kind).get("default_factory", REQUIRED))
            cls.defaults[name] = default.constraints["default_factory"] if isinstance(default, Declared) else default
        rules = {name: constraints_of(kind) for name, kind in cls.model_fields.items()}
        cls._sparse = {name: rule["exclude_if"] for name, rule in rules.items() if "exclude_if" in rule}

    def __init__(self, **members: Any) -> None:
        self._hold(**members)

    def _hold(self, **members: Any) -> None:
        values = {name: members.pop(name) if name in members else self._default(name) for name in self.model_fields}
        if members:
            raise TypeError(f"{type(self).__name__} has no {', '.join(members)}")
        self.__dict__.update(values)
        for mistake in self._mistakes():
            raise UserError(mistake)

    @classmethod
    def _default(cls, name: str) -> Any:
        default = cls.defaults[name]
        if default is REQUIRED:
            raise TypeError(f"{cls.__name__} lacks {name}")
        return default() if isinstance(default, type) else default

    @classmethod
    def made(cls, content: Any) -> Self:
        """Build the part from content that demur made, parts or mappings and lists, without checking its members."""
        if isinstance(content, cls):
            return content
        part: Any = cls
        makers = _makers(part)
        return cls(**{name: makers[name](value) if name in makers else value for name, value in content.items()})

    @classmethod
    def model_validate(cls, content: Any, *, extra: Literal["ignore", "forbid"] | None = None) -> Self:
        """Build the part from outside content; check every member, and list all mistakes in a ValidationError."""
        from demur.files.strict_reading import reader  # noqa: PLC0415  (pydantic is large)

        which: Any = cls
        part: Self = reader(which).validate_python(content, extra=extra)
        return part

    @classmethod
    def parsed(cls, content: Any) -> Self:
        """As `model_validate`, but the first mistake is a `UserError` of one line."""
        from pydantic import ValidationError  # noqa: PLC0415

        from demur.files.strict_reading import one_line  # noqa: PLC0415

        try:
            return cls.model_validate(content)
        except ValidationError as error:
            raise UserError(one_line(error)) from None

    @classmethod
    def of_checked(cls, members: Mapping[str, Any]) -> Self:
        """Build the part from members that have been checked one by one."""
        part = object.__new__(cls)
        part._hold(**members)
        return part

    def model_dump(self, *, exclude: Collection[str] = ()) -> dict[str, Any]:
        """The members as JSON values, without members that are declared sparse and are null."""
        return {
            name: _dumped(value)
            for name, value in self
            if name not in exclude and not (name in self._sparse and self._sparse[name](value))
        }

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """A copy with some members replaced."""
        return type(self)(**{**dict(self), **update}).of_library(self.library)

    def of_library(self, library: str) -> Self:
        """Record the data frame library of the input, and return the part itself."""
        self.__dict__["library"] = library
        return self

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return ((name, self.__dict__[name]) for name in self.model_fields)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and dict(self) == dict(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed: model_copy makes another")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self)})"

    def _mistakes(self) -> Iterator[str]:
        yield from ()


class CheckedPart(Part):
    """A part whose members are checked on construction too, because they may come from a caller."""

    def __init__(self, **members: Any) -> None:
        self.__dict__.update(self.model_validate(members).__dict__)


def part_named(name: str, base: type[Part], members: Mapping[str, tuple[Any, Any]], doc: str = "") -> type[Part]:
    """Create a subclass of a part with more members, each a type and a default, or an ellipsis for no default."""
    defaults = {member: default for member, (_, default) in members.items() if default is not ...}
    kinds = {member: kind for member, (kind, _) in members.items()}
    about = {"__annotations__": kinds, "__doc__": doc or base.__doc__, "__module__": base.__module__}
    return type(name, (base,), about | defaults)


class Placed(NamedTuple):
    """A member that is added to a part: its type, its default, and its place.

    It stands before the member it names, or at the end; `order` sorts those that are added at one place.
    """

    kind: Any
    default: Any = None
    before: str = ""
    order: int = 0


def extended(base: type[P], members: Mapping[str, Placed]) -> type[P]:
    """A part of the same name with more members, each at its place."""
    kinds = {name: (member.kind, member.default) for name, member in members.items()}
    part: Any = part_named(base.__name__, base, kinds)
    names = [*base.model_fields]
    for name in sorted(members, key=lambda name: members[name].order):
        before = members[name].before
        names.insert(names.index(before) if before in names else len(names), name)
    part.model_fields = {name: part.model_fields[name] for name in names}
    return part  # type: ignore[no-any-return]


def _unchanged(value: Any) -> Any:
    return value


def _as_float(value: Any) -> Any:
    return float(value) if type(value) is int else value


@cache
def _makers(part: type[Part]) -> dict[str, Callable[[Any], Any]]:
    return {name: _maker(kind) for name, kind in part.model_fields.items()}


@cache
def _maker(kind: Any) -> Callable[[Any], Any]:
    """The function that constructs a member of this type from plain content."""
    origin, kinds = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _maker(kinds[0])
    if origin in (Union, UnionType):
        return _maker_of_one(kinds)
    if origin in (tuple, list):
        fixed = origin is tuple and ... not in kinds
        makers = [_maker(element) for element in kinds if element is not ...]
        return lambda value: origin(_each_by(makers, value) if fixed else map(makers[0], value))
    if origin in (dict, Mapping):
        make = _maker(kinds[1])
        return lambda value: {name: make(member) for name, member in value.items()}
    if isinstance(kind, type) and issubclass(kind, Part):
        return kind.made
    return _as_float if kind is float else _unchanged


def _maker_of_one(kinds: tuple[Any, ...]) -> Callable[[Any], Any]:
    """The maker of a member that is of one of these kinds; in long columns, a number or null, one function serves."""
    choices = [(_fitting(choice), _maker(choice)) for choice in kinds]
    makers = {make for _, make in choices} - {_unchanged}
    if not makers or (makers == {_as_float} and {*map(_bare, kinds)} == {float, NoneType}):
        return makers.pop() if makers else _unchanged
    return lambda value: next((make(value) for fits, make in choices if fits(value)), value)


def _bare(kind: Any) -> Any:
    return _bare(get_args(kind)[0]) if get_origin(kind) is Annotated else kind


def _each_by(makers: Sequence[Callable[[Any], Any]], values: Sequence[Any]) -> Iterator[Any]:
    return (make(value) for make, value in zip(makers, values, strict=True))


def _fitting(kind: Any) -> Callable[[Any], bool]:
    """A test whether a value is of this kind, for a member that may be of several."""
    origin: Any = get_origin(_bare(kind)) or _bare(kind)
    if not isinstance(origin, type):
        return lambda value: value is not None  # one of some literals
    if issubclass(origin, Part):
        needed = {name for name, default in origin.defaults.items() if default is REQUIRED}
        return lambda value: (
            isinstance(value, origin)
            or (isinstance(value, Mapping) and needed <= value.keys() <= origin.model_fields.keys())
        )
    like: Any = {float: (float, int), tuple: (tuple, list), dict: Mapping}.get(origin, origin)
    return lambda value: isinstance(value, like)


_PLAIN = {str, float, int, bool, NoneType}


def _dumped(value: Any) -> Any:
    """A member as a JSON value."""
    if isinstance(value, (str, float, int, NoneType)):
        return value
    if isinstance(value, Part):
        return value.model_dump()
    if isinstance(value, Mapping):
        return {name: _dumped(member) for name, member in value.items()}
    if isinstance(value, (tuple, list)):
        return [*value] if {*map(type, value)} <= _PLAIN else [*map(_dumped, value)]
    return value.to_json()


class WordedWarning(Part):
    """A warning with a code for machines, a sentence for people, and what it is about."""

    code: str
    message: str
    where: str


class Tool(Part):
    """The software that wrote the file."""

    name: Literal["demur"] = "demur"
    version: str
    python: str
    numpy: str
    command: str | None

    @classmethod
    def installed(cls, command: str | None) -> Self:
        """The tool with the installed versions and the command that is recorded."""
        from demur import __version__  # noqa: PLC0415  (the package imports this)

        return cls(version=__version__, python=platform.python_version(), numpy=np.__version__, command=command)
