"""Evaluation of summaries that may not leave their sites: each site keeps its intermediate files in its own folder."""

from __future__ import annotations

import re
import secrets
import shutil
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import gettempdir
from typing import Any
from weakref import finalize

from demur.distributed.passes import Passes, StoredPart
from demur.distributed.ranges import Storage, unwritable
from demur.distributed.sites import Sites
from demur.errors import UserError, located
from demur.evaluation.data import parts_of
from demur.facts.items import Items, Source
from demur.files.strict_json import fingerprint
from demur.read.files import named_input
from demur.summaries.file import read_summary

_OWN = re.compile("demur-[0-9a-f]{16}")
_STALE = 3 * 24 * 3600  # seconds without a new file, far longer than any pass takes


def at_sites(entry: Any, options: Mapping[str, Any]) -> tuple[str | None, Items]:
    """The facts of a system; every site has its summary, or a folder of summaries, under the same path."""
    name, path = named_input(entry)
    if not isinstance(path, (str, Path)):
        raise UserError("sites read their own files: give the path that the summary has at every site")
    with ExitStack() as stack:
        sites = stack.enter_context(Sites(options.get("workers", 1)))
        storages = [Storage(f"demur-{secrets.token_hex(8)}", site) for site in sites.names]
        tasks = [(storage, str(path), options.get("scratch")) for storage in storages]
        stack.callback(_close, sites, tasks)
        opened = sites.each(open_site, tasks, options.get("progress"))
        passes = Passes.of([part for parts in opened for part in parts], sites, options.get("seed"))
        finalize(passes, stack.pop_all().close)
    parts = passes.summary.about.parts
    return name, passes.items(Source(str(path), fingerprint("\n".join(parts).encode())))


def open_site(task: tuple[Storage, str, str | Path | None]) -> list[StoredPart]:
    """At a site: create the folder for its files, and return its summaries without their entries."""
    folder = _folder(task)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        _remove_stale(folder.parent)
    except OSError as error:
        raise unwritable(folder.parent, error) from None
    return [_stored_part(Storage(str(folder), task[0].site), part) for part in parts_of([task[1]])]


def _remove_stale(scratch: Path) -> None:
    """Remove folders that killed coordinators left behind. A running one writes to its folder in every pass."""
    for folder in scratch.glob("demur-*"):
        with suppress(OSError):  # of another user, or removed by another run at the same time
            if _OWN.fullmatch(folder.name) and time.time() - folder.stat().st_mtime > _STALE:
                shutil.rmtree(folder, ignore_errors=True)


def _stored_part(storage: Storage, path: Path) -> StoredPart:
    summary, _ = read_summary(path)
    with located(path):
        if not summary.about.sites:
            raise UserError("its ids may be names: write pseudonyms, demur summarize --site NAME --salt FILE")
    return StoredPart.of(storage, str(path), summary)


def close_site(task: tuple[Storage, str, str | Path | None]) -> None:
    """At a site: remove the folder."""
    shutil.rmtree(_folder(task), ignore_errors=True)


def _folder(task: tuple[Storage, str, str | Path | None]) -> Path:
    storage, _, scratch = task
    return Path(scratch or gettempdir()).absolute() / storage.folder


def _close(sites: Sites, tasks: list[Any]) -> None:
    for task in tasks:
        with suppress(UserError):  # a site that cannot be reached keeps its folder
            sites.each(close_site, [task])
