"""A supervised calibrator of any method and features: `demur calibrate` under the name older documents use."""

import sys

from demur.cli import main

main(["calibrate", *sys.argv[1:]])
