"""demur builds from what its source distribution holds, with a C compiler and without one."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
SOURCES = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore", "src")
COMPILER = shutil.which((os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0])
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler here")
WITHOUT = {"CC names nothing": {"CC": "/nowhere/cc"}, "nothing is on PATH": {"PATH": "/nowhere", "CC": None}}


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The source distribution, made of a tree in which a kernel was built before, and unpacked."""
    tree, made = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("made")
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tree / name)
    (tree / "src/demur/sampling/_kernel_avx2.so").write_bytes(b"of another machine")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(made)], cwd=tree, check=True)
    (archive,) = made.iterdir()
    with tarfile.open(archive) as packed:
        packed.extractall(made, filter="data")
    return made / archive.name.removesuffix(".tar.gz")


@pytest.fixture
def fresh(tmp_path):
    """A virtual environment of its own: what it lacks, packages to build with among them, is taken from this one."""
    venv.create(tmp_path / "venv", symlinks=True)
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(tmp_path / "venv")}))
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return tmp_path / "venv"


def installed(fresh, tree, *flags, **environment):
    """Install a tree into an environment, and what `demur --version -v` then says of its engine and its kernel."""
    chosen = {name: value for name, value in (os.environ | environment).items() if value is not None}
    chosen.pop("PYTHONPATH", None)
    call = [fresh / "bin/python", "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", *flags, tree]
    done = subprocess.run(call, env=chosen, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return told(fresh)


def told(fresh, **environment):
    without = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "DEMUR_ENGINE")}
    call = [fresh / "bin/demur", "--version", "-v"]
    done = subprocess.run(call, env=without | environment, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(line.split(maxsplit=1) for line in done.stdout.splitlines())


def kernels(folder):
    return [*folder.rglob("_kernel*.so"), *folder.rglob("_kernel*.pyd")]


def test_the_source_distribution_holds_what_a_kernel_is_built_of_and_no_kernel(unpacked):
    assert (unpacked / "hatch_build.py").is_file()
    assert {path.name for path in (unpacked / "src/demur/sampling").iterdir()} >= {"kernel.c", "kernel.py"}
    assert not kernels(unpacked)


@pytest.mark.parametrize("environment", WITHOUT.values(), ids=WITHOUT)
def test_without_a_compiler_demur_is_installed_and_computes_with_numpy(unpacked, fresh, environment):
    said = installed(fresh, unpacked, **environment)
    assert said["engine"] == "numpy"
    assert said["kernel"].startswith("none: the kernel was not built when demur was installed")


@needs_compiler
def test_with_a_compiler_demur_is_installed_with_a_kernel(unpacked, fresh):
    tree = shutil.copytree(unpacked, fresh / "tree")
    (tree / "src/demur/sampling/_kernel_avx2.so").write_bytes(b"of another machine")
    said = installed(fresh, tree)
    assert said["engine"].startswith("c:")
    assert said["kernel"].startswith(str(fresh / "lib"))
    assert told(fresh, DEMUR_ENGINE="c:baseline")["engine"].startswith("c:baseline;")
    (wheel,) = fresh.rglob("demur-*.dist-info/WHEEL")
    assert "Root-Is-Purelib: false" in wheel.read_text()
    assert not [*wheel.parents[1].glob("demur/**/*.c"), *wheel.parents[1].glob("demur/**/*.h")]


@needs_compiler
def test_an_editable_installation_has_its_kernel_beside_the_source_and_nothing_that_runs_at_every_start(
    unpacked, fresh
):
    tree = shutil.copytree(unpacked, fresh / "tree")
    (outdated := tree / "src/demur/sampling/_kernel_avx2.so").write_bytes(b"of another version")
    said = installed(fresh, tree, "-e")
    assert said["engine"].startswith("c:")
    assert said["kernel"].startswith(str(outdated.parent))
    (link,) = fresh.rglob("*demur*.pth")
    assert link.read_text().strip() == str(tree / "src")  # a folder, not a line of Python
    assert installed(fresh, tree, "-e", CC="/nowhere/cc")["engine"] == "numpy"
    assert not kernels(tree)
