"""The mark of tests of the package as a whole, which are left out if the folder of any feature or extension is not there."""

from pathlib import Path

import pytest

FEATURES = sorted(path.name for path in (Path(__file__).parent / "features").iterdir() if path.is_dir())
whole = pytest.mark.uses(*FEATURES, "audit", "decide", "importers", "lab", "produce")
