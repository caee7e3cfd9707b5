"""Decisions: choosing or certifying a threshold that meets a target, applying it as a rule, and monitoring the rule."""

from demur.extension import Extension

EXTENSION = Extension("decide", {"choose": f"{__name__}.choose_command", "apply": f"{__name__}.apply_command"})
