"""The command line: one module per group of commands, each registered where it is defined.

The order of these imports is the order commands are listed in.
"""

# isort: off
from demur.cli import evaluate, retrieval, calibrate, study, show, audit, more
from demur.cli.app import app, main

# isort: on
__all__ = ["app", "audit", "calibrate", "evaluate", "main", "more", "retrieval", "show", "study"]
