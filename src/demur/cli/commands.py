"""All commands; the order of these imports is the order they are listed in."""

# isort: off
from demur.cli import evaluate, retrieval, calibrate, show, audit, study
from demur.cli.app import app, run

# isort: on
__all__ = ["app", "audit", "calibrate", "evaluate", "retrieval", "run", "show", "study"]
