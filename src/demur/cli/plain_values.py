"""Values as they are typed: texts, paths and plain numbers, for each of which typer would build a validator."""

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
    """A command that takes plain values as they are; what is not plain is left to typer, which knows what to say."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, `--help` among them."""
        return _taking_plain_values(super().get_params(ctx))


class PlainGroup(TyperGroup):
    """The same for a group of commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, `--help` among them."""
        return _taking_plain_values(super().get_params(ctx))


class Commands(typer.Typer):
    """An application, or a group in one, whose commands take plain values as they are."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"cls": PlainGroup, **options})

    def command(self, *given: Any, **options: Any) -> Callable[[Function], Function]:
        """Register a command."""
        return super().command(*given, **{"cls": PlainCommand, **options})


def _taking_plain_values(params: list[Any]) -> list[Any]:
    for param in params:
        vars(param).setdefault("process_value", partial(_processed, param, param.process_value))
    return params


def _processed(param: Any, usual: Any, ctx: Any, value: Any) -> Any:
    several = param.multiple or param.nargs == -1
    texts = () if value is None else value if several else (value,)
    kind = param.type_descriptor.annotation
    kind = get_args(kind)[0] if get_origin(kind) is list else kind
    plain = isinstance(texts, (tuple, list)) and all(_is_plain(kind, text) for text in texts)
    if not plain or (param.required and not texts):
        return usual(ctx, value)
    every = tuple(kind(text) for text in texts)
    made = every if several else every[0] if every else None
    return made if param.callback is None else param.callback(ctx, param, made)


def _is_plain(kind: Any, text: Any) -> bool:
    return kind in _PLAIN and isinstance(text, str) and re.fullmatch(_PLAIN[kind], text, re.DOTALL) is not None
