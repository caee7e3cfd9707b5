"""Decisions: the threshold that meets a target, what is guaranteed of it, and the rule that is used and watched."""
