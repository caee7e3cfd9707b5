"""Data in parts: their units counted where they are, summaries of the counts, and workers that share the work."""

from demur.extension import Extension

EXTENSION = Extension(
    "scale",
    {"summarize": "demur.extensions.scale.command"},
    readers={"summary": "demur.extensions.scale.summary_input", "folder": "demur.extensions.scale.folder_input"},
    workers="demur.extensions.scale.workers",
)
