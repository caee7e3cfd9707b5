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
    whole: bool,
    nothing: float,
    /,
) -> Steps: ...

# The first four of *arguments are the instruction set, the steps, the weights in bytes, and how many replicates.
def sweep(*arguments: Any) -> None: ...
def find(*arguments: Any) -> None: ...
def oracle(*arguments: Any) -> None: ...
def area(*arguments: Any) -> None: ...
def oracle_area(*arguments: Any) -> None: ...
def sums(number: int, drawn: _Bytes, clusters: int, replicates: int, by_cluster: Floats, out: Floats, /) -> None: ...
def total(
    number: int, drawn: _Bytes, clusters: int, replicates: int, influence: Floats, squared: bool, out: Floats, /
) -> None: ...
def difference(*arguments: Any) -> None: ...
