"""The command line: one module a group of commands, each registered where it is defined."""

from demur.cli import audit, calibrate, evaluate, paper, report, retrieval, study
from demur.cli.app import app, in_order, main

__all__ = ["app", "audit", "calibrate", "evaluate", "main", "paper", "report", "retrieval", "study"]

in_order(
    *("evaluate", "report", "table", "figure", "variants", "calibrate", "retrieval", "audit"),
    *("simulate", "simulate-queries", "study", "schema", "demo"),
)
