"""Type aliases for signatures: arrays by element type, and a JSON object."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Objects = NDArray[np.object_]
Indices = NDArray[np.intp]
Json = dict[str, Any]
