"""Audit: results of demur evaluated again, and figures of others, with the likely cause of each difference."""

from demur.extension import Extension

EXTENSION = Extension("audit", {"audit": f"{__name__}.command"})
