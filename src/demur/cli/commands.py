"""Import all commands, those of features and extensions too, and list them by panel, the core's first."""

from importlib import import_module

from demur.cli import MODULES
from demur.cli.app import PANELS, app
from demur.extension import installed
from demur.feature import commands

__all__ = ["app"]

_OF_CORE = [f"demur.cli.{module}" for module in MODULES]
_OF_EXTENSIONS = [module for extension in installed().values() for module in extension.commands.values()]
_ORDER = [
    import_module(module).__name__ for module in dict.fromkeys([*_OF_CORE, *commands().values(), *_OF_EXTENSIONS])
]


def _place(command: object) -> tuple[int, int]:
    panel, callback = getattr(command, "rich_help_panel", None), getattr(command, "callback", None)
    return PANELS.index(str(panel)), _ORDER.index(getattr(callback, "__module__", ""))


app.registered_commands.sort(key=_place)
app.registered_groups.sort(key=lambda group: str(group.name))
