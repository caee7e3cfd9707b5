"""Audit: results of demur are evaluated again, and figures of others recomputed, with likely causes of differences."""

from demur.extension import Extension

EXTENSION = Extension("audit", {"audit": f"{__name__}.command"})
