"""Evaluate one system or compare several: `demur evaluate` under the name older documents use."""

import sys

from demur.cli import main

main(["evaluate", *sys.argv[1:]])
