"""The command line: one module per group of commands, each registered where it is defined."""

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module

_GC_THRESHOLD = 100_000  # a command makes few reference cycles, and the usual threshold takes a tenth of its time
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
_SPELLINGS = {"variants": ("fields",), "simulate-queries": ("simulate", "queries")}
MODULES = {  # of the core, in the order the help lists them
    "evaluate": ("evaluate",),
    "retrieval": ("retrieval",),
    "calibrate": ("calibrate",),
    "fields": ("fields",),
    "summarize": ("summarize",),
    "show": ("report", "table", "figure"),
    "convention": ("convention",),
    "schema": ("schema",),
}
_ALL = "demur.cli.commands"
_FIRST = {"simulate": ("runs", "queries", "interviews"), "study": ("intervals", "participants")}


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; an interrupt, even during the imports, gives exit code 130 and no traceback."""
    try:
        owns_process = "numpy" not in sys.modules
        if owns_process:
            _use_one_thread()
            gc.set_threshold(_GC_THRESHOLD)
        from demur.cli.app import run

        words = present_spelling(sys.argv[1:] if arguments is None else arguments)
        load(words)
        code = run(words)
        if owns_process:
            gc.freeze()  # a last collection at exit would take as long as reading the data
        sys.exit(code)
    except KeyboardInterrupt:
        sys.exit(130)


def _use_one_thread() -> None:
    """Keep BLAS from starting threads: they are of no use here and take a quarter of numpy's import time."""
    if not any(name in os.environ for name in _THREADS):
        os.environ["OPENBLAS_NUM_THREADS"] = "1"


def present_spelling(words: Sequence[str]) -> list[str]:
    """Replace earlier names of commands by the present ones.

    >>> present_spelling(["variants", "run.json"]), present_spelling(["simulate", "--seed", "1"])
    (['fields', 'run.json'], ['simulate', 'runs', '--seed', '1'])
    """
    first, *rest = words or [""]
    if first in _SPELLINGS:
        return [*_SPELLINGS[first], *rest]
    if first in _FIRST and (not rest or rest[0] not in (*_FIRST[first], "--help")):
        return [first, _FIRST[first][0], *rest]
    return list(words)


def load(words: Sequence[str]) -> None:
    """Import the module of the named command, or all modules for the help and for an unknown name."""
    known = (module for module, commands in MODULES.items() if words and words[0] in commands)
    module = next(known, None)
    import_module(f"demur.cli.{module}" if module else _of_extensions().get(words[0] if words else "", _ALL))


def _of_extensions() -> dict[str, str]:
    from demur.extension import installed

    return {command: module for extension in installed().values() for command, module in extension.commands.items()}
