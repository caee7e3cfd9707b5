"""Readers, one module per format: they turn files into facts."""

from demur.read.files import read_inputs, read_items
from demur.read.groups import with_groups
from demur.read.points import read_points, read_rater
from demur.read.rows import read_systems, read_table
from demur.read.run_json import read_run
from demur.read.table_options import TableOptions

__all__ = [
    "TableOptions",
    "read_inputs",
    "read_items",
    "read_points",
    "read_rater",
    "read_run",
    "read_systems",
    "read_table",
    "with_groups",
]
