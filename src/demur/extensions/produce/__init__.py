"""Production of run files from transcripts, by a model behind an HTTP endpoint."""

from demur.extension import Extension

EXTENSION = Extension("produce", {"produce": f"{__name__}.command"})
