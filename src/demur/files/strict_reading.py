"""Pydantic models that check every member of content from outside, and the JSON Schemas of files."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import (
    AfterValidator,
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

from demur.errors import and_more, literal, shown
from demur.files.strict_model import REQUIRED, Declared, Part

STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, json_schema_serialization_defaults_required=True)


@cache
def reader(kind: Any) -> TypeAdapter[Any]:
    """The pydantic adapter that checks content and builds a part, or one of a union of parts."""
    return TypeAdapter(_strict(kind))


@cache
def _strict(kind: Any) -> Any:
    """A type for pydantic: parts become models that construct parts again, and constraints become fields."""
    if _is_part(kind):
        return Annotated[_model(kind), BeforeValidator(_members), AfterValidator(_part(kind))]
    origin, kinds = get_origin(kind), get_args(kind)
    if origin is None or origin is Literal:
        return kind
    if origin is Annotated:
        return _annotated(kinds[0], kind.__metadata__)
    if origin in (Union, UnionType):
        return Union[tuple(map(_named, kinds))]  # noqa: UP007
    return origin[tuple(element if element is ... else _strict(element) for element in kinds)]


def _named(kind: Any) -> Any:
    name = "mapping" if get_origin(kind) is Mapping else kind.__name__ if _is_part(kind) else ""
    return Annotated[_strict(kind), Tag(name)] if name else _strict(kind)


def _is_part(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Part)


def _annotated(kind: Any, metadata: Sequence[Any]) -> Any:
    """A type with its constraints; if a tag says which kind of a union is meant, errors are about that kind alone."""
    inner, rules = _strict(kind), dict[str, Any]()
    more = [extra for extra in metadata if not isinstance(extra, Declared)]
    for declared in (extra for extra in metadata if isinstance(extra, Declared)):
        rules |= declared.constraints
        more += [AfterValidator(declared.checked)] if declared.checked else []
    if "tag" in rules:
        tagged = zip(get_args(kind), rules["tags"], strict=True)
        choices = tuple(Annotated[_strict(choice), Tag(tag)] for choice, tag in tagged)
        return Annotated[Union[choices], Discriminator(rules["tag"])]  # noqa: UP007
    return Annotated[inner, *([Field(**rules)] if rules else []), *more] if rules or more else inner


def _model(kind: type[Part]) -> type[BaseModel]:
    members: Any = {}
    for name, annotation in kind.model_fields.items():
        default = kind.defaults[name]
        given = ... if default is REQUIRED else Field(default_factory=default) if isinstance(default, type) else default
        members[name] = (_strict(annotation), given)
    config: Any = {**STRICT, **kind.model_config, "frozen": True}
    return create_model(kind.__name__, __config__=config, __doc__=kind.__doc__, __module__=kind.__module__, **members)


def _members(given: Any) -> Any:
    return dict(given) if isinstance(given, Part) else given


def _part(kind: type[Part]) -> Callable[[BaseModel], Part]:
    return lambda model: kind.of_checked(model.__dict__)


def schema_of(model: Any) -> dict[str, Any]:
    """The JSON Schema of a file, from a model or a union of models; descriptions come from docstrings."""
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
    """The first mistake of a validation error, with its place and the number of others, on one line."""
    first = error.errors()[0]
    where = ".".join(map(shown, first["loc"]))
    message = first["msg"].removeprefix("Value error, ")
    # The value of an unknown member may be a secret, and so may what is inside of a wrong one.
    value = "" if first["type"] in ("value_error", "extra_forbidden") else f", not {_brief(first['input'])}"
    return and_more(f"{where}: {message}{value}" if where else f"{message}{value}", error.error_count())


def _brief(value: Any) -> str:
    return "an object" if isinstance(value, Mapping) else "a list" if isinstance(value, list) else literal(value)
