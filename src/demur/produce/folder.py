"""The folder of a run: it is locked while in use, belongs to one configuration, and keeps text only while needed."""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demur import __version__
from demur.errors import UserError, literal
from demur.files.strict_json import fingerprint, loads, read_as
from demur.files.write import json_text, write_whole
from demur.produce.inputs import Inputs
from demur.types import Json

_VERSION = 1
_OWNER_ONLY = 0o600


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder, so that no other process runs in it; the lock of a process that died does not count."""
    try:
        import fcntl  # noqa: PLC0415  (not on every system)
    except ImportError:
        raise UserError("demur produce locks its folder by flock, which this system does not have") from None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise UserError(f"{folder}: cannot be written ({error.strerror})") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.read(file, 300).decode(errors="replace").strip()
        os.close(file)
        raise UserError(
            f"{folder}: another demur produce is at work here ({holder}); wait for it, or stop it"
        ) from None
    try:
        os.truncate(file, 0)
        os.write(file, f"process {os.getpid()} on {platform.node()}\n".encode())
        yield
    finally:
        os.close(file)


def write_synced(path: Path, content: Json) -> Path:
    """Write a JSON file atomically, and wait until it and its entry in the folder are on disk."""
    written = write_whole(path, json_text(content))
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return written


@dataclass(frozen=True, slots=True)
class TextFolder:
    """The folder of quotes, which a resumed run needs, and, with `reasons`, of texts; only its owner can read it."""

    path: Path
    reasons: bool = False

    def evidence(self, person: str) -> dict[str, list[str]] | None:
        """The quotes of a participant; None if the file is missing or damaged."""
        try:
            content: dict[str, list[str]] = loads((self.path / "evidence" / f"{person}.json").read_text("utf-8"))
        except (OSError, ValueError):
            return None
        return content

    def remove(self) -> None:
        """Remove all text, unless `reasons` are wanted."""
        if not self.reasons and self.path.exists():
            shutil.rmtree(self.path)

    def keep(self, kind: str, name: str, content: Json) -> None:
        """Write the grounded quotes of a participant, or the texts that the model gave with its scores."""
        folder = self.path / kind
        for needed in (self.path, folder):
            needed.mkdir(mode=0o700, exist_ok=True)
        path = folder / f"{name}.json"
        path.touch(mode=_OWNER_ONLY)
        write_whole(path, json_text(content))


def run_identity(inputs: Inputs) -> tuple[str, Json]:
    """The id of a run, and what it is a hash of: the configuration without keys, and the hashes of all inputs."""
    identity = {
        "settings": inputs.settings.identity,
        "hashes": inputs.hashes,
        "transcripts": inputs.transcript_hashes,
    }
    return fingerprint(json_text(identity).encode())[:16], identity


def record_of(inputs: Inputs, capabilities: Json, base: Path) -> Json:
    """The content of the configuration file: the run's identity, the endpoint's capabilities, and the software."""
    run_id, identity = run_identity(inputs)
    tool = {"demur": __version__, "python": platform.python_version(), "platform": platform.platform(), **_git(base)}
    return {"v": _VERSION, "run_id": run_id, **identity, "capabilities": capabilities, "made": tool}


def resumed(path: Path, inputs: Inputs) -> Json:
    """The configuration that a folder was started with, checked to be the same as now."""
    content: Any = read_as(path, lambda parsed: parsed)
    if not isinstance(content, dict) or content.get("v") != _VERSION:
        raise UserError(f"{path}: not a configuration of this release of demur; use another --run-folder")
    now = {"config": inputs.settings.identity, "hashes": inputs.hashes}
    then = {"config": content["settings"], "hashes": content["hashes"]}
    for name, (before, after) in _differences("", then, now):
        what = name.rpartition(".")[2]
        values = f" ({literal(before)} then, {literal(after)} now)" if name.startswith("config.") else ""
        raise UserError(
            f"{path.parent}: this folder was begun with another {what}: {name}{values}; use another --run-folder"
        )
    for person, sha in inputs.transcript_hashes.items():
        before = content["transcripts"].get(person)
        if before is not None and sha != before:
            raise UserError(f"{path.parent}: this folder was begun with another transcript of {literal(person)}")
    return content


def _differences(name: str, then: Any, now: Any) -> Iterator[tuple[str, tuple[Any, Any]]]:
    if isinstance(then, dict) and isinstance(now, dict):
        for member in {**then, **now}:
            yield from _differences(f"{name}.{member}" if name else member, then.get(member), now.get(member))
    elif then != now:
        yield name, (then, now)


def _git(folder: Path) -> Json:
    """The git commit of the configuration's folder, and whether there are uncommitted changes; null without git."""

    def git(*words: str) -> str | None:
        try:
            finished = subprocess.run(  # noqa: S603
                ["git", "-C", str(folder), *words],  # noqa: S607
                capture_output=True, text=True, check=True, timeout=10,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            return None
        return finished.stdout.strip()

    commit = git("rev-parse", "HEAD")
    changed = git("status", "--porcelain") if commit else None
    return {"git_commit": commit, "git_dirty": None if changed is None else bool(changed)}
