"""The command line: one module per group of commands, each registered where it is defined."""

import sys


def main(arguments: list[str] | None = None) -> None:
    """Run the command line, which is imported here: an interrupt at any time is an exit code, not a traceback."""
    try:
        from demur.cli.commands import run

        sys.exit(run(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        sys.exit(130)
