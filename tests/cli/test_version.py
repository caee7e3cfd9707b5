"""`demur --version -v`: the version, what computes, and what it is made of."""

import platform

import numpy as np
import pytest

import demur as package
from commands import demur
from demur.sampling.engine import VARIABLE
from demur.sampling.kernel import KERNELS, origin


@pytest.mark.parametrize("flags", [("--version", "-v"), ("-v", "--version")])
@pytest.mark.parametrize("engine", ["numpy", *KERNELS])
def test_the_version_in_full(tmp_path, monkeypatch, flags, engine):
    monkeypatch.setenv(VARIABLE, engine)
    told = demur(tmp_path, *flags)
    others = [name for name in ("numpy", *KERNELS) if name != engine]
    choice = f"; DEMUR_ENGINE chooses another: {', '.join(others)}" if others else ""
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.splitlines() == [
        f"demur {package.__version__}",
        f"engine  {engine}{choice}",
        f"kernel  {origin()}",
        f"python  {platform.python_version()}",
        f"numpy   {np.__version__}",
    ]


def test_without_a_kernel_it_says_why(tmp_path, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr("demur.sampling.kernel.KERNELS", {})
    monkeypatch.setattr("demur.sampling.kernel.MISSING", "nobody built it")
    told = demur(tmp_path, "--version", "-v")
    assert told.stdout.splitlines()[1:3] == ["engine  numpy", "kernel  none: nobody built it"]


@pytest.mark.parametrize("arguments", [("--version", "-v"), ("evaluate", "missing.csv", "--seed", "1")])
def test_an_engine_nobody_knows_is_one_line_before_anything_is_read(tmp_path, monkeypatch, arguments):
    monkeypatch.setenv(VARIABLE, "fortran")
    told = demur(tmp_path, *arguments)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr == (
        "demur: DEMUR_ENGINE is fortran, expected one of numpy, c, c:baseline, c:avx2, c:avx512, or nothing at all\n"
    )


def test_of_a_command_there_is_no_such_flag(tmp_path):
    told = demur(tmp_path, "-v", "evaluate", "missing.csv")
    assert (told.returncode, told.stderr) == (2, "demur: -v goes with --version alone: demur --version -v\n")
