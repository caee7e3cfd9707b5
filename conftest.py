"""A folder of a feature or an extension can be deleted by hand: the tests and pages that need it are then left out."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent
SOURCE = ROOT / "src" / "demur"
# What is about one folder, besides its tests in tests/features/NAME, tests/extensions/NAME or tests/NAME.
MORE = {
    "features/conventions": ["docs/which-aurc.md"],
    "features/costs": ["docs/costs.md"],
    "features/groups": ["docs/groups.md"],
    "features/raters": ["docs/raters.md"],
    "extensions/audit": ["docs/audit.md"],
    "extensions/decide": ["docs/choosing.md"],
    "extensions/importers": ["docs/importing.md"],
    "extensions/lab": ["tests/simulate"],
    "extensions/produce": ["docs/producing.md"],
    "extensions/retrieval": ["docs/retrieval.md"],
    "extensions/scale": ["docs/ten-million-users.md"],
}
OF_TESTS = [path for kind in ("features", "extensions") for path in (ROOT / "tests" / kind).glob("[a-z]*/")]
KNOWN = {*MORE, *(f"{path.parent.name}/{path.name}" for path in OF_TESTS)}
MISSING = sorted(folder for folder in KNOWN if not (SOURCE / folder / "__init__.py").is_file())
collect_ignore = [
    path
    for folder in MISSING
    for path in [f"tests/{folder}", f"tests/{Path(folder).name}", "docs/definitions.md", *MORE.get(folder, [])]
    if (ROOT / path).exists()
]


def pytest_collection_modifyitems(config, items):
    """Leave out the tests that say that they use a feature or an extension whose folder is not there."""
    missing = {Path(folder).name for folder in MISSING}
    left_out = [item for item in items if any(missing & {*mark.args} for mark in item.iter_markers("uses"))]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Skip a module of tests that imports something of a folder that is not there."""
    report = yield
    if report.failed and MISSING and (folder := _needed(str(report.longrepr))):
        report.outcome, report.longrepr = "skipped", (str(collector.path), 0, f"needs {folder}")
    return report


def _needed(message):
    """The missing folder that an import of a module of tests needs, if that is why it fails."""
    from demur import _homes  # noqa: PLC0415  (for most runs nothing is missing)

    names = re.findall(r"cannot import name '(\w+)' from 'demur'", message)
    modules = [_homes().get(name, "") for name in names]
    modules += re.findall(r"No module named '([\w.]+)'", message)
    modules += [f"demur.{kind}s.{name}." for kind, name in re.findall(r"needs the (feature|extension) (\w+),", message)]
    dotted = {folder: f"demur.{folder.replace('/', '.')}." for folder in MISSING}
    return next((folder for folder, start in dotted.items() for name in modules if f"{name}.".startswith(start)), None)
