"""Temperature scaling of verbalized confidence: `demur calibrate` with the method and the feature filled in."""

import sys

from demur.cli import main

main(["calibrate", "--method", "temperature", "--features", "verbalized_confidence", *sys.argv[1:]])
