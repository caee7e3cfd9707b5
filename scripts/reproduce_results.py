"""Scores of interviews, zero-shot and few-shot: `demur produce` under the options of the original script."""

import argparse
import sys
from pathlib import Path

from demur.cli import main

parser = argparse.ArgumentParser(
    description=__doc__,
    epilog="All other options are those of demur produce: --limit, --dry-run, --consistency-samples, …",
    allow_abbrev=False,
)
parser.add_argument("--config", default="produce.toml", help="the configuration; produce.toml if not given")
parser.add_argument("--split", help="whom to assess, such as dev: the file dev.csv beside the configuration")
modes = parser.add_mutually_exclusive_group()
modes.add_argument("--mode", help="zero_shot, few_shot or both")
modes.add_argument("--zero-shot-only", dest="mode", action="store_const", const="zero_shot")
modes.add_argument("--few-shot-only", dest="mode", action="store_const", const="few_shot")
given, others = parser.parse_known_args(sys.argv[1:])
words = ["produce", "--config", given.config]
if given.split:
    words += ["--split", str(Path(given.config).parent / f"{given.split.removesuffix('.csv')}.csv")]
if given.mode:
    words += ["--mode", given.mode]
main([*words, *others])
