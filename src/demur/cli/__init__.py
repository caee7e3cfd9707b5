"""The command line: one module a group of commands, each registered where it is defined."""

from demur.cli import calibrate, evaluate, paper, report, study
from demur.cli.app import app, main

__all__ = ["app", "calibrate", "evaluate", "main", "paper", "report", "study"]
