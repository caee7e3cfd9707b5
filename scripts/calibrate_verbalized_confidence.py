"""Temperature scaling of verbalized confidence: `demur calibrate` with the method and the feature filled in."""

import sys

from demur.cli import main

FILLED_IN = ("--method", "--features", "--variant")
taken = [option for option in FILLED_IN if any(word.partition("=")[0] == option for word in sys.argv[1:])]
if taken:
    sys.exit(f"demur: this script has chosen {taken[0]} already; for another choice use demur calibrate")
main(["calibrate", "--method", "temperature", "--features", "verbalized_confidence", *sys.argv[1:]])
