"""Evaluate one run or compare two: `demur evaluate` under the name older documents use."""

import sys

from demur.cli import main

main(["evaluate", *sys.argv[1:]])
