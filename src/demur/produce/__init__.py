"""Produce: from transcripts to a run file, by a model that is asked over HTTP."""
