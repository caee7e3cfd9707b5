import numpy as np
from numpy.typing import NDArray

INTERFACE: int
COMPILER: str

def sets() -> tuple[str, ...]: ...
def draw(number: int, seed: int, first: int, n: int, clusters: int, out: NDArray[np.uint8], /) -> bool: ...
