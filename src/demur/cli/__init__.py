"""The command line: one module per group of commands, each registered where it is defined."""

import gc
import os
import sys

_GC_THRESHOLD = 100_000  # a command makes few reference cycles, and the usual threshold takes a tenth of its time
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; an interrupt, even during the imports, gives exit code 130 and no traceback."""
    try:
        owns_process = "numpy" not in sys.modules
        if owns_process:
            _use_one_thread()
            gc.set_threshold(_GC_THRESHOLD)
        from demur.cli.app import load, present_spelling, run

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
