"""An extension is a folder that can be deleted: tests and pages that use it go with it, and are not collected."""

import re
from pathlib import Path

_ROOT = Path(__file__).parent
_IMPORTED = re.compile(r"^(?:>>> )?(?:from|import) demur\.extensions\.(\w+)", re.MULTILINE)


def _is_gone(file):
    """Whether a file is below `tests/extensions/NAME`, or imports an extension, and that is not there."""
    path = file.relative_to(_ROOT) if file.is_relative_to(_ROOT) else Path()
    used = path.parent.parts[2:] if path.parts[:2] == ("tests", "extensions") else ()
    if path.suffix in (".md", ".py"):
        used += tuple(_IMPORTED.findall(file.read_text(encoding="utf-8")))
    return any(not (_ROOT / "src/demur/extensions" / name).is_dir() for name in used)


def pytest_ignore_collect(collection_path):
    """Leave out what uses an extension that is not there."""
    return True if _is_gone(collection_path) else None


def pytest_collection_modifyitems(items):
    """Leave out a page that was named as an argument, which is collected without being asked about."""
    items[:] = [item for item in items if item.path.suffix != ".md" or not _is_gone(item.path)]
