"""A summary as an input: the reader of the kind `summary`."""

from __future__ import annotations

from pathlib import Path

from demur.errors import UserError
from demur.extensions.scale.file import read_summary
from demur.facts.items import Items
from demur.options import as_option
from demur.read.files import InputReading


def example(path: str | Path) -> str | Path:
    """The summary itself, which has nothing to infer."""
    return path


def read(path: str | Path, how: InputReading) -> Items:
    """The facts of a summary, which takes no options of reading."""
    if how.counts is None:
        raise UserError(f"{path}: a summary holds counts, and this needs single units: give the data themselves")
    for name in how.options.group or ():
        raise UserError(f"{path}: a summary knows its groups by their names alone: {as_option('labels', name)}")
    summary, source = read_summary(path)
    return how.without_options(summary.facts(source), f"{path}: a summary has")
