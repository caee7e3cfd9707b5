"""demur: measure systems that may decline to answer.

The public names are listed once, in the stub beside this file. A module is imported when one of its names is first
asked for, so that `import demur` and `demur --help` pay for nothing they do not use.
"""

__version__ = "0.2.0"


def _homes() -> dict[str, str]:
    """Which module each public name lives in, as the stub says."""
    # Imported here: Ctrl-C during an import at the top would come before `demur.cli.main` could catch it.
    import ast  # noqa: PLC0415
    from importlib.resources import files  # noqa: PLC0415

    tree = ast.parse(files("demur").joinpath("__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module]
    return {name.name: str(node.module) for node in imports for name in node.names}


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})


def __getattr__(name: str) -> object:
    known = globals().get("_HOMES") or globals().setdefault("_HOMES", _homes())
    if name == "__all__":
        return sorted(known)
    if name not in known:
        raise AttributeError(f"module 'demur' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    globals()[name] = value = getattr(import_module(known[name]), name)
    return value
