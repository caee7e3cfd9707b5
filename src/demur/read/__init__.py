"""Readers, one module per format: they turn files into facts, `Items` for runs and `Rankings` for retrieval."""

from demur.read.files import read_inputs, read_items
from demur.read.rows import read_systems, read_table
from demur.read.run_json import read_run
from demur.read.table_options import TableOptions

__all__ = [
    "TableOptions",
    "read_inputs",
    "read_items",
    "read_run",
    "read_systems",
    "read_table",
]
