"""Compiles the kernel while demur is built: where that fails, demur is built without it and computes with numpy.

`python hatch_build.py FOLDER` compiles it alone, into a folder.
"""

import os
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "demur/sampling"
SOURCE = Path(__file__).resolve().parent / "src" / PACKAGE
# Multiplications and additions are rounded one by one, so that all instruction sets give the same bits. Flags of the
# environment come before these, and cannot undo them.
FLAGS = ["-std=c11", "-O3", "-fno-fast-math", "-ffp-contract=off", "-Wall", "-Wextra", "-shared", "-fPIC"]
SETS = {"baseline": [], "avx2": ["-mavx2"], "avx512": ["-mavx512f"]}  # compiled once for each, as far as possible


def build_kernel(folder: Path) -> list[Path]:
    """Compile the kernel into a folder; the compiler and further flags are those of CC, CFLAGS and LDFLAGS."""
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    given = [shlex.split(os.environ.get(name, "")) for name in ("CFLAGS", "LDFLAGS")]
    built = []
    for name, instructions in SETS.items():
        path = folder / f"_kernel_{name}.so"
        command = [*compiler, *given[0], *FLAGS, *instructions, str(SOURCE / "kernel.c"), "-o", str(path), *given[1]]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  (the compiler)
        if not done.returncode:
            built.append(path)
        elif name == "baseline":
            raise RuntimeError(done.stderr)
    return built


class KernelHook(BuildHookInterface):
    """Adds the kernel to a wheel; an editable installation has it beside its source, where Python finds it unaided."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the kernel, and name the machines the wheel is for."""
        self._scratch = TemporaryDirectory()
        editable = version == "editable"
        for outdated in SOURCE.glob("_kernel*.so") if editable else []:
            outdated.unlink()
        try:
            built = build_kernel(SOURCE if editable else Path(self._scratch.name))
        except Exception as reason:  # noqa: BLE001  (whatever is wrong with a compiler, demur does without one)
            self.app.display_warning(f"demur is built without its kernel, and computes with numpy: {reason}")
            return
        if not editable:
            build_data["force_include"] |= {str(path): f"{PACKAGE}/{path.name}" for path in built}
            build_data["pure_python"] = False
            platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data["tag"] = f"py3-none-{platform}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what is in the wheel by now."""
        self._scratch.cleanup()


if __name__ == "__main__":
    print(*build_kernel(Path(sys.argv[1])), sep="\n")
