"""What is installed: an extension is a folder that can be deleted, and tests that use it go with it.

Those of one extension are in `tests/extensions/NAME`, and not collected without it; a test of something else that also
needs it is marked.
"""

import tomllib
from pathlib import Path

import pytest

from demur.extension import GROUP, installed

_PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OURS = tuple(_PROJECT["entry-points"][GROUP])


def needs(*names):
    """A mark that skips a test where one of these extensions is not installed."""
    missing = [name for name in names if name not in installed()]
    return pytest.mark.skipif(bool(missing), reason=f"needs the extension {', '.join(missing)}")


# For what documents the whole: pages, schemas and lists of names.
needs_all = needs(*OURS)
