"""Tables of harmonic numbers and of the trigamma function of whole numbers, accurate to the last bits."""

from functools import lru_cache

import numpy as np

from demur.types import Floats

_EULER = 0.57721566490153286
_ROOM, _GRAIN = 1.125, 1024  # so that replicates with a few more answers find theirs in the same table
_CHUNK = 1 << 14
_SERIES_FROM = 32  # where the terms left out are below the last bit


@lru_cache(maxsize=1)
def _tables(length: int) -> Floats:
    tables = np.empty((2, length))
    for start in range(0, length, _CHUNK):  # whose temporaries are small
        n = np.maximum(np.arange(start, min(start + _CHUNK, length), dtype=np.float64), _SERIES_FROM)
        square, x = 1 / (n * n), n + 1
        harmonic, trigamma = tables[:, start : start + _CHUNK]
        harmonic[:] = np.log(n) + (_EULER + 1 / (2 * n) - square * (1 / 12 - square * (1 / 120 - square / 252)))
        square = 1 / (x * x)
        trigamma[:] = 1 / x + square / 2 + square / x * (1 / 6 - square * (1 / 30 - square * (1 / 42 - square / 30)))
    few = min(length, _SERIES_FROM)
    for k in range(few):
        tables[0, k] = sum(1 / i for i in range(k, 0, -1))
        tables[1, k] = _trigamma(_SERIES_FROM + 1) + sum(1 / i**2 for i in range(_SERIES_FROM, k, -1))
    return tables


def _trigamma(x: float) -> float:
    return 1 / x + 1 / (2 * x**2) + 1 / (6 * x**3) - 1 / (30 * x**5) + 1 / (42 * x**7) - 1 / (30 * x**9)


def forget_tables() -> None:
    """Free the memory of the tables; they are computed again when needed."""
    _tables.cache_clear()


def harmonic_tables(most: float) -> Floats:
    """Harmonic numbers H(k) (first row) and trigamma(k + 1) (second row) for k from 0 to at least `most`.

    >>> harmonic_tables(3)[0, :4].tolist()
    [0.0, 1.0, 1.5, 1.8333333333333333]
    """
    return _tables(-(-int(most * _ROOM + 1) // _GRAIN) * _GRAIN)
