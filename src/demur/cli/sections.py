"""Command-line options generated from the sections that declare them, and their values, typed or from `demur.toml`.

The sections are imported when a command is run or its help is printed: the list of commands needs none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import Parameter, Signature, cleandoc, signature
from pathlib import Path
from types import GenericAlias
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.main

from demur.cli.options import REGISTERED, ListingCommand
from demur.errors import UserError, literal, located, nearest, unknown
from demur.feature import features
from demur.options import Option, as_option, declared, flag_of, named_values, sections

if TYPE_CHECKING:
    from demur.evaluation.guessing import Settled
    from demur.evaluation.reading import ReadingOptions
    from demur.evaluation.request import Request
    from demur.facts.items import Items
    from demur.read.role_candidates import Given
    from demur.results.settings import Settings
    from demur.sampling.resample import Plan

FILE = "demur.toml"
FEATURES = "features"  # the sections of all features
_PANELS = {
    "columns": "Data",
    "reading": "Data",
    "settings": "What is computed",
    "plan": "How it is resampled",
}
_KINDS = {bool: "true or false", int: "an integer", float: "a number", str: "a text", Path: "a file", dict: "a table"}
_COLUMN = Option(
    "The column of a table for a role, ROLE=COLUMN.",
    metavar="ROLE=COLUMN",
    flag=flag_of("columns"),
    repeated=True,
    everyday=True,
    by_name={str: "the name of a column"},
)


def section_options(name: str) -> dict[str, Option]:
    """The options of a section by field name."""
    return {"columns": _COLUMN} if name == "columns" else declared(sections()[name])


class SectionsCommand(ListingCommand):
    """A command whose options come from sections; rarely needed ones are listed by `--help-all`."""

    _filled = False

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, including those of the sections."""
        if not self._filled and self.callback is not None:
            whole = typer.Typer(add_completion=False)
            whole.command()(self.callback.whole())  # type: ignore[attr-defined]
            command = typer.main.get_command(whole)
            self.params, self.callback, self._filled = command.params, command.callback, True
        return super().get_params(ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Format the help; each option is listed under one name, without its aliases."""
        spelled = {param: param.opts for param in self.get_params(ctx)}
        known = {*sections(), "columns"}
        aliases = {alias for name in known for option in section_options(name).values() for alias in option.aliases}
        try:
            for param, names in spelled.items():
                param.opts = [name for name in names if name not in aliases]
            super().format_help(ctx, formatter)
        finally:
            for param, names in spelled.items():
                param.opts = names

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Completions for the shell, including the options that only `--help-all` lists."""
        _show_all(self.get_params(ctx))
        return super().shell_complete(ctx, incomplete)


def with_sections(*whole: str, **parts: Sequence[str]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the options of sections, whole or only some fields, to a command, which receives them as `Typed`."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        def unfilled() -> None:
            """The command before its options are known."""

        unfilled.__doc__, unfilled.__name__ = _with_examples(command, whole), command.__name__
        unfilled.__module__ = command.__module__
        unfilled.whole = lambda: _with_options(command, {**dict.fromkeys(whole), **parts})  # type: ignore[attr-defined]
        return unfilled

    return decorated


def _with_options(command: Callable[..., None], wanted: Mapping[str, Sequence[str] | None]) -> Callable[..., None]:
    """The command with one parameter per option, all of which it gets as one."""
    own = [known for known in signature(command, eval_str=True).parameters.values() if known.annotation is not Typed]
    fields = {
        (section, name): option
        for section, names in _present(wanted).items()
        for name, option in section_options(section).items()
        if names is None or name in names
    }
    added = [_parameter(section, name, option) for (section, name), option in fields.items()]

    def called(help_all: bool = False, **values: Any) -> None:  # noqa: FBT001, ARG001  (its callback prints)
        typed: dict[str, dict[str, Any]] = {}
        for section, name in fields:
            value = values.pop(_key(section, name))
            if value is not None and value is not False and value != []:  # 0 is a value
                typed.setdefault(section, {})[name] = value
        command(**values, typed=Typed(typed))

    everything = Parameter(
        "help_all",
        Parameter.KEYWORD_ONLY,
        default=False,
        annotation=Annotated[bool, typer.Option("--help-all", callback=_print_all, help="Show all options, and exit.")],
    )
    keywords = [known.replace(kind=Parameter.KEYWORD_ONLY) for known in own]
    called.__signature__ = Signature([*keywords, *added, everything])  # type: ignore[attr-defined]
    called.__doc__, called.__name__ = _with_examples(command, wanted), command.__name__
    return called


def _with_examples(command: Callable[..., None], wanted: Iterable[str]) -> str:
    """The help of a command, with an example of each feature if it has the options of all."""
    examples = [feature.example for feature in features().values() if feature.example and FEATURES in wanted]
    return "\n\n".join([cleandoc(command.__doc__ or ""), *(f"Example: {example}" for example in examples)])


def _present(wanted: Mapping[str, Sequence[str] | None]) -> dict[str, Sequence[str] | None]:
    """The sections that are there, with those of all features in place of `FEATURES`; a feature may not be."""
    present: dict[str, Sequence[str] | None] = {}
    for name, names in wanted.items():
        if name == FEATURES:
            present |= dict.fromkeys(name for name, feature in features().items() if feature.options)
        elif name in sections() or name == "columns":
            present[name] = names
    return present


def _panel(section: str) -> str:
    return _PANELS[section] if section in _PANELS else features()[section].panel


def _print_all(context: typer.Context, wanted: bool) -> None:  # noqa: FBT001  (typer's callback protocol)
    if wanted:
        _show_all(context.command.params)
        typer.echo(context.get_help())
        raise typer.Exit


def _show_all(params: Sequence[Any]) -> None:
    for param in params:
        param.hidden = False


def _key(section: str, name: str) -> str:
    return f"{section}_{name}"


def _parameter(section: str, name: str, option: Option) -> Parameter:
    """The parameter of an option; none is typed unless it is given, so that files and defaults can say otherwise."""
    kind: Any = GenericAlias(list, option.kind) if option.repeated else option.kind
    names = [option.flag or f"--{name.replace('_', '-')}", *option.aliases]
    feature = section not in ("columns", "reading", "settings", "plan")
    if option.known is not None:
        REGISTERED[f"{{{section}}}"] = option.known
    shown: Any = {
        "metavar": option.metavar,
        "help": f"{option.help[:-1]}; repeatable." if option.repeated else option.help,
        "hidden": not (option.everyday or feature),
        "rich_help_panel": _panel(section),
        "show_default": False,
    }
    read_as: Any = bool if option.kind is bool else kind | None
    annotation = Annotated[read_as, typer.Option(*names, **shown)]
    default = False if option.kind is bool else None
    return Parameter(_key(section, name), Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


class Typed:
    """The options that were typed, by section and field; `file` has those of `demur.toml` at `path`."""

    __slots__ = ("file", "path", "values")

    def __init__(
        self,
        values: Mapping[str, Mapping[str, Any]],
        file: Mapping[str, Mapping[str, Any]] | None = None,
        path: Path | None = None,
    ) -> None:
        self.values, self.file, self.path = values, file or {}, path

    @property
    def flags(self) -> list[str]:
        """The options that were typed, as typed."""
        return [as_option(name) for fields in self.values.values() for name in fields]

    def flags_of(self, names: Sequence[str]) -> list[str]:
        """Those of these options that were typed."""
        return [as_option(name) for fields in self.values.values() for name in fields if name in names]

    @property
    def columns(self) -> dict[str, str]:
        """The column of each role."""
        typed = named_values(self.values.get("columns", {}).get("columns"), flag_of("columns"))
        return {**self.file.get("columns", {}), **typed}

    @property
    def reading(self) -> ReadingOptions:
        """The options for reading files."""
        made: ReadingOptions = self._section("reading")
        return made

    @property
    def settings(self) -> Settings:
        """The options for what to compute."""
        made: Settings = self._section("settings")
        return made

    @property
    def plan(self) -> Plan:
        """The options for resampling."""
        made: Plan = self._section("plan")
        return made

    def feature(self, name: str) -> Any:
        """What is asked of a feature; None if its folder is not there."""
        return self._section(name) if name in sections() else None

    @property
    def features(self) -> list[Any]:
        """The options of the features of which any were given."""
        return [self._section(name) for name, feature in features().items() if feature.options and self._given(name)]

    def request(self, **more: Any) -> Request:
        """All sections as a request to `demur.evaluate`."""
        from demur.evaluation.request import Request

        settings, plan = self._section("settings"), self._section("plan")
        return Request(self.columns, self.reading, settings, plan, self.features, **more)

    def _given(self, name: str) -> dict[str, Any]:
        return {**self.file.get(name, {}), **self.values.get(name, {})}

    def _section(self, name: str) -> Any:
        kind: Any = sections()[name]
        made = getattr(kind, "typed", kind)
        try:
            return made(**self._given(name))
        except UserError as error:
            if name not in self.file:
                raise
            made(**self.values.get(name, {}))  # if the mistake is in what was typed, it is told without the file
            raise UserError(f"{self.path}: [{name}]: {error}") from None

    def given(self, **more: Any) -> Given:
        """What the user has specified, and what is therefore not inferred."""
        from demur.read.role_candidates import Given

        reading = self.reading
        stated: Any = (self.columns, reading.instrument, reading.every_row_its_own_cluster, reading.score_range)
        return Given(*stated, **more)

    def items(self, path: Path, understood: Settled, *, counts: bool = False) -> Items:
        """Read a file with the columns inferred for it; a summary is accepted only if `counts`."""
        from demur.read import read_items

        reading = self.reading
        chosen: Any = {name: only(getattr(reading, name), name) for name in ("mode", "experiment")}
        with understood.explaining():
            return read_items(
                path,
                **chosen,
                instrument=reading.instrument,
                columns=understood.columns[0],
                options=reading,
                counts=counts,
            )

    def understood(
        self, path: Path, tell: Callable[[Sequence[str]], None], confidence: str = "default", **more: Any
    ) -> tuple[Items, Settled]:
        """Read a file, and infer and report the options that the user left open."""
        from demur.evaluation.guessing import settled

        counts = more.pop("counts", False)
        inferred = settled([str(path)], self.given(**more), confidence)
        items = self.items(path, inferred, counts=counts)
        inferred = inferred.of([items])
        tell(inferred.notes)
        return items, inferred


def only(values: Sequence[Any], name: str) -> Any:
    """The single value of an option that can be repeated, in a command that reads one file; an error if several."""
    if len(values) > 1:
        raise UserError(f"{flag_of(name)} {literal(values[1])}: one file has one {name}")
    return values[0] if values else None


def with_file(typed: Typed) -> tuple[Typed, Path | None]:
    """Add the options of the nearest `demur.toml`, in this folder or above, and return its path too."""
    folder = Path.cwd()
    path = next((above / FILE for above in (folder, *folder.parents) if (above / FILE).is_file()), None)
    if path is None:
        return typed, None
    from demur.files.strict_json import decode, read_bytes
    from demur.files.toml import parsed_toml

    with located(path):
        content = parsed_toml(decode(read_bytes(path)))
        checked = {name: _checked(name, values, path.parent) for name, values in content.items()}
    return Typed(typed.values, checked, path), path


def _checked(section: str, values: Any, folder: Path) -> dict[str, Any]:
    """A section of a file with names and kinds of values that are known; its paths are relative to its folder."""
    if section not in (known := {*sections(), "columns"}):
        raise unknown("section", section, known)
    if not isinstance(values, Mapping):
        raise UserError(f"{section} {literal(values)}, expected a section, [{section}]")
    with located(f"[{section}]"):
        return {name: _checked_value(section, name, value, folder) for name, value in values.items()}


def _checked_value(section: str, name: str, value: Any, folder: Path) -> Any:
    options = section_options(section)
    known = None if section == "columns" else options.get(name)
    if known is None:
        return _named_value(section, name, value, folder, options)
    kinds = (known.kind, *known.also)
    listed = known.repeated or list in kinds
    for each in value if listed and isinstance(value, list) else [value]:
        if not any(_is_a(each, kind) for kind in kinds):
            words = [*dict.fromkeys(_KINDS[kind] for kind in kinds if kind in _KINDS)]
            expected = f"{' or '.join(words)}{', or a list of them' if listed else ''}"
            raise UserError(f"{name} {literal(each)}, expected {expected}")
    value = [value] if known.repeated and not isinstance(value, (list, dict)) else value
    return _from_folder(value, folder) if known.file else value


def _named_value(section: str, name: str, value: Any, folder: Path, options: Mapping[str, Option]) -> Any:
    """The value of a key that is a name of the user's own: a role, a group or a rater."""
    named = next((option for option in options.values() if option.by_name), None)
    if named is None:
        raise unknown("option", name, options)
    if isinstance(value, tuple(named.by_name)):
        return _from_folder(value, folder) if named.file else value
    near = nearest(name, options) if section != "columns" else None
    expected = ", or ".join(named.by_name.values())
    raise UserError(f"{name} {literal(value)}, expected {expected}{f'; did you mean {near}?' if near else ''}")


def _is_a(value: object, kind: type) -> bool:
    """Whether a value of a file is of a kind: an integer is a number too, and true is none."""
    if isinstance(value, bool) or kind is bool:
        return kind is bool and isinstance(value, bool)
    kinds: dict[type, tuple[type, ...]] = {float: (int, float), Path: (str,)}
    return isinstance(value, kinds.get(kind, (kind,)))


def _from_folder(value: Any, folder: Path) -> Any:
    """A path, or several, relative to a folder; a text that is not a file there, such as a name, is left alone."""
    if isinstance(value, list):
        return [_from_folder(each, folder) for each in value]
    if isinstance(value, dict):
        return {name: _from_folder(path, folder) for name, path in value.items()}
    try:
        return str(folder / value) if folder != Path.cwd() and (folder / value).is_file() else value
    except (OSError, ValueError):  # a text that cannot be a path
        return value
