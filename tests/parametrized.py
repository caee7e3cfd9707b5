"""Parametrized tests of which a few cases run by default."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def parametrize_few(names: str | Sequence[str], cases: Iterable[Any], count: int, **how: Any) -> pytest.MarkDecorator:
    """Like `pytest.mark.parametrize`, but only `count` of the cases, evenly spread, run by default.

    The others are slow tests.
    """
    cases = [*cases]
    single = isinstance(names, str) and "," not in names
    kept = {round(place * (len(cases) - 1) / max(count - 1, 1)) for place in range(count)}
    marked = [case if place in kept else _slow(case, single=single) for place, case in enumerate(cases)]
    return pytest.mark.parametrize(names, marked, **how)


def _slow(case: Any, *, single: bool) -> Any:
    if hasattr(case, "marks"):
        return pytest.param(*case.values, marks=[*case.marks, pytest.mark.slow], id=case.id)
    return pytest.param(*((case,) if single else case), marks=pytest.mark.slow)
