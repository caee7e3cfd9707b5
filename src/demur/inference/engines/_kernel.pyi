from typing import Any, NewType, TypeAlias

import numpy as np
from numpy.typing import NDArray

from demur.types import Floats

Steps = NewType("Steps", object)
_Bytes: TypeAlias = NDArray[np.uint8]

INTERFACE: int
COMPILER: str

def sets() -> tuple[str, ...]: ...
def draw(number: int, seed: int, first: int, n: int, clusters: int, out: _Bytes, /) -> bool: ...
def steps(
    begin: NDArray[np.int64],
    cluster: NDArray[np.int32],
    count: Floats,
    loss: Floats,
    units: Floats,
    dense: bool,
    nothing: float,
    /,
) -> Steps: ...

# An instruction set, steps or None, weights in bytes, clusters, replicates, an option, and arrays of doubles.
def sums(*arguments: Any) -> None: ...
def sweep(*arguments: Any) -> None: ...
def find(*arguments: Any) -> None: ...
def oracle(*arguments: Any) -> None: ...
def influences(*arguments: Any) -> None: ...
