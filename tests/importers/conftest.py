"""A log of Inspect to import."""

import pytest


@pytest.fixture
def log(tmp_path):
    """A folder with a log in it, called log.eval whatever its container."""

    def written(content):
        (tmp_path / "log.eval").write_bytes(content)
        return tmp_path

    return written
