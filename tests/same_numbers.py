"""Contents of files that are the same: numbers to 1e-12, everything else exactly."""

import pytest


def assert_same(content, expected, where="$"):
    """Equal to 1e-12 in numbers that are no integers, exactly in all else."""
    if isinstance(expected, dict):
        assert [*content] == [*expected], where
        for name, part in expected.items():
            assert_same(content[name], part, f"{where}.{name}")
    elif isinstance(expected, list):
        assert len(content) == len(expected), where
        for index, (one, other) in enumerate(zip(content, expected, strict=True)):
            assert_same(one, other, f"{where}[{index}]")
    elif isinstance(expected, float):
        assert content == pytest.approx(expected, rel=1e-12, abs=1e-12), where
    else:
        assert content == expected, where
