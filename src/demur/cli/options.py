"""Options that several commands share, each declared once with its help text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperOption

from demur.cli.plain_values import PlainCommand

QueryColumns = Annotated[
    list[str] | None, typer.Option("--column", help="The column of a table for a role, ROLE=COLUMN; repeatable.")
]
SimulationSeed = Annotated[int, typer.Option(help="Seed of the simulation: any integer, 0 or more.")]
Baseline = Annotated[str | None, typer.Option(help="The system the others are compared with; the first if not given.")]
Qrels = Annotated[Path | None, typer.Option(help="TREC judgments, in place of --data; gzipped or not.")]
TrecRuns = Annotated[list[str] | None, typer.Option(help="A TREC run, FILE or NAME=FILE; repeatable.")]
SplitTopics = Annotated[
    str | None, typer.Option(help="The separator of post and criterion in the name of a TREC topic.")
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="The file to write; if not given, a new one in data/outputs/.")
]
ReportPage = Annotated[Path | None, typer.Option("--report", help="Also write the report of the file, a page.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the file instead of the report.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing.")]
CreatedAt = Annotated[
    str | None, typer.Option(help="The time to record, such as 2026-01-31T12:00:00Z; now if not given.")
]


def unfolded(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each dataclass parameter of a command by one option per field, so that commands can share options."""
    parameters: list[Parameter] = []
    blocks: dict[str, Any] = {}
    for name, parameter in signature(command, eval_str=True).parameters.items():
        if is_dataclass(parameter.annotation):
            blocks[name], hints = parameter.annotation, get_type_hints(parameter.annotation, include_extras=True)
            for field in fields(parameter.annotation):
                default = Parameter.empty if field.default is MISSING else field.default
                parameters += [parameter.replace(name=field.name, default=default, annotation=hints[field.name])]
        else:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))

    @wraps(command)
    def called(**values: Any) -> None:
        for name, block in blocks.items():
            values[name] = block(**{field.name: values.pop(field.name) for field in fields(block)})
        command(**values)

    called.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called


def typed(block: Any, names: Iterable[str] | None = None) -> list[str]:
    """The options of a block, all or those in `names`, that differ from their defaults, as they are typed."""
    defaults = {field.name: field.default for field in fields(block)}
    wanted = defaults if names is None else names
    return [f"--{name.replace('_', '-')}" for name in wanted if getattr(block, name) != defaults[name]]


class ListingCommand(PlainCommand):
    """A command whose help lists registered names, which are imported only when the help is printed."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Format the help, with `{certifiers}`, `{losses}` and the like replaced by the registered names."""
        self.fill()
        super().format_help(ctx, formatter)

    def fill(self) -> None:
        """Insert the registered names into the help texts of the options."""
        for param in self.params:
            for placeholder, registered in REGISTERED.items():
                if isinstance(param, TyperOption) and param.help and placeholder in param.help:
                    *first, last = registered()
                    param.help = param.help.replace(placeholder, f"{', '.join(first)} or {last}")


def _losses() -> Iterable[str]:
    from demur.quantities.losses import LOSSES

    return LOSSES


def _methods() -> Iterable[str]:
    from demur.confidences.calibrators import method_names

    return method_names()


def _targets() -> Iterable[str]:
    from demur.confidences.calibration_methods import TARGETS

    return TARGETS


# Placeholders in the help of options, and the names that replace them; the command of an extension adds its own.
REGISTERED: dict[str, Callable[[], Iterable[str]]] = {
    "{losses}": _losses,
    "{methods}": _methods,
    "{targets}": _targets,
}
