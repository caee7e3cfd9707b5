"""Readers: one module a format, each of them a file in and `Items` out."""

from demur.read.files import read_inputs, read_items
from demur.read.rows import read_table
from demur.read.run_json import read_run

__all__ = ["read_inputs", "read_items", "read_run", "read_table"]
