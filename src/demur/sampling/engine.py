"""Which engine adds up: numpy, or the compiled kernel."""
from __future__ import annotations

from demur.sampling.weights import Weights
from demur.types import Floats


def drawn(seed: int, replicates: range, clusters: int) -> Weights | None:
    return None


def packed(rows: Floats) -> Weights:
    return Weights.of(rows)


def replicates_at_once(size: int) -> int:
    return size


def engine_name() -> str:
    return "numpy"
