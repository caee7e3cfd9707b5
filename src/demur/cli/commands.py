"""Import all commands, and list them in the order of `MODULES`."""

from importlib import import_module

from demur.cli import MODULES
from demur.cli.app import app

__all__ = ["app"]

_ORDER = [import_module(f"demur.cli.{module}").__name__ for module in MODULES]
app.registered_commands.sort(key=lambda command: _ORDER.index(getattr(command.callback, "__module__", "")))
app.registered_groups.sort(key=lambda group: str(group.name))
