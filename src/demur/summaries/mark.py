"""The first bytes of a summary file, in a module of its own so that recognizing one imports nothing else."""

from __future__ import annotations

import os
from pathlib import Path

MARK = b"demur summary "


def is_summary(path: object) -> bool:
    """Whether a file is a summary, judged by its first bytes."""
    try:
        if not isinstance(path, (str, Path)) or not os.path.isfile(path):  # noqa: PTH113  (Path.is_file may raise)
            return False
        with Path(path).open("rb") as file:
            return file.read(len(MARK)) == MARK
    except (OSError, ValueError):
        return False
