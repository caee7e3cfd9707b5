import pytest
from hypothesis import settings

from artifacts import golden, read_back

settings.register_profile("demur", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("demur")


@pytest.fixture(scope="session")
def paired():
    """The golden results of two runs."""
    return read_back(golden("paired"))


@pytest.fixture(scope="session")
def one():
    """The golden results of one run."""
    return read_back(golden("one"))
