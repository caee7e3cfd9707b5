"""Which engine computes, and how one is demanded."""

import pytest

from demur import UserError
from demur.sampling.engine import CHOICES, chosen_kernel, engine_name
from demur.sampling.kernel import KERNELS, MISSING, SETS, Kernel

EVERY = {f"c:{name}": Kernel(name, None) for name in SETS}


@pytest.fixture
def having(monkeypatch):
    """A processor with these instruction sets, or a reason for there being no kernel; and what DEMUR_ENGINE is."""

    def have(sets, variable, missing=""):
        monkeypatch.setattr("demur.sampling.kernel.KERNELS", {name: EVERY[name] for name in sets})
        monkeypatch.setattr("demur.sampling.kernel.MISSING", missing)
        monkeypatch.setenv("DEMUR_ENGINE", variable)

    return have


@pytest.mark.parametrize(
    ("sets", "variable", "chosen"),
    [
        ([*EVERY], "", "c:avx512"),
        ([*EVERY][:2], "", "c:avx2"),
        ([*EVERY][:2], "c", "c:avx2"),
        ([*EVERY][:1], "c", "c:baseline"),
        ([*EVERY], "c:avx2", "c:avx2"),
        ([*EVERY], "c:baseline", "c:baseline"),
        ([*EVERY], "numpy", "numpy"),
        ([], "", "numpy"),
        ([], "numpy", "numpy"),
    ],
)
def test_the_widest_instructions_are_chosen_unless_the_variable_says_otherwise(having, sets, variable, chosen):
    having(sets, variable, "" if sets else "the kernel was not built")
    assert engine_name() == chosen
    assert (chosen_kernel() is None) == (chosen == "numpy")


@pytest.mark.parametrize("variable", ["c", "c:baseline", "c:avx512"])
def test_a_kernel_that_is_demanded_and_missing_is_an_error(having, variable):
    having([], variable, "the kernel was not built")
    with pytest.raises(UserError) as told:
        engine_name()
    assert str(told.value) == (
        f"DEMUR_ENGINE is {variable}, but the kernel was not built; DEMUR_ENGINE=numpy does without it"
    )


def test_instructions_the_processor_lacks_are_an_error(having):
    having([*EVERY][:2], "c:avx512")
    with pytest.raises(UserError) as told:
        engine_name()
    assert str(told.value) == "DEMUR_ENGINE is c:avx512, but this processor has only c:baseline, c:avx2"


@pytest.mark.parametrize("variable", ["C", "fortran", "c:", "c:sse9", "numpy ", "c\nnumpy"])
def test_any_other_text_is_an_error_that_names_the_choices(having, variable):
    having([*EVERY], variable)
    with pytest.raises(UserError) as told:
        engine_name()
    assert str(told.value).endswith(f", expected one of {', '.join(CHOICES)}, or nothing at all")
    assert "\n" not in str(told.value)


def test_every_set_of_the_kernel_can_be_chosen_and_none_without_one():
    assert set(KERNELS) <= set(CHOICES)
    assert bool(KERNELS) == (not MISSING)
