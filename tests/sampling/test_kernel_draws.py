"""The kernel draws what numpy draws, with every instruction set."""

import numpy as np
import pytest

from demur.sampling.draws import weights
from demur.sampling.kernel import KERNELS, LANES

every_set = pytest.mark.parametrize("kernel", KERNELS.values(), ids=str)


@every_set
@pytest.mark.parametrize("clusters", [1, 2, 15, 16, 17, 255, 256, 257, 5_003])
@pytest.mark.parametrize("replicates", [range(1), range(16), range(3, 36), range(2**40, 2**40 + 17)], ids=str)
def test_the_kernel_draws_the_weights_of_numpy(kernel, clusters, replicates):
    for seed in (0, 7, 2**64 - 1):
        drawn = kernel.drawn(seed, replicates, clusters).tiles
        lanes = np.swapaxes(drawn, 1, 2).reshape(-1, clusters)
        assert np.array_equal(lanes[: len(replicates)], weights(seed, np.array(replicates), clusters))
        assert not lanes[len(replicates) :].any()


@every_set
def test_no_replicates_are_no_blocks(kernel):
    assert kernel.drawn(7, range(0), 5).tiles.shape == (0, 5, LANES)
