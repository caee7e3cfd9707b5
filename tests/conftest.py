import pytest
from hypothesis import settings

from artifacts import GOLDEN
from demur import load

settings.register_profile("demur", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("demur")


@pytest.fixture(scope="session")
def paired():
    """The golden artifact of two runs."""
    return load(GOLDEN / "paired.json")


@pytest.fixture(scope="session")
def one():
    """The golden artifact of one run."""
    return load(GOLDEN / "one.json")
