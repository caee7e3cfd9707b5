"""Evaluate one system or compare several: `demur evaluate` under the name older documents use.

The documents ask for a seed, where `demur evaluate` has a default.
"""

import sys

from demur.cli import main

_HELPS = {"--help", "-h"}
_UNSEEDED = "demur: a seed is needed wherever anything is resampled: give any integer, 0 or more, and report it (--seed 1)"


def _resamples(words: list[str]) -> bool:
    """Whether the command draws resamples, and so needs a seed."""
    typed = " ".join(words).replace("=", " ").split()
    return "--bootstrap-resamples 0" not in " ".join(typed)


words = sys.argv[1:]
seeded = any(word == "--seed" or word.startswith("--seed=") for word in words)
if not seeded and not _HELPS & {*words} and _resamples(words):
    print(_UNSEEDED, file=sys.stderr)
    sys.exit(2)
main(["evaluate", *words])
