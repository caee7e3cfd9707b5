"""Strict reading: parts as pydantic models, which check every member of what comes from outside; JSON Schemas."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
    create_model,
)

from demur.errors import and_more, literal
from demur.files.strict_model import REQUIRED, Declared, Part, asked

STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, json_schema_serialization_defaults_required=True)


@cache
def reader(kind: Any) -> TypeAdapter[Any]:
    """What checks content and makes a part of it, or one of a union of parts."""
    return TypeAdapter(_strict(kind))


@cache
def _strict(kind: Any) -> Any:
    """A type as pydantic takes it: parts as models that become parts again, and what is asked of members as fields."""
    if _is_part(kind):
        return Annotated[_model(kind), BeforeValidator(_members), AfterValidator(_part(kind))]
    origin, kinds = get_origin(kind), get_args(kind)
    if origin is None or origin is Literal:
        return kind
    if origin is Annotated:
        return _annotated(kinds[0], kind.__metadata__)
    if origin in (Union, UnionType):
        return Union[tuple(map(_named, kinds))]  # noqa: UP007
    return origin[tuple(each if each is ... else _strict(each) for each in kinds)]


def _named(kind: Any) -> Any:
    """One of several kinds, called what it is where a mistake in it is told."""
    name = "mapping" if get_origin(kind) is Mapping else kind.__name__ if _is_part(kind) else ""
    return Annotated[_strict(kind), Tag(name)] if name else _strict(kind)


def _is_part(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Part)


def _annotated(kind: Any, beside: Sequence[Any]) -> Any:
    """A type and what is asked of it; where a tag tells which of several is meant, mistakes are told of that alone."""
    inner, rules = _strict(kind), dict[str, Any]()
    more = [each for each in beside if not isinstance(each, Declared)]
    for member in (each for each in beside if isinstance(each, Declared)):
        rules |= member.asked
        more += [AfterValidator(member.checked)] if member.checked else []
    if "tag" in rules:
        tagged = zip(get_args(kind), rules["tags"], strict=True)
        choices = tuple(Annotated[_strict(each), Tag(tag)] for each, tag in tagged)
        return Annotated[Union[choices], Discriminator(rules["tag"])]  # noqa: UP007
    fields = {name: value for name, value in rules.items() if name != "earlier"}
    return Annotated[inner, *([Field(**fields)] if fields else []), *more] if fields or more else inner


def _model(kind: type[Part]) -> type[BaseModel]:
    members: Any = {}
    for name, annotation in kind.model_fields.items():
        default, earlier = kind.defaults[name], asked(annotation).get("earlier")
        given = ... if default is REQUIRED else Field(default_factory=default) if isinstance(default, type) else default
        members[name] = (
            _strict(annotation),
            Field(validation_alias=AliasChoices(name, earlier)) if earlier else given,
        )
    config: Any = {**STRICT, **kind.model_config, "frozen": True}
    return create_model(kind.__name__, __config__=config, __doc__=kind.__doc__, __module__=kind.__module__, **members)


def _members(given: Any) -> Any:
    """A part that was made already is checked by its members."""
    return dict(given) if isinstance(given, Part) else given


def _part(kind: type[Part]) -> Callable[[BaseModel], Part]:
    """What makes the part of members that have been checked."""
    return lambda model: kind.of_checked(model.__dict__)


def schema_of(model: Any) -> dict[str, Any]:
    """The JSON Schema of a file, from its model or a union of models; of what a part is, its first line."""
    schema = _first_lines(reader(model).json_schema(mode="serialization"))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _first_lines(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_first_lines(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: part.partition("\n\n")[0].replace("\n", " ")
        if name == "description" and isinstance(part, str)
        else _first_lines(part)
        for name, part in schema.items()
    }


def one_line(error: ValidationError) -> str:
    """The first thing that is wrong with some data, where it is, and how many more there are."""
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"]))
    said = first["msg"].removeprefix("Value error, ")
    value = "" if first["type"] == "value_error" else f", not {literal(first['input'])}"
    return and_more(f"{where}: {said}{value}" if where else f"{said}{value}", error.error_count())
