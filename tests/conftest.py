from pathlib import Path

import pytest
from hypothesis import settings

from demur import load

GOLDEN = Path(__file__).parent / "golden"

settings.register_profile("demur", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("demur")


@pytest.fixture(scope="session")
def paired():
    """The golden results of two runs."""
    return load(GOLDEN / "paired.json")


@pytest.fixture(scope="session")
def one():
    """The golden results of one run."""
    return load(GOLDEN / "one.json")
