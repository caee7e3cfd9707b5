"""Fast parsing of texts, paths and plain numbers, for which typer would build a validator each."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

Function = TypeVar("Function", bound=Callable[..., Any])
_PLAIN = {str: ".*", Path: ".*", int: "[0-9]{1,18}", float: r"[0-9]{1,18}(\.[0-9]{1,18})?"}


class PlainCommand(TyperCommand):
    """A command that parses plain values itself and leaves all others, and their error messages, to typer."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, including `--help`."""
        return _taking_plain_values(super().get_params(ctx))


class PlainGroup(TyperGroup):
    """A group of commands that parses plain values itself and leaves all others to typer."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, including `--help`."""
        return _taking_plain_values(super().get_params(ctx))


class Commands(typer.Typer):
    """A typer application, or a group of one, whose commands parse plain values themselves."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"cls": PlainGroup, **options})

    def command(self, *arguments: Any, **options: Any) -> Callable[[Function], Function]:
        """Register a command."""
        return super().command(*arguments, **{"cls": PlainCommand, **options})


def _taking_plain_values(params: list[Any]) -> list[Any]:
    for param in params:
        vars(param).setdefault("process_value", partial(_processed, param, param.process_value))
    return params


def _processed(param: Any, typer_processing: Any, ctx: Any, value: Any) -> Any:
    several = param.multiple or param.nargs == -1
    texts = () if value is None else value if several else (value,)
    kind = param.type_descriptor.annotation
    kind = get_args(kind)[0] if get_origin(kind) is list else kind
    plain = isinstance(texts, (tuple, list)) and all(_is_plain(kind, text) for text in texts)
    if not plain or (param.required and not texts):
        return typer_processing(ctx, value)
    values = tuple(kind(text) for text in texts)
    result = values if several else values[0] if values else None
    return result if param.callback is None else param.callback(ctx, param, result)


def _is_plain(kind: Any, text: Any) -> bool:
    return kind in _PLAIN and isinstance(text, str) and re.fullmatch(_PLAIN[kind], text, re.DOTALL) is not None
