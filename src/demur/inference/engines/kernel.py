"""The compiled kernel as Python calls it: arrays in, arrays out, in blocks of 16 replicates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LANES = 16
_MOST_CLUSTERS = (2**32 - 1) // LANES  # places in a block are numbers of 32 bits
MISSING: str | None = None  # why there is no kernel
_INTERFACE = 5  # must equal INTERFACE in _kernel.c

try:
    import demur.inference.engines._kernel as _kernel  # noqa: PLR0402  (`from` does not tell missing from broken)
except ModuleNotFoundError:
    MISSING = "the kernel was not built when demur was installed: that takes a C compiler"
except ImportError as error:
    MISSING = f"the kernel does not load here: {error}"
else:
    if _kernel.INTERFACE != _INTERFACE:
        MISSING = f"the kernel is of another version of demur, which is to be installed again: {_kernel.__file__}"


@dataclass(frozen=True, slots=True)
class Kernel:
    """The kernel with one instruction set, by name and number. Instruction sets differ in speed, not in results."""

    instructions: str
    number: int

    def __str__(self) -> str:
        return f"c:{self.instructions}"

    def draw(self, seed: int, replicates: range, clusters: int) -> NDArray[np.uint8] | None:
        """How often each cluster occurs in each replicate, by block, cluster and lane; None if a count exceeds 255.

        Lanes after the last replicate are 0. None as well for more clusters than a block has places for.
        """
        if clusters > _MOST_CLUSTERS:
            return None
        drawn = np.empty((-(-len(replicates) // LANES), clusters, LANES), np.uint8)
        exceeded = _kernel.draw(self.number, seed, replicates.start, len(replicates), clusters, drawn)
        return None if exceeded else drawn


def _kernels() -> dict[str, Kernel]:
    """The kernel with each instruction set of this processor, the widest last; none where there is no kernel."""
    usable = () if MISSING else _kernel.sets()
    return {f"c:{name}": Kernel(name, number) for number, name in enumerate(usable)}


KERNELS = _kernels()


def origin() -> str:
    """Path and compiler of the kernel, or why there is none."""
    return f"none: {MISSING}" if MISSING else f"{_kernel.__file__}, compiled by {_kernel.COMPILER.strip()}"
