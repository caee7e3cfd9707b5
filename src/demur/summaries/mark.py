"""How the file of a summary begins: what tells one from any other file, before anything else is imported."""

from __future__ import annotations

import os
from pathlib import Path

MARK = b"demur summary "


def is_summary(path: object) -> bool:
    """Whether a file is a summary, by how it begins."""
    try:
        if not isinstance(path, (str, Path)) or not os.path.isfile(path):  # noqa: PTH113  (Path.is_file may raise)
            return False
        with Path(path).open("rb") as file:
            return file.read(len(MARK)) == MARK
    except (OSError, ValueError):
        return False
