"""The folder of a run: locked while in use, tied to one configuration, with text kept only while needed.

A folder is used only if it is new or empty, or has the configuration or the lock of a run; demur's own files in it are
never links, through which files elsewhere would be written.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demur import __version__
from demur.errors import UserError, literal
from demur.extensions.produce.inputs import Inputs
from demur.files.strict_json import fingerprint, loads, read_as
from demur.files.write import json_text, write_whole
from demur.types import Json

_VERSION = 1
_OWNER_ONLY = 0o600
_LOCK, _CONFIG, _TEXT = "lock", "config.json", "text"
_FILES = (_LOCK, _CONFIG, "journal.jsonl", "references.npz", "failures.json", "usage.json", "run.json")
_BEFORE_CONFIG = re.compile(r"lock|\.demur-.+\.tmp")  # what a run that was killed at once leaves
_HOLDER = re.compile(rb"process [0-9]+ on [^\n]*\n")
_LONGEST_HOLDER = 300
_MEMBERS = {"run_id": str, "settings": dict, "hashes": dict, "transcripts": dict, "capabilities": dict, "made": dict}
_CAPABILITIES = {"models", "schema", "logprobs", "aligned", "logprobs_stage", "seeded", "embeddings"}


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder against other processes; the lock of a process that died is ignored."""
    try:
        import fcntl  # noqa: PLC0415  (not on every system)
    except ImportError:
        raise UserError("demur produce locks its folder by flock, which this system does not have") from None
    check_folder(folder)
    with contextlib.ExitStack() as opened:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            file = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
        except OSError as error:
            raise UserError(f"{folder}: cannot be written ({error.strerror})") from None
        opened.callback(os.close, file)
        holder = os.read(file, _LONGEST_HOLDER)
        if holder and not _HOLDER.fullmatch(holder):
            raise UserError(f"{folder / _LOCK}: is not of demur produce; use another --run-folder")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            who = holder.decode(errors="replace").strip()
            raise UserError(
                f"{folder}: another demur produce is at work here ({who}); wait for it, or stop it"
            ) from None
        os.truncate(file, os.pwrite(file, f"process {os.getpid()} on {platform.node()}\n".encode(), 0))
        yield


def check_folder(folder: Path) -> None:
    """Raise an error for a folder with other files and no configuration of a run, or with links for demur's files."""
    if folder.is_symlink():
        raise UserError(f"{folder}: is a link; name the folder that it leads to")
    try:
        names = {path.name for path in folder.iterdir()}
        for name in _FILES:
            _check_own(folder / name)
        _check_own(folder / _TEXT, folders=2)
    except FileNotFoundError:
        return
    except OSError as error:
        raise UserError(f"{folder}: cannot be used ({error.strerror})") from None
    if _CONFIG in names:
        own_config(folder / _CONFIG)
    elif not all(map(_BEFORE_CONFIG.fullmatch, names)) and not _has_lock(folder):
        raise UserError(f"{folder}: has files that are not of demur produce; name a folder that is new or empty")


def _has_lock(folder: Path) -> bool:
    """Whether demur made the folder, though the endpoint could not be used, so that there is no configuration yet."""
    try:
        with (folder / _LOCK).open("rb") as file:
            return bool(_HOLDER.fullmatch(file.read(_LONGEST_HOLDER)))
    except OSError:
        return False


def _check_own(path: Path, folders: int = 0) -> None:
    """Refuse what is not a file with one name; so many levels of folders may be above the files."""
    if not os.path.lexists(path):
        return
    found = path.lstat()
    if folders and stat.S_ISDIR(found.st_mode):
        for inner in path.iterdir():
            _check_own(inner, folders - 1)
    elif not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        raise UserError(f"{path}: is a link, or not a file; use another --run-folder")


def write_synced(path: Path, content: Json) -> Path:
    """Write a JSON file atomically, and wait until it is on disk."""
    written = write_whole(path, json_text(content))
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return written


@dataclass(frozen=True, slots=True)
class TextFolder:
    """The folder of quotes, needed to resume a run, and with `reasons` of other texts; only its owner can read it."""

    path: Path
    reasons: bool = False

    def evidence(self, person: str) -> dict[str, list[str]] | None:
        """Read the quotes of a participant; None if the file is missing or damaged."""
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
    """The id of a run, and the content it is the hash of: the configuration without keys, and the inputs' hashes."""
    identity = {
        "settings": inputs.settings.identity,
        "hashes": inputs.hashes,
        "transcripts": inputs.transcript_hashes,
    }
    return fingerprint(json_text(identity).encode())[:16], identity


def record_of(inputs: Inputs, capabilities: Json) -> Json:
    """The content of the configuration file: the run's identity, the endpoint's capabilities, and the software."""
    run_id, identity = run_identity(inputs)
    tool = {"demur": __version__, "python": platform.python_version(), "platform": platform.platform()}
    return {"v": _VERSION, "run_id": run_id, **identity, "capabilities": capabilities, "made": tool}


def own_config(path: Path) -> Json:
    """Read the configuration that a run was started with; raise an error if demur did not write it."""
    content: Any = read_as(path, lambda parsed: parsed)
    own = isinstance(content, dict) and content.get("v") == _VERSION
    own = own and all(isinstance(content.get(name), kind) for name, kind in _MEMBERS.items())
    if not own or not content["capabilities"].keys() >= _CAPABILITIES:
        raise UserError(f"{path}: not a configuration of this release of demur; use another --run-folder")
    return dict(content)


def resumed(path: Path, inputs: Inputs) -> Json:
    """Read the configuration that a folder was started with; raise an error if it is not the same as now."""
    content = own_config(path)
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
