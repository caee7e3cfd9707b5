"""The folder of a run: locked while it is used, begun with one configuration, and holding text only while it must."""

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


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The places of a run."""

    path: Path

    @property
    def config(self) -> Path:
        """What the run was begun with."""
        return self.path / "config.json"

    @property
    def journal(self) -> Path:
        """What was done."""
        return self.path / "journal.jsonl"

    @property
    def references(self) -> Path:
        """The embeddings of the references."""
        return self.path / "references.npz"

    def write(self, name: str, content: Json) -> Path:
        """A JSON file of the folder, whole, and on disk under its name."""
        path = write_whole(self.path / name, json_text(content))
        settle(self.path)
        return path

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else runs in this folder meanwhile; a lock of a process that died is none."""
        try:
            import fcntl  # noqa: PLC0415  (not on every system)
        except ImportError:
            raise UserError("demur produce locks its folder by flock, which this system does not have") from None
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise UserError(f"{self.path}: cannot be written ({error.strerror})") from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(file, 300).decode(errors="replace").strip()
            os.close(file)
            raise UserError(
                f"{self.path}: another demur produce is at work here ({holder}); wait for it, or stop it"
            ) from None
        try:
            os.truncate(file, 0)
            os.write(file, f"process {os.getpid()} on {platform.node()}\n".encode())
            yield
        finally:
            os.close(file)


def settle(folder: Path) -> None:
    """Wait until the names in a folder are on disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@dataclass(frozen=True, slots=True)
class TextFolder:
    """Quotes, which a resumed run needs, and reasons if they are wanted; readable by the owner alone."""

    path: Path
    reasons: bool = False

    def evidence(self, person: str) -> dict[str, list[str]] | None:
        """The quotes of a participant, None if there are none or they are damaged."""
        try:
            content: dict[str, list[str]] = loads((self.path / "evidence" / f"{person}.json").read_text("utf-8"))
        except (OSError, ValueError):
            return None
        return content

    def remove(self) -> None:
        """Nothing of it is left, unless it is wanted."""
        if not self.reasons and self.path.exists():
            shutil.rmtree(self.path)

    def keep(self, kind: str, name: str, content: Json) -> None:
        """Quotes that are in the transcript, or what the model wrote beside a score: on disk when this returns."""
        folder = self.path / kind
        for each in (self.path, folder):
            each.mkdir(mode=0o700, exist_ok=True)
        path = folder / f"{name}.json"
        path.touch(mode=_OWNER_ONLY)
        write_whole(path, json_text(content))


def begun_with(inputs: Inputs) -> tuple[str, Json]:
    """The id of a run, and what it follows from: the configuration without a key, and hashes of all inputs."""
    begun = {
        "settings": inputs.settings.identity,
        "hashes": inputs.hashes,
        "transcripts": inputs.transcript_hashes,
    }
    return fingerprint(json_text(begun).encode())[:16], begun


def record_of(inputs: Inputs, capabilities: Json, base: Path) -> Json:
    """What a folder is begun with, what the endpoint can do, and what it was made with."""
    run_id, begun = begun_with(inputs)
    made = {"demur": __version__, "python": platform.python_version(), "platform": platform.platform(), **_git(base)}
    return {"v": _VERSION, "run_id": run_id, **begun, "capabilities": capabilities, "made": made}


def resumed(path: Path, inputs: Inputs) -> Json:
    """What the folder was begun with, if it is what is wanted now."""
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
    """The commit of the folder the configuration is in, and whether it was changed since; null where there is none."""

    def git(*words: str) -> str | None:
        try:
            found = subprocess.run(  # noqa: S603
                ["git", "-C", str(folder), *words],  # noqa: S607
                capture_output=True, text=True, check=True, timeout=10,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            return None
        return found.stdout.strip()

    commit = git("rev-parse", "HEAD")
    changed = git("status", "--porcelain") if commit else None
    return {"git_commit": commit, "git_dirty": None if changed is None else bool(changed)}
