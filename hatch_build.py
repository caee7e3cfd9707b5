"""Compiles the kernel while demur is built: where that fails, demur is built without it and computes with numpy.

`python hatch_build.py FOLDER` compiles it alone, into a folder.
"""

import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "demur/inference/engines"
ENGINES = Path(__file__).resolve().parent / "src" / PACKAGE
# Multiplications and additions are rounded one by one, on every machine: numpy rounds them so. Flags of the
# environment come before these, and cannot undo them.
FLAGS = ["-std=c11", "-O3", "-fno-fast-math", "-ffp-contract=off", "-fvisibility=hidden", "-Wall", "-Wextra"]
MSVC_FLAGS = ["/std:c11", "/O2", "/fp:precise"]
STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")  # the stable ABI: one file for Python 3.11 and all later ones


def build_kernel(folder: Path) -> Path:
    """Compile the kernel into a folder; the compiler and further flags are those of CC, CFLAGS and LDFLAGS."""
    from setuptools import Distribution, Extension  # noqa: PLC0415  (where it is missing, so is the kernel, no more)
    from setuptools.command.build_ext import build_ext  # noqa: PLC0415

    class Build(build_ext):
        def build_extension(self, ext: Any) -> None:
            ext.extra_compile_args = MSVC_FLAGS if self.compiler.compiler_type == "msvc" else FLAGS
            super().build_extension(ext)

    stable = [("Py_LIMITED_API", "0x030B0000")] if STABLE else []
    kernel = Extension("_kernel", [str(ENGINES / "_kernel.c")], define_macros=stable, py_limited_api=STABLE)
    command = Build(Distribution({"ext_modules": [kernel]}))
    command.force = True  # a header may have changed where the C file has not
    with TemporaryDirectory() as scratch:
        command.build_lib, command.build_temp = str(folder), scratch
        command.ensure_finalized()
        command.run()
    return Path(command.get_ext_fullpath("_kernel"))


class KernelHook(BuildHookInterface):
    """Adds the kernel to a wheel; an editable installation has it beside its source, where Python finds it unaided."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the kernel, and name the machines the wheel is for."""
        self._scratch = TemporaryDirectory()
        editable = version == "editable"
        for outdated in [*ENGINES.glob("_kernel*.so"), *ENGINES.glob("_kernel*.pyd")] if editable else []:
            outdated.unlink()
        try:
            built = build_kernel(ENGINES if editable else Path(self._scratch.name))
        except Exception as reason:  # noqa: BLE001  (whatever is wrong with a compiler, demur does without one)
            self.app.display_warning(f"demur is built without its kernel, and computes with numpy: {reason}")
            return
        if not editable:
            build_data["force_include"][str(built)] = f"{PACKAGE}/{built.name}"
            build_data["pure_python"] = False
            build_data["infer_tag"] = not STABLE
            if STABLE:
                platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
                build_data["tag"] = f"cp311-abi3-{platform}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what is in the wheel by now."""
        self._scratch.cleanup()


if __name__ == "__main__":
    print(build_kernel(Path(sys.argv[1])))
