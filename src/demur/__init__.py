"""demur: measure systems that may decline to answer.

The public names are listed once, in the stub beside this file. A module is imported when one of its names is first
asked for, so that `import demur` and `demur --help` pay for nothing they do not use.
"""

import ast
from importlib import import_module
from importlib.resources import files
from typing import Any

__version__ = "0.2.0"


def _homes() -> dict[str, str]:
    """Which module each public name lives in, as the stub says."""
    tree = ast.parse(files("demur").joinpath("__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module]
    return {name.name: str(node.module) for node in imports for name in node.names}


_HOMES = _homes()
__all__ = sorted(_HOMES)  # noqa: PLE0605  (the names are those of the stub)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'demur' has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(_HOMES[name]), name)
    return value
