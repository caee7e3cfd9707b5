"""What is installed: a feature or an extension is a folder that can be deleted, and tests that use it go with it.

Those of one extension are in `tests/extensions/NAME`, and not collected without it; a test of something else that also
needs it is marked.
"""

import tomllib
from pathlib import Path

import pytest

from demur.extension import GROUP, installed

_PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OURS = tuple(_PROJECT["entry-points"][GROUP])
FEATURES = tuple(sorted({path.parent.name for path in (Path(__file__).parent / "features").glob("*/test_*.py")}))


def needs(*names):
    """A mark that skips a test where one of these extensions is not installed."""
    missing = [name for name in names if name not in installed()]
    return pytest.mark.skipif(bool(missing), reason=f"needs the extension {', '.join(missing)}")


# For what documents the whole, with every feature and extension: pages, schemas and lists of names.
needs_all = pytest.mark.uses(*FEATURES, *OURS)
