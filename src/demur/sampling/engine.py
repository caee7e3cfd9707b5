"""Choice of the engine that computes sums over replicates: numpy, or the compiled kernel, equal to 1e-12 and faster.

The kernel is used if it was built, with the widest instructions of the processor, unless `DEMUR_ENGINE` is set:

    numpy                               numpy, whether there is a kernel or not
    c                                   the kernel, or an error where there is none
    c:baseline, c:avx2, c:avx512        the kernel with these instructions, or an error where the processor lacks them
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from demur.errors import UserError, shown
from demur.sampling.weights import Weights
from demur.types import Floats

if TYPE_CHECKING:
    from demur.sampling.kernel import Kernel

VARIABLE = "DEMUR_ENGINE"
CHOICES = ("numpy", "c", "c:baseline", "c:avx2", "c:avx512")


def engine_name() -> str:
    """The engine in use, as `DEMUR_ENGINE` spells it: numpy, or c with the instruction set."""
    chosen = chosen_kernel()
    return "numpy" if chosen is None else str(chosen)


def kind() -> str:
    """The engine without its instructions, all of which give the same bits: numpy or c."""
    return engine_name().partition(":")[0]


def chosen_kernel() -> Kernel | None:
    """The compiled kernel if it is the engine in use, None for numpy."""
    requested = os.environ.get(VARIABLE, "")
    if requested and requested not in CHOICES:
        raise UserError(f"{VARIABLE} is {shown(requested)}, expected one of {', '.join(CHOICES)}, or nothing at all")
    if requested == "numpy":
        return None
    from demur.sampling.kernel import KERNELS, MISSING  # noqa: PLC0415  (numpy does without it)

    if requested and MISSING:
        raise UserError(f"{VARIABLE} is {requested}, but {MISSING}; {VARIABLE}=numpy does without it")
    if ":" in requested and requested not in KERNELS:
        raise UserError(f"{VARIABLE} is {requested}, but this processor has only {', '.join(KERNELS)}")
    return KERNELS.get(requested) or next(reversed(KERNELS.values()), None)


def about() -> dict[str, str]:
    """The engine in use, the path of the kernel or why it is missing, and the versions of Python and numpy."""
    import platform  # noqa: PLC0415  (slow to import, and rarely needed)

    import numpy as np  # noqa: PLC0415

    from demur.sampling.kernel import KERNELS, origin  # noqa: PLC0415

    others = [name for name in ("numpy", *KERNELS) if name != engine_name()]
    return {
        "engine": f"{engine_name()}; {VARIABLE} chooses another: {', '.join(others)}" if KERNELS else engine_name(),
        "kernel": origin(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def drawn(seed: int, replicates: range, clusters: int) -> Weights | None:
    """Bootstrap weights drawn by the kernel; None if numpy is in use or a weight exceeds what the kernel can store."""
    kernel = chosen_kernel()
    return None if kernel is None else kernel.drawn(seed, replicates, clusters)


def packed(rows: Floats) -> Weights:
    """Convert weights, one row per replicate, to the form of the engine in use."""
    kernel = chosen_kernel()
    return (kernel and kernel.packed(rows)) or Weights.of(rows)


def replicates_at_once(cached: int) -> int:
    """The number of replicates per block, given how many fit in the cache; the kernel takes whole groups of 8."""
    if chosen_kernel() is None:
        return cached
    from demur.sampling.kernel import LANES  # noqa: PLC0415  (numpy does without it)

    return max(4 * cached // LANES, 1) * LANES
