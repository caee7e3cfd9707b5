"""Evaluate one system or compare several: `demur evaluate` under the name older documents use.

The documents ask for a seed, where `demur evaluate` has a default.
"""

import shlex
import sys
from itertools import pairwise

from demur.cli import main

words = sys.argv[1:]
options = [word.partition("=")[0] for word in words]
resampled = ("--bootstrap-resamples", "0") not in pairwise(words)
if resampled and "--bootstrap-resamples=0" not in words and not {"--seed", "--help", "--help-all"} & {*options}:
    again = shlex.join(["python", sys.argv[0], *words, "--seed", "1"])
    wanted = "a seed is needed wherever anything is resampled: give any integer, 0 or more, and report it"
    print(f"demur: {wanted}: {again}", file=sys.stderr)
    sys.exit(2)
main(["evaluate", *words])
