"""The command line: one module per group of commands, each registered where it is defined."""

import gc
import os
import sys

_MANY = 100_000  # a command makes few cycles, and looking for them as often as usual takes a tenth of its time
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line, which is imported here: an interrupt at any time is an exit code, not a traceback."""
    try:
        if alone := "numpy" not in sys.modules:
            _use_one_thread()
            gc.set_threshold(_MANY)
        from demur.cli.app import load, present_spelling, run

        words = present_spelling(sys.argv[1:] if arguments is None else arguments)
        load(words)
        code = run(words)
        if alone:
            gc.freeze()  # the process ends: looking through all that is left for cycles would take as long as reading
        sys.exit(code)
    except KeyboardInterrupt:
        sys.exit(130)


def _use_one_thread() -> None:
    """Linear algebra is a trifle here, and starting its threads a quarter of what numpy takes to be imported."""
    if not any(name in os.environ for name in _THREADS):
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
