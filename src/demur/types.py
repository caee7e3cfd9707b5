"""Types that recur in signatures: arrays by what they hold, and an object of a JSON file."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Objects = NDArray[np.object_]
Indices = NDArray[np.intp]
Json = dict[str, Any]
