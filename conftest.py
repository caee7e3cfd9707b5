"""Pages of documentation that import an extension are tested where it is installed: its folder can be deleted."""

import re
from pathlib import Path

_EXTENSIONS = Path(__file__).parent / "src" / "demur" / "extensions"
_IMPORTED = re.compile(r"^>>> (?:from|import) demur\.extensions\.(\w+)", re.MULTILINE)


def pytest_ignore_collect(collection_path):
    """Leave out a page whose examples import an extension that is not there."""
    if collection_path.suffix != ".md":
        return None
    used = re.findall(
        r"^>>> (?:from|import) demur\.extensions\.(\w+)", collection_path.read_text("utf-8"), re.MULTILINE
    )
    return True if any(not (_EXTENSIONS / name).is_dir() for name in used) else None
