"""Random cases by their seeds: a few by default, and all of them by `make test-slow`."""

import pytest


def seeds(few, many):
    """The seeds below `many`, of which those from `few` on are slow."""
    return [*range(few), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(few, many))]
