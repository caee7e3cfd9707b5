"""Import all commands, those of extensions too, and list them in the order of their panels."""

from importlib import import_module

from demur.cli import MODULES
from demur.cli.app import PANELS, app
from demur.extension import installed

__all__ = ["app"]

for _module in MODULES:
    import_module(f"demur.cli.{_module}")
for _extension in installed().values():
    for _name in dict.fromkeys(_extension.commands.values()):
        import_module(_name)
app.registered_commands.sort(key=lambda command: PANELS.index(str(command.rich_help_panel)))
app.registered_groups.sort(key=lambda group: str(group.name))
