"""Queries that several files of these tests audit reports against."""

import pytest

from reported_queries import QUERIES, read_back


@pytest.fixture(scope="module")
def both_queries(tmp_path_factory):
    return read_back(tmp_path_factory.mktemp("audit"), QUERIES)
