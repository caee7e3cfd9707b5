"""The mark of tests of the package as a whole: they are left out if the folder of a feature or an extension is."""

from pathlib import Path

import pytest

FEATURES = sorted({path.parent.name for path in (Path(__file__).parent / "features").glob("*/test_*.py")})
whole = pytest.mark.uses(*FEATURES, "audit", "decide", "importers", "lab", "produce")
