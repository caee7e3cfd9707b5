"""All commands, in the order they are listed in, whichever of them was imported first."""

from demur.cli import (
    apply,
    audit,
    calibrate,
    choose,
    evaluate,
    fields,
    imports,
    produce,
    retrieval,
    show,
    study,
    summarize,
)
from demur.cli.app import app, run

__all__ = ["app", "run"]

_MODULES = (evaluate, retrieval, calibrate, fields, imports, produce, summarize, choose, apply, show, audit, study)
_ORDER = [module.__name__ for module in _MODULES]
app.registered_commands.sort(key=lambda command: _ORDER.index(getattr(command.callback, "__module__", "")))
app.registered_groups.sort(key=lambda group: str(group.name))
