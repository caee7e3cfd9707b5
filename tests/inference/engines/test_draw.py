"""The kernel draws what numpy draws, with every instruction set."""

import numpy as np
import pytest

from demur.sampling.draws import weights
from demur.inference.engines.kernel import KERNELS, LANES

_kernel = pytest.importorskip("demur.inference.engines._kernel", reason="there is no kernel here")
every_set = pytest.mark.parametrize("kernel", KERNELS.values(), ids=str)


@every_set
@pytest.mark.parametrize("clusters", [1, 2, 15, 16, 17, 255, 256, 257, 5_003])
@pytest.mark.parametrize("replicates", [range(1), range(16), range(3, 36), range(2**40, 2**40 + 17)], ids=str)
def test_the_kernel_draws_the_weights_of_numpy(kernel, clusters, replicates):
    for seed in (0, 7, 2**64 - 1):
        drawn = kernel.draw(seed, replicates, clusters)
        lanes = np.swapaxes(drawn, 1, 2).reshape(-1, clusters)
        assert np.array_equal(lanes[: len(replicates)], weights(seed, np.array(replicates), clusters))
        assert not lanes[len(replicates) :].any()


@every_set
def test_no_replicates_are_no_blocks(kernel):
    assert kernel.draw(7, range(0), 5).shape == (0, 5, LANES)


@every_set
@pytest.mark.parametrize("wrong", [(16, 6), (17, 5), (-1, 5), (0, 5), (16, 0), (16, -5), (2**63 - 1, 1), (16, 2**31)])
def test_sizes_that_do_not_fit_the_array_write_nothing(kernel, wrong):
    out = np.full(5 * LANES, 77, np.uint8)
    with pytest.raises(ValueError, match="draw: out has other sizes than n and clusters say"):
        _kernel.draw(kernel.number, 7, 0, *wrong, out)
    assert (out == 77).all()


@every_set
def test_an_instruction_set_the_processor_lacks_is_refused(kernel):
    for number in (-1, len(KERNELS)):
        with pytest.raises(ValueError, match=f"instruction set {number} is not one of this processor's {len(KERNELS)}"):
            _kernel.draw(number, 7, 0, 16, 5, np.empty(5 * LANES, np.uint8))
    with pytest.raises((TypeError, BufferError, ValueError)):
        _kernel.draw(kernel.number, 7, 0, 16, 5, bytes(5 * LANES))
