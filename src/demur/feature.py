"""Features: what adds to an evaluation, each a folder of `demur.features` that can be deleted.

A folder's `__init__.py` has one object, a `Feature`, and imports nothing heavy. The hooks of the object name what it
adds, as `module:name` within the folder, and are imported when they are needed. The core asks `features()`, never a
feature by its name.

What a hook is:

    options     the dataclass of its options, a `demur.results.features.FeatureOptions` that is a section
    quantities  the module that registers its quantities, of families of their own
    additions   (options, evaluation, plan) -> `demur.results.features.Additions`: rows, contrasts, record, warnings
    file        the `demur.results.feature_files.FileMembers` of its members of result files
    statements  (results, topic) -> statements, for places of the core that ask features about a topic
    signatures  (results, signature of our numbers) -> the signatures of further numbers, by name
    table_rows  (results, confidence, names) -> rows of tables besides those of a curve, all or those of these names
    console     (results, confidence) -> lines of the report below the numbers of a confidence
    page        the module that registers its sections; the template of a section is `ANCHOR.html.j2` in the folder

`commands` are commands of the command line by name, with the modules that register them. The topics of statements are
in `demur.show.statements.of_features`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from demur.errors import UserError

PACKAGE = "demur.features"


@dataclass(frozen=True, slots=True)
class Feature:
    """What a feature adds; `order` sorts features in the help, on the console and among the rows.

    A feature without options is a part of `always` every evaluation. `panel` heads its options in the help, which ends
    with an `example`. `study` and `curve` are the names of its members there: whether a file, or an evaluation, holds
    anything of the feature is seen by the former. `groupings` are names that its rows have for groups of units, which
    are then no names of groups of the user's. `advice` is what is said on a topic where nothing was asked of the
    feature: what was not given, and how it is.
    """

    name: str
    order: int
    panel: str = ""
    example: str = ""
    always: bool = False
    study: tuple[str, ...] = ()
    curve: tuple[str, ...] = ()
    groupings: tuple[str, ...] = ()
    options: str = ""
    quantities: str = ""
    additions: str = ""
    file: str = ""
    statements: str = ""
    signatures: str = ""
    table_rows: str = ""
    console: str = ""
    page: str = ""
    commands: Mapping[str, str] = field(default_factory=dict)
    advice: Mapping[str, str] = field(default_factory=dict)

    def hook(self, kind: str) -> Any:
        """What a hook names, imported; None if the feature has no such hook."""
        named = getattr(self, kind)
        return self.load(named) if named else None

    def load(self, named: str) -> Any:
        """What `module:name` is within the folder, or the module alone."""
        module, _, name = named.partition(":")
        imported = import_module(f"{PACKAGE}.{self.name}.{module}")
        return getattr(imported, name) if name else imported


@cache
def features() -> Mapping[str, Feature]:
    """The features whose folders are there, by name and in their order."""
    found = filter(None, (_feature(folder.name) for folder in iter_modules(import_module(PACKAGE).__path__)))
    return {feature.name: feature for feature in sorted(found, key=lambda feature: feature.order)}


def _feature(name: str) -> Feature | None:
    """The object of a folder; None if the folder cannot be found, as a test hides it."""
    package = f"{PACKAGE}.{name}"
    try:
        feature: Feature = import_module(package).FEATURE
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        return None
    return feature


def required(name: str, what: str) -> Feature:
    """The feature that something needs; a UserError names it if it is not there."""
    if name not in features():
        raise UserError(f"{what} needs the feature {name}, which is not installed")
    return features()[name]


def commands() -> dict[str, str]:
    """The modules of the commands that features add, by the names of the commands."""
    return {
        command: f"{PACKAGE}.{name}.{module}"
        for name, feature in features().items()
        for command, module in feature.commands.items()
    }


def hooks(kind: str) -> dict[str, Any]:
    """What the hooks of this kind name, by the features that have one."""
    return {name: feature.hook(kind) for name, feature in features().items() if getattr(feature, kind)}
