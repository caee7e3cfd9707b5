"""Produce: from transcripts to a run file, by a model that is asked over HTTP."""

from demur.extension import Extension

EXTENSION = Extension("produce", {"produce": f"{__name__}.command"})
