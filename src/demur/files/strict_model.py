"""Strict models: the parts that files we write are made of, checked on writing and on reading alike."""

import contextlib
import datetime as dt
import platform
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from demur.errors import UserError, and_more, literal, located

TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"
STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, json_schema_serialization_defaults_required=True)
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]
SPARSE = Field(exclude_if=lambda value: value is None)  # a member that is in a file only where it says something


def _is_time(text: str) -> str:
    with contextlib.suppress(TypeError, ValueError):
        if dt.datetime.strptime(text, TIME_FORMAT).replace(tzinfo=dt.UTC).strftime(TIME_FORMAT) == text:
            return text
    raise UserError(f"expected a time such as 2026-01-31T12:00:00Z, not {literal(text)}")


Time = Annotated[
    str, Field(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"), AfterValidator(_is_time)
]


def checked_time(text: str | None) -> None:
    """A time somebody wants recorded must be one."""
    if text is not None:
        with located("created_at"):
            _is_time(text)


def now() -> str:
    """The present, as a file records it."""
    return dt.datetime.now(dt.UTC).strftime(TIME_FORMAT)


class Part(BaseModel):
    """A part of a file: every member is there, none is unknown, and each is what it should be."""

    model_config = ConfigDict(**STRICT, frozen=True)

    def _mistakes(self) -> Iterator[str]:
        """What does not hold together, though each member by itself is what it should be."""
        yield from ()

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        for mistake in self._mistakes():
            raise ValueError(mistake)
        return self


def schema_of(model: Any) -> dict[str, Any]:
    """The JSON Schema of a file, from its model or a union of models; of what a part is, its first line."""
    schema = _first_lines(TypeAdapter(model).json_schema(mode="serialization"))
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


class WordedWarning(Part):
    """A warning with a code for machines, a sentence for people, and what it is about."""

    code: str
    message: str
    where: str


class Tool(Part):
    """What made the file."""

    name: Literal["demur"] = "demur"
    version: str
    python: str
    numpy: str
    command: str | None

    @classmethod
    def here(cls, command: str | None) -> Self:
        """The installation at hand."""
        from demur import __version__  # noqa: PLC0415  (the package imports this)

        return cls(version=__version__, python=platform.python_version(), numpy=np.__version__, command=command)
