"""Decisions: the threshold that meets a target, what is guaranteed of it, and the rule that is used and watched."""

from demur.extension import Extension

EXTENSION = Extension("decide", {"choose": f"{__name__}.choose_command", "apply": f"{__name__}.apply_command"})
